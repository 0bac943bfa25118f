"""Clinically significant findings that a candidate detects: the counts behind precision, recall and F1.

Significance is that of the report that makes the claim, so the number of findings to detect depends on the
reference alone. A claim is detected only if it is matched, and not on the other side of the body.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from radgauge.findings.aligned import Aligned
from radgauge.findings.devices import BAD
from radgauge.findings.findings import Finding, Findings, Knowledge
from radgauge.findings.rules import NO_CONTEXT, SIGNIFICANT, TIERS, Context


class Detection(NamedTuple):
    """Counts of clinically significant findings."""

    correct: int = 0  # Findings of the reference that the candidate reports (true positives)
    false: int = 0  # Findings of the candidate that the reference does not have, or has on the other side
    missed: int = 0  # Findings of the reference that the candidate does not report, or reports on the other side

    @property
    def n_reference(self) -> int:
        """Number of significant findings of the reference, whatever the candidate says."""
        return self.correct + self.missed


def detect(
    aligned: Aligned,
    reference: Findings,
    candidate: Findings,
    knowledge: Knowledge,
    context: Context = NO_CONTEXT,
) -> Detection:
    """Count the significant findings that two aligned reports share, and those of one of them alone."""
    opposite = [match for match in aligned.matched if is_opposite(match.reference, match.candidate)]
    missing = (*aligned.missing, *(denied.finding for denied in aligned.denied))
    added = (*aligned.added, *(invented.finding for invented in aligned.invented))
    correct, missed = _count(
        reference.present,
        missing,
        [match.reference for match in opposite],
        [match.reference for match in aligned.matched],
        knowledge,
        context,
    )
    _, false = _count(
        candidate.present,
        added,
        [match.candidate for match in opposite],
        [match.candidate for match in aligned.matched],
        knowledge,
        context,
    )
    return Detection(correct, false, missed)


def is_opposite(a: Finding, b: Finding) -> bool:
    """True if both findings have a side and share none."""
    return bool(a.sides and b.sides) and not a.sides & b.sides


def _count(
    claims: Collection[Finding],
    unmatched: Collection[Finding],
    opposite: Collection[Finding],
    matched: Collection[Finding],
    knowledge: Knowledge,
    context: Context,
) -> tuple[int, int]:
    """Numbers of significant claims of one report that the other report shares and does not share.

    A match may hold the union of several claims (a finding and its restatement); such claims are recognised by
    their spans, all others by identity.
    """
    alone = {id(claim) for claim in (*unmatched, *opposite)}
    own_match = {id(claim) for claim in matched}
    shared = lost = 0
    for claim in claims:
        if tier_of_claim(claim, knowledge, context) not in SIGNIFICANT:
            continue
        is_lost = id(claim) in alone
        if opposite and not is_lost and id(claim) not in own_match:
            is_lost = any(set(claim.spans) <= set(union.spans) for union in opposite)
        shared, lost = shared + (not is_lost), lost + is_lost
    return shared, lost


def tier_of_claim(finding: Finding, knowledge: Knowledge, context: Context) -> int:
    """Return the tier of a finding that is missed or invented; of a misplaced device that of its position."""
    tier = knowledge.rules.tier_of(finding, context)
    return min(tier, tier_of_position(finding, knowledge)) if finding.position.startswith(BAD) else tier


def tier_of_position(device: Finding, knowledge: Knowledge) -> int:
    """Return the tier of a wrong position of a device."""
    return TIERS.index(knowledge.devices.tier(device.concept))
