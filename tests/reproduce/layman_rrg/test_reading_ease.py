"""Lay versions beside their originals."""

from __future__ import annotations

import numpy as np
import pytest
from layman_rrg.reading_ease import compare_ease

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.stats.resampling import Resampling
from radgauge.text.readability import readability

ORIGINALS = [
    "Moderate cardiomegaly with pulmonary vascular congestion and interstitial edema.",
    "Bibasilar subsegmental atelectasis without pneumothorax.",
]
LAY = [
    "The heart is big. There is fluid in the lungs.",
    "Small parts of both lungs have no air. There is no leak.",
]


def test_both_sides_of_every_report() -> None:
    cases = [Case(str(k), text, (), "plain") for k, text in enumerate(LAY)]
    found = compare_ease(
        cases,
        {case.key: text for case, text in zip(cases, ORIGINALS, strict=True)},
        resampling=Resampling(resamples=200),
    )
    grade = found.lines[0]
    assert grade.index == "flesch_kincaid_grade"
    before, after = ([readability(text).flesch_kincaid_grade for text in texts] for texts in (ORIGINALS, LAY))
    assert grade.professional == pytest.approx(np.mean(before))
    assert grade.lay == pytest.approx(np.mean(after))
    assert grade.difference.value == pytest.approx(np.mean(after) - np.mean(before))
    assert np.isnan(grade.difference.high)  # two reports say nothing about the spread
    assert grade.easier == 1
    ease = next(line for line in found.lines if line.index == "flesch_reading_ease")
    assert ease.higher_is_easier
    assert ease.difference.value > 0
    assert ease.easier == 1
    record = found.records()[1]
    assert record["flesch_kincaid_grade_difference"] == pytest.approx(after[1] - before[1])
    assert (record["id"], record["system"]) == ("1", "plain")


def test_a_text_without_words_is_not_counted() -> None:
    cases = [Case("1", LAY[0]), Case("2", "...")]
    found = compare_ease(
        cases, {cases[0].key: ORIGINALS[0], cases[1].key: ORIGINALS[1]}, resampling=Resampling(resamples=50)
    )
    assert found.lines[0].difference.n == 1
    assert found.lines[0].difference.missing == 1
    assert len(found.records()) == 2


def test_an_original_is_missing() -> None:
    with pytest.raises(InputError, match=r"\('1', 'system'\)"):
        compare_ease([Case("1", LAY[0])], {})
