"""One error that a radiologist would count, and the positions of the categories."""

from __future__ import annotations

from typing import NamedTuple

from radgauge.findings.aligned import Difference
from radgauge.findings.findings import Finding

FALSE, OMITTED, LOCATION, SEVERITY = 0, 1, 2, 3
FALSE_COMPARISON, OMITTED_COMPARISON, FALSE_UNCERTAINTY, OMITTED_UNCERTAINTY = 4, 5, 6, 7
"""Positions in CATEGORIES."""

WORSE = frozenset({"new", "increased"})
"""Changes that call for action."""


class Error(NamedTuple):
    """One error that a radiologist would count."""

    category: int  # Position in CATEGORIES
    significant: bool  # True if it is clinically significant
    tier: int  # Position in TIERS of the finding it concerns
    hedged: bool  # True if the finding is uncertain
    denied: bool  # True if the other report denies the finding in words
    reference: Finding | None  # The reference's finding, None for a false one
    candidate: Finding | None  # The candidate's finding, None for an omission
    difference: Difference | None = None  # What differs, for errors in an attribute
    spans: tuple[tuple[int, int], ...] = ()  # Where the denial is in the other report
    # How likely the other report says the finding in words that were not brought together, 0 to 1
    support: float = 0.0
    # True if it stands in a sentence that the candidate copied and turned round: no doubt is left
    turned: bool = False

    @property
    def is_next_degree(self) -> bool:
        """True if only neighbouring degrees differ (moderate for severe): radiologists may call it either way."""
        d, r, c = self.difference, self.reference, self.candidate
        if d is None or d.attribute != "severity" or r is None or c is None:
            return False
        return abs(r.severity - c.severity) == 1

    @property
    def is_reversed(self) -> bool:
        """True if a significant change is told the other way round: better for worse, stable for grown."""
        d = self.difference
        if d is None or d.attribute != "change" or not d.conflict or not self.significant:
            return False
        return (d.reference in WORSE) is not (d.candidate in WORSE)
