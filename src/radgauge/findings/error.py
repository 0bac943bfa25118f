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
    """One error that a radiologist would count.

    Attributes:
        category: Position in CATEGORIES.
        significant: Whether it is clinically significant.
        tier: Position in TIERS of the finding it concerns.
        hedged: Whether the finding is uncertain.
        denied: Whether the other report denies the finding in words.
        reference: The reference's finding, None for a false one.
        candidate: The candidate's finding, None for an omission.
        difference: What differs, for errors in an attribute.
        spans: Where the denial stands in the other report.
        support: How likely the other report says the finding in words that were not brought together, 0 to 1.
        turned: Whether it stands in a sentence that the candidate copied and turned round: no doubt is left.
    """

    category: int
    significant: bool
    tier: int
    hedged: bool
    denied: bool
    reference: Finding | None
    candidate: Finding | None
    difference: Difference | None = None
    spans: tuple[tuple[int, int], ...] = ()
    support: float = 0.0
    turned: bool = False

    @property
    def is_next_degree(self) -> bool:
        """Whether only neighbouring degrees differ (moderate for severe): radiologists may call it either way."""
        d, r, c = self.difference, self.reference, self.candidate
        if d is None or d.attribute != "severity" or r is None or c is None:
            return False
        return abs(r.severity - c.severity) == 1

    @property
    def is_reversed(self) -> bool:
        """Whether a significant change is told the other way round: better for worse, stable for grown."""
        d = self.difference
        if d is None or d.attribute != "change" or not d.conflict or not self.significant:
            return False
        return (d.reference in WORSE) is not (d.candidate in WORSE)
