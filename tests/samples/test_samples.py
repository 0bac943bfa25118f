"""The sample reports: complete, varied, and every planted defect is where the list says it is."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from radgauge.samples import sample_defects_path, sample_reports_path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def reports() -> list[dict[str, str]]:
    return rows(sample_reports_path())


@pytest.fixture(scope="module")
def defects() -> list[dict[str, str]]:
    return rows(sample_defects_path())


def test_a_study_is_the_same_for_every_system(reports: list[dict[str, str]]) -> None:
    columns = ("reference", "section", "modality", "age", "sex", "indication")
    study: dict[str, tuple[str, ...]] = {}
    for row in reports:
        assert study.setdefault(row["id"], tuple(row[c] for c in columns)) == tuple(row[c] for c in columns)


def test_every_report_has_its_defects_listed(reports: list[dict[str, str]], defects: list[dict[str, str]]) -> None:
    assert {(row["id"], row["system"]) for row in reports} == {(row["id"], row["system"]) for row in defects}
    assert all(row["note"] for row in defects)


def test_the_empty_reports_are_the_listed_ones(
    reports: list[dict[str, str]], defects: list[dict[str, str]]
) -> None:
    empty = {(row["id"], row["system"]) for row in reports if not row["candidate"].strip()}
    assert empty == {(row["id"], row["system"]) for row in defects if row["kind"] == "empty"}
    assert len(empty) == 2
