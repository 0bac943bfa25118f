"""consistency: what a report says against itself."""

from __future__ import annotations

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.metric import sums
from radgauge.core.readings import Readings
from radgauge.metrics.consistency import COLUMNS, Consistency

METRIC = Consistency()
READING = Readings()


def kinds(text: str, **meta: str) -> list[str]:
    case = rg.Case("1", text, meta=meta)
    return [issue.kind for issue in METRIC.inconsistencies(case, reading=READING)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No pneumothorax. Small right apical pneumothorax.", ["denied"]),
        ("No acute fracture. Displaced fracture of the distal radius.", ["denied"]),
        ("The lungs are clear. Right lower lobe consolidation.", ["normal"]),
        ("Findings: Acute complete tear of the left supraspinatus. Impression: No acute abnormality.", ["normal"]),
        ("Impression: Normal study. Findings: Displaced fracture of the distal radius.", ["normal"]),
        ("Findings: Normal appendix. Liver is normal. Impression: Right lower lobe pneumonia.", ["impression"]),
        ("Findings: Large left pneumothorax. Stable scoliosis. Impression: Scoliosis.", ["impression"]),
        ("Findings: Small left pleural effusion. Impression: Small right pleural effusion.", ["side"]),
        ("Findings: 8 mm nodule of the left lower lobe. Impression: 18 mm left lower lobe nodule.", ["size"]),
        ("Findings: Consolidation in the right upper lobe. Impression: Right lower lobe pneumonia.", ["place"]),
        ("Findings: Disc herniation at L4-L5. Impression: L5-S1 disc herniation.", ["place"]),
        ("Comparison: None. Findings: Unchanged 4 mm nodule in the right upper lobe.", ["comparison"]),
        ("No prior study is available. The effusion has increased.", ["comparison"]),
        ("Normal chest. Follow-up CT in 3 months is recommended.", ["advice"]),
    ],
)
def test_contradictions(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Moderate right pneumothorax. The left lung is clear.",
        "Right lower lobe consolidation. The lungs are otherwise clear.",
        "Two nodules in the right lung. No other nodules.",
        "No large pneumothorax. Small apical pneumothorax.",
        "Mild cardiomegaly. The mediastinum is normal. No acute cardiopulmonary abnormality.",
        "Previously seen effusion. No effusion today.",
        "Findings: Right lower lobe consolidation. Impression: Pneumonia.",
        "Findings: Right basilar opacity. Impression: Right lower lobe pneumonia.",
        "Findings: Disc bulge at L3-L4, herniation at L4-L5 and L5-S1. Impression: L5-S1 disc herniation.",
        "Findings: 5 mm stone in the left distal ureter. Impression: Stone at the left ureterovesical junction.",
        "Findings: Bilateral effusions. Impression: Left effusion.",
        "Findings: 4 mm nodule left upper lobe, 9 mm nodule left lower lobe. Impression: Left nodules up to 9 mm.",
        "Comparison: 3 May. Findings: Unchanged 4 mm nodule in the right upper lobe.",
        "4 mm nodule in the left lung. Follow-up CT in 12 months is recommended.",
        "Limited by motion, otherwise normal chest. Repeat radiograph is recommended.",
        "Pleural effusion: present\nPneumothorax: absent\nSide: left",
    ],
)
def test_what_is_no_contradiction(text: str) -> None:
    assert kinds(text) == []


def test_a_column_may_say_that_there_is_no_prior() -> None:
    assert kinds("The effusion has increased.", comparison="None.") == ["comparison"]
    assert kinds("The effusion has increased.", comparison="2 May") == []


@pytest.mark.parametrize("text", ["", "Die Lunge ist frei, kein Erguss und keine Stauung.", "Thank you."])
def test_what_is_not_understood_is_not_consistent(text: str) -> None:
    assert np.isnan(METRIC.measure([rg.Case("1", text)], reading=READING)).all()


def test_values_of_a_set_are_shares_and_counts_per_report() -> None:
    texts = ("No effusion. Large left effusion.", "Lungs are clear.", "", "Heart is enlarged.")
    rows = METRIC.measure([rg.Case(str(n), text) for n, text in enumerate(texts)], reading=READING)
    values = dict(zip(COLUMNS, METRIC.corpus_scores(*sums(rows)), strict=True))
    assert values["consistency"] == pytest.approx(2 / 3)
    assert values["consistency_total"] == values["consistency_denied"] == pytest.approx(1 / 3)
    assert values["consistency_statements"] == pytest.approx(4 / 3)


def test_spans_are_those_of_the_report() -> None:
    text = "Findings: Small left pleural effusion. Impression: Small right pleural effusion."
    explained = METRIC.explain(rg.Case("1", text), reading=READING)
    assert explained is not None
    (note,) = explained.notes
    assert [text[slice(*span)] for span in note.candidate_spans] == ["pleural effusion"] * 2
    assert note.candidate_spans[1][0] > text.index("Impression")
