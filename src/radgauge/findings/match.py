"""Match the findings of a candidate with those of a reference, one to one, and name what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from radgauge.findings.concepts import NEAR
from radgauge.findings.described import describe_each_other, has_signs, is_sign
from radgauge.findings.findings import NOT_NORMAL, SAME, Denial, Finding, Findings, Knowledge, union
from radgauge.findings.labels import label_rules
from radgauge.findings.numbers import numbers
from radgauge.findings.open_claims import OPEN, likeness
from radgauge.findings.places import place_names, severity_name, side_name

COMPARED = 50
"""Findings of one report that are held against those of another at once."""
_NUMBERS = numbers()["match"]
SAME_SIZE = _NUMBERS["same_size"]  # relative difference of measurements that is still the same
SMALL_MM = _NUMBERS["small_mm"]  # and the absolute one: nobody measures better than that
OTHER_SIDE, ONE_OF_BOTH = _NUMBERS["other_side"], _NUMBERS["one_of_both"]
OTHER_PLACE, UNSAID = _NUMBERS["other_place"], _NUMBERS["unsaid"]
"""What remains of a similarity when side or place differ: the same finding on the other side is still a match with
a wrong location, another kind of finding there is another finding."""


ONE_NAMES_IT = _NUMBERS["one_names_it"]  # the diagnosis of one report is the description of the other
UNREAD = _NUMBERS["unread"]  # what remains of a similarity when the diagnosis is not shared
DESCRIBED = _NUMBERS["described"]  # a diagnosis and its description
SKETCHED = _NUMBERS["sketched"]  # a finding, and how something looks in its place
OF_ONE_KIND = _NUMBERS["of_one_kind"]  # findings of one structure, named by their kind and by their place
MERELY_NOT_NORMAL = _NUMBERS["not_normal"]  # a finding, and the word that its place is not normal


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


def align_findings(reference: Findings, candidate: Findings, knowledge: Knowledge) -> Aligned:
    """Put the findings of two reports side by side.

    Where a report makes more than COMPARED findings, which no real one does, those of one concept are compared
    with each other, in the order of the texts and COMPARED at a time, and of its denials in words that the lexicon
    lacks the first COMPARED: time grows with their number, not with its square.

    >>> from radgauge.findings.claims import findings_of
    >>> from radgauge.findings.findings import knowledge_for
    >>> from radgauge.report_reader import load_lexicon, read_report
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
    closeness = [[_closeness(r, c, knowledge) for c in ours] for r in theirs]
    pairs = _assign(closeness, len(theirs), len(ours))
    partner_of_r = dict(pairs)
    partner_of_c = {c: r for r, c in pairs}
    whole_r = {r: theirs[r] for r, _ in pairs}
    whole_c = {c: ours[c] for _, c in pairs}
    missing, denied = _leftover(theirs, partner_of_r, whole_r, candidate, knowledge)
    added, invented = _leftover(ours, partner_of_c, whole_c, reference, knowledge)
    leftover = (*missing, *added)
    described = _describe(missing, added, reference, candidate, knowledge) if leftover else []
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


def differences(r: Finding, c: Finding, knowledge: Knowledge) -> tuple[Difference, ...]:
    """Every attribute that two matched findings tell differently."""
    found: list[Difference] = []
    if r.sides != c.sides:
        conflict = bool(r.sides and c.sides)
        found.append(Difference("side", side_name(r.sides), side_name(c.sides), conflict))
    if r.locations != c.locations:
        conflict = bool(r.locations and c.locations)
        if not conflict or not knowledge.places.agree(r.locations, c.locations):
            found.append(Difference("location", place_names(r.locations), place_names(c.locations), conflict))
    if r.concept != c.concept and (elsewhere := _named_elsewhere(r, c, knowledge)):
        found.append(elsewhere)
    if r.labels and c.labels and r.labels != c.labels:
        found += _label_differences(r, c)
    if r.position != c.position:
        found.append(Difference("position", r.position, c.position, bool(r.position and c.position)))
    if r.severity != c.severity:
        conflict = bool(r.severity and c.severity)
        found.append(Difference("severity", severity_name(r.severity), severity_name(c.severity), conflict))
    if r.sizes_mm != c.sizes_mm:
        a, b = max(r.sizes_mm, default=0.0), max(c.sizes_mm, default=0.0)
        if abs(a - b) > max(SMALL_MM, SAME_SIZE * max(a, b)):
            found.append(Difference("size", _size(a), _size(b), bool(a and b)))
    if r.change != c.change:
        found.append(Difference("change", r.change, c.change, bool(r.change and c.change)))
    if r.uncertain != c.uncertain:
        words = ("certain", "uncertain")
        found.append(Difference("uncertainty", words[r.uncertain], words[c.uncertain], True))
    return tuple(found)


def _named_elsewhere(r: Finding, c: Finding, knowledge: Knowledge) -> Difference | None:
    """The difference of place that lies in the names themselves: a mitral and an aortic valve prosthesis."""
    concepts = knowledge.lexicon.concepts
    if r.others or c.others or r.concept not in concepts or c.concept not in concepts:
        return None
    if knowledge.similarity.related(r.concept, c.concept):
        return None
    a, b = frozenset(concepts[r.concept].location), frozenset(concepts[c.concept].location)
    if not a or not b or knowledge.places.agree(a, b):
        return None
    return Difference("location", place_names(a), place_names(b), True)


def _label_differences(r: Finding, c: Finding) -> list[Difference]:
    """Which one, how far and of what kind, where both reports say it and mean something else."""
    places = label_rules().places
    found = []
    for name, a, b in other_kind(r.labels, c.labels):
        attribute = "location" if name in places else "size"
        words = [f"{name} {', '.join(sorted(values))}" for values in (a, b)]
        found.append(Difference(attribute, words[0], words[1], True))
    return found


def other_kind(
    these: frozenset[tuple[str, str]], those: frozenset[tuple[str, str]]
) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """Names to which two sets of labels give values that have nothing in common, with the values."""
    rules = label_rules()
    found = []
    for name in sorted({name for name, _ in these} & {name for name, _ in those}):
        a = frozenset(value for label, value in these if label == name)
        b = frozenset(value for label, value in those if label == name)
        if rules.differ(name, a, b):
            found.append((name, a, b))
    return found


def _describe(
    missing: list[Finding], added: list[Finding], reference: Findings, candidate: Findings, knowledge: Knowledge
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
    for own, mine, other in ((missing, reference, candidate), (added, candidate, reference)):
        if not own:
            continue
        pictured = [each for each in other.present if has_signs(each, knowledge)]
        shared = [each for each in pictured if any(_names(each, one, knowledge) for one in mine.present)]
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


def _closeness(r: Finding, c: Finding, knowledge: Knowledge) -> float:
    """How much two findings are one, 0 to 1: concept first, then side and place; 0 below NEAR."""
    value = concept_similarity(r, c, knowledge)
    if value < NEAR and (r.concept.startswith(NOT_NORMAL) or c.concept.startswith(NOT_NORMAL)):
        value = MERELY_NOT_NORMAL if same_structure(r, c, knowledge) else 0.0
    if value < NEAR and _one_kind(r, c, knowledge):
        value = OF_ONE_KIND
    if value < NEAR:
        return 0.0
    if r.sides != c.sides:
        both = r.sides and c.sides
        value *= UNSAID if not both else ONE_OF_BOTH if r.sides & c.sides else OTHER_SIDE
    if r.locations != c.locations:
        if r.locations and c.locations:
            value *= 1.0 if knowledge.places.agree(r.locations, c.locations) else OTHER_PLACE
        else:
            value *= UNSAID
    return value if value >= NEAR else 0.0


def _one_kind(r: Finding, c: Finding, knowledge: Knowledge) -> bool:
    """Whether one name tells the kind, the other the place: "intra-articular fracture", "radial fracture"."""
    concepts = knowledge.lexicon.concepts
    a, b = concepts.get(r.concept), concepts.get(c.concept)
    if (
        a is None
        or b is None
        or a.kind == "device"
        or (a.location and b.location)
        or not (a.parents and b.parents)
    ):
        return False
    similarity = knowledge.similarity
    if similarity.is_sketch(a.id) or similarity.is_sketch(b.id):
        return False
    shared = similarity.ancestors(a.id).keys() & similarity.ancestors(b.id).keys()
    return any(not similarity.is_wide(each) for each in shared) and same_structure(r, c, knowledge)


def same_structure(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether two findings speak of one structure, or of a part and its whole."""
    return any(
        knowledge.places.related(x, y) for x in _structures(a, knowledge) for y in _structures(b, knowledge)
    )


def _in_place(places: frozenset[str], finding: Finding, knowledge: Knowledge) -> bool:
    """Whether a normal structure is where a finding would be: a normal biceps tendon denies no other tear."""
    structures = _structures(finding, knowledge)
    lexicon = knowledge.lexicon
    siblings = any(
        set(lexicon.concepts[x].parents) & set(lexicon.concepts[y].parents)
        for x in structures
        for y in places
        if x in lexicon.concepts and y in lexicon.concepts and x != y
    )
    return not siblings or any(knowledge.places.related(x, y) for x in structures for y in places)


def _structures(finding: Finding, knowledge: Knowledge) -> frozenset[str]:
    concept = knowledge.lexicon.concepts.get(finding.concept)
    return finding.locations.union(concept.location if concept is not None else ())


def concept_similarity(r: Finding, c: Finding, knowledge: Knowledge) -> float:
    """Similarity of what two findings are, whatever the words: the best of all their concepts."""
    of = knowledge.similarity.of
    value = of(r.concept, c.concept)
    if not (r.others or c.others):
        return value
    known_r, known_c = 0.0, 0.0  # how much of each side's further concepts the other side knows
    for a in r.others:
        known_r = max(known_r, of(a, c.concept))
        for b in c.others:
            both = of(a, b)
            known_r, known_c = max(known_r, both), max(known_c, both)
    for b in c.others:
        known_c = max(known_c, of(r.concept, b))
    value = max(value, ONE_NAMES_IT * max(known_r, known_c))
    # the same shadow, read as different diseases, is half a match
    if r.others:
        value *= UNREAD + (1.0 - UNREAD) * known_r
    if c.others:
        value *= UNREAD + (1.0 - UNREAD) * known_c
    return value


def _assign(closeness: Sequence[Sequence[float]], rows: int, columns: int) -> list[tuple[int, int]]:
    """The pairs of the assignment with the greatest sum; nothing below NEAR is paired."""
    if not rows or not columns:
        return []
    edges = [(r, c) for r, row in enumerate(closeness) for c, value in enumerate(row) if value > 0.0]
    taken_r, taken_c = {r for r, _ in edges}, {c for _, c in edges}
    if len(taken_r) == len(edges) == len(taken_c):
        return edges  # nothing competes: the usual case, and much cheaper
    best_r, best_c = linear_sum_assignment(np.asarray(closeness), maximize=True)
    return [(int(r), int(c)) for r, c in zip(best_r, best_c, strict=True) if closeness[r][c] > 0.0]


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
            if _covered(finding, own[mine], other.present[theirs], knowledge):
                whole[mine] = union(whole[mine], finding)
                break
        else:
            denial = None
            if finding.concept.startswith(_LOOSE) or not other.ruled_out.isdisjoint(
                knowledge.similarity.ancestors(finding.concept)
            ):
                against_it = (each for each in other.denied if _contradicts(each, finding, other, knowledge))
                denial = next(against_it, None)
            if denial is not None:
                against.append(Contradiction(finding, denial))
            else:
                alone.append(finding)
    return alone, against


def _covered(finding: Finding, mine: Finding, other: Finding, knowledge: Knowledge) -> bool:
    """Whether a leftover says no more than a matched pair does: split in one report, whole in the other."""
    if concept_similarity(finding, other, knowledge) < SAME:
        return False
    if finding.sides and other.sides:
        if finding.sides & ~other.sides:
            return False
    elif finding.sides and mine.sides and not finding.sides & mine.sides:
        return False
    if finding.locations and other.locations:
        return knowledge.places.agree(finding.locations, other.locations)
    return not (finding.locations and mine.locations) or knowledge.places.agree(finding.locations, mine.locations)


def _contradicts(denial: Denial, finding: Finding, other: Findings, knowledge: Knowledge) -> bool:
    """Whether a denial speaks of this finding and is meant without exception.

    A report that calls the lungs clear beside an opacity that it names says that the rest is clear: what the other
    report sees where that opacity is may be the opacity.
    """
    if not denies(denial, finding, knowledge):
        return False
    if denial.only == "new":
        return finding.change == "new"
    if not denial.only and not denial.normal:
        return True
    return not any(
        one_place(finding, each, knowledge) and (denial.only or denies(denial, each, knowledge))
        for each in other.present
    )


def one_place(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """Whether two findings may be one: of one kind, not on opposite sides, in one structure."""
    if (a.kind == "device") is not (b.kind == "device") or (a.sides and b.sides and not a.sides & b.sides):
        return False
    return same_structure(a, b, knowledge)


def denies(denial: Denial, finding: Finding, knowledge: Knowledge) -> bool:
    """Whether a denial speaks of this finding."""
    if denial.sides and finding.sides and not denial.sides & finding.sides:
        return False
    if denial.severity and 0 < finding.severity < denial.severity:
        return False
    if denial.labels and finding.labels and other_kind(denial.labels, finding.labels):
        return False
    if denial.normal and denial.places and not _in_place(denial.places, finding, knowledge):
        return False
    if finding.concept.startswith(OPEN):
        words = finding.concept.removeprefix(OPEN)
        return any(likeness(words, each.removeprefix(OPEN)) >= SAME for each in denial.concepts if OPEN in each)
    if finding.concept.startswith(NOT_NORMAL):
        return any(knowledge.places.related(x, y) for x in denial.places for y in finding.locations)
    return not denial.concepts.isdisjoint(knowledge.similarity.ancestors(finding.concept))


_LOOSE = (OPEN, NOT_NORMAL)


def _size(mm: float) -> str:
    return f"{mm:g} mm" if mm else ""
