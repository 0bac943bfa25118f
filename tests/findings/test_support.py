"""Findings that the other report says in words that were not brought together."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.support import Sentences, supports
from radgauge.metrics.errors import Errors


def test_a_sentence_in_other_words_supports_and_an_unrelated_one_does_not() -> None:
    own = Sentences(("Small area of collapse at the left base.", "Fracture of the right clavicle."), (0, 1))
    other = Sentences(("Minor collapse in the left basal region.", "The bowel gas pattern is normal."), (0, 1))
    near, far = supports([0, 1], own, other)
    assert near > 0.6 > 0.3 > far


def test_only_sentences_that_claim_support() -> None:
    own = Sentences(("Left effusion.",), (0,))
    assert supports([0], own, Sentences(("Left effusion.",), ())) == [0.0]


def test_a_denied_finding_has_no_support() -> None:
    case = Case("1", "Left pleural effusion.", ("No left pleural effusion. Cardiomegaly.",))
    found = Errors().profile(case, reading=Readings())
    assert found is not None
    assert [error.support for error in found[0].errors if error.category == 0] == [0.0]


@pytest.mark.parametrize("words", ["Florid zyxopathy of the left base.", "There is zyxopathy."])
def test_an_invented_claim_in_unknown_words_is_an_error(words: str) -> None:
    case = Case("1", f"The lungs are clear. {words}", ("The lungs are clear.",))
    found = Errors().profile(case, reading=Readings())
    assert found is not None
    assert [error.category for error in found[0].errors] == [0]
