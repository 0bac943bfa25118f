"""Two reports side by side: what is matched, missing, added and contradicted."""

from __future__ import annotations

from typing import NamedTuple

from radgauge.findings.findings import Denial, Finding


class Difference(NamedTuple):
    """One attribute of a matched finding that the two reports tell differently.

    Attributes:
        attribute: side, location, position, severity, size, change, or uncertainty.
        reference: What the reference says, "" = nothing.
        candidate: What the candidate says.
        conflict: True if both say something and it differs; False if one of them is silent.
    """

    attribute: str
    reference: str
    candidate: str
    conflict: bool


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
    """Two reports side by side.

    Attributes:
        matched: Findings of both.
        missing: Findings of the reference that the candidate does not mention.
        added: Findings of the candidate that the reference does not mention.
        denied: Findings of the reference that the candidate denies.
        invented: Findings of the candidate that the reference denies.
        told_r: Findings of the reference that the candidate tells in other words: signs of a shared diagnosis.
        told_c: The same of the candidate.
    """

    matched: tuple[Match, ...]
    missing: tuple[Finding, ...]
    added: tuple[Finding, ...]
    denied: tuple[Contradiction, ...]
    invented: tuple[Contradiction, ...]
    told_r: tuple[Finding, ...] = ()
    told_c: tuple[Finding, ...] = ()
