"""Phrases: the modifiers and places of a finding, and its subject across a verb."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.vocabulary import FINDINGS, JOINS, MODIFIERS, Item, Vocabulary

TIMES = frozenset({"x", "\u00d7", "by", "*"})
"""Between the dimensions of a size."""
_TRANSPARENT = frozenset({"number", "unit", "mask", "context"})


def look_left(items: Sequence[Item], index: int) -> tuple[list[int], list[int], bool]:
    """Describing words and anatomy in front of the item at `index`, nearest first."""
    words: list[int] = []
    anatomy: list[int] = []
    history = False
    position = index - 1
    while position >= 0:
        item = items[position]
        role = item.role
        if role in MODIFIERS:
            words.append(position)
        elif role == "anatomy":
            anatomy.append(position)
        elif role in _TRANSPARENT:
            history |= role == "context" and item.value == "history"
        elif role == "cue" and all(cue.asserts == "uncertain" and cue.scope == "phrase" for cue in item.cues):
            pass
        elif role in JOINS:
            if position == 0 or position + 1 == index:
                break
            previous = items[position - 1]
            adjective = previous.role == "anatomy" and previous.form == "adjective"
            coordinated = previous.role == "position" and items[position + 1].role in ("position", "anatomy")
            if not (previous.role in ("quality", "severity") or adjective or coordinated):
                if previous.role != "side" or not _other_side_follows(items, position, index):
                    break
            elif _is_behind(items, position - 1):
                break
        else:
            break
        position -= 1
    return words, anatomy, history


def _other_side_follows(items: Sequence[Item], join: int, index: int) -> bool:
    """True if the sides around the join are those of one finding: "large right and small left effusions"."""
    behind = [item for item in items[join + 1 : index] if item.role == "side"]
    if not behind or behind[0].value == items[join - 1].value:
        return False
    position = join - 2
    while position >= 0 and (items[position].role in MODIFIERS or items[position].role == "determiner"):
        position -= 1
    before = items[position].role if position >= 0 else ""
    return before not in ("preposition", "normality", "anatomy") and before not in FINDINGS


def _is_behind(items: Sequence[Item], index: int) -> bool:
    """True if the word at `index` describes what stands before it: "lungs are clear, dense ..."."""
    while index >= 0 and items[index].role in MODIFIERS | {"anatomy"}:
        index -= 1
    return index >= 0 and (
        items[index].role in ("preposition", "verb", "normality") or items[index].role in FINDINGS
    )


def look_right(items: Sequence[Item], index: int, starts: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Describing words and anatomy of the same clause behind the item at `index`: "opacity in the left lung"."""
    words: list[int] = []
    anatomy: list[int] = []
    after_preposition = False
    position = index + 1
    while position < len(items) and not starts[position]:
        role = items[position].role
        behind = _behind_size(items, position)
        if behind > position and not anatomy:
            position = behind
            continue
        if role == "bracket" and not anatomy and (closing := _closing(items, position)):
            position = closing
            continue
        if role == "preposition":
            after_preposition = True
        elif role in ("determiner", "mask", "number", "unit", "bracket"):
            pass
        elif role == "anatomy":
            anatomy.append(position)
        elif role in MODIFIERS:
            if not after_preposition and role in ("quantity", "change"):
                pass  # "tip now in", "tube remains in"
            elif not after_preposition and role not in ("side", "position", "part"):
                break
            else:
                words.append(position)
        elif role == "verb":
            while position + 1 < len(items) and items[position + 1].role == "verb":  # "has been detected in"
                position += 1
            following = items[position + 1].role if position + 1 < len(items) else ""
            if anatomy or following not in ("preposition", "side", "number"):
                break
        elif role == "mark" and position + 1 < len(items) and items[position + 1].role == "bracket":
            pass
        elif role in ("comma", "conjunction"):
            if not (anatomy or words) or not place_follows(items, position + 1):
                break
        else:
            break
        position += 1
    if position < len(items) and items[position].role in FINDINGS and items[position].form == "noun":
        # what stands right before the next finding is that finding's: "effusion left basilar atelectasis"
        while anatomy and not after_preposition and anatomy[-1] > index:
            anatomy.pop()
    return words, anatomy


def _closing(items: Sequence[Item], index: int) -> int:
    """Return the end of brackets before a place: "lesion (cyst?) in the liver"; 0 if there are none at `index`."""
    inside = items[index].value == "("
    for position in range(index + 1, min(index + _MAX_BRACKETED, len(items) - 1)):
        if items[position].value == ")":
            return position + 1 if inside and items[position + 1].role in ("preposition", "verb") else 0
    return 0


_MAX_BRACKETED = 12  # items


def _behind_size(items: Sequence[Item], index: int) -> int:
    """Return the end of a size before a place: "of 12 x 8 mm in", "with a diameter of 7 mm in"."""
    start = index
    while start < len(items) and (items[start].role in _BEFORE_SIZE or items[start].value in _DIMENSIONS):
        start += 1
    end = start
    while end < len(items) and (items[end].role in ("number", "unit") or items[end].value in TIMES):
        end += 1
    if start == end or items[end - 1].role != "unit":
        return index
    if end + 1 < len(items) and items[end].role == "comma" and items[end + 1].role in ("preposition", "verb"):
        return end + 1
    return end if end < len(items) and items[end].role in ("preposition", "verb") else index


_BEFORE_SIZE = frozenset({"comma", "preposition", "determiner", "other"})
_DIMENSIONS = frozenset(
    word for _, words in shipped_toml(__file__, "word_lists.toml")["dimensions"] for word in words
)


def fronted_places(items: Sequence[Item], words: Sequence[str], starts: Sequence[bool]) -> tuple[list[int], int]:
    """Structures that open a sentence, and where what is said of them ends: "in the left lower lobe, a nodule"."""
    result: list[int] = []
    if not items or items[0].role != "preposition":
        return result, 0
    for index in range(1, len(items)):
        role = items[index].role
        if role == "anatomy":
            result.append(index)
        elif (role == "comma" and not place_follows(items, index + 1)) or words[index].startswith("there "):
            ends = (at for at in range(index + 1, len(items)) if starts[at] or items[at].role == "semicolon")
            return result, next(ends, len(items))
        elif role not in _OPENING:
            break
    return [], 0


_OPENING = MODIFIERS | JOINS | {"determiner", "preposition", "number"}


def place_follows(items: Sequence[Item], index: int) -> bool:
    """True if anatomy starts here that is not the subject or the front of something else."""
    has_place = False
    for position in range(index, len(items)):
        role = items[position].role
        if role in ("anatomy", "side"):
            has_place = True
        elif role in ("verb", "normality") or role in FINDINGS:
            return False
        elif role == "change" and items[min(position + 1, len(items) - 1)].role != "preposition":
            return has_place  # "of the heart, stable mediastinal contours"
        elif role not in MODIFIERS and role not in ("determiner", "mask", "preposition", "number"):
            return has_place
    return has_place


def subject_before(
    items: Sequence[Item], index: int, starts: Sequence[bool], *, across_verb: bool = False
) -> list[int]:
    """Anatomy that the statement at `index` is about, across a verb or next to it: "heart is normal".

    With `across_verb` only what stands before a verb or colon counts: "lungs: opacity", "lungs show opacity".
    """
    position = index
    crossed = 0
    subjects: list[int] = []
    while position > 0:
        if starts[position]:
            break
        position -= 1
        role = items[position].role
        if role == "anatomy":
            if across_verb and not crossed:
                return []
            subjects.append(position)
        elif role == "verb":
            if subjects or crossed > 1:
                break
            crossed += 1
        elif role in ("semicolon", "colon"):
            if role == "semicolon" or subjects:
                break
            crossed += 1
        elif role in FINDINGS:
            if subjects or across_verb or items[position].form == "noun":
                break
        elif role == "cue":
            if any(cue.asserts == "stop" for cue in items[position].cues):
                break
            if subjects:
                break
        elif role == "normality" and (subjects or across_verb):
            break  # "lungs are clear without effusion": effusion is not said of the lungs
    subjects.reverse()
    return subjects


def object_after(items: Sequence[Item], index: int) -> list[int]:
    """Anatomy that an adjective stands in front of: "clear lungs", "enlarged heart and aorta"."""
    objects: list[int] = []
    position = index + 1
    while position < len(items):
        role = items[position].role
        if role == "anatomy":
            objects.append(position)
        elif role in ("comma", "conjunction"):
            if items[position + 1 : position + 2] and items[position + 1].role == "conjunction":
                position += 1
            if not objects or not place_follows(items, position + 1):
                break
        elif role == "preposition":
            if items[index].role != "normality" and not objects:
                break
        elif role not in MODIFIERS and role not in ("determiner", "mask", "quality"):
            break
        position += 1
    return objects


_SIDE_OR_POSITION = frozenset({"side", "position"})


def coordinated_before(
    items: Sequence[Item], starts: Sequence[bool], structure: int, vocabulary: Vocabulary
) -> tuple[list[int], list[int]]:
    """Places joined to the one at `place` in front of a finding ("T12 and L1 fractures"), and words before them.

    Only parts of one whole are taken: in "heart and lung base opacities" the heart is on its own.
    """
    structures: list[int] = []
    first = structure
    while True:
        while first > 0 and items[first - 1].role in _SIDE_OR_POSITION:
            first -= 1
        index = first - 1
        if index < 1 or items[index].role not in JOINS or starts[index]:
            break
        while index > 0 and items[index].role in JOINS:  # "T5, T7, and T12"
            index -= 1
        if items[index].role != "anatomy" or items[index].form == "adjective":
            break
        if not _of_one_whole(items[index].value, items[structure].value, vocabulary.lexicon):
            break
        structures.append(index)
        first = index
    words: list[int] = []
    while first > 0 and (items[first - 1].role in MODIFIERS or items[first - 1].role == "determiner"):
        first -= 1
        if items[first].role != "determiner":
            words.append(first)
    before = items[first - 1].role if first else ""
    return ([], []) if before in ("preposition", "normality") or before in FINDINGS else (structures, words)


def _of_one_whole(structure: str, other: str, lexicon: Lexicon) -> bool:
    """True if two places are the same or lie in one organ, not only in one region of the body."""
    if structure == other:
        return True
    shared = set(lexicon.ancestors(structure)) & set(lexicon.ancestors(other))
    return any(lexicon.concepts[concept].parents for concept in shared)
