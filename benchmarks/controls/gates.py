"""Release gates.

Two versions of a system that reports every finding; what the newer one does to the gate is the control.
"""

from __future__ import annotations

from outcome import Outcome

import radgauge as rg
from radgauge.analysis.releases import Limit, broken_limits, compare_releases, unanswered_limits
from radgauge.core.errors import UsageError

REPORTS = (
    "Moderate right pleural effusion. No pneumothorax.",
    "Large left pneumothorax. The heart is normal in size.",
    "The lungs are clear. No pleural effusion or pneumothorax.",
    "Left lower lobe consolidation. No pleural effusion.",
    "Mild cardiomegaly. The lungs are clear.",
    "No acute cardiopulmonary abnormality.",
)


def scored(
    candidates: tuple[str, ...], *, systems: tuple[str, ...] = ("model",), references: tuple[str, ...] = REPORTS
) -> rg.Results:
    """Scores of `errors` for systems that wrote these reports."""
    cases = [
        rg.Case(str(number), candidate, (reference,), system)
        for number, (candidate, reference) in enumerate(zip(candidates, references, strict=True))
        for system in systems
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


def gate(newer: rg.Results, older: rg.Results) -> list[str]:
    """Reasons to stop the newer version: limits on significant errors and recall, no study missing."""
    limits = [Limit.parse("errors_significant > +0.02"), Limit.parse("errors_recall < -0.02")]
    found = compare_releases(newer, older, permutations=50, columns=["errors_significant"])
    missing = unanswered_limits(found, limits, allowed=0)
    return missing + broken_limits(found.comparisons, limits)


OLDER = ("No pleural effusion.", "No pneumothorax.", *REPORTS[2:])
"""The older version misses the findings of the first two studies."""


def silence(text: str, what: str) -> Outcome:
    """The newer version writes this where the older one was wrong."""
    reasons = gate(scored((text, text, *REPORTS[2:])), scored(OLDER))
    did = reasons[0] if reasons else "no limit is broken"
    return Outcome(
        f"{what} for the studies on which the older version was wrong", "break the gate", did, bool(reasons)
    )


def control_empty_reports_where_the_older_version_was_wrong() -> Outcome:
    """Silence removes errors from the mean."""
    return silence("", "an empty report")


def control_words_without_a_finding_where_the_older_version_was_wrong() -> Outcome:
    """A text in which nothing can be judged is silence too."""
    return silence("Report to follow.", "“Report to follow.”")


def control_a_system_that_is_gone() -> Outcome:
    """A system without a row in the newer scores answered nothing."""
    reasons = gate(scored(REPORTS, systems=("first",)), scored(REPORTS, systems=("first", "second")))
    did = reasons[0] if reasons else "no limit is broken"
    return Outcome("one of two systems absent from the newer scores", "break the gate", did, bool(reasons))


def control_other_references() -> Outcome:
    """References without findings make any version better."""
    easy = scored(OLDER, references=("No acute cardiopulmonary abnormality.",) * len(REPORTS))
    reasons = gate(easy, scored(OLDER))
    did = reasons[0] if reasons else "no limit is broken"
    return Outcome("the same reports against references without findings", "break the gate", did, bool(reasons))


def control_a_gate_passes_what_is_better() -> Outcome:
    """A gate that nothing passes would hold the controls above as well."""
    reasons = gate(scored(REPORTS), scored(OLDER))
    tried = "a newer version that reports what the older one missed"
    return Outcome(tried, "pass", reasons[0] if reasons else "no limit is broken", not reasons)
