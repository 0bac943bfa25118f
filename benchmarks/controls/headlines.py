"""Headlines of a report.

What the first sentence of a page says where no system deserves to be called better.
"""

from __future__ import annotations

import numpy as np
from outcome import Outcome

import radgauge as rg
from radgauge.core.scores import Results, Scores

NORMAL = "The heart is normal in size. The lungs are clear. No pleural effusion or pneumothorax."
SIDES = ("left", "right")


def control_no_system_beats_a_constant_report() -> Outcome:
    """Averages of mostly normal studies flatter a template."""
    cases = []
    for n in range(20):
        reference = f"Large {SIDES[n % 2]} pneumothorax." if n % 5 == 0 else NORMAL
        cases.append(rg.Case(f"s{n}", NORMAL, (reference,), "constant"))
        cases.append(rg.Case(f"s{n}", f"The lungs are clear. View {n}.", (reference,), "model"))
    report = rg.build_report(rg.score(cases, ["errors"]), cases=cases, resamples=50, permutations=100)
    did = report.verdict.answer
    tried = "a model that finds as little as one text for all 20 studies"
    return Outcome(tried, "say so in the heading", did, did.startswith("No system here beats a constant report"))


def control_a_difference_below_the_smallest_effect() -> Outcome:
    """Sixty studies, each 0.008 better: no chance, and nothing that a rater would notice."""
    values = np.tile([[0.500], [0.508]], (60, 1)) + np.repeat(np.linspace(-0.2, 0.2, 60), 2)[:, None]
    keys = tuple((f"s{n}", name) for n in range(60) for name in ("old", "new"))
    scores = Scores("errors", "errors", keys, values, values, ("errors_quality",), True)
    did = rg.build_report(Results({"errors": scores}), resamples=50, permutations=500).verdict.answer
    tried = "error-based quality 0.008 higher in each of 60 studies"
    return Outcome(tried, "call neither better", did, "better" not in did)


def control_a_small_difference_of_few_studies() -> Outcome:
    """Equal means of ten studies that scatter widely show no equality."""
    values = np.linspace(0, 1, 10)[:, None]
    keys = tuple((f"s{n}", name) for name in ("old", "new") for n in range(10))
    both = np.vstack([values, values[::-1]])
    scores = Scores("errors", "errors", keys, both, both, ("errors_quality",), True)
    did = rg.build_report(Results({"errors": scores}), resamples=50, permutations=500).verdict.answer
    return Outcome("equal means of ten studies, each far apart", "claim no equality", did, "told apart" in did)


def control_a_silent_system_that_is_otherwise_better() -> Outcome:
    """Silent on the studies it would get wrong."""
    cases = []
    for n in range(24):
        reference = f"Large {SIDES[n % 2]} pneumothorax, study {n}."
        cases.append(rg.Case(f"s{n}", reference if n % 2 else "", (reference,), "shy"))
        cases.append(rg.Case(f"s{n}", reference if n % 4 else NORMAL, (reference,), "bold"))
    report = rg.build_report(rg.score(cases, ["errors"]), cases=cases, resamples=50, permutations=100)
    did = " ".join((*report.verdict.answered, report.verdict.answer))
    tried = "a system that writes nothing for half of the studies"
    return Outcome(tried, "count its answers first", did, did.startswith("shy answered 12 of 24 studies"))
