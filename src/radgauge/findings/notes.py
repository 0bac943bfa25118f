"""Explanations as data: one plain sentence for every finding that was matched, missed, added or changed."""

from __future__ import annotations

from radgauge.core.error_categories import CATEGORIES
from radgauge.core.metric import Note
from radgauge.findings.aligned import Aligned
from radgauge.findings.error import FALSE, OMITTED, Error
from radgauge.findings.findings import NOT_NORMAL, Finding, Findings, Knowledge
from radgauge.findings.numbers import coverage_threshold
from radgauge.findings.open_claims import OPEN
from radgauge.findings.places import place_names, severity_name, side_name
from radgauge.findings.profile import Arithmetic, Profile
from radgauge.findings.rules import TIERS

_TIER_WORDS = ("urgent", "actionable", "not actionable", "benign")
_ATTRIBUTE_WORDS = {
    "side": "side",
    "location": "place",
    "position": "position",
    "severity": "severity",
    "size": "size",
    "change": "comparison with the prior study",
    "uncertainty": "certainty",
}


def notes_of(
    aligned: Aligned, profile: Profile, knowledge: Knowledge, arithmetic: Arithmetic, *, which: int = 0
) -> tuple[Note, ...]:
    """Notes of an alignment, errors first, most costly first.

    Args:
        aligned: The two reports side by side.
        profile: The errors counted from it.
        knowledge: For the names of concepts.
        arithmetic: For what each error costs.
        which: Index of the reference, for the data of each note.
    """
    errors = sorted(profile.errors, key=lambda error: -arithmetic.cost(error))
    notes = [_error_note(error, knowledge, arithmetic, which) for error in errors]
    wrong = {id(error.reference) for error in profile.errors if error.difference is not None}
    for match in aligned.matched:
        what = describe(match.reference, knowledge)
        other = describe(match.candidate, knowledge)
        words = f"Both reports say: {what}." if what == other else f"Both reports say: {what} ({other})."
        notes.append(
            Note(
                "matched",
                words if id(match.reference) not in wrong else words.removesuffix(".") + ", with differences.",
                match.reference.spans,
                match.candidate.spans,
                {
                    "concept": match.reference.concept,
                    "candidate_concept": match.candidate.concept,
                    "similarity": round(match.similarity, 4),
                    "reference": which,
                },
            )
        )
    return tuple(notes)


def confidence_notes(profile: Profile, reference: Findings, candidate: Findings) -> tuple[Note, ...]:
    """Words that were not understood and appear in one text only, and whether the case is hardly understood."""
    notes = []
    for side, own, other in (("reference", reference, candidate), ("candidate", candidate, reference)):
        if alone := sorted(own.unread - other.unread):
            words = ", ".join(alone)
            notes.append(Note("info", f"Not understood in the {side}: {words}.", data={"unread": alone}))
    if profile.coverage < coverage_threshold():
        share = f"{100 * profile.coverage:.0f} % of the content words were understood"
        notes.append(Note("info", f"Judged with low confidence: {share}.", data={"coverage": profile.coverage}))
    return tuple(notes)


def advice_notes(profile: Profile) -> tuple[Note, ...]:
    """Recommendations that were left out, added or changed."""
    notes = []
    for r, c in profile.advice or ():
        kind, text = ("changed", "another one") if r and c else ("missing", "none") if r else ("added", "one")
        text = f"Follow-up recommendation: the candidate gives {text}" + (
            "." if r else " that the reference does not give."
        )
        spans = (() if r is None else (r.span,)), (() if c is None else (c.span,))
        notes.append(Note(kind, text, *spans, {"category_key": "advice"}))
    return tuple(notes)


def describe(finding: Finding, knowledge: Knowledge) -> str:
    """A finding in a few words: severity, side, name, place.

    >>> from radgauge.findings.claims import findings_of
    >>> from radgauge.findings.findings import knowledge_for
    >>> from radgauge.reader import load_lexicon, read_report
    >>> known = knowledge_for(load_lexicon())
    >>> describe(findings_of(read_report("Small effusion on the left."), known).present[0], known)
    'mild left pleural effusion'
    """
    concept = knowledge.lexicon.concepts.get(finding.concept)
    name = concept.name if concept is not None else _name(finding.concept)
    words = [severity_name(finding.severity), side_name(finding.sides), name]
    text = " ".join(word for word in words if word)
    if finding.locations:
        text += f" ({place_names(finding.locations)})"
    if finding.sizes_mm:
        text += f", {max(finding.sizes_mm):g} mm"
    return f"possible {text}" if finding.uncertain else text


def _name(concept: str) -> str:
    """A claim that is no concept of the lexicon, in words."""
    if concept.startswith(NOT_NORMAL):
        return f"{concept.removeprefix(NOT_NORMAL).replace('_', ' ')} not normal"
    return concept.removeprefix(OPEN).replace("_", " ")


def _error_note(error: Error, knowledge: Knowledge, arithmetic: Arithmetic, which: int) -> Note:
    category = CATEGORIES[error.category]
    how = _TIER_WORDS[error.tier]
    finding = error.reference or error.candidate
    if finding is None:
        raise ValueError("an error concerns a finding of the reference or of the candidate")
    what = describe(finding, knowledge)
    reference_spans = error.reference.spans if error.reference is not None else ()
    candidate_spans = error.candidate.spans if error.candidate is not None else ()
    if error.category == FALSE:
        kind = "contradicted" if error.spans else "added"
        text = f"{what} is not in the reference" + (", which denies it" if error.spans else "")
        reference_spans = error.spans
    elif error.category == OMITTED:
        kind = "contradicted" if error.spans else "missing"
        text = f"{what} is missing" + (": the candidate denies it" if error.spans else " from the candidate")
        candidate_spans = error.spans
    else:
        kind = "changed"
        difference = error.difference
        if difference is None:
            raise ValueError("an error in an attribute has a difference")
        attribute = _ATTRIBUTE_WORDS[difference.attribute]
        text = (
            f"{what}: {attribute} is {difference.reference or 'not stated'} in the reference, "
            f"{difference.candidate or 'not stated'} in the candidate"
        )
    significance = "clinically significant" if error.significant else "not clinically significant"
    return Note(
        kind,
        f"{text[0].upper()}{text[1:]} ({how}; {significance}).",
        reference_spans,
        candidate_spans,
        {
            "category": category.number,
            "category_key": category.key,
            "significant": error.significant,
            "tier": TIERS[error.tier],
            "cost": round(arithmetic.cost(error), 4),
            "concept": finding.concept,
            "attribute": error.difference.attribute if error.difference is not None else "",
            "reference": which,
        },
    )
