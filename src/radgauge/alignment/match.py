"""Match the findings of a candidate with those of a reference, one to one, and name what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from radgauge.alignment.concepts import NEAR, ConceptSimilarity
from radgauge.alignment.findings import Denial, Finding, Findings, Span

SAME_SIZE = 0.25  # relative difference of measurements that is still the same
SMALL_MM = 3.0  # and the absolute one: nobody measures better than that


class Difference(NamedTuple):
    """One attribute of a matched finding that the two reports tell differently.

    Attributes:
        attribute: side, location, severity, size, change, or uncertainty.
        reference: What the reference says, "" = nothing.
        candidate: What the candidate says.
        conflict: True if both say something and it differs; False if one of them is silent.
    """

    attribute: str
    reference: str
    candidate: str
    conflict: bool


@dataclass(frozen=True, slots=True)
class Match:
    """The same finding in both reports."""

    reference: Finding
    candidate: Finding
    similarity: float
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A finding that one report makes and the other denies."""

    finding: Finding
    denial: Denial


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two reports side by side.

    Attributes:
        matched: Findings of both.
        missing: Findings of the reference that the candidate does not mention.
        added: Findings of the candidate that the reference does not mention.
        denied: Findings of the reference that the candidate denies.
        invented: Findings of the candidate that the reference denies.
        restated: Findings that only say again, in other words, what is matched already: (side, finding).
        agreed_normal: Spans (reference, candidate) of denials that both reports make.
    """

    matched: tuple[Match, ...]
    missing: tuple[Finding, ...]
    added: tuple[Finding, ...]
    denied: tuple[Contradiction, ...]
    invented: tuple[Contradiction, ...]
    restated: tuple[tuple[str, Finding], ...]
    agreed_normal: tuple[tuple[Span, Span], ...]


def align_findings(reference: Findings, candidate: Findings, similarity: ConceptSimilarity) -> Aligned:
    """Put the findings of two reports side by side."""
    ours, theirs = candidate.present, reference.present
    closeness = [[_closeness(r, c, similarity) for c in ours] for r in theirs]
    pairs = _assign(closeness)
    used_r, used_c = {r for r, _ in pairs}, {c for _, c in pairs}
    restated: list[tuple[str, Finding]] = []
    missing, denied = _leftover(
        theirs, used_r, pairs, closeness, "reference", candidate.denied, similarity, restated
    )
    flipped = [list(column) for column in zip(*closeness, strict=True)] if closeness else [[] for _ in ours]
    swapped = [(c, r) for r, c in pairs]
    added, invented = _leftover(
        ours, used_c, swapped, flipped, "candidate", reference.denied, similarity, restated
    )
    return Aligned(
        matched=tuple(
            Match(theirs[r], ours[c], closeness[r][c], differences(theirs[r], ours[c], similarity))
            for r, c in pairs
        ),
        missing=tuple(missing),
        added=tuple(added),
        denied=tuple(denied),
        invented=tuple(invented),
        restated=tuple(restated),
        agreed_normal=_agreed(reference.denied, candidate.denied),
    )


def differences(r: Finding, c: Finding, similarity: ConceptSimilarity) -> tuple[Difference, ...]:
    """Every attribute that two matched findings tell differently."""
    found: list[Difference] = []
    if r.sides != c.sides:
        conflict = bool(r.sides and c.sides)
        found.append(Difference("side", side_name(r.sides), side_name(c.sides), conflict))
    if r.locations and c.locations:
        if not any(similarity.related(a, b) for a in r.locations for b in c.locations):
            found.append(Difference("location", _names(r.locations), _names(c.locations), True))
    elif r.locations or c.locations:
        found.append(Difference("location", _names(r.locations), _names(c.locations), False))
    if r.severity != c.severity:
        conflict = bool(r.severity and c.severity)
        found.append(Difference("severity", severity_name(r.severity), severity_name(c.severity), conflict))
    if r.sizes_mm or c.sizes_mm:
        a, b = max(r.sizes_mm, default=0.0), max(c.sizes_mm, default=0.0)
        if abs(a - b) > max(SMALL_MM, SAME_SIZE * max(a, b)):
            found.append(Difference("size", _size(a), _size(b), bool(a and b)))
    if r.change != c.change:
        found.append(Difference("change", r.change, c.change, bool(r.change and c.change)))
    if r.uncertain != c.uncertain:
        words = ("certain", "uncertain")
        found.append(Difference("uncertainty", words[r.uncertain], words[c.uncertain], True))
    return tuple(found)


def side_name(sides: int) -> str:
    """The sides in words.

    >>> side_name(1), side_name(3), side_name(0)
    ('left', 'bilateral', '')
    """
    return {0: "", 1: "left", 2: "right", 3: "bilateral", 4: "midline"}.get(sides, "bilateral")


def severity_name(severity: int) -> str:
    """The severity in words."""
    return ("", "trace", "mild", "moderate", "severe")[severity]


def _closeness(r: Finding, c: Finding, similarity: ConceptSimilarity) -> float:
    value = similarity.of(r.concept, c.concept)
    if value < NEAR:
        return 0.0
    if r.sides and c.sides and not r.sides & c.sides:
        value *= 0.7
    elif r.sides != c.sides:
        value *= 0.95
    apart = not any(similarity.related(a, b) for a in r.locations for b in c.locations)
    return value * 0.8 if r.locations and c.locations and apart else value


def _assign(closeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    edges = [(r, c) for r, row in enumerate(closeness) for c, value in enumerate(row) if value > 0]
    if len({r for r, _ in edges}) == len(edges) == len({c for _, c in edges}):
        return edges  # nothing competes: the usual case, and much cheaper
    rows, columns = linear_sum_assignment(np.asarray(closeness), maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if closeness[r][c] > 0]


def _leftover(
    own: Sequence[Finding],
    used: set[int],
    pairs: Sequence[tuple[int, int]],
    closeness: Sequence[Sequence[float]],
    side: str,
    denials: Sequence[Denial],
    similarity: ConceptSimilarity,
    restated: list[tuple[str, Finding]],
) -> tuple[list[Finding], list[Contradiction]]:
    alone: list[Finding] = []
    against: list[Contradiction] = []
    for index, finding in enumerate(own):
        if index in used:
            continue
        denial = next((each for each in denials if _denies(each, finding, similarity)), None)
        if denial is not None and not denial.normal:
            against.append(Contradiction(finding, denial))
        elif any(closeness[index][other] >= NEAR and _covered(finding, own[mine]) for mine, other in pairs):
            restated.append((side, finding))
        elif denial is not None:
            against.append(Contradiction(finding, denial))
        else:
            alone.append(finding)
    return alone, against


def _covered(finding: Finding, matched: Finding) -> bool:
    """Whether a finding says nothing new beside one of its own report that is matched already."""
    if finding.sides and matched.sides and not finding.sides & matched.sides:
        return False
    return not (finding.locations and matched.locations and finding.locations.isdisjoint(matched.locations))


def _denies(denial: Denial, finding: Finding, similarity: ConceptSimilarity) -> bool:
    if denial.sides and finding.sides and not denial.sides & finding.sides:
        return False
    above = similarity.ancestors(finding.concept)
    return any(concept in above for concept in denial.concepts)


def _agreed(reference: Sequence[Denial], candidate: Sequence[Denial]) -> tuple[tuple[Span, Span], ...]:
    return tuple(
        (r.span, c.span)
        for r in reference
        for c in [next((c for c in candidate if r.concepts & c.concepts), None)]
        if c is not None
    )


def _names(locations: frozenset[str]) -> str:
    return ", ".join(sorted(name.replace("_", " ") for name in locations))


def _size(mm: float) -> str:
    return f"{mm:g} mm" if mm else ""
