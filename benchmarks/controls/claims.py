"""Claims.

What a report says against itself.
"""

from __future__ import annotations

from outcome import Outcome

import radgauge as rg

CONSISTENT = (
    "Findings: Small left effusion. The heart is enlarged. No pneumothorax. Impression: Small left effusion.",
    "Comparison: CT of last year. Findings: Unchanged 6 mm right upper lobe nodule. Impression: Stable nodule.",
    "Findings: The lungs are clear. No fracture. Impression: No acute abnormality.",
    "Findings: Acute nondisplaced fracture of the left scaphoid. Impression: Left scaphoid fracture.",
)


def consistency(*texts: str) -> list[float]:
    """Headline values of reports."""
    cases = [rg.Case(str(number), text) for number, text in enumerate(texts)]
    return [float(value) for value in rg.score(cases, ["consistency"])["consistency"].headline]


def control_reports_that_agree_with_themselves() -> Outcome:
    """Nothing is charged where nothing is wrong."""
    passed = sum(value == 1 for value in consistency(*CONSISTENT))
    return Outcome("consistent reports", f"{len(CONSISTENT)} pass", f"{passed} pass", passed == len(CONSISTENT))


def control_reports_that_contradict_themselves() -> Outcome:
    """One thing turned round in each of them."""
    turned = (
        CONSISTENT[0].replace("Impression: Small left", "Impression: Small right"),
        CONSISTENT[1].replace("CT of last year", "None"),
        CONSISTENT[2].replace("Impression: No acute abnormality", "Impression: Left lower lobe pneumonia"),
        CONSISTENT[3].replace("Left scaphoid fracture", "No acute abnormality"),
    )
    charged = sum(value == 0 for value in consistency(*turned))
    did = f"{charged} charged"
    return Outcome("the same with one thing turned round", f"{len(turned)} charged", did, charged == len(turned))


def control_foreign_text() -> Outcome:
    """What was not understood is not consistent."""
    (value,) = consistency("Die Lunge ist frei, kein Erguss und keine Stauung.")
    is_blank = value != value
    return Outcome("a German report", "no value", "no value" if is_blank else f"{value}", is_blank)
