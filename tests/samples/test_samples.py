"""The sample reports: complete, varied, and every planted defect is where the list says it is."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from radgauge.samples import sample_defects_path, sample_reports_path

SYSTEMS = {"careful", "hasty", "confabulator", "template"}
KINDS = {
    "faithful",
    "omission",
    "wrong_side",
    "wrong_severity",
    "wrong_location",
    "wrong_measurement",
    "wrong_change",
    "flipped_negation",
    "hallucinated_finding",
    "hallucinated_device",
    "invented_comparison",
    "uncertainty_added",
    "uncertainty_dropped",
    "template",
    "empty",
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def reports() -> list[dict[str, str]]:
    return rows(sample_reports_path())


@pytest.fixture(scope="module")
def defects() -> list[dict[str, str]]:
    return rows(sample_defects_path())


def test_every_study_has_every_system_once(reports: list[dict[str, str]]) -> None:
    systems = defaultdict(list)
    for row in reports:
        systems[row["id"]].append(row["system"])
    assert all(sorted(found) == sorted(SYSTEMS) for found in systems.values())


def test_a_study_is_the_same_for_every_system(reports: list[dict[str, str]]) -> None:
    columns = ("reference", "section", "modality", "age", "sex", "indication")
    study: dict[str, tuple[str, ...]] = {}
    for row in reports:
        assert study.setdefault(row["id"], tuple(row[c] for c in columns)) == tuple(row[c] for c in columns)


def test_references_differ_and_modalities_vary(reports: list[dict[str, str]]) -> None:
    references = {row["id"]: row["reference"] for row in reports}
    assert len(set(references.values())) == len(references)
    assert {row["modality"].split()[0] for row in reports} >= {"XR", "CT", "MRI", "US"}


def test_the_template_never_looks_at_the_study(reports: list[dict[str, str]]) -> None:
    texts = {
        (row["modality"], row["section"]): {
            other["candidate"]
            for other in reports
            if other["system"] == "template"
            and (other["modality"], other["section"]) == (row["modality"], row["section"])
        }
        for row in reports
    }
    assert all(len(found) == 1 for found in texts.values())


def test_every_report_has_its_defects_listed(reports: list[dict[str, str]], defects: list[dict[str, str]]) -> None:
    assert {(row["id"], row["system"]) for row in reports} == {(row["id"], row["system"]) for row in defects}
    assert {row["kind"] for row in defects} == KINDS
    assert all(row["note"] for row in defects)


def test_the_empty_reports_are_the_listed_ones(
    reports: list[dict[str, str]], defects: list[dict[str, str]]
) -> None:
    empty = {(row["id"], row["system"]) for row in reports if not row["candidate"].strip()}
    assert empty == {(row["id"], row["system"]) for row in defects if row["kind"] == "empty"}
    assert len(empty) == 2


def test_the_systems_differ_in_quality(defects: list[dict[str, str]]) -> None:
    faithful = Counter(row["system"] for row in defects if row["kind"] == "faithful")
    assert faithful["careful"] > 10 * faithful["hasty"]
    assert faithful["template"] == 0
