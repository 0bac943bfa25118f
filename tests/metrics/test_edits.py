"""edits: what a radiologist would have to change."""

from __future__ import annotations

import numpy as np
import pytest

import radgauge as rg
from radgauge.core.errors import UsageError
from radgauge.core.readings import Readings
from radgauge.metrics.edits import COLUMNS, Edit, Edits

REFERENCE = (
    "Small left pleural effusion. The heart is enlarged. No pneumothorax. Degenerative changes of the spine. "
    "Follow-up CT in 3 months is recommended."
)
READING = Readings()


def values(candidate: str, reference: str = REFERENCE) -> dict[str, float]:
    row = Edits().measure([rg.Case("1", candidate, (reference,))], reading=READING)[0]
    return dict(zip(COLUMNS, row.tolist(), strict=True))


def notes(candidate: str, reference: str = REFERENCE) -> list[str]:
    return [
        note.text.split(" (words")[0]
        for note in rg.explain(candidate=candidate, reference=reference, metric="edits").notes[:-1]
    ]


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ("left", "right", ['Change "Small right pleural effusion." to "Small left pleural effusion."']),
        (
            "The heart is enlarged",
            "Heart size is normal",
            ['Change "Heart size is normal." to "The heart is enlarged."'],
        ),
        ("No pneumothorax", "Pneumothorax", ['Change "Pneumothorax." to "No pneumothorax."']),
        (
            "3 months",
            "12 months",
            ['Change "Follow-up CT in 12 months is recommended." to "Follow-up CT in 3 months is recommended."'],
        ),
        ("The heart is enlarged. ", "", ['Insert "The heart is enlarged."']),
        ("Degenerative", "Rib fracture. Degenerative", ['Delete "Rib fracture."']),
        (
            "effusion. The",
            "effusion and a rib fracture. The",
            ['Change "Small left pleural effusion and a rib fracture." to "Small left pleural effusion and a ."'],
        ),
        ("The heart is enlarged", "Cardiomegaly", []),
    ],
)
def test_the_edit_of_one_change(old: str, new: str, edits: list[str]) -> None:
    assert notes(REFERENCE.replace(old, new)) == edits


def test_counts_by_hand() -> None:
    found = values("Small right pleural effusion. Heart size is normal. No pneumothorax. Old rib fracture.")
    typed = 1 + 2 + 5 + 7  # left; the, enlarged; two inserted sentences
    assert found == pytest.approx(
        {
            "edits": 5,
            "edits_significant": 2,
            "edits_changed": 2,
            "edits_deleted": 1,
            "edits_inserted": 2,
            "edits_words": typed + 1 + 2 + 3,
            "edits_seconds": 60 * typed / 52 + 5 * 5,
            "edits_reworded": 0,
            "edits_unchanged": 1,
        }
    )


def test_rewording_is_no_edit() -> None:
    found = values(
        "There is a small effusion on the left. Cardiomegaly. No pneumothorax is seen. Spinal degeneration. "
        "CT follow-up in three months recommended."
    )
    assert (found["edits"], found["edits_words"], found["edits_seconds"]) == (0, 0, 0)
    assert (found["edits_reworded"], found["edits_unchanged"]) == (5, 0)
    assert values(REFERENCE.upper())["edits_unchanged"] == 5


def test_one_sentence_that_denies_two_findings_changes_and_one_is_inserted() -> None:
    assert notes("Normal heart and no effusion.", "Left effusion. Cardiomegaly.") == [
        'Change "Normal heart and no effusion." to "Left effusion."',
        'Insert "Cardiomegaly."',
    ]


def test_words_to_type_and_to_delete() -> None:
    assert Edit("changed", "A 5 mm nodule, unchanged.", "A 12.5 mm nodule.", False).words == (1, 2)
    assert Edit("inserted", "", "Old rib fracture.", False).words == (3, 0)


def test_time_is_a_setting() -> None:
    case = rg.Case("1", "Lungs are clear.", ("Left effusion.",))
    for metric, seconds in ((Edits(), 5 + 120 / 52), (Edits(words_per_minute=120, seconds_per_edit=0), 1.0)):
        row = metric.measure([case], reading=READING)[0]
        assert row[COLUMNS.index("edits_seconds")] == pytest.approx(seconds)
    with pytest.raises(UsageError, match="words_per_minute must be greater than 0"):
        Edits(words_per_minute=0)


def test_the_best_reference_counts_and_what_is_not_read_is_not_judged() -> None:
    cases = [rg.Case("1", REFERENCE, ("Lungs are clear.", REFERENCE)), rg.Case("2", "xyzzy", (REFERENCE,))]
    rows = Edits().measure(cases, reading=READING)
    assert rows[0, 0] == 0
    assert np.isnan(rows[1]).all()
