"""Release gates.

Two versions of a system that reports every finding; what the newer one does to the gate is the control.
"""

from __future__ import annotations

from outcome import Outcome

import radgauge as rg
from radgauge.errors import UsageError
from radgauge.studies.releases import Limit, broken_limits, compare_releases

REPORTS = (
    "Moderate right pleural effusion. No pneumothorax.",
    "Large left pneumothorax. The heart is normal in size.",
    "The lungs are clear. No pleural effusion or pneumothorax.",
    "Left lower lobe consolidation. No pleural effusion.",
    "Mild cardiomegaly. The lungs are clear.",
    "No acute cardiopulmonary abnormality.",
)


def scored(candidates: tuple[str, ...], system: str = "model") -> rg.Results:
    """Scores of `errors` for a system that wrote these reports."""
    cases = [
        rg.Case(str(number), candidate, (reference,), system)
        for number, (candidate, reference) in enumerate(zip(candidates, REPORTS, strict=True))
    ]
    return rg.score(cases, ["errors"])


def control_limit_on_an_output_that_nobody_computed() -> Outcome:
    """A misspelt limit must not pass because nothing breaks it."""
    tried, must = "a limit on `errors_serious`, which is no output", "refuse, with the outputs there are"
    lines = compare_releases(scored(REPORTS), scored(REPORTS), permutations=50).comparisons
    try:
        broken = broken_limits(lines, [Limit.parse("errors_serious > +0.02")])
    except UsageError as error:
        return Outcome(tried, must, str(error), "errors_recall" in str(error))
    return Outcome(tried, must, f"{len(broken)} limits broken", False)
