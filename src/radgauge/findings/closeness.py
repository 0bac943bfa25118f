"""Closeness of two findings, and whether a denial refers to a finding."""

from __future__ import annotations

from radgauge.findings.concepts import NEAR
from radgauge.findings.differences import other_kind
from radgauge.findings.findings import NOT_NORMAL, SAME, Denial, Finding, Findings, Knowledge
from radgauge.findings.numbers import numbers
from radgauge.findings.open_claims import OPEN, likeness
from radgauge.findings.places import LEFT, RIGHT

_NUMBERS = numbers()["match"]
_ANYTHING = "abnormality"
OTHER_SIDE, ONE_OF_BOTH = _NUMBERS["other_side"], _NUMBERS["one_of_both"]
OTHER_PLACE, UNSAID = _NUMBERS["other_place"], _NUMBERS["unsaid"]
"""Share of a similarity that remains when side or place differ: the same finding on the other side is a match
with a wrong location, another kind of finding there is another finding."""

ONE_NAMES_IT = _NUMBERS["one_names_it"]  # the diagnosis of one report is the description of the other
UNREAD = _NUMBERS["unread"]  # what remains of a similarity when the diagnosis is not shared
OF_ONE_KIND = _NUMBERS["of_one_kind"]  # findings of one structure, named by their kind and by their place
MERELY_NOT_NORMAL = _NUMBERS["not_normal"]  # a finding, and the word that its place is not normal


def closeness_of(r: Finding, c: Finding, knowledge: Knowledge) -> float:
    """Closeness of two findings, 0 to 1: concept first, then side and place; 0 below NEAR."""
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


def _one_kind(r: Finding, c: Finding, knowledge: Knowledge) -> bool:
    """True if one name tells the kind, the other the place: "intra-articular fracture", "radial fracture"."""
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
    return any(not similarity.is_wide(name) for name in shared) and same_structure(r, c, knowledge)


def one_place(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """True if two findings may be one: of one kind, not on opposite sides, in one structure."""
    if (a.kind == "device") is not (b.kind == "device") or (a.sides and b.sides and not a.sides & b.sides):
        return False
    return same_structure(a, b, knowledge)


def same_structure(a: Finding, b: Finding, knowledge: Knowledge) -> bool:
    """True if two findings speak of one structure, or of a part and its whole."""
    return any(
        knowledge.places.related(x, y) for x in _structures(a, knowledge) for y in _structures(b, knowledge)
    )


def _in_place(locations: frozenset[str], finding: Finding, knowledge: Knowledge) -> bool:
    """True if a normal structure is where a finding would be: a normal biceps tendon denies no other tear."""
    structures = _structures(finding, knowledge)
    lexicon = knowledge.lexicon
    siblings = any(
        set(lexicon.concepts[x].parents) & set(lexicon.concepts[y].parents)
        for x in structures
        for y in locations
        if x in lexicon.concepts and y in lexicon.concepts and x != y
    )
    return not siblings or any(knowledge.places.related(x, y) for x in structures for y in locations)


def _about(locations: frozenset[str], finding: Finding, knowledge: Knowledge) -> bool:
    """True if a finding is in one of these places, or nothing is said of where it is."""
    structures = _structures(finding, knowledge)
    return not structures or any(knowledge.places.related(x, y) for x in structures for y in locations)


def _structures(finding: Finding, knowledge: Knowledge) -> frozenset[str]:
    concept = knowledge.lexicon.concepts.get(finding.concept)
    return finding.locations.union(concept.location if concept is not None else ())


def is_covered(finding: Finding, own: Finding, other: Finding, knowledge: Knowledge) -> bool:
    """True if a leftover says no more than a matched pair does: split in one report, whole in the other."""
    if concept_similarity(finding, other, knowledge) < SAME:
        return False
    if finding.sides and other.sides:
        if finding.sides & ~other.sides:
            return False
    elif finding.sides and own.sides and not finding.sides & own.sides:
        return False
    if finding.locations and other.locations:
        return knowledge.places.agree(finding.locations, other.locations)
    return not (finding.locations and own.locations) or knowledge.places.agree(finding.locations, own.locations)


def contradicts(denial: Denial, finding: Finding, other: Findings, knowledge: Knowledge) -> bool:
    """True if a denial speaks of this finding and is meant without exception.

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
        one_place(finding, claim, knowledge) and (denial.only or denies(denial, claim, knowledge))
        for claim in other.present
    )


def denies(denial: Denial, finding: Finding, knowledge: Knowledge) -> bool:
    """True if a denial speaks of this finding."""
    if denial.sides and finding.sides and not denial.sides & finding.sides:
        return False
    if denial.sides in (LEFT, RIGHT) and not finding.sides:
        return False  # the other side may have it
    if denial.severity and finding.severity < denial.severity:
        return False
    if denial.labels and finding.labels and other_kind(denial.labels, finding.labels):
        return False
    if denial.places and not denial.normal and not _about(denial.places, finding, knowledge):
        return False
    if denial.normal and denial.places and not _in_place(denial.places, finding, knowledge):
        return False
    if finding.concept.startswith(OPEN):
        words = finding.concept.removeprefix(OPEN)
        return any(likeness(words, name.removeprefix(OPEN)) >= SAME for name in denial.concepts if OPEN in name)
    if finding.concept.startswith(NOT_NORMAL):
        return any(knowledge.places.related(x, y) for x in denial.places for y in finding.locations)
    if shared := denial.concepts & knowledge.similarity.ancestors(finding.concept).keys():
        # a normal vein rules out whatever is wrong with it, not with the spine
        anything = denial.normal and shared == {_ANYTHING}
        return not anything or not denial.places or _about(denial.places, finding, knowledge)
    return not denial.normal and any(_is_kind_there(name, finding, knowledge) for name in denial.concepts)


def _is_kind_there(denied: str, finding: Finding, knowledge: Knowledge) -> bool:
    """True if a finding in its place is the denied one by another name: "scaphoid fracture"."""
    concept = knowledge.lexicon.concepts.get(denied)
    if concept is None or not concept.location or not finding.locations:
        return False
    if knowledge.similarity.is_sketch(finding.concept) or any(map(knowledge.places.is_vague, concept.location)):
        return False
    if finding.concept not in knowledge.similarity.ancestors(denied):
        return False
    return any(knowledge.places.related(x, y) for x in concept.location for y in finding.locations)
