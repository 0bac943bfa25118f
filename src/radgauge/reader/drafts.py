"""Draft mentions: which items become mentions, with their places and the words they are composed of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft, apart, compose, composed
from radgauge.reader.growth import grown_structures, tells_growth
from radgauge.reader.phrases import (
    coordinated_before,
    fronted_places,
    look_left,
    look_right,
    object_after,
    place_follows,
    subject_before,
)
from radgauge.reader.vocabulary import FINDINGS, JOINS, MODIFIERS, Item, Vocabulary


def drafts_of(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], vocabulary: Vocabulary
) -> list[Draft]:
    """One draft per anatomy, finding and word of normality, with its places and describing words."""
    drafts: list[Draft] = []
    draft: Draft | None
    taken: set[int] = set()  # anatomy inside the phrase of a finding
    fronted, until = fronted_places(items, words, starts)
    for index, item in enumerate(items):
        role = item.role
        if role == "anatomy":
            draft = Draft(index, item.value)
            draft.words, _, _ = look_left(items, index)
        elif role in FINDINGS or role == "normality":
            draft = Draft(index, item.value)
            draft.words, before, draft.history = look_left(items, index)
            sides = {items[word].value for word in draft.words if items[word].role == "side"}
            if {"left", "right"} <= sides:  # "right apical and left basilar opacities"
                draft.side, draft.sides_differ = "bilateral", True
            after_words, after = look_right(items, index, starts)
            draft.words += after_words
            if role == "normality" or item.form == "adjective":
                draft.explicit = object_after(items, index)
                if not draft.explicit:
                    draft.explicit = subject_before(items, index, starts)
                    if after and all(items[structure].value in _TISSUES for structure in draft.explicit):
                        draft.explicit += after  # "the wall is thickened in the sigmoid colon"
            else:
                if before:
                    joined, described = coordinated_before(items, starts, before[-1], vocabulary)
                    if joined:  # sides are those of the places, not of the finding
                        draft.words = [word for word in draft.words + described if items[word].role != "side"]
                        before += joined
                draft.explicit = before + after or subject_before(items, index, starts, across_verb=True)
                if fronted and index < until and not (before or (draft.explicit and not _is_beside(words, index))):
                    lies = [
                        structure
                        for structure in fronted
                        if _may_lie(item.value, items[structure].value, vocabulary)
                    ]
                    draft.explicit = lies + draft.explicit
                taken.update(before)
                if " " in words[index] and index > 1 and items[index - 1].role in JOINS:
                    drafts += _shared_finding(items, words, index, draft, vocabulary)
                if " of " in words[index] and index + 2 < len(items) and items[index + 1].role in JOINS:
                    drafts += _shared_noun(items, words, index, draft, vocabulary)
            if shared := (
                _finding_of_last(items, words, draft, vocabulary)
                or _finding_of_front(items, words, index, vocabulary)
            ):
                draft.concept = shared
            elif words[index] in vocabulary.compositions:
                compose(draft, composed(draft, items, words[index], vocabulary))
        elif tells_growth(items, words, index):
            drafts += grown_structures(items, words, starts, index, vocabulary)
            continue
        elif words[index] in vocabulary.compositions:
            draft = Draft(index, "")
            draft.explicit = object_after(items, index) or subject_before(items, index, starts)
            concept = composed(draft, items, words[index], vocabulary)
            if not concept and (subject := subject_before(items, index, starts)):  # "is lost behind the heart"
                other = Draft(index, "")
                other.explicit = subject
                if concept := composed(other, items, words[index], vocabulary):
                    draft.explicit = subject
            if not concept and (role not in MODIFIERS or role == "part"):  # "fluid in the left pleural space"
                draft.explicit = look_right(items, index, starts)[1]
                concept = composed(draft, items, words[index], vocabulary)
            if not concept and index + 1 < len(items) and words[index + 1] in _OBJECTS:
                draft.explicit = _last_place(items, index)  # "touches the root without displacing it"
                concept = composed(draft, items, words[index], vocabulary)
            if not concept and " " in words[index]:  # "contains gas" is a term for some structures only
                last = words[index].rsplit(" ", 1)[-1]
                if last in vocabulary.compositions:
                    concept = composed(draft, items, last, vocabulary)
            if not concept and index and _concludes(items[index - 1]):
                draft.explicit, concept = _concluded(items, words, index, vocabulary)
            draft.words, before, draft.history = look_left(items, index)
            if not concept and (several := apart(draft, items, words[index], vocabulary)):
                drafts += several
                continue
            if not concept and item.form == "open":
                concept = f"open:{words[index]}"
                draft.explicit = draft.explicit or before
            if not concept or _describes_next(items, index):
                continue
            compose(draft, concept)
        else:
            continue
        drafts.append(draft)
    for draft in drafts:
        if draft.item in taken:  # "small left apical pneumothorax": small is said of the finding
            draft.words = [index for index in draft.words if items[index].role in ("side", "position", "part")]
    _share_places(items, words, drafts, vocabulary)
    drafts = _named_by_place(items, drafts, vocabulary)
    for draft in drafts:
        if draft.concept in vocabulary.elsewhere and _lies_elsewhere(draft, items, vocabulary):
            draft.concept = vocabulary.elsewhere[draft.concept]
    return drafts


def _finding_of_last(items: Sequence[Item], words: Sequence[str], draft: Draft, vocabulary: Vocabulary) -> str:
    """The finding that an adjective makes of joined places with one noun: "enlarged hilar and axillary nodes"."""
    structures = draft.explicit
    if items[draft.item].form != "adjective" or len(structures) < 2 or items[structures[0]].form != "adjective":
        return ""
    entry = vocabulary.term((*words[draft.item].split(), *words[structures[-1]].split()))
    return entry.value if entry is not None and entry.role in FINDINGS and structures[0] > draft.item else ""


_LISTS = shipped_toml(__file__, "word_lists.toml")
_CARRIED = frozenset(_LISTS["shares_front"])
_TISSUES = frozenset(_LISTS["tissues"])


def _finding_of_front(items: Sequence[Item], words: Sequence[str], index: int, vocabulary: Vocabulary) -> str:
    """The finding of a noun that shares its adjective with the one before: "pleural effusion or thickening"."""
    before = index - 1
    if words[index] not in _CARRIED or before < 0:
        return ""
    while before > 0 and (items[before].role in JOINS or words[before] == "-"):
        before -= 1
    front = vocabulary.word(words[before].split()[0])
    if items[before].role not in FINDINGS or front is None or front.role != "anatomy":
        return ""
    entry = vocabulary.term((words[before].split()[0], *words[index].split()))
    return entry.value if entry is not None and entry.role in FINDINGS else ""


def _may_lie(finding: str, structure: str, vocabulary: Vocabulary) -> bool:
    concept = vocabulary.lexicon.concepts.get(finding)
    own = concept.location if concept is not None else ()
    return not own or any(vocabulary.lexicon.is_a(structure, location_id) for location_id in own)


def _is_beside(words: Sequence[str], index: int) -> bool:
    """True if the place behind the finding at `index` is one it lies next to, not in."""
    return not _NEXT_TO.isdisjoint(" ".join(words[index + 1 : index + 5]).split())


_NEXT_TO = frozenset({"adjacent", "near", "neighboring", "next", "close", "vicinity", "neighborhood"})


def _named_by_place(items: Sequence[Item], drafts: list[Draft], vocabulary: Vocabulary) -> list[Draft]:
    """The drafts with findings called what they are called in their place: a laceration of the liver.

    Several structures that make different findings of it are told apart: fractures of the femur and the tibia.
    """
    result: list[Draft] = []
    pairs = vocabulary.named_pairs
    for draft in drafts:
        if draft.concept not in pairs or draft.inverse:
            result.append(draft)
            continue
        if not draft.explicit:
            draft.concept = _named_by_subject(items, draft, vocabulary) or draft.concept
            result.append(draft)
            continue
        named: dict[str, list[int]] = {}
        for structure in draft.explicit:
            named.setdefault(vocabulary.named_pair(draft.concept, items[structure].value), []).append(structure)
        if "" in named and len(named) > 1 and _hold(items, named, vocabulary):
            del named[""]  # "both kidneys' collecting systems and ureters"
        if len(named) == 1 or (len(named) == 2 and "" in named):
            draft.concept = next((specific_name for specific_name in named if specific_name), draft.concept)
            result.append(draft)
        elif "" in named or any(
            not _CHEST.isdisjoint(vocabulary.lexicon[specific_name].regions) for specific_name in named
        ):
            result.append(draft)  # chest reports speak of "degenerative changes of the spine and shoulders" as one
        else:
            for concept, structures in named.items():
                one = copy(draft)
                one.concept, one.explicit = concept, structures
                result.append(one)
    return result


def _hold(items: Sequence[Item], named: Mapping[str, Sequence[int]], vocabulary: Vocabulary) -> bool:
    """True if the places without a finding of their own hold those that have one."""
    own = {items[structure].value for name, structures in named.items() if name for structure in structures}
    above = set().union(*(vocabulary.lexicon.ancestors(structure) for structure in own))
    return above.issuperset(items[structure].value for structure in named[""])


def _named_by_subject(items: Sequence[Item], draft: Draft, vocabulary: Vocabulary) -> str:
    """Name a finding without a place by the structure before it: "the tendon is missing, a rupture"."""
    seen = 0
    for index in range(draft.item - 1, -1, -1):
        if items[index].role == "semicolon" or seen == _NEAREST:
            break
        if items[index].role == "anatomy":
            seen += 1
            named = vocabulary.named_pair(draft.concept, items[index].value)
            if named and _CHEST.isdisjoint(vocabulary.lexicon[named].regions):
                return named
    return ""


_CHEST = frozenset({"chest"})
_NEAREST = 2  # structures before a finding that may be its place


def _shared_finding(
    items: Sequence[Item], words: Sequence[str], index: int, draft: Draft, vocabulary: Vocabulary
) -> list[Draft]:
    """Findings that share the noun of the one at `index`: "no orbital, zygomatic or mandibular fracture"."""
    norms = words[index].split()
    result: list[Draft] = []
    position = index
    while position > 1 and items[position - 1].role in JOINS:
        front = position - 1
        while front > 0 and items[front].role in JOINS:
            front -= 1
        if items[front].role != "anatomy" or (items[front].form != "adjective" and _is_placed(items, front)):
            break
        for tail in range(1, len(norms)):
            own = vocabulary.term(tuple(norms[:tail]))
            if own is None or own.role != "anatomy":
                continue
            entry = vocabulary.term((*words[front].split(), *norms[tail:]))
            concept = entry.value if entry is not None and entry.role in FINDINGS else ""
            if (
                not concept
                and (noun := vocabulary.term(tuple(norms[tail:]))) is not None
                and noun.role in FINDINGS
            ):
                concept = vocabulary.named_pair(noun.value, items[front].value)
            if concept and concept != draft.concept:
                one = copy(draft)
                one.concept, one.explicit, one.words = concept, [front], list(draft.words)
                result.append(one)
                break
        else:
            break
        position = front
    return result


def _shared_noun(
    items: Sequence[Item], words: Sequence[str], index: int, draft: Draft, vocabulary: Vocabulary
) -> list[Draft]:
    """Findings of places joined to the one in the term at `index`: "fractures of the tibia and the fibula"."""
    entry = vocabulary.term(tuple(words[index].split(" of ", 1)[0].split()))
    if entry is None or entry.role not in FINDINGS or not place_follows(items, index + 2):
        return []
    result: list[Draft] = []
    for at in range(index + 2, len(items)):
        role = items[at].role
        if role == "anatomy":
            one = copy(draft)
            one.concept = vocabulary.named_pair(entry.value, items[at].value) or entry.value
            one.explicit, one.words = [at], list(draft.words)
            result.append(one)
        elif role not in JOINS and role not in MODIFIERS and role != "determiner":
            break
    return result


def _is_placed(items: Sequence[Item], index: int) -> bool:
    """True if the structure at `index` is the place of something before: "swelling of the wrist"."""
    while index > 0 and (items[index - 1].role in MODIFIERS or items[index - 1].role == "determiner"):
        index -= 1
    return index > 0 and (items[index - 1].role in ("preposition", "verb") or items[index - 1].role in FINDINGS)


def _lies_elsewhere(draft: Draft, items: Sequence[Item], vocabulary: Vocabulary) -> bool:
    """True if every place of a finding lies in other regions of the body: opacification of a sinus."""
    concepts = vocabulary.lexicon.concepts
    own = set(concepts[draft.concept].regions)
    regions = [
        concepts[items[structure].value].regions
        for structure in draft.explicit
        if items[structure].value in concepts
    ]
    return bool(regions) and all(own.isdisjoint(region) and _ANY.isdisjoint(region) for region in regions)


_ANY = frozenset({"any", "general", "vascular", "cardiac"})


def _concludes(item: Item) -> bool:
    return any(cue.link or cue.asserts == "uncertain" for cue in item.cues)


def _concluded(
    items: Sequence[Item], words: Sequence[str], index: int, vocabulary: Vocabulary
) -> tuple[list[int], str]:
    """A conclusion is about a place named before: "no fluid around the cord, suspicious for compression"."""
    for at in range(index):
        if items[at].role == "anatomy":
            about = Draft(index, "")
            about.explicit = [at]
            if concept := composed(about, items, words[index], vocabulary):
                return about.explicit, concept
    return [], ""


_OBJECTS = frozenset({"it", "them"})


def _last_place(items: Sequence[Item], index: int) -> list[int]:
    return next(([at] for at in range(index - 1, -1, -1) if items[at].role == "anatomy"), [])


def _describes_next(items: Sequence[Item], index: int) -> bool:
    """True if the word at `index` belongs to a finding behind it: "decreased right pleural fluid"."""
    position = index + 1
    while position < len(items) and items[position].role in MODIFIERS:
        position += 1
    return position < len(items) and items[position].role in FINDINGS


def _share_places(
    items: Sequence[Item], words: Sequence[str], drafts: Sequence[Draft], vocabulary: Vocabulary
) -> None:
    """Findings joined by "and", "or" or commas share the place named behind the last of them."""
    by_item = {draft.item: draft for draft in drafts if items[draft.item].role in FINDINGS}
    if len(by_item) < 2:
        return
    order = sorted(by_item)
    for left, right in zip(reversed(order[:-1]), reversed(order[1:]), strict=True):
        first, second = by_item[left], by_item[right]
        if first.explicit or not second.explicit or min(second.explicit) < right:
            continue
        between = [items[index].role for index in range(left + 1, right)]
        joined = any(role in ("conjunction", "comma", "slash") for role in between)
        if joined and all(
            role in MODIFIERS or role in ("conjunction", "comma", "slash", "determiner", "mask")
            for role in between
        ):
            first.explicit = list(second.explicit)
            if words[left] in vocabulary.compositions:  # "tortuous and calcified aorta"
                compose(first, composed(first, items, words[left], vocabulary))
