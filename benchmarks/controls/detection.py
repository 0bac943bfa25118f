"""Detection of significant findings.

What a report must not get for silence, for the wrong side, or for words that only resemble a finding.
"""

from __future__ import annotations

import math

from outcome import Outcome

import radgauge as rg
from radgauge.core.metric import sums

NORMAL = "The lungs are clear. The heart is normal in size."


def detection(*pairs: tuple[str, str]) -> dict[str, float]:
    """Outputs of `errors` for a set of (candidate, reference)."""
    cases = [rg.Case(str(number), candidate, (reference,)) for number, (candidate, reference) in enumerate(pairs)]
    scores = rg.score(cases, ["errors"])["errors"]
    return dict(zip(scores.columns, map(float, scores.corpus_scores(*sums(scores.rows))), strict=True))


def control_constant_normal_report() -> Outcome:
    """A constant report cannot win between systems."""
    references = [NORMAL] * 18 + ["Large right pneumothorax.", "Left lower lobe consolidation."]
    values = detection(*((NORMAL, reference) for reference in references))
    did = ", ".join(f"{name} {values[f'errors_{name}']:.3f}" for name in ("f1", "recall", "quality"))
    return Outcome("one normal report for 20 studies, 2 of them abnormal", "F1 0", did, values["errors_f1"] == 0)


def control_wrong_side() -> Outcome:
    """A finding on the other side is missed and invented."""
    values = detection(("Right pleural effusion.", "Left pleural effusion."))
    did = f"recall {values['errors_recall']:.3f}, precision {values['errors_precision']:.3f}"
    return Outcome("right for left effusion", "recall 0, precision 0", did, did == "recall 0.000, precision 0.000")


def control_place_without_a_finding() -> Outcome:
    """The name of a lobe is no opacity."""
    values = detection(("No pneumothorax. Left lower lobe.", "Large left lower lobe opacity."))
    return Outcome(
        "a lobe named, nothing found in it",
        "recall 0",
        f"recall {values['errors_recall']:.3f}",
        values["errors_recall"] == 0,
    )


def control_recall_of_a_normal_study() -> Outcome:
    """Where there is nothing to report there is no recall."""
    values = detection((NORMAL, NORMAL))
    blank = all(math.isnan(values[name]) for name in ("errors_f1", "errors_precision", "errors_recall"))
    return Outcome(
        "a normal report of a normal study", "not applicable", "no value" if blank else "a value", blank
    )


def control_same_references_same_support() -> Outcome:
    """The number of findings to report depends on the reference alone."""
    reference = "Opacities at both bases. Left lower lobe opacity. Chest tube ends in the soft tissues. Lung mass."
    candidates = (reference, NORMAL, "Pneumonia in the left base. Chest tube in good position.", "Rib fracture.")
    scores = rg.score([rg.Case(str(n), text, (reference,)) for n, text in enumerate(candidates)], ["errors"])[
        "errors"
    ]
    correct, missed = (scores.rows[:, scores.columns.index(name)] for name in ("errors_f1", "errors_recall"))
    supports = sorted(set((correct + missed).astype(int).tolist()))
    did = f"{' or '.join(map(str, supports))} findings to report"
    return Outcome("four candidates for one reference", "one number of findings", did, len(supports) == 1)
