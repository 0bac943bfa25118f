"""A small corpus of our own: reports with terms, made of sentences written for these tests."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

from radgauge.lab.training.clusters import Clusters, cluster_terms
from radgauge.lab.training.term_reports import TermReport, TermReports, read_term_reports

HEARTS = ("The heart is normal in size.", "Heart size is within normal limits.", "Normal cardiac silhouette.")
LUNGS = ("The lungs are clear.", "No focal consolidation.", "Lungs are clear without infiltrate.")
PLEURA = ("No pleural effusion.", "There is no pneumothorax or effusion.")
FINDINGS = (
    ("Lung/hypoinflation", "Low lung volumes are present."),
    ("Lung/hypoinflation;Markings/bronchovascular", "Low lung volumes with bronchovascular crowding."),
    ("Cardiomegaly/mild", "The heart is mildly enlarged."),
    ("Cardiomegaly", "Marked enlargement of the heart."),
    ("Spine/degenerative", "Degenerative changes of the spine."),
    ("Calcified Granuloma/lung/base/right", "Calcified granuloma at the right lung base."),
)


def rows() -> list[dict[str, str]]:
    """id, report, terms; two equal texts, one empty text, two reports without usable terms."""
    found = []
    for heart, lung, pleura in itertools.product(HEARTS, LUNGS, PLEURA):
        found.append({"report": f"{heart} {lung} {pleura}", "terms": "normal"})
    for (terms, sentence), lung, pleura in itertools.product(FINDINGS, LUNGS, PLEURA):
        found.append({"report": f"{sentence} {lung} {pleura}", "terms": terms})
    found.append(dict(found[0]))
    found.append({"report": "", "terms": "normal"})
    found.append({"report": "Limited view.", "terms": "Technical Quality of Image Unsatisfactory"})
    found.append({"report": "Not indexed.", "terms": "No Indexing"})
    return [{"id": f"s{number}", **row} for number, row in enumerate(found)]


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as a CSV file."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "report", "terms"])
        writer.writeheader()
        writer.writerows(rows())
    return path


@pytest.fixture(scope="session")
def chosen(corpus_file: Path) -> TermReports:
    """The reports that can be paired."""
    return read_term_reports(corpus_file)


@pytest.fixture(scope="session")
def reports(chosen: TermReports) -> tuple[TermReport, ...]:
    """The same, alone."""
    return chosen.reports


@pytest.fixture(scope="session")
def clusters(reports: tuple[TermReport, ...]) -> Clusters:
    """Three clusters."""
    return cluster_terms([report.terms for report in reports], k=3)
