"""Soft evidence, nodules and edits.

What soft measures cannot see must not raise a report; a report that says nothing detects nothing.
"""

from __future__ import annotations

from outcome import Outcome

import radgauge as rg

REPORT = (
    "8 mm solid nodule in the right upper lobe. 4 mm nodule in the lingula. Small left pleural effusion. "
    "The heart is enlarged. No pneumothorax."
)
NORMAL = "The lungs are clear. No nodule. No effusion. Heart size is normal."


def value(candidate: str, metric: str, column: str) -> float:
    """One output for a candidate against the report."""
    scores = next(iter(rg.score([rg.Case("1", candidate, (REPORT,))], [metric]).judges.values()))
    return float(scores.column(column)[0])


def control_one_side_flipped() -> Outcome:
    """Entities and labels of near copies are alike: they must not count."""
    flipped = REPORT.replace("left pleural", "right pleural")
    with_evidence = value(flipped, "errors", "errors_quality")
    alone = value(flipped, "errors:soft=off", "errors_quality")
    did = f"{with_evidence:.3f}, by errors alone {alone:.3f}"
    return Outcome(
        "quality of a copy with one side flipped", "soft evidence adds nothing", did, with_evidence == alone
    )


def control_words_of_the_reference_in_alphabetical_order() -> Outcome:
    """A salad of the right words is no free wording."""
    salad = " ".join(sorted(REPORT.replace(".", "").lower().split()))
    with_evidence = value(salad, "errors", "errors_quality")
    copy = value(REPORT, "errors", "errors_quality")
    did = f"{with_evidence:.3f}, the copy {copy:.3f}"
    return Outcome("quality of the words in alphabetical order", "below a copy", did, with_evidence < copy)


def control_nodules_of_a_constant_report() -> Outcome:
    """A normal template detects nothing and invents nothing."""
    columns = ("nodules_f1", "nodules_sensitivity", "nodules_false_positives")
    values = [value(NORMAL, "nodules", column) for column in columns]
    did = ", ".join(f"{each:.3f}" for each in values)
    return Outcome(
        "nodules (F1, sensitivity, false positives) of a normal template", "0, 0, 0", did, values == [0, 0, 0]
    )


def control_nodules_in_the_other_lung() -> Outcome:
    """The right sizes in the wrong place."""
    moved = REPORT.replace("right upper", "left lower").replace("lingula", "middle lobe")
    found = value(moved, "nodules", "nodules_sensitivity")
    return Outcome(
        "nodules of the same sizes in other lobes", "sensitivity 0", f"sensitivity {found:.3f}", found == 0
    )


def control_edits_of_a_copy() -> Outcome:
    """The same sentences in another order and in capitals."""
    turned = ". ".join(reversed(REPORT.rstrip(".").split(". "))).upper() + "."
    edits = [value(text, "edits", "edits_words") for text in (REPORT, turned)]
    did = ", ".join(f"{each:.0f}" for each in edits)
    return Outcome(
        "words to edit in a copy, and in its sentences in reverse and in capitals", "0, 0", did, edits == [0, 0]
    )


def control_edits_of_a_constant_report() -> Outcome:
    """Nothing of it can stay where it denies what is there."""
    edits, unchanged = (value(NORMAL, "edits", column) for column in ("edits", "edits_unchanged"))
    did = f"{edits:.0f} edits, {unchanged:.0f} unchanged"
    return Outcome("edits of a normal template", "at least one for each of 4 findings", did, edits >= 4)
