"""Merge mentions of one finding: said in several words, in several sentences, or as one of several readings.

Mentions that say the same thing become one finding; so do a description and the diagnosis it suggests, the
alternatives of a differential, and a device and its parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from radgauge.findings.findings import SAME, Finding, Knowledge, union
from radgauge.findings.numbers import numbers
from radgauge.findings.open_claims import OPEN
from radgauge.findings.rules import Rules
from radgauge.reader.reading import Mention

_COMPARED = 50  # findings of a report that a further one is held against; real reports have fewer
_ALTERNATIVE = re.compile(r"^\W*(?:\w+\W+){0,4}?(?:or|versus|vs|and/or)\b", re.IGNORECASE)
CAN_BE = numbers()["similarity"]["can_be"]
SAYS_AGAIN = numbers()["similarity"]["says_again"]
OUTWEIGHED = 2  # tiers from a benign description to an actionable diagnosis, or from a minor to an urgent one
_SLASH = re.compile(r"^\s*/\s*$")
_QUESTION = re.compile(r"^\?\W*(?:\w+\W+){0,3}$")  # "(tumor? granuloma?)"
_BRACKET = re.compile(r"^[^.;:()?]{0,80}\(\s*$")  # "hypodense lesion in the liver (cyst?)"
_APPOSED = re.compile(
    r"(?:^|[,;(])\s*(?:which\s+)?(?:is\s+|are\s+)?(?:most\s+)?"
    r"(?:likely|probably|possibly|presumably|perhaps|suspected|favored)\b(?:\W+\w+){0,3}\W*$",
    re.IGNORECASE,
)
"""Between a description and its reading: "opacities, likely edema"."""


def join_suggestions(
    claims: dict[int, Finding],
    suggested: dict[int, list[int]],
    mentions: Sequence[Mention],
    text: str,
    knowledge: Knowledge,
) -> None:
    """A description and what it suggests are one claim; so are the alternatives of a differential."""
    for index in sorted(claims):
        following = index + 1
        while following < len(mentions) and mentions[following].kind == "anatomy":
            following += 1
        if index not in claims or following not in claims:
            continue
        a, b = claims[index], claims[following]
        between = text[mentions[index].end : mentions[following].start]
        if a.sentences != b.sentences:
            continue
        if (
            _SLASH.match(between)
            or _ALTERNATIVE.match(between)
            or (_APPOSED.search(between) and _can_be(a, b, knowledge))
            or (b.uncertain and _BRACKET.match(between) and _can_be(a, b, knowledge))
            or (b.uncertain and _QUESTION.match(between))
        ):
            claims[following] = _joined(a, b, knowledge.rules)
            del claims[index]
    for source, targets in suggested.items():
        if source not in claims:
            continue
        meant = next((t for t in targets if t in claims), None)
        if meant is not None and _can_be(claims[source], claims[meant], knowledge):
            claims[source] = _joined(claims[source], claims.pop(meant), knowledge.rules)


def _can_be(description: Finding, diagnosis: Finding, knowledge: Knowledge) -> bool:
    """True if the words can stand for one thing: an opacity may be an effusion, a large heart is no pneumonia."""
    if description.sides and diagnosis.sides and not description.sides & diagnosis.sides:
        return False
    rules, concept = knowledge.rules, description.concept
    vague = concept in rules.weak or knowledge.similarity.of(concept, "lung_opacity") >= SAME
    return (
        vague
        or diagnosis.uncertain
        or any(knowledge.similarity.of(concept, other) >= CAN_BE for other in diagnosis.concepts)
    )


def _joined(a: Finding, b: Finding, rules: Rules) -> Finding:
    """One claim of two: the first names it, the second adds its concepts, and its weight if it weighs far more."""
    full = union(a, b)
    if rules.tier(a.concept) - rules.tier(b.concept) >= OUTWEIGHED:
        full = full._replace(weighs_as=b.concept)
    return full._replace(uncertain=a.uncertain, severity=a.severity or b.severity)


def drop_weak(claims: dict[int, Finding], rules: Rules) -> None:
    """Words of description beside a proper finding of the same sentence say nothing of their own.

    Nor do words that the lexicon lacks, unless they are built like the name of a disease.
    """
    proper = {s for f in claims.values() if f.concept not in rules.weak and f.kind != "open" for s in f.sentences}
    for index, finding in list(claims.items()):
        if finding.kind == "open":
            if rules.no_finding.fullmatch(finding.concept.removeprefix(OPEN)):
                del claims[index]
                continue
            weak = rules.disease_name.search(finding.concept) is None
        else:
            weak = finding.concept in rules.weak
        if weak and not finding.others and not finding.sentences.isdisjoint(proper):
            del claims[index]


def merge(claims: list[Finding], knowledge: Knowledge) -> tuple[Finding, ...]:
    """Claims that do not contradict each other in concept, side or place become one."""
    merged: list[Finding] = []
    parts = knowledge.rules.parts
    for finding in claims:
        sizes, said_in = finding.sizes_mm, finding.sentences
        for position, entry in enumerate(merged[:_COMPARED]):
            if sizes and entry.sizes_mm and entry.sizes_mm != sizes and entry.sentences != said_in:
                continue  # none of the rules below can hold: many sizes must not cost the square of their number
            if entry.kind == finding.kind == "device" and entry.sentences == finding.sentences:
                first, second = (entry, finding) if entry.concept not in parts else (finding, entry)
                if second.concept in parts and first.concept not in parts:
                    merged[position] = union(first, second)._replace(
                        sides=first.sides or second.sides, locations=first.locations
                    )
                    break
            if _is_general(entry, finding, knowledge):
                merged[position] = union(finding, entry)
                break
            if _says_again(entry, finding, knowledge):
                merged[position] = union(entry, finding)
                break
        else:
            merged.append(finding)
    return tuple(merged)


def _is_general(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """True if `a` only announces `b`: "postoperative state following lobectomy"."""
    if a.sentences != b.sentences or a.concept == b.concept or a.sides or a.locations or a.sizes_mm:
        return False
    above = knowledge.similarity.ancestors(b.concept)
    return a.concept in above and knowledge.similarity.of(a.concept, b.concept) >= SAME


def _says_again(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """True if `b`, which comes later, says again what `a` said."""
    if a.sides and b.sides and not a.sides & b.sides:
        return False
    if a.sizes_mm and b.sizes_mm and a.sizes_mm != b.sizes_mm:
        return False
    apart = a.locations and b.locations and not knowledge.places.agree(a.locations, b.locations)
    if a.concept == b.concept:
        return not apart or a.sentences == b.sentences
    if apart:
        return False
    bare = not (b.sides or b.locations or b.severity or b.sizes_mm)
    if bare and (b.concept in a.others or b.concept in knowledge.similarity.ancestors(a.concept)):
        return b.concept in a.others or knowledge.similarity.of(a.concept, b.concept) >= SAME
    return knowledge.similarity.of(a.concept, b.concept) >= SAYS_AGAIN
