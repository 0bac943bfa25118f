"""Two reports side by side: what is matched, missing, added and contradicted."""

from __future__ import annotations

from typing import NamedTuple

from radgauge.findings.findings import Denial, Finding


class Difference(NamedTuple):
    """One attribute of a matched finding that the two reports tell differently."""

    attribute: str  # side, location, position, severity, size, change, or uncertainty
    reference: str  # What the reference says, "" = nothing
    candidate: str  # What the candidate says
    conflict: bool  # True if both say something and it differs; False if one of them is silent


class Match(NamedTuple):
    """The same finding in both reports."""

    reference: Finding
    candidate: Finding
    similarity: float
    differences: tuple[Difference, ...]


class Contradiction(NamedTuple):
    """A finding that one report makes and the other denies."""

    finding: Finding
    denial: Denial


class Aligned(NamedTuple):
    """Two reports side by side."""

    matched: tuple[Match, ...]  # Findings of both
    missing: tuple[Finding, ...]  # Findings of the reference that the candidate does not mention
    added: tuple[Finding, ...]  # Findings of the candidate that the reference does not mention
    denied: tuple[Contradiction, ...]  # Findings of the reference that the candidate denies
    invented: tuple[Contradiction, ...]  # Findings of the candidate that the reference denies
    # Findings of the reference that the candidate tells in other words: signs of a shared diagnosis
    told_r: tuple[Finding, ...] = ()
    told_c: tuple[Finding, ...] = ()  # The same of the candidate
