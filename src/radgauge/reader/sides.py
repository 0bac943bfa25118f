"""Laterality: the side of a finding, where two are told apart, one is compared with, or one is said only once.

Sides said once hold for a limb, a breast, an ear or a kidney: "Left knee: ... . No effusion." Chest reports
name the side of each finding, so that nothing is carried there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft
from radgauge.reader.lexicon import Concept
from radgauge.reader.reading import Mention, Relation
from radgauge.reader.vocabulary import FINDINGS, JOINS, MODIFIERS, Item, Vocabulary

_ONE_SIDE = ("left", "right")
OPPOSITE_SIDE = {"left": "right", "right": "left"}
_LISTS = shipped_toml(__file__, "word_lists.toml")
_WITH = frozenset(_LISTS["accompanying"])
_WHERE = frozenset(_LISTS["prepositions_of_place"])
_COMPARING = frozenset(_LISTS["comparing"])


def split_by_side(
    items: Sequence[Item], drafts: Sequence[Draft], owner: Mapping[int, int], vocabulary: Vocabulary
) -> tuple[list[Draft], dict[int, int]]:
    """One draft per side where the sides are said apart: "moderate left and trace right effusions".

    Returns the drafts, and for every describing word the draft it belongs to.
    """
    heads = {draft.item: draft for draft in drafts}
    result: list[Draft] = []
    structure: list[int] = []
    for draft in drafts:
        structure.append(len(result))
        pair: list[Draft] = []
        if items[draft.item].role in FINDINGS:
            pair = _by_words(items, draft) if draft.sides_differ else _by_places(items, draft, heads, vocabulary)
        result += pair or [draft]
    return result, {index: structure[position] for index, position in owner.items()}


def _by_words(items: Sequence[Item], draft: Draft) -> list[Draft]:
    """The draft apart at the join between its side words."""
    sided = sorted(index for index in draft.words if items[index].role == "side")
    first = sided[0]
    second = next((index for index in sided if items[index].value != items[first].value), -1)
    join = next((index for index in range(second - 1, first, -1) if items[index].role in JOINS), -1)
    if join < 0:
        return []
    pair = []
    for side, here in ((first, range(join)), (second, range(join, len(items)))):
        one = copy(draft)
        one.side, one.sides_differ = items[side].value, False
        one.words = [index for index in draft.words if index in here]
        one.explicit = [index for index in draft.explicit if index in here] or list(draft.explicit)
        pair.append(one)
    return pair


def _by_places(
    items: Sequence[Item], draft: Draft, heads: Mapping[int, Draft], vocabulary: Vocabulary
) -> list[Draft]:
    """The draft apart if all its places have sides, and not the same."""
    if len(draft.explicit) < 2:
        return []
    sides: dict[str, list[int]] = {}
    for index in draft.explicit:
        cached = heads.get(index)
        side = (cached.side if cached is not None else "") or vocabulary.sides.get(items[index].value, "")
        sides.setdefault(side, []).append(index)
    if set(sides) != set(_ONE_SIDE):
        return []
    pair = []
    for side, structures in sides.items():
        one = copy(draft)
        one.side, one.explicit = side, structures
        pair.append(one)
    return pair


def may_have_side(mention: Mention, vocabulary: Vocabulary) -> bool:
    """True if a finding that names no side can have one: not if it lies in the heart or another single organ."""
    return not any(_is_unsided(structure, vocabulary) for structure in mention.attributes.locations)


def _is_unsided(structure: str, vocabulary: Vocabulary) -> bool:
    """True if a structure lies in an organ without sides, nearer than in one that there are two of."""
    concepts = vocabulary.lexicon.concepts
    for concept_id in (structure, *vocabulary.lexicon.ancestors(structure)):
        if concept_id in vocabulary.unsided:
            return True
        if concept_id in concepts and concepts[concept_id].paired:
            return False
    return False


def same_side(items: list[Item], vocabulary: Vocabulary) -> None:
    """ "On that side" is the side that was named last, "contralateral" the other one; else they stay open."""
    side = ""
    for index, item in enumerate(items):
        if item.role == "anatomy":
            side = vocabulary.sides.get(item.value, side)
        elif item.role == "side":
            if item.value in _ONE_SIDE:
                side = item.value
            elif item.value == "same" and side:
                items[index] = item._replace(value=side)
            elif item.value == "other" and side:
                items[index] = item._replace(value=OPPOSITE_SIDE[side])


def topic_side(items: Sequence[Item], drafts: Sequence[Draft]) -> tuple[str, int]:
    """Side of the structure that a sentence is about, and how many drafts the sentence says of it.

    "Left ankle: no fracture; no swelling" is all about the left ankle, "the left lung is clear; consolidation of a
    lower lobe" is not. The side is "" if a finding comes first, or if the sentence has more than one side.
    """
    sides = {item.value for item in items if item.role == "side"}
    if len(sides) != 1 or not sides <= set(_ONE_SIDE):
        return "", 0
    for draft in drafts:
        if items[draft.item].role != "anatomy":
            return "", 0
        if draft.side in _ONE_SIDE:
            roles = [item.role for item in items[draft.item + 1 :]]
            if not roles or roles[0] not in ("colon", "verb", "comma", "cue", "preposition"):
                return "", 0
            end = len(items)
            if "semicolon" in roles and "colon" not in roles[:4]:
                end = draft.item + 1 + roles.index("semicolon")
            return draft.side, sum(other.item < end for other in drafts)
    return "", 0


def give_side(mentions: list[Mention], side: str, count: int, vocabulary: Vocabulary) -> None:
    """Give those of the first `count` findings that name no side the one that the sentence is about."""
    for index, mention in enumerate(mentions[:count]):
        if mention.kind in FINDINGS and not mention.attributes.laterality and may_have_side(mention, vocabulary):
            mentions[index] = mention._replace(attributes=mention.attributes._replace(laterality=side))


def sides_of_conclusions(mentions: list[Mention], relations: Sequence[Relation], vocabulary: Vocabulary) -> None:
    """Give a conclusion the side of the finding it is drawn from: "right opacity consistent with pneumonia"."""
    for source, target, kind in relations:
        if kind != "suggestive_of":
            continue
        side, taken = mentions[source].attributes.laterality, mentions[target]
        if side and not taken.attributes.laterality and may_have_side(taken, vocabulary):
            mentions[target] = taken._replace(attributes=taken.attributes._replace(laterality=side))


def sides_of_companions(
    items: Sequence[Item],
    words: Sequence[str],
    drafts: Sequence[Draft],
    mentions: list[Mention],
    vocabulary: Vocabulary,
) -> None:
    """Give companions of a finding, and its differential diagnoses, its side: "right mass, possible carcinoma"."""
    for index in range(1, len(mentions)):
        mention, before = mentions[index], _finding_before(mentions, index)
        if before is None or mention.attributes.laterality or mention.kind not in FINDINGS:
            continue
        side = before.attributes.laterality
        if side not in _ONE_SIDE or drafts[index].explicit or not may_have_side(mention, vocabulary):
            continue
        first = drafts[index].item
        while first > 0 and (items[first - 1].role in MODIFIERS or items[first - 1].role == "determiner"):
            first -= 1
        if first > 0 and items[first - 1].role == "slash":  # "w/"
            first -= 1
        if mention.assertion == "uncertain" or (first > 0 and words[first - 1] in _WITH):
            mentions[index] = mention._replace(attributes=mention.attributes._replace(laterality=side))


def sides_behind(
    items: Sequence[Item],
    words: Sequence[str],
    starts: Sequence[bool],
    drafts: Sequence[Draft],
    mentions: list[Mention],
    vocabulary: Vocabulary,
) -> None:
    """A finding has the side that its predicate names: "is absent over the left chest", "erodes the right rib"."""
    for index, mention in enumerate(mentions):
        if mention.kind not in FINDINGS or mention.attributes.laterality or drafts[index].explicit:
            continue
        side = _object_side(words, drafts, mentions, index, vocabulary)
        if not side:
            side = _side_after(items, words, starts, drafts[index].item, vocabulary)
        if side:
            mentions[index] = mention._replace(attributes=mention.attributes._replace(laterality=side))


def _object_side(
    words: Sequence[str], drafts: Sequence[Draft], mentions: Sequence[Mention], index: int, vocabulary: Vocabulary
) -> str:
    """The side of what a finding does to a structure, where the next word says that."""
    behind = drafts[index].item + 1
    for draft, mention in zip(drafts[index + 1 :], mentions[index + 1 :], strict=True):
        if draft.item == behind and words[behind] in vocabulary.compositions and draft.explicit:
            side = mention.attributes.laterality
            return side if side in _ONE_SIDE else ""
    return ""


def _side_after(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], index: int, vocabulary: Vocabulary
) -> str:
    """The first side behind the item at `index` that a preposition of place leads to, within the clause."""
    led = False
    for position in range(index + 1, len(items)):
        item = items[position]
        role = item.role
        if starts[position] or role in ("semicolon", "comma", "colon", "conjunction", "normality", "bracket"):
            return ""
        if role in FINDINGS or words[position] in _COMPARING:
            return ""
        if role == "preposition":
            led = words[position] in _WHERE
        elif led and role == "side":
            return item.value if item.value in _ONE_SIDE else ""
        elif led and role == "anatomy" and item.value in vocabulary.sides:
            return vocabulary.sides[item.value]
    return ""


def fronted_sides(
    items: Sequence[Item],
    starts: Sequence[bool],
    drafts: Sequence[Draft],
    mentions: list[Mention],
    vocabulary: Vocabulary,
) -> None:
    """A side that opens a clause holds for it: "on the left it causes severe stenosis"."""
    for index, item in enumerate(items):
        if item.role != "side" or item.value not in _ONE_SIDE or not _opens_clause(items, starts, index):
            continue
        end = index + 1
        while end < len(items) and not starts[end] and items[end].role not in ("semicolon", "side"):
            end += 1
        for position, draft in enumerate(drafts):
            mention = mentions[position]
            if index < draft.item < end and mention.kind in FINDINGS and not mention.attributes.laterality:
                side = item.value if may_have_side(mention, vocabulary) else ""
                mentions[position] = mention._replace(attributes=mention.attributes._replace(laterality=side))


def _opens_clause(items: Sequence[Item], starts: Sequence[bool], index: int) -> bool:
    """True if "on the left" at `index` stands at the front of a clause and describes no noun behind it."""
    if index + 1 >= len(items) or items[index + 1].role not in ("comma", "other", "verb", "cue"):
        return False
    first = index
    while first > 0 and items[first - 1].role in ("determiner", "preposition") and not starts[first]:
        first -= 1
    return first < index and (first == 0 or starts[first] or items[first - 1].role in ("semicolon", "mark"))


def _finding_before(mentions: Sequence[Mention], index: int) -> Mention | None:
    for mention in reversed(mentions[:index]):
        if mention.kind in FINDINGS:
            return mention
    return None


def compare_sides(items: list[Item], words: Sequence[str]) -> None:
    """The side that something is compared with is not its own: "smaller than the left"."""
    for index, item in enumerate(items):
        if item.role != "side" or item.value not in ("left", "right"):
            continue
        before = index - 1
        while before >= 0 and (items[before].role == "determiner" or words[before] in ("on", "that", "of")):
            before -= 1
        if before > 0 and words[before - 1 : before + 1] == ["away", "from"]:
            items[index] = item._replace(role="quantity")  # "shift away from the left"
            continue
        if before >= 0 and (words[before].endswith("than") or words[before].startswith(_COMPARED_WITH)):
            items[index] = item._replace(role="other", cues=())


_COMPARED_WITH = ("compared with", "compared to", "relative to", "unlike", "versus")


def sides_of_wholes(
    items: Sequence[Item],
    words: Sequence[str],
    starts: Sequence[bool],
    drafts: Sequence[Draft],
    vocabulary: Vocabulary,
) -> None:
    """A part has the side of the organ that the clause is about: "left lung shows lower lobe consolidation"."""
    concepts = vocabulary.lexicon.concepts
    for draft in drafts:  # "the left kidney is small and its artery narrowed"
        if items[draft.item].role == "anatomy" and not draft.side and _is_owned(items, words, draft.item):
            draft.side = next(
                (other.side for other in reversed(drafts) if other.item < draft.item and other.side), ""
            )
    sided = [
        draft for draft in drafts if draft.side and draft.concept in concepts and concepts[draft.concept].paired
    ]
    if not sided:
        return
    for draft in drafts:
        if items[draft.item].role != "anatomy" or draft.side or draft.concept in vocabulary.sides:
            continue
        containers = set(vocabulary.lexicon.ancestors(draft.concept))
        for full in reversed(sided):
            between = range(full.item + 1, draft.item)
            if full.item > draft.item or full.concept not in containers:
                continue
            if any(
                starts[index] or items[index].role in ("semicolon", "side") for index in (*between, draft.item)
            ):
                break
            if any(_tells(items[index], words[index]) for index in between):
                draft.side = full.side
            break


def _is_owned(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a structure belongs to one named before: "its renal pelvis"."""
    index -= 1
    while index > 0 and items[index].role in MODIFIERS:
        index -= 1
    return index > 0 and words[index] == "its"


def _tells(item: Item, word: str) -> bool:
    """True if what follows is told of what precedes: "shows", "has", "with", a colon, "there is"."""
    return item.role in ("verb", "colon", "comma", "cue") or word == "with"


_SAYS_EACH = "chest"  # the region whose reports say the side of every finding
_LIMBS = frozenset({"musculoskeletal", "breast", "vascular"})
"""Regions of which one report describes one side, sentence after sentence."""
_ANY = frozenset({"any", "general"})
_VESSELS = "vascular"


def carry_sides(mentions: list[Mention], vocabulary: Vocabulary) -> None:
    """Give findings without a side the one that their sentence, or a report about one limb, has named."""
    stated = {mention[7][0] for mention in mentions}
    if stated.isdisjoint(_ONE_SIDE):
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
