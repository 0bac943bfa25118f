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
"""Number of signs say as much as their diagnosis."""


class Signs(NamedTuple):
    """Description of a diagnosis: each entry is one phrase, as findings."""

    equals: tuple[tuple[Finding, ...], ...]
    signs: tuple[tuple[Finding, ...], ...]


def signs_of(concept: str, knowledge: Knowledge) -> Signs | None:
    """The description set of a diagnosis, read when it is first needed; None if there is none."""
    table = knowledge.descriptions
    cached: Signs | None = table.compiled.get(concept)
    if cached is None and concept in table.phrases:
        equals, signs = table.phrases[concept]
        cached = table.compiled[concept] = Signs(_read(equals, knowledge), _read(signs, knowledge))
    return cached


def describe_each_other(diagnosis: Finding, others: Sequence[Finding], knowledge: Knowledge) -> list[int]:
    """Positions in `others` of the findings that together say what the diagnosis says; empty if they do not."""
    result: set[int] = set()
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
            if phrase and (full := _all_of(phrase, others, fitting, knowledge)):
                result |= full
        stated = {
            number: one
            for number, phrase in enumerate(signs.signs)
            if (one := _all_of(phrase, others, fitting, knowledge))
        }
        members = set().union(*stated.values()) if stated else set()
        if result or len(members) >= ENOUGH:
            result |= members
    return sorted(result)


def has_signs(finding: Finding, knowledge: Knowledge) -> bool:
    """True if a finding is a diagnosis with a description set."""
    phrases = knowledge.descriptions.phrases
    return any(concept in phrases for concept in finding.concepts)


def _belongs(finding: Finding, diagnosis: str, signs: Signs, knowledge: Knowledge) -> bool:
    """True if some phrase of a description set names a finding like this one."""
    table = knowledge.descriptions
    key = (finding.concepts, diagnosis)
    cached: bool | None = table.answers.get(key)
    if cached is None:
        cached = any(
            knowledge.similarity.of(part.concept, concept) >= SAME
            for phrase in (*signs.equals, *signs.signs)
            for part in phrase
            for concept in finding.concepts
        )
        table.remember(key, cached)
    return cached


def is_sign(finding: Finding, diagnosis: Finding, knowledge: Knowledge) -> bool:
    """True if a finding belongs to the description of a diagnosis and says nothing beside it."""
    if not _same_side(finding, diagnosis):
        return False
    sites = [
        structure
        for concept in diagnosis.concepts
        for structure in _sign_places(finding.concept, concept, knowledge)
    ]
    return any(
        not structure or not finding.locations or knowledge.places.agree(structure, finding.locations)
        for structure in sites
    )


def _sign_places(concept: str, diagnosis: str, knowledge: Knowledge) -> tuple[frozenset[str], ...]:
    """Anatomy where a diagnosis shows this sign; empty if it is none of its signs, or a finding in itself."""
    table = knowledge.descriptions
    key = (concept, diagnosis)
    cached: tuple[frozenset[str], ...] | None = table.answers.get(key)
    if cached is None:
        signs = signs_of(diagnosis, knowledge)
        cached = ()
        if signs is not None and concept not in knowledge.rules.separate:
            cached = tuple(
                part.locations
                for phrase in (*signs.equals, *signs.signs)
                for part in phrase
                if knowledge.similarity.of(part.concept, concept) >= SAME
            )
        table.remember(key, cached)
    return cached


def _read(phrases: Sequence[str], knowledge: Knowledge) -> tuple[tuple[Finding, ...], ...]:
    return tuple(
        findings_of(read_report(phrase, lexicon=knowledge.lexicon), knowledge).present for phrase in phrases
    )


def _all_of(
    phrase: Sequence[Finding], others: Sequence[Finding], fitting: Sequence[int], knowledge: Knowledge
) -> set[int]:
    """Positions of the findings that a phrase consists of, if all of them are there."""
    result = set()
    for part in phrase:
        one = next((index for index in fitting if _is(part, others[index], knowledge)), None)
        if one is None:
            return set()
        result.add(one)
    return result


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
    reference, candidate = (replace(report, denied=_unlike(report.denied)) for report in (reference, candidate))
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
    for denial in denied:
        key = (denial.concepts, denial.sides, denial.severity, denial.places, denial.only)
        if key in first:
            continue
        is_open = any(concept.startswith(OPEN) for concept in denial.concepts)
        of_open += is_open
        if not is_open or of_open <= COMPARED:
            first[key] = denial
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
    stated = _without_match(leftover, missing, added, described)
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
        tuple(finding for finding in stated if id(finding) in {id(one) for one in theirs}),
        tuple(finding for finding in stated if id(finding) in {id(one) for one in ours}),
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
    result: list[Match] = []
    for diagnosis in list(missing):
        stated = [candidate.present[i] for i in describe_each_other(diagnosis, candidate.present, knowledge)]
        if stated:
            partner = next((finding for finding in stated if finding in added), None)
            if partner is not None:
                result.append(Match(diagnosis, partner, DESCRIBED, ()))
            missing.remove(diagnosis)
            added[:] = [finding for finding in added if finding not in stated]
    for diagnosis in list(added):
        stated = [reference.present[i] for i in describe_each_other(diagnosis, reference.present, knowledge)]
        if stated:
            partner = next((finding for finding in stated if finding in missing), None)
            if partner is not None:
                result.append(Match(partner, diagnosis, DESCRIBED, ()))
            added.remove(diagnosis)
            missing[:] = [finding for finding in missing if finding not in stated]
    result += _sketched(missing, added, knowledge)
    named = [(c, r) for r, c in matched], matched  # what one report calls what the other shows, as it was matched
    for own, own_one, other, pairs in (
        (missing, reference, candidate, named[0]),
        (added, candidate, reference, named[1]),
    ):
        if not own:
            continue
        pictured = [finding for finding in other.present if has_signs(finding, knowledge)]
        shared = [
            finding for finding in pictured if any(_names(finding, one, knowledge) for one in own_one.present)
        ]
        shared += [name for name, shown in pairs if name in pictured and is_sign(shown, name, knowledge)]
        if shared:
            own[:] = [
                finding for finding in own if not any(is_sign(finding, entry, knowledge) for entry in shared)
            ]
    return result


def _sketched(missing: list[Finding], added: list[Finding], knowledge: Knowledge) -> list[Match]:
    """Take from the leftovers what one report names and the other only describes in the same place."""
    result: list[Match] = []
    is_sketch = knowledge.similarity.is_sketch
    for r in list(missing):
        for c in added:
            if is_sketch(r.concept) is not is_sketch(c.concept) and one_place(r, c, knowledge):
                result.append(Match(r, c, SKETCHED, differences(r, c, knowledge)))
                missing.remove(r)
                added.remove(c)
                break
    return result


def _without_match(
    leftover: Sequence[Finding], missing: Sequence[Finding], added: Sequence[Finding], described: Sequence[Match]
) -> list[Finding]:
    """Findings that `_describe` took away without a match of their own."""
    remaining = {id(finding) for finding in (*missing, *added)}
    remaining |= {id(finding) for match in described for finding in (match.reference, match.candidate)}
    return [finding for finding in leftover if id(finding) not in remaining]


def _names(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """True if the first finding is the second, or a kind of it: "Colles fracture", "fracture of the radius"."""
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
    """Number of attributes of two findings are the same."""
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
    full: dict[int, Finding],
    other: Findings,
    knowledge: Knowledge,
) -> tuple[list[Finding], list[Contradiction]]:
    """Findings without a partner: restated (they join a matched one), contradicted, or alone."""
    alone: list[Finding] = []
    against: list[Contradiction] = []
    for index, finding in enumerate(own):
        if index in partner:
            continue
        for own_one, theirs in partner.items():
            if is_covered(finding, own[own_one], other.present[theirs], knowledge):
                full[own_one] = union(full[own_one], finding)
                break
        else:
            denial = None
            if finding.concept.startswith(_LOOSE) or not other.ruled_out.isdisjoint(
                knowledge.similarity.ancestors(finding.concept)
            ):
                against_it = (
                    statement for statement in other.denied if contradicts(statement, finding, other, knowledge)
                )
                denial = next(against_it, None)
            if denial is not None:
                against.append(Contradiction(finding, denial))
            else:
                alone.append(finding)
    return alone, against
