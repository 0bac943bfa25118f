"""Errors in sentences that two reports share but for a word that turns them round."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.findings.advice import Advice
from radgauge.findings.aligned import Difference
from radgauge.findings.edits import Edit, compare_sentences, is_copy, words_of
from radgauge.findings.error import (
    FALSE,
    FALSE_COMPARISON,
    FALSE_UNCERTAINTY,
    LOCATION,
    OMITTED,
    OMITTED_UNCERTAINTY,
    SEVERITY,
    Error,
)
from radgauge.findings.findings import Finding, Findings, Knowledge
from radgauge.findings.open_claims import OPEN
from radgauge.findings.rules import SIGNIFICANT, TIERS, Context

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
    found = compare_sentences(reference.sentences.texts, candidate.sentences.texts)
    if errors and is_copy(found.nearest_c, _claimed(candidate)) and is_copy(found.nearest_r, _claimed(reference)):
        errors[:] = [_certain(error, left_out=error.category == OMITTED and not error.spans) for error in errors]
    recommends = [{each.sentence: each for each in findings.advice} for findings in (reference, candidate)]
    by_r, by_c = _by_sentence(errors)
    claims_r, claims_c = (_claims_by_sentence(each) for each in (reference, candidate))
    for edit in found.edits:
        known = sorted({*by_r.get(edit.sentence_r, ()), *by_c.get(edit.sentence_c, ())})
        if _is_of_advice(edit, recommends[0].get(edit.sentence_r), recommends[1].get(edit.sentence_c), known):
            continue
        claims = edit.sentence_r in reference.sentences.claiming, edit.sentence_c in candidate.sentences.claiming
        if not (any(claims) if edit.tells in ("added", "omitted") else all(claims)):
            continue
        alone = any(errors[index].support > 0.0 for index in known)
        for index in known:
            errors[index] = _certain(errors[index])
        counted = {errors[index].category for index in known} - {FALSE, OMITTED}
        if not alone and _category(edit) not in counted and not any(errors[index].significant for index in known):
            ours, theirs = claims_c.get(edit.sentence_c, []), claims_r.get(edit.sentence_r, [])
            errors.append(_error(edit, (reference, theirs), (candidate, ours), knowledge, context))
            _index(errors[-1], len(errors) - 1, by_r, by_c)


def _is_of_advice(edit: Edit, theirs: Advice | None, ours: Advice | None, known: Sequence[int]) -> bool:
    """True if an edit changes a recommendation (its interval, or all of its sentence): those count apart."""
    if theirs is None or ours is None:
        return False
    if edit.tells == "size" and theirs.days != ours.days:
        return True
    return not known and not theirs.agrees_with(ours)


def _certain(error: Error, *, left_out: bool = False) -> Error:
    """The error without a doubt that it is one; what is left out or of the next degree is not turned round."""
    alone = error.support > 0.0 and error.tier in SIGNIFICANT
    turned = not left_out and not error.is_next_degree
    return error._replace(support=0.0, significant=error.significant or alone, turned=turned)


def _claimed(findings: Findings) -> frozenset[int]:
    """Numbers of the sentences that tell a finding."""
    return frozenset(number for each in findings.present for number in each.sentences)


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
    known = [knowledge.rules.tier_of(each, context) for each in (theirs, ours) if each is not None]
    tier = min(known) if known else UNNAMED
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
    """What a sentence says, as a claim in its own words."""
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
