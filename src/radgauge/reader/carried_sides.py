"""Sides that a report says once: what is told of a limb, a breast, an ear, an eye or a kidney lies on its side.

"Orbital floor fracture on the right, no globe rupture"; "Left knee: ... . No effusion." Chest reports say the side
of each finding, so that nothing is carried there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radgauge.reader.lexicon import Concept
from radgauge.reader.reading import Mention
from radgauge.reader.sides import may_have_side
from radgauge.reader.vocabulary import FINDINGS, Vocabulary

_ONE_SIDE = frozenset({"left", "right"})
_SAYS_EACH = "chest"  # the region whose reports say the side of every finding
_LIMBS = frozenset({"musculoskeletal", "breast", "vascular"})
"""Regions of which one report describes one side, sentence after sentence."""
_ANY = frozenset({"any", "general"})
_VESSELS = "vascular"


def carry_sides(mentions: list[Mention], vocabulary: Vocabulary) -> None:
    """Give findings without a side the one that their sentence, or a report about one limb, has named."""
    stated = {mention[7][0] for mention in mentions}
    if _ONE_SIDE.isdisjoint(stated):
        return
    limb = _side_of_limb(mentions, vocabulary)
    start = 0
    while start < len(mentions):
        end = start + 1
        while end < len(mentions) and mentions[end].sentence == mentions[start].sentence:
            end += 1
        _carry_within(mentions, range(start, end), vocabulary)
        if limb[0] and start >= limb[1]:
            for index in range(start, end):
                if _takes_side(mentions[index], vocabulary) and _of_limb(mentions[index], vocabulary):
                    _give(mentions, index, limb[0])
        start = end


def _give(mentions: list[Mention], index: int, side: str) -> None:
    mentions[index] = mentions[index]._replace(attributes=mentions[index].attributes._replace(laterality=side))


def _takes_side(mention: Mention, vocabulary: Vocabulary) -> bool:
    if mention.attributes.laterality or not (mention.kind in FINDINGS or mention.form == "implied"):
        return False
    return may_have_side(mention, vocabulary)


def _carry_within(mentions: list[Mention], here: range, vocabulary: Vocabulary) -> None:
    """The last side named before in the sentence, or the only one named behind."""
    sided = [index for index in here if mentions[index].attributes.laterality in _ONE_SIDE]
    if not sided:
        return
    sides = {mentions[index].attributes.laterality for index in here} & {*_ONE_SIDE, "bilateral"}
    for index in here:
        if not _takes_side(mentions[index], vocabulary):
            continue
        before = [earlier for earlier in sided if earlier < index]
        source = before[-1] if before else sided[0] if len(sides) == 1 else -1
        if source >= 0 and _related(mentions[index], mentions[source], vocabulary, behind=not before):
            _give(mentions, index, mentions[source].attributes.laterality)


def _related(mention: Mention, source: Mention, vocabulary: Vocabulary, *, behind: bool) -> bool:
    """True if a finding can lie where the source lies; one whose place is not known lies with the organ named."""
    paired, own = _location_of(mention, vocabulary)
    _, there = _location_of(source, vocabulary)
    if _SAYS_EACH in own or _SAYS_EACH in there or (behind and not there & _LIMBS):
        return False
    if not paired:
        return not own - _ANY - _LIMBS and not own & {_VESSELS} and bool(there - _ANY)
    return bool(own & there) or (_VESSELS in own | there and bool(there - _ANY))


def _location_of(mention: Mention, vocabulary: Vocabulary) -> tuple[bool, frozenset[str]]:
    """True if a mention lies in what exists left and right, and the regions it belongs to."""
    lexicon = vocabulary.lexicon
    entry = lexicon.concepts.get(mention.concept)
    structures: Sequence[str] = mention.attributes.locations
    if mention.kind == "anatomy":
        structures = (mention.concept,)
    elif not structures and entry is not None:
        structures = entry.location
    result = [lexicon.concepts[name] for name in structures if name in lexicon.concepts]
    paired = any(name.paired or _in_pair(lexicon.ancestors(name.id), vocabulary) for name in result)
    named: Iterable[Concept] = result
    if not result and entry is not None:
        named = (entry,)
    regions = {
        region for name in named for region in name.regions if len(name.regions) == 1 or region != _SAYS_EACH
    }
    return paired, frozenset(regions)


def _elsewhere(regions: Iterable[str]) -> tuple[str, ...]:
    return tuple(region for region in regions if region != _SAYS_EACH)


def _in_pair(containers: Sequence[str], vocabulary: Vocabulary) -> bool:
    concepts = vocabulary.lexicon.concepts
    return any(concepts[name].paired for name in containers if name in concepts)


def _side_of_limb(mentions: Sequence[Mention], vocabulary: Vocabulary) -> tuple[str, int]:
    """The one side of the limb that a report is about, and the mention that says it; ("", 0) for none."""
    result, first = "", 0
    for index, mention in enumerate(mentions):
        _, regions = _location_of(mention, vocabulary)
        if _SAYS_EACH in regions:
            return "", 0
        side = mention.attributes.laterality
        if side and regions & _LIMBS:
            if side not in _ONE_SIDE or (result and side != result):
                return "", 0
            if not result:
                result, first = side, index
    return result, first


def _of_limb(mention: Mention, vocabulary: Vocabulary) -> bool:
    paired, regions = _location_of(mention, vocabulary)
    return (paired and bool(regions & _LIMBS)) or not regions - _ANY - _LIMBS
