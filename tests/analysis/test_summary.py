"""Summaries: values with intervals that stay where values can be."""

from __future__ import annotations

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.cases import Case


def test_intervals_stay_in_the_range_of_every_column() -> None:
    reference = "There is a large left pneumothorax. The heart is normal in size."
    wrong = "No pneumothorax. The heart is normal in size."
    cases = [Case(str(n), wrong if n == 3 else reference, (reference,)) for n in range(12)]
    lines = {line.column: line for line in rg.summarise(rg.score(cases, "errors"), method="t", resamples=50)}
    assert lines["errors_significant"].value == pytest.approx(1 / 12)
    assert lines["errors_significant"].low == 0.0
    assert lines["errors_recall"].high == 1.0
    assert lines["errors_quality"].high <= 1.0


def test_a_study_without_significant_findings_has_no_recall_but_is_judged() -> None:
    texts = {"1": ("", "Left pleural effusion."), "2": ("No effusion.", "The lungs are clear.")}
    texts |= {"3": ("Left effusion.", "Left pleural effusion.")}
    cases = [{"id": study, "candidate": c, "reference": r} for study, (c, r) in texts.items()]
    lines = {line.column: line for line in rg.summarise(rg.score(cases, ["errors"]), resamples=0)}
    recall, quality = lines["errors_recall"], lines["errors_quality"]
    assert (recall.judged, recall.not_applicable, recall.not_judged) == (1, 1, 1)
    assert (quality.judged, quality.not_applicable, quality.not_judged) == (2, 0, 1)


@pytest.mark.parametrize("name", ["bleu", "rouge", "bertscore", "chexbert", "radgraph", "errors"])
def test_the_range_of_every_column_is_known(name: str) -> None:
    metric = rg.load(name)
    for column, (low, high) in zip(metric.columns, metric.ranges, strict=True):
        assert np.isfinite(low), column
        assert np.isfinite(high) or name == "errors", column
    assert rg.load(f"{name} as other").ranges == metric.ranges
