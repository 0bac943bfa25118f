"""Growth: a structure that has enlarged, or whose size has increased, is enlarged."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft, apart, compose, composed
from radgauge.reader.phrases import subject_before
from radgauge.reader.retag import NOUNS_OF_CHANGE
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item, Vocabulary

_COMPARATIVES = {
    "wider": "widened",
    "larger": "enlarged",
    "bigger": "enlarged",
    "thicker": "thickened",
    "smaller": "small",
    "narrower": "narrowed",
    "higher": "raised",
    "bulkier": "enlarged",
}
_SHRUNK = ("small",)
_BEFORE_GROWTH = MODIFIERS | {"verb", "anatomy", "determiner", "conjunction"}
_DIMENSIONS: dict[str, tuple[str, ...]] = {
    dimension: tuple(words)
    for words, dimensions in shipped_toml(__file__, "word_lists.toml")["dimensions"]
    for dimension in dimensions
}
_COUNTERPARTS = frozenset({"left", "right", "other", "opposite", "contralateral", "normal", "usual", "expected"})


def tells_growth(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if the words at `index` may say that a structure has grown: "has enlarged", "wider than before"."""
    item = items[index]
    if _is_compared(words, index):
        return words[index] in _COMPARATIVES or (
            item.role == "change" and item.value in ("increased", "decreased")
        )
    if item.role != "change" or item.value not in ("increased", "decreased"):
        return False
    return " " in words[index] or bool(_measured_as(items, words, index) or _behind(items, words, index))


def _behind(items: Sequence[Item], words: Sequence[str], index: int) -> list[int]:
    """A structure and its dimension behind a change: "increase in spleen size"."""
    named = words[index].endswith(NOUNS_OF_CHANGE)
    phrase = [index - 1] if named and index and items[index - 1].role == "part" else []  # "diameter increase"
    for position in range(index + 1, min(index + 9, len(items))):
        role = items[position].role
        if role in ("anatomy", "part"):
            phrase.append(position)
        elif role == "verb" and named and position == index + 1:  # "an increase is seen in the calibre of"
            continue
        elif role not in MODIFIERS and role not in ("determiner", "preposition", "conjunction"):
            if role in FINDINGS:
                return []
            break
    sized = any(words[at] in _DIMENSIONS and items[at].role == "part" for at in phrase)
    return phrase if sized and any(items[at].role == "anatomy" for at in phrase) else []


def grown_structures(
    items: Sequence[Item], words: Sequence[str], starts: Sequence[bool], index: int, vocabulary: Vocabulary
) -> list[Draft]:
    """A structure that has enlarged is enlarged: "the heart has enlarged since the prior study"."""
    last = words[index].rsplit(" ", 1)[-1]
    draft = Draft(index, "")
    grown = items[index].value != "decreased"
    measured, behind = _measured_as(items, words, index), _behind(items, words, index)
    if behind:
        measured = next((_DIMENSIONS[words[at]] for at in behind if words[at] in _DIMENSIONS), measured)
    if last in _COMPARATIVES or last == "than":
        last = _COMPARATIVES.get(words[index].split(" ", 1)[0], last)
    if last not in vocabulary.compositions and not measured:
        last = "enlarged" if grown else "small"
    if not measured and (last not in vocabulary.compositions or (not grown and not _is_compared(words, index))):
        return []
    draft.explicit = [at for at in behind if items[at].role == "anatomy"] or subject_before(items, index, starts)
    if any(items[position].role in FINDINGS for position in range(min(draft.explicit, default=index), index)):
        return []
    stated = measured and " " not in words[index]  # "spleen size is increased" compares with the norm
    if items[index].role == "change" and not stated and not _with_a_structure(items, words, index):
        draft.change = items[index].value
    for word in (last, *(measured if grown else _SHRUNK if measured else ())):
        if word not in vocabulary.compositions:
            continue
        if concept := composed(draft, items, word, vocabulary):
            compose(draft, concept)
            return [draft] if draft.concept else []
        if several := apart(draft, items, word, vocabulary):
            return several
    return []


def _measured_as(items: Sequence[Item], words: Sequence[str], index: int) -> tuple[str, ...]:
    """Words for a structure whose dimension has grown: "spleen size increased", "the size of the spleen grew"."""
    for position in range(index - 1, max(index - 7, -1), -1):
        item = items[position]
        if item.role == "part" and words[position] in _DIMENSIONS:
            return _DIMENSIONS[words[position]]
        if item.role not in _BEFORE_GROWTH and words[position] != "of":
            return ()
    return ()


def _is_compared(words: Sequence[str], index: int) -> bool:
    return words[index].endswith(" than") or words[index + 1 : index + 2] == ["than"]


def _with_a_structure(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if the comparison is with another structure or with what is normal, not with an earlier time."""
    if not _is_compared(words, index):
        return False
    behind = range(index + 1, min(index + 5, len(items)))
    return any(items[at].role in ("anatomy", "normality") or words[at] in _COUNTERPARTS for at in behind)
