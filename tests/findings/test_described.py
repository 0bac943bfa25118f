"""A diagnosis in one report, its description in the other."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings import findings as descriptions
from radgauge.findings.findings import Descriptions, diagnoses, knowledge_for
from radgauge.metrics.errors import Errors
from radgauge.reader import load_lexicon


def errors(reference: str, candidate: str) -> list[int]:
    found = Errors().profile(Case("1", candidate, (reference,)), reading=Readings())
    assert found is not None
    return [error.category for error in found[0].errors]


@pytest.mark.parametrize(
    ("diagnosis", "description"),
    [
        ("Colles fracture.", "Fracture of the distal radius with dorsal angulation."),
        ("Acute cholecystitis.", "Gallbladder wall thickening and pericholecystic fluid."),
        ("Small bowel obstruction.", "Dilated small bowel with air-fluid levels and a transition point."),
    ],
)
def test_name_and_description_are_one_finding(diagnosis: str, description: str) -> None:
    assert errors(diagnosis, description) == []
    assert errors(description, diagnosis) == []


def test_a_sign_is_told_with_its_shared_diagnosis_but_a_finding_in_its_own_right_is_not() -> None:
    assert errors("Heart failure with septal thickening.", "Heart failure.") == []
    assert errors("Heart failure with pleural effusions.", "Heart failure.") == [1]


def test_another_side_is_no_description() -> None:
    assert 2 in errors("Left Colles fracture.", "Fracture of the right distal radius with dorsal angulation.")


def test_diagnoses_are_terms_of_the_lexicon() -> None:
    assert Descriptions(load_lexicon()).phrases
    assert all(entry.get("equals") or entry.get("signs") for entry in diagnoses())


def test_claims_in_free_words_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "_MAX_CACHED", 50)
    known = knowledge_for(load_lexicon())
    monkeypatch.setattr(known.descriptions, "answers", {})
    metric = Errors()
    letters = "bdfgklmnprstvz"
    words = [f"{a}i{b}o{c}us" for a in letters[:6] for b in letters[:6] for c in letters[:4]]
    cases = [
        Case(word, "Colles fracture. There is a mass.", (f"There is a {word}. Mass. Distal radius broken.",))
        for word in words
    ]
    metric.measure(cases, reading=Readings())
    named = {f"open:{word}" for word in words}
    assert known.similarity.families_of(f"open:{words[0]}") == {}
    assert named.isdisjoint(known.similarity._known)
    assert named.isdisjoint(known.lexicon._ancestors)
    assert 0 < len(known.descriptions.answers) <= 50
