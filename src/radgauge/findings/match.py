"""Match the findings of a candidate with those of a reference, one to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from radgauge.findings.aligned import Aligned, Contradiction, Match
from radgauge.findings.claims import findings_of
from radgauge.findings.closeness import closeness_of, contradicts, is_covered, one_place
from radgauge.findings.differences import differences
from radgauge.findings.findings import NOT_NORMAL, SAME, Denial, Finding, Findings, Knowledge, union
from radgauge.findings.numbers import numbers
from radgauge.findings.open_claims import OPEN
from radgauge.reader.reader import read_report

# Match a diagnosis that one report names with the findings by which the other describes it.

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


COMPARED = 50
"""Findings of one report that are held against those of another at once."""
_NUMBERS = numbers()["match"]
DESCRIBED = _NUMBERS["described"]  # a diagnosis and its description
SKETCHED = _NUMBERS["sketched"]  # a finding, and how something looks in its place
_LOOSE = (OPEN, NOT_NORMAL)


def align_findings(reference: Findings, candidate: Findings, knowledge: Knowledge) -> Aligned:
    """Put the findings of two reports side by side.

    Where a report makes more than COMPARED findings, which no real one does, those of one concept are compared
    with each other, in the order of the texts and COMPARED at a time, and of its denials in words that the lexicon
    lacks the first COMPARED: time grows with their number, not with its square.

    >>> from radgauge.findings.claims import findings_of
    >>> from radgauge.findings.findings import knowledge_for
    >>> from radgauge.reader import load_lexicon, read_report
    >>> known = knowledge_for(load_lexicon())
    >>> texts = "Left effusion. Cardiomegaly.", "Right effusion. Heart size is normal."
    >>> aligned = align_findings(*[findings_of(read_report(text), known) for text in texts], known)
    >>> aligned.matched[0].differences[0][:3], aligned.denied[0].finding.concept
    (('side', 'left', 'right'), 'cardiomegaly')
    """
    if max(map(len, (reference.present, candidate.present, reference.denied, candidate.denied))) <= COMPARED:
        return _align(reference, candidate, knowledge)
    reference, candidate = (replace(each, denied=_unlike(each.denied)) for each in (reference, candidate))
    blocks = [
        _align(replace(reference, present=theirs), replace(candidate, present=ours), knowledge)
        for theirs, ours in _blocks(reference.present, candidate.present)
    ]
    return Aligned(*(tuple(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True)))


def _blocks(
    theirs: Sequence[Finding], ours: Sequence[Finding]
) -> Iterator[tuple[tuple[Finding, ...], tuple[Finding, ...]]]:
    """Findings of two reports that are compared with each other: those of one concept together, few at a time."""
    by_concept: dict[str, tuple[list[Finding], list[Finding]]] = {}
    for side, findings in enumerate((theirs, ours)):
        for finding in findings:
            by_concept.setdefault(finding.concept, ([], []))[side].append(finding)
    block: tuple[list[Finding], list[Finding]] = ([], [])
    for group in by_concept.values():
        for start in range(0, max(map(len, group)), COMPARED):
            part = [side[start : start + COMPARED] for side in group]
            if any(len(have) + len(more) > COMPARED for have, more in zip(block, part, strict=True)):
                yield tuple(block[0]), tuple(block[1])
                block = ([], [])
            for have, more in zip(block, part, strict=True):
                have += more
    yield tuple(block[0]), tuple(block[1])


def _unlike(denied: Sequence[Denial]) -> tuple[Denial, ...]:
    """Denials without repeats; of those in words that the lexicon lacks the first COMPARED."""
    first: dict[tuple[object, ...], Denial] = {}
    of_open = 0
    for each in denied:
        key = (each.concepts, each.sides, each.severity, each.places, each.only)
        if key in first:
            continue
        is_open = any(concept.startswith(OPEN) for concept in each.concepts)
        of_open += is_open
        if not is_open or of_open <= COMPARED:
            first[key] = each
    return tuple(first.values())


def _align(reference: Findings, candidate: Findings, knowledge: Knowledge) -> Aligned:
    """All findings of one report against all of the other."""
    theirs, ours = reference.present, candidate.present
    closeness = [[closeness_of(r, c, knowledge) for c in ours] for r in theirs]
    pairs = _assign(closeness, theirs, ours)
    partner_of_r = dict(pairs)
    partner_of_c = {c: r for r, c in pairs}
    whole_r = {r: theirs[r] for r, _ in pairs}
    whole_c = {c: ours[c] for _, c in pairs}
    missing, denied = _leftover(theirs, partner_of_r, whole_r, candidate, knowledge)
    added, invented = _leftover(ours, partner_of_c, whole_c, reference, knowledge)
    leftover = (*missing, *added)
    matched = [(theirs[r], ours[c]) for r, c in pairs]
    described = _describe(missing, added, reference, candidate, knowledge, matched) if leftover else []
    told = _told(leftover, missing, added, described)
    return Aligned(
        (
            *(
                Match(whole_r[r], whole_c[c], closeness[r][c], differences(whole_r[r], whole_c[c], knowledge))
                for r, c in pairs
            ),
            *described,
        ),
        tuple(missing),
        tuple(added),
        tuple(denied),
        tuple(invented),
        tuple(each for each in told if id(each) in {id(one) for one in theirs}),
        tuple(each for each in told if id(each) in {id(one) for one in ours}),
    )


def _describe(
    missing: list[Finding],
    added: list[Finding],
    reference: Findings,
    candidate: Findings,
    knowledge: Knowledge,
    matched: Sequence[tuple[Finding, Finding]],
) -> list[Match]:
    """Take from the leftovers what one report names and the other describes; the matches that this makes."""
    found: list[Match] = []
    for diagnosis in list(missing):
        told = [candidate.present[i] for i in describe_each_other(diagnosis, candidate.present, knowledge)]
        if told:
            partner = next((each for each in told if each in added), None)
            if partner is not None:
                found.append(Match(diagnosis, partner, DESCRIBED, ()))
            missing.remove(diagnosis)
            added[:] = [each for each in added if each not in told]
    for diagnosis in list(added):
        told = [reference.present[i] for i in describe_each_other(diagnosis, reference.present, knowledge)]
        if told:
            partner = next((each for each in told if each in missing), None)
            if partner is not None:
                found.append(Match(partner, diagnosis, DESCRIBED, ()))
            added.remove(diagnosis)
            missing[:] = [each for each in missing if each not in told]
    found += _sketched(missing, added, knowledge)
    named = [(c, r) for r, c in matched], matched  # what one report calls what the other shows, as it was matched
    for own, mine, other, pairs in (
        (missing, reference, candidate, named[0]),
        (added, candidate, reference, named[1]),
    ):
        if not own:
            continue
        pictured = [each for each in other.present if has_signs(each, knowledge)]
        shared = [each for each in pictured if any(_names(each, one, knowledge) for one in mine.present)]
        shared += [name for name, shown in pairs if name in pictured and is_sign(shown, name, knowledge)]
        if shared:
            own[:] = [each for each in own if not any(is_sign(each, known, knowledge) for known in shared)]
    return found


def _sketched(missing: list[Finding], added: list[Finding], knowledge: Knowledge) -> list[Match]:
    """Take from the leftovers what one report names and the other only pictures in the same place."""
    found: list[Match] = []
    is_sketch = knowledge.similarity.is_sketch
    for r in list(missing):
        for c in added:
            if is_sketch(r.concept) is not is_sketch(c.concept) and one_place(r, c, knowledge):
                found.append(Match(r, c, SKETCHED, differences(r, c, knowledge)))
                missing.remove(r)
                added.remove(c)
                break
    return found


def _told(
    leftover: Sequence[Finding], missing: Sequence[Finding], added: Sequence[Finding], described: Sequence[Match]
) -> list[Finding]:
    """What `_describe` took away without a match of its own."""
    kept = {id(each) for each in (*missing, *added)}
    kept |= {id(each) for match in described for each in (match.reference, match.candidate)}
    return [each for each in leftover if id(each) not in kept]


def _names(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether the first finding is the second, or a kind of it: "Colles fracture", "fracture of the radius"."""
    return any(knowledge.lexicon.is_a(one, other) for one in a.concepts for other in b.concepts)


def _assign(
    closeness: Sequence[Sequence[float]], theirs: Sequence[Finding], ours: Sequence[Finding]
) -> list[tuple[int, int]]:
    """The pairs of the assignment with the greatest sum; nothing below NEAR is paired.

    Of several nodules as close those of one size are one, in whatever order the reports name them.
    """
    if not theirs or not ours:
        return []
    edges = [(r, c) for r, row in enumerate(closeness) for c, value in enumerate(row) if value > 0.0]
    taken_r, taken_c = {r for r, _ in edges}, {c for _, c in edges}
    if len(taken_r) == len(edges) == len(taken_c):
        return edges  # nothing competes: the usual case, and much cheaper
    alike = [[_TIE * _likeness(r, c) for c in ours] for r in theirs]
    best_r, best_c = linear_sum_assignment(np.asarray(closeness) + np.asarray(alike), maximize=True)
    return [(int(r), int(c)) for r, c in zip(best_r, best_c, strict=True) if closeness[r][c] > 0.0]


_TIE = 1e-6


def _likeness(r: Finding, c: Finding) -> int:
    """How many attributes of two findings are the same."""
    return (
        2 * (r.sizes_mm == c.sizes_mm)
        + (r.locations == c.locations)
        + (r.severity == c.severity)
        + (r.change == c.change)
        + (r.uncertain == c.uncertain)
    )


def _leftover(
    own: Sequence[Finding],
    partner: dict[int, int],
    whole: dict[int, Finding],
    other: Findings,
    knowledge: Knowledge,
) -> tuple[list[Finding], list[Contradiction]]:
    """Findings without a partner: restated (they join a matched one), contradicted, or alone."""
    alone: list[Finding] = []
    against: list[Contradiction] = []
    for index, finding in enumerate(own):
        if index in partner:
            continue
        for mine, theirs in partner.items():
            if is_covered(finding, own[mine], other.present[theirs], knowledge):
                whole[mine] = union(whole[mine], finding)
                break
        else:
            denial = None
            if finding.concept.startswith(_LOOSE) or not other.ruled_out.isdisjoint(
                knowledge.similarity.ancestors(finding.concept)
            ):
                against_it = (each for each in other.denied if contradicts(each, finding, other, knowledge))
                denial = next(against_it, None)
            if denial is not None:
                against.append(Contradiction(finding, denial))
            else:
                alone.append(finding)
    return alone, against
