"""Temporal F1: statements by hand, controls that could refute it, micro F1 over a set, no prior."""

from __future__ import annotations

import math

import numpy as np
import pytest

import radgauge as rg
from radgauge.metrics.temporal import Temporal, change_statements
from radgauge.reader import read_report

REFERENCE = "Stable cardiomegaly. New right pleural effusion. The pneumothorax has resolved."


def statements(text: str) -> set[str]:
    return {each.describe() for each in change_statements(read_report(text))}


def f1(candidate: str, reference: str = REFERENCE) -> float:
    return rg.score([rg.Case("1", candidate, (reference,))], ["temporal"])["temporal"].headline[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REFERENCE, {"stable cardiomegaly", "new right pleural effusion", "resolved pneumothorax"}),
        ("No significant interval change.", {"stable study"}),
        ("As compared to the previous radiograph, there is no relevant change.", {"stable study"}),
        ("There is no change in the small left apical pneumothorax.", {"stable left pneumothorax"}),
        ("No prior for comparison. No previous studies. Cardiomegaly.", set()),
        ("No new consolidation. The lungs are clear.", set()),
        ("Chest tube has been removed. Worsening edema.", {"resolved chest tube", "increased edema"}),
    ],
)
def test_statements_by_hand(text: str, expected: set[str]) -> None:
    assert {each.replace("pulmonary edema", "edema") for each in statements(text)} == expected


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (REFERENCE, 1.0),
        ("Cardiomegaly is unchanged. Right effusion, new. Resolution of the pneumothorax.", 1.0),
        ("No interval change.", 0.5),  # agrees with the stable heart: 2 * 1 / (1 + 3)
        ("Stable cardiomegaly. New left pleural effusion.", 0.4),  # the other side
        ("Increased cardiomegaly. Resolved right effusion. New pneumothorax.", 0.0),  # the other way round
        ("Cardiomegaly. Right pleural effusion. No pneumothorax.", 0.0),  # compares nothing
    ],
)
def test_f1_by_hand(candidate: str, expected: float) -> None:
    assert f1(candidate) == pytest.approx(expected)


def test_reports_that_compare_nothing_are_not_judged_and_a_set_is_sums_over_sums() -> None:
    texts = [
        (REFERENCE, REFERENCE),
        ("Clear lungs.", "Heart size is normal."),
        ("New edema.", "Clear lungs."),
        ("", ""),
    ]
    cases = [rg.Case(str(at), candidate, (reference,)) for at, (candidate, reference) in enumerate(texts)]
    scores = rg.score(cases, ["temporal"])["temporal"]
    assert scores.headline[:3].tolist() == pytest.approx([1.0, math.nan, 0.0], nan_ok=True)
    assert scores.reasons["1", "system"] == "neither report compares with a prior study"
    assert Temporal().corpus_score(scores.rows) == pytest.approx(2 * 3 / (4 + 3))


def test_shuffled_references_agree_less() -> None:
    texts = [REFERENCE, "Worsening edema.", "Decreased left effusion. Unchanged hernia.", "New rib fracture."]
    right = np.mean([f1(text, text) for text in texts])
    wrong = np.mean([f1(text, other) for text, other in zip(texts, texts[1:] + texts[:1], strict=True)])
    assert right == 1.0
    assert wrong == 0.0


def test_without_a_prior_comparisons_of_the_reference_are_counted_apart() -> None:
    cases = [
        rg.Case("1", "Cardiomegaly.", (REFERENCE,)),
        rg.Case("2", "New edema. No interval change.", ("Edema.",)),
    ]
    scores = rg.score(cases, ["temporal:prior=none"])["temporal"]
    assert scores.columns == ("temporal_invented", "temporal_n")
    assert scores.values.tolist() == [[0.0, 3.0], [2.0, 0.0]]
    assert not scores.higher_is_better
