"""Sentences that two reports share but for a word that turns them round."""

from __future__ import annotations

import pytest

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.findings.edits import compare_sentences
from radgauge.findings.error import Error
from radgauge.metrics.errors import Errors


@pytest.mark.parametrize(
    ("reference", "candidate", "found"),
    [
        (
            "Cyst in the left lobe of the thyroid.",
            "Cyst in the right lobe of the thyroid.",
            ("side", "left", "right"),
        ),
        (
            "Quorn sign of the gizzard is negative.",
            "Quorn sign of the gizzard is positive.",
            ("added", "negative", "positive"),
        ),
        (
            "The vein is patent throughout its course.",
            "The vein is occluded in its course.",
            ("added", "patent", "occluded"),
        ),
        (
            "The stent lumen is thrombosed distally.",
            "The stent lumen is patent distally.",
            ("omitted", "thrombosed", "patent"),
        ),
        ("Mass of the upper pole, 4 cm.", "Mass of the upper pole, 0.4 cm.", ("size", "40 mm", "4 mm")),
        (
            "Collection is smaller than before.",
            "Collection is larger than before.",
            ("change", "decreased", "increased"),
        ),
        (
            "Definite nodule in the mid zone.",
            "Possible nodule in the mid zone.",
            ("uncertainty", "certain", "uncertain"),
        ),
        ("The graft is leaking at the neck.", "The graft is not leaking at the neck.", ("omitted", "", "no")),
    ],
)
def test_a_word_that_turns_a_sentence_round(reference: str, candidate: str, found: tuple[str, str, str]) -> None:
    assert [edit[:3] for edit in compare_sentences([reference], [candidate]).edits] == [found]


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Cyst in the left lobe.", "Cyst in the left lobe."),
        ("Small effusion at the left base.", "Tiny effusion at the left base."),  # one step of degree
        ("Nodule of 12 mm in the lingula.", "Nodule of 1.3 cm in the lingula."),  # a size within tolerance
        ("Effusion on the right, larger than on the left.", "Effusion on the left, smaller than on the right."),
        ("Lungs are clear.", "Lungs are clear without infiltrate."),  # a denial of something else
        ("Fracture of the left hip with shortening.", "Right knee replacement."),  # nothing is copied
        ("Unchanged since 2019.", "Unchanged since 2021."),
    ],
)
def test_what_turns_nothing_round(reference: str, candidate: str) -> None:
    assert [edit for edit in compare_sentences([reference], [candidate]).edits if edit.tells != "change"] == []


def _errors(reference: str, candidate: str) -> tuple[Error, ...]:
    judged = Errors().profile(Case("1", candidate, (reference,)), reading=Readings())
    assert judged is not None
    return judged[0].errors


def test_an_unknown_finding_on_the_other_side_is_an_error() -> None:
    """The reader need not know what is where: the sentence says it on another side."""
    [error] = _errors(
        "The gizzard bezel shows a quorn of the left flange. Lungs are clear.",
        "The gizzard bezel shows a quorn of the right flange. Lungs are clear.",
    )
    assert error.difference is not None
    assert error.difference[:3] == ("side", "left", "right")


def test_an_error_is_counted_once() -> None:
    """The reader knows an effusion: its side is wrong once, not once as a finding and once as a word."""
    errors = _errors("Small left pleural effusion.", "Small right pleural effusion.")
    assert [error.difference[:3] for error in errors if error.difference] == [("side", "left", "right")]


def test_normal_lungs_may_change_sides() -> None:
    assert _errors("Right lung is clear. Heart size is normal.", "Left lung is clear. Heart size is normal.") == ()


def test_a_copied_sentence_does_not_support_what_it_replaced() -> None:
    """Words in common are no sign that "coarse popcorn" means "fine pleomorphic"."""
    reference = (
        "Grouped fine pleomorphic calcifications over 16 mm in the upper outer quadrant of the left breast."
    )
    candidate = "Grouped coarse popcorn calcifications over 16 mm in the upper outer quadrant of the left breast."
    assert any(error.significant for error in _errors(reference, candidate))


def test_explained_in_words() -> None:
    case = Case("1", "Quorn sign of the gizzard is positive.", ("Quorn sign of the gizzard is negative.",))
    notes = Errors().explain(case, reading=Readings())
    assert notes is None or all(note.text for note in notes.notes)


_COPIED = "Small left pleural effusion. Tortuous aorta. Old fracture of the right clavicle. "


def test_an_error_in_a_copy_is_certain() -> None:
    """What is added to a copied report is no other wording of it; what is left out is not turned round."""
    [added] = _errors(_COPIED.strip(), _COPIED + "Nodule in the lingula.")
    assert (added.turned, added.support) == (True, 0.0)
    [left_out] = _errors(_COPIED + "Nodule in the lingula.", _COPIED.strip())
    assert (left_out.turned, left_out.support) == (False, 0.0)
    reworded = _errors(
        _COPIED + "Nodule in the lingula.",
        "A little fluid blunts the left recess. Unfolded aortic arch. Previous break of the right collarbone.",
    )
    assert not any(error.turned for error in reworded)
