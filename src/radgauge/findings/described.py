"""Match a diagnosis that one report names with the findings by which the other describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from radgauge.findings.claims import findings_of
from radgauge.findings.findings import SAME, Finding, Knowledge
from radgauge.findings.numbers import numbers
from radgauge.reader.reader import read_report

ENOUGH = numbers()["descriptions"]["enough"]
"""How many signs say as much as their diagnosis."""


class Signs(NamedTuple):
    """What a diagnosis looks like: each entry is one phrase, as findings."""

    equals: tuple[tuple[Finding, ...], ...]
    signs: tuple[tuple[Finding, ...], ...]


def signs_of(concept: str, knowledge: Knowledge) -> Signs | None:
    """The description set of a diagnosis, read when it is first needed; None if there is none."""
    table = knowledge.descriptions
    known: Signs | None = table.compiled.get(concept)
    if known is None and concept in table.phrases:
        equals, signs = table.phrases[concept]
        known = table.compiled[concept] = Signs(_read(equals, knowledge), _read(signs, knowledge))
    return known


def describe_each_other(diagnosis: Finding, others: Sequence[Finding], knowledge: Knowledge) -> list[int]:
    """Positions in `others` of the findings that together say what the diagnosis says; empty if they do not."""
    found: set[int] = set()
    for concept in diagnosis.concepts:
        signs = signs_of(concept, knowledge)
        if signs is None:
            continue
        fitting = [
            index
            for index, other in enumerate(others)
            if _belongs(other, concept, signs, knowledge) and _same_side(diagnosis, other)
        ]
        if not fitting:
            continue
        for phrase in signs.equals:
            if phrase and (whole := _all_of(phrase, others, fitting, knowledge)):
                found |= whole
        told = {
            number: one
            for number, phrase in enumerate(signs.signs)
            if (one := _all_of(phrase, others, fitting, knowledge))
        }
        members = set().union(*told.values()) if told else set()
        if found or len(members) >= ENOUGH:
            found |= members
    return sorted(found)


def has_signs(finding: Finding, knowledge: Knowledge) -> bool:
    """Whether a finding is a diagnosis with a description set."""
    phrases = knowledge.descriptions.phrases
    return any(concept in phrases for concept in finding.concepts)


def _belongs(finding: Finding, diagnosis: str, signs: Signs, knowledge: Knowledge) -> bool:
    """Whether some phrase of a description set names a finding like this one."""
    table = knowledge.descriptions
    key = (finding.concepts, diagnosis)
    known: bool | None = table.answers.get(key)
    if known is None:
        known = any(
            knowledge.similarity.of(part.concept, concept) >= SAME
            for phrase in (*signs.equals, *signs.signs)
            for part in phrase
            for concept in finding.concepts
        )
        table.remember(key, known)
    return known


def is_sign(finding: Finding, diagnosis: Finding, knowledge: Knowledge) -> bool:
    """Whether a finding belongs to the picture of a diagnosis and says nothing beside it."""
    if not _same_side(finding, diagnosis):
        return False
    places = [
        place for concept in diagnosis.concepts for place in _sign_places(finding.concept, concept, knowledge)
    ]
    return any(
        not place or not finding.locations or knowledge.places.agree(place, finding.locations) for place in places
    )


def _sign_places(concept: str, diagnosis: str, knowledge: Knowledge) -> tuple[frozenset[str], ...]:
    """Where a diagnosis shows this sign; empty if it is none of its signs, or a finding in its own right."""
    table = knowledge.descriptions
    key = (concept, diagnosis)
    known: tuple[frozenset[str], ...] | None = table.answers.get(key)
    if known is None:
        signs = signs_of(diagnosis, knowledge)
        known = ()
        if signs is not None and concept not in knowledge.rules.separate:
            known = tuple(
                part.locations
                for phrase in (*signs.equals, *signs.signs)
                for part in phrase
                if knowledge.similarity.of(part.concept, concept) >= SAME
            )
        table.remember(key, known)
    return known


def _read(phrases: Sequence[str], knowledge: Knowledge) -> tuple[tuple[Finding, ...], ...]:
    return tuple(
        findings_of(read_report(phrase, lexicon=knowledge.lexicon), knowledge).present for phrase in phrases
    )


def _all_of(
    phrase: Sequence[Finding], others: Sequence[Finding], fitting: Sequence[int], knowledge: Knowledge
) -> set[int]:
    """Positions of the findings that a phrase consists of, if all of them are there."""
    found = set()
    for part in phrase:
        one = next((index for index in fitting if _is(part, others[index], knowledge)), None)
        if one is None:
            return set()
        found.add(one)
    return found


def _is(part: Finding, finding: Finding, knowledge: Knowledge) -> bool:
    if all(knowledge.similarity.of(part.concept, concept) < SAME for concept in finding.concepts):
        return False
    if part.locations and finding.locations:
        return knowledge.places.agree(part.locations, finding.locations)
    return True


def _same_side(a: Finding, b: Finding) -> bool:
    return not a.sides or not b.sides or bool(a.sides & b.sides)
