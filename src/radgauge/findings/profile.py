"""The errors behind an alignment, in the eight categories, and the quality value made of them.

Categories: Yu et al. 2022 (1 to 6), Calamida et al. 2023 (7, 8). The quality value is ours:

    x = E (1 + base) / (W + base),    quality = (1 - x) / (1 + x)

with E the weighted errors and W the weight of all findings of the reference. It is 1 without errors, tends to -1,
and the scale of the weights is such that a normal template, which omits every finding, is at 0 on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from radgauge.core.error_categories import CATEGORIES
from radgauge.findings.advice import Advice, ChangedAdvice, changed_advice
from radgauge.findings.aligned import Aligned, Contradiction, Difference, Match
from radgauge.findings.closeness import concept_similarity, one_place
from radgauge.findings.detection import Detection, detect, tier_of_claim, tier_of_position
from radgauge.findings.devices import BAD
from radgauge.findings.edits import Edit, compare_sentences, is_copy, words_of
from radgauge.findings.error import (
    FALSE,
    FALSE_COMPARISON,
    FALSE_UNCERTAINTY,
    LOCATION,
    OMITTED,
    OMITTED_COMPARISON,
    OMITTED_UNCERTAINTY,
    SEVERITY,
    Error,
)
from radgauge.findings.findings import SAME, Denial, Finding, Findings, Knowledge
from radgauge.findings.numbers import numbers
from radgauge.findings.open_claims import OPEN
from radgauge.findings.places import BOTH
from radgauge.findings.rules import NO_CONTEXT, SIGNIFICANT, TIERS, Context
from radgauge.findings.support import supports
from radgauge.findings.weights import Weights

# Errors in sentences that two reports share but for a word that turns them round.

UNNAMED = TIERS.index("actionable")
"""Tier of what a sentence tells in words that the reader does not know."""
_NAMED_BY = 6  # content words of a sentence that stand for what it says


def count_edits(
    errors: list[Error], reference: Findings, candidate: Findings, knowledge: Knowledge, context: Context
) -> None:
    """Mark errors that no other wording explains, and add those of sentences that were turned round.

    In a report that repeats most of the other's findings word for word, what differs is not the same in other
    words; nor is a finding that is alone in a sentence that was copied and changed.
    """
    result = compare_sentences(reference.sentences.texts, candidate.sentences.texts)
    if (
        errors
        and is_copy(result.nearest_c, _claimed(candidate))
        and is_copy(result.nearest_r, _claimed(reference))
    ):
        errors[:] = [_certain(error, left_out=error.category == OMITTED and not error.spans) for error in errors]
    recommends = [
        {advised.sentence: advised for advised in findings.advice} for findings in (reference, candidate)
    ]
    by_r, by_c = _by_sentence(errors)
    claims_r, claims_c = (_claims_by_sentence(advised) for advised in (reference, candidate))
    for edit in result.edits:
        cached = sorted({*by_r.get(edit.sentence_r, ()), *by_c.get(edit.sentence_c, ())})
        if _is_of_advice(edit, recommends[0].get(edit.sentence_r), recommends[1].get(edit.sentence_c), cached):
            continue
        claims = edit.sentence_r in reference.sentences.claiming, edit.sentence_c in candidate.sentences.claiming
        if not (any(claims) if edit.tells in ("added", "omitted") else all(claims)):
            continue
        both = edit.tells == "side" and not {edit.reference, edit.candidate} <= {"left", "right"}
        if both and _sides_apart(claims_c.get(edit.sentence_c, ()), reference, candidate):
            continue
        alone = any(errors[index].support > 0.0 for index in cached)
        for index in cached:
            errors[index] = _certain(errors[index])
        counted = {errors[index].category for index in cached} - {FALSE, OMITTED}
        if not alone and _category(edit) not in counted and not any(errors[index].significant for index in cached):
            ours, theirs = claims_c.get(edit.sentence_c, []), claims_r.get(edit.sentence_r, [])
            errors.append(_error(edit, (reference, theirs), (candidate, ours), knowledge, context))
            _index(errors[-1], len(errors) - 1, by_r, by_c)


def _sides_apart(claims: Sequence[Finding], reference: Findings, candidate: Findings) -> bool:
    """True if one report says of both sides what the other says of each: "left: stenosis. Right: stenosis."."""
    sides = [_sides_of({claim.concept for claim in claims}, findings) for findings in (reference, candidate)]
    return bool(claims) and sides[0] == sides[1] == BOTH


def _sides_of(concepts: Collection[str], findings: Findings) -> int:
    together = 0
    for finding in findings.present:
        together |= finding.sides if finding.concept in concepts else 0
    return together


def _is_of_advice(edit: Edit, theirs: Advice | None, ours: Advice | None, entry: Sequence[int]) -> bool:
    """True if an edit changes a recommendation (its interval, or all of its sentence): those count apart."""
    if theirs is None or ours is None:
        return False
    if edit.tells == "size" and theirs.days != ours.days:
        return True
    return not entry and not theirs.agrees_with(ours)


def _certain(error: Error, *, left_out: bool = False) -> Error:
    """The error without a doubt that it is one; what is left out or of the next degree is not turned round."""
    alone = error.support > 0.0 and error.tier in SIGNIFICANT
    turned = not left_out and not error.is_next_degree
    return error._replace(support=0.0, significant=error.significant or alone, turned=turned)


def _claimed(findings: Findings) -> frozenset[int]:
    """Numbers of the sentences that tell a finding."""
    return frozenset(number for finding in findings.present for number in finding.sentences)


_Index = dict[int, list[int]]


def _by_sentence(errors: Sequence[Error]) -> tuple[_Index, _Index]:
    """Indices of the errors by the sentences of the reference and of the candidate that they concern."""
    by_r: _Index = {}
    by_c: _Index = {}
    for index, error in enumerate(errors):
        _index(error, index, by_r, by_c)
    return by_r, by_c


def _index(error: Error, index: int, by_r: _Index, by_c: _Index) -> None:
    for finding, by in ((error.reference, by_r), (error.candidate, by_c)):
        for sentence in finding.sentences if finding is not None else ():
            by.setdefault(sentence, []).append(index)


def _claims_by_sentence(findings: Findings) -> dict[int, list[Finding]]:
    claims: dict[int, list[Finding]] = {}
    for finding in findings.present:
        for sentence in finding.sentences:
            claims.setdefault(sentence, []).append(finding)
    return claims


def _error(
    edit: Edit,
    of_reference: tuple[Findings, list[Finding]],
    of_candidate: tuple[Findings, list[Finding]],
    knowledge: Knowledge,
    context: Context,
) -> Error:
    """The error of an edit; with each report come the findings of its sentence."""
    (reference, named_r), (candidate, named_c) = of_reference, of_candidate
    ours = _most_significant(named_c, knowledge, context)
    theirs = _most_significant(named_r, knowledge, context)
    entry = [knowledge.rules.tier_of(claim, context) for claim in (theirs, ours) if claim is not None]
    tier = min(entry) if entry else UNNAMED
    r, c = theirs or _unnamed(reference, edit.sentence_r), ours or _unnamed(candidate, edit.sentence_c)
    category = _category(edit)
    if category in (FALSE, OMITTED):
        other, at = (reference, edit.sentence_r) if category == FALSE else (candidate, edit.sentence_c)
        spans = other.sentences.spans[at : at + 1]
        alone = Error(category, tier in SIGNIFICANT, tier, False, True, r, None, spans=spans, turned=True)
        return alone if category == OMITTED else alone._replace(reference=None, candidate=c)
    difference = Difference(edit.tells, edit.reference, edit.candidate, True)
    return Error(category, tier in SIGNIFICANT, tier, False, False, r, c, difference, turned=True)


def _category(edit: Edit) -> int:
    if edit.tells in ("added", "omitted"):
        return FALSE if edit.tells == "added" else OMITTED
    if edit.tells in ("side", "location"):
        return LOCATION
    if edit.tells == "change":
        return FALSE_COMPARISON
    if edit.tells == "uncertainty":
        return FALSE_UNCERTAINTY if edit.candidate == "uncertain" else OMITTED_UNCERTAINTY
    return SEVERITY


def _most_significant(inside: Sequence[Finding], knowledge: Knowledge, context: Context) -> Finding | None:
    """The most significant finding of a sentence."""
    return min(inside, key=lambda each: knowledge.rules.tier_of(each, context), default=None)


def _unnamed(findings: Findings, sentence: int) -> Finding:
    """Return a sentence as a claim in its own words."""
    words = words_of(findings.sentences.texts[sentence]).order[:_NAMED_BY]
    return Finding(
        concept=OPEN + " ".join(words),
        others=(),
        kind="open",
        uncertain=False,
        sides=0,
        locations=frozenset(),
        severity=0,
        sizes_mm=(),
        change="",
        descriptors=frozenset(),
        spans=findings.sentences.spans[sentence : sentence + 1],
        sentences=frozenset((sentence,)),
    )


COMPARED = 50  # findings that an invented one is held against
ACTIONABLE = TIERS.index("actionable")
LIKELY = numbers()["support"]["likely"]  # support from which an unmatched finding is no significant error
PICTURED = numbers()["support"]["pictured"]  # support of a word for how a matched finding looks
BIG_STEP = numbers()["severity"]["big_step"]  # trace to moderate matters, mild to moderate does not


class Profile(NamedTuple):
    """Everything that is counted for one pair of reports."""

    errors: tuple[Error, ...]  # What is wrong, in the order reference, candidate
    tiers: tuple[tuple[int, bool], ...]  # Tier and hedge of every finding of the reference (what there was to say)
    # (tier, hedged, 1 - similarity) of findings that are matched but named differently
    inexact: tuple[tuple[int, bool, float], ...]
    silent: float  # Share of what the reference calls normal on which the candidate is silent
    # Share of the content words of both texts that were not understood and appear in one of them only
    unread: float = 0.0
    detection: Detection = Detection()  # Clinically significant findings that are reported, false and missed
    # Share of the content words of both texts that were understood; NaN if there are none
    coverage: float = math.nan
    # Follow-up recommendations left out, added or changed; None if neither report gives any
    advice: tuple[ChangedAdvice, ...] | None = None

    @property
    def alarms(self) -> int:
        """Number of the candidate's clinically significant findings that the reference does not have."""
        return sum(error.category == FALSE and error.significant for error in self.errors)


def profile_of(
    aligned: Aligned,
    reference: Findings,
    candidate: Findings,
    knowledge: Knowledge,
    context: Context = NO_CONTEXT,
) -> Profile:
    """Count the errors of an alignment."""
    rules = knowledge.rules
    errors: list[Error] = []
    tiers: list[tuple[int, bool]] = []
    inexact: list[tuple[int, bool, float]] = []
    for match in aligned.matched:
        tier = min(rules.tier_of(match.reference, context), rules.tier_of(match.candidate, context))
        tiers.append((tier, match.reference.uncertain))
        if match.similarity < SAME:
            inexact.append((tier, match.reference.uncertain, 1.0 - match.similarity))
        if match.differences:
            errors += _attribute_errors(match, tier, knowledge)
    pictured = _pictured([match.reference for match in aligned.matched], knowledge)
    for finding, denial, support in _alone(aligned.missing, aligned.denied, reference, candidate, knowledge):
        if denial is None and pictured(finding):
            support = max(support, PICTURED)
        tier = tier_of_claim(finding, knowledge, context)
        tiers.append((tier, finding.uncertain))
        errors.append(_full_error(OMITTED, tier, finding, denial, support))
    pictured = _pictured([match.candidate for match in aligned.matched], knowledge)
    for finding, denial, support in _alone(aligned.added, aligned.invented, candidate, reference, knowledge):
        if denial is None and pictured(finding):
            support = max(support, PICTURED)
        errors.append(_full_error(FALSE, tier_of_claim(finding, knowledge, context), finding, denial, support))
    if aligned.missing and aligned.added:
        _rivals(errors, knowledge)
    errors += _disputes(aligned, reference, candidate, knowledge, context)
    count_edits(errors, reference, candidate, knowledge, context)
    return Profile(
        errors=tuple(errors),
        tiers=tuple(tiers),
        inexact=tuple(inexact),
        silent=silence(reference, candidate),
        unread=_unread(reference, candidate),
        detection=detect(aligned, reference, candidate, knowledge, context),
        coverage=coverage(reference, candidate),
        advice=changed_advice(reference.advice, candidate.advice)
        if reference.advice or candidate.advice
        else None,
    )


def _pictured(matched: Sequence[Finding], knowledge: Knowledge) -> Callable[[Finding], bool]:
    """True if a finding says only how one looks that both reports have, in its sentence and structure."""
    is_sketch = knowledge.similarity.is_sketch
    by_sentence: dict[int, list[Finding]] = {}
    for pair in matched:
        for sentence in pair.sentences:
            by_sentence.setdefault(sentence, []).append(pair)

    def says_how_it_looks(finding: Finding) -> bool:
        return is_sketch(finding.concept) and any(
            not finding.locations or not cached.locations or one_place(finding, cached, knowledge)
            for sentence in finding.sentences
            for cached in by_sentence.get(sentence, ())
        )

    return says_how_it_looks


def coverage(reference: Findings, candidate: Findings) -> float:
    """Share of the content words of two texts that were understood, 0 to 1; NaN if there are none."""
    content = reference.content_words + candidate.content_words
    return (reference.known_words + candidate.known_words) / content if content else math.nan


def _unread(reference: Findings, candidate: Findings) -> float:
    """Share of the words of two texts that were not understood and that the other text does not use."""
    content = reference.content_words + candidate.content_words
    return len(reference.unread ^ candidate.unread) / content if content else 0.0


def _alone(
    unmatched: Sequence[Finding],
    contradicted: Sequence[Contradiction],
    own: Findings,
    other: Findings,
    knowledge: Knowledge,
) -> list[tuple[Finding, Denial | None, float]]:
    """Findings of one report alone, with their denial or how likely the other report says them all the same."""
    pictures = [knowledge.descriptions.picture(claim.concept) for claim in unmatched]
    support = supports([min(claim.sentences) for claim in unmatched], own.sentences, other.sentences, pictures)
    result = [(finding, None, value) for finding, value in zip(unmatched, support, strict=True)]
    return [*result, *((claim.finding, claim.denial, 0.0) for claim in contradicted)]


def _rivals(errors: list[Error], knowledge: Knowledge) -> None:
    """An invented finding where one is missed may be that one under another name: it costs a share only."""
    share = numbers()["rivals"]["share"]
    missed = [error.reference for error in errors if error.category == OMITTED and not error.spans]
    for index, error in enumerate(errors):
        if error.category != FALSE or error.spans or error.candidate is None:
            continue
        for position, finding in enumerate(missed[:COMPARED]):
            if finding is not None and one_place(finding, error.candidate, knowledge):
                support = 1.0 - (1.0 - error.support) * share
                errors[index] = error._replace(support=support, significant=error.significant and support < LIKELY)
                del missed[position]
                break


def _full_error(category: int, tier: int, finding: Finding, denial: Denial | None, support: float) -> Error:
    """A finding that only one report makes."""
    reference, candidate = (finding, None) if category == OMITTED else (None, finding)
    spans = () if denial is None else (denial.span,)
    plain = denial is not None and not denial.normal
    significant = tier in SIGNIFICANT and support < LIKELY
    return Error(category, significant, tier, finding.uncertain, plain, reference, candidate, None, spans, support)


def _disputes(
    aligned: Aligned, reference: Findings, candidate: Findings, knowledge: Knowledge, context: Context
) -> list[Error]:
    """Findings that the candidate both claims and denies: it leaves open what the reference settles."""
    if not candidate.disputed or reference.disputed:
        return []
    result = []
    disputed = {candidate.present[position].spans[0] for position in candidate.disputed}
    for match in aligned.matched:
        if not disputed.isdisjoint(match.candidate.spans):
            tier = knowledge.rules.tier_of(match.reference, context)
            difference = Difference("uncertainty", "certain", "claimed and denied", True)
            r, c = match.reference, match.candidate
            result.append(
                Error(FALSE_UNCERTAINTY, tier in SIGNIFICANT, tier, r.uncertain, False, r, c, difference)
            )
    return result


def _attribute_errors(match: Match, tier: int, knowledge: Knowledge) -> list[Error]:
    """At most one error of each category: a finding on the wrong side in the wrong lobe is in one wrong place."""
    table: dict[int, Error] = {}
    r, c = match.reference, match.candidate
    matters = tier in SIGNIFICANT
    for difference in match.differences:
        kind, conflict = difference.attribute, difference.conflict
        significant, weight = False, tier
        if kind == "position":
            category = LOCATION
            if not conflict and not (r.position or c.position).startswith(BAD):
                continue
            weight = min(tier, tier_of_position(r, knowledge)) if conflict else min(tier, ACTIONABLE)
            significant = True
        elif kind in ("side", "location"):
            if not conflict:
                continue
            category = LOCATION
            significant = matters and (kind == "location" or not r.sides & c.sides)
            if kind == "location" and concept_similarity(r, c, knowledge) < SAME:
                significant = False
        elif kind in ("severity", "size"):
            if not conflict or r.position != c.position:  # a distance of a device is part of its position
                continue
            category = SEVERITY
            step = abs(r.severity - c.severity)
            if kind == "severity" and step < BIG_STEP and not (r.severity == 4 or c.severity == 4) and not matters:
                continue
            significant = matters and (kind == "size" or step >= BIG_STEP or 4 in (r.severity, c.severity))
        elif kind == "change":
            category = FALSE_COMPARISON if c.change else OMITTED_COMPARISON
            if {r.change, c.change} <= {"stable", ""}:
                continue
            significant = matters and conflict
        else:
            category = FALSE_UNCERTAINTY if c.uncertain else OMITTED_UNCERTAINTY
        cached = table.get(category)
        if cached is None or (significant, -weight) > (cached.significant, -cached.tier):
            table[category] = Error(category, significant, weight, r.uncertain, False, r, c, difference)
    return list(table.values())


def silence(reference: Findings, candidate: Findings) -> float:
    """Share of the parts of the chest the reference calls normal that the candidate does not speak of.

    A part of which the candidate calls one side normal and the reference both counts half.
    """
    questioned = reference.normal_topics
    half = (questioned & candidate.one_sided) - reference.one_sided
    return (len(questioned - candidate.topics) + 0.5 * len(half)) / len(questioned) if questioned else 0.0


def counts_of(profile: Profile) -> list[float]:
    """The columns of `count_columns()`: total, significant, each category, each category's significant ones."""
    every = [0.0] * len(CATEGORIES)
    significant = [0.0] * len(CATEGORIES)
    for error in profile.errors:
        every[error.category] += 1.0
        if error.significant:
            significant[error.category] += 1.0
    return [sum(every), sum(significant), *every, *significant]


class Arithmetic:
    """Weights as numbers in the order of TIERS and CATEGORIES, for speed."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._tiers = [weights.tiers[name] for name in TIERS]
        self._categories = [weights.categories[category.key] for category in CATEGORIES]

    def cost(self, error: Error) -> float:
        """Cost of an error, in actionable findings."""
        share = self.weights.reversed if error.is_reversed else self._categories[error.category]
        value = self._tiers[error.tier] * share * (1.0 - error.support)
        if error.turned:
            value *= self.weights.turned
        if error.hedged:
            value *= self.weights.hedged
        if error.denied:
            value *= self.weights.contradiction
        if error.category > OMITTED and not error.significant:
            value *= self.weights.negligible
        return value

    def quality(self, profile: Profile) -> float:
        """From -1 (misleading) over about 0 (a normal template) to 1 (no error)."""
        w, tiers = self.weights, self._tiers
        share_kept = (1.0, w.hedged)
        lost = (
            w.silence * profile.silent
            + w.unread * profile.unread
            + sum([self.cost(error) for error in profile.errors])
        )
        if profile.inexact:
            lost += w.inexact * sum(
                [tiers[tier] * share_kept[hedged] * gap for tier, hedged, gap in profile.inexact]
            )
        full = sum([tiers[tier] * share_kept[hedged] for tier, hedged in profile.tiers])
        x = lost * (1.0 + w.base) / (full + w.base)
        return (1.0 - x) / (1.0 + x)
