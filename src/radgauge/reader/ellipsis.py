"""Ellipsis: findings that a clause means without naming them ("the left has increased", "none in the feet").

The finding is the last one named before; its place and side are those of the clause.
"""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft, apart, composed
from radgauge.reader.phrases import look_right, object_after, subject_before
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item, Vocabulary

_LISTS = shipped_toml(__file__, "word_lists.toml")
SPARING = frozenset(_LISTS["sparing"])
_INVOLVED = frozenset(_LISTS["involved"])
_PRONOUNS = frozenset({"it", "them", "these", "this"})
TRIGGERS = SPARING | {"none", "not", "neither"} | _PRONOUNS
"""Words without which, and without a side, no finding is spoken of unnamed."""
_ENDS = frozenset({"mark", "comma", "semicolon", "conjunction"})
_PREDICATE = frozenset({"verb", "change"})


def unnamed_findings(
    items: list[Item], words: Sequence[str], starts: Sequence[bool], drafts: list[Draft], vocabulary: Vocabulary
) -> list[Draft]:
    """The drafts with those of findings that are spoken of without a name, in text order."""
    result = []
    for index, item in enumerate(items):
        word = words[index]
        structures: list[int] | None
        if item.role == "side":
            structures = [] if _is_subject(items, words, index) or _is_second_side(items, words, index) else None
        elif word in SPARING:
            structures = (
                object_after(items, index)
                or look_right(items, index, starts)[1]
                or subject_before(items, index, starts)
            )
            structures = structures or None
        elif word == "none" and index + 1 < len(items) and items[index + 1].role == "preposition":
            structures = look_right(items, index, starts)[1]
        elif word == "none" and index and items[index - 1].role == "verb" and _ends_clause(items, index):
            structures = subject_before(items, index, starts) or None  # "the parotids contain none"
        elif word in _PRONOUNS and index and _denies(items[index - 1]) and _ends_clause(items, index):
            structures = subject_before(items, index - 1, starts) or None  # "the biceps is devoid of it"
        elif word == "not" and (there := object_after(items, index)) and _ends_clause(items, there[-1]):
            structures = there  # "gas outlines the bile ducts, not the portal veins"
        elif word == "not" and words[index + 1 : index + 2] and words[index + 1] in _INVOLVED:
            structures = subject_before(items, index, starts) or None  # "the biceps anchor is not involved"
        elif word == "not" and _ends_clause(items, index) and index and items[index - 1].role == "verb":
            structures = subject_before(items, index, starts) or None
        else:
            continue
        source = _source(items, drafts, min([index, *structures]) if structures is not None else -1)
        if source is not None and item.role == "side" and not source.concept:
            source = None
        if structures is None or source is None:
            continue
        draft = Draft(index, items[source.item].value or source.concept)
        draft.explicit, draft.unnamed = structures, True
        if draft.concept not in vocabulary.lexicon.concepts:
            draft.concept = source.concept
        if words[source.item] in vocabulary.compositions:
            concept = composed(draft, items, words[source.item], vocabulary)
            draft.concept = concept if concept and concept in vocabulary.lexicon.concepts else draft.concept
        if item.role == "side":
            draft.side, draft.denied = item.value, _is_denied(items, words, index)
            draft.concept = source.concept
        else:
            draft.denied = True
        composing = words[source.item] in vocabulary.compositions and item.role != "side"
        result += (composing and apart(draft, items, words[source.item], vocabulary)) or [draft]
        items[index] = item._replace(role="abnormality", value=draft.concept, form="ellipsis", cues=())
    return sorted([*drafts, *result], key=lambda draft: draft.item) if result else drafts


def _denies(item: Item) -> bool:
    return any(cue.asserts == "absent" and cue.direction != "after" for cue in item.cues)


def _is_subject(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a side word stands for a finding: "while the left has increased", "the right one is not"."""
    behind = index + 1
    if behind < len(items) and words[behind] in ("one", "ones"):
        behind += 1
    if behind >= len(items) or items[behind].role not in _PREDICATE:
        return False
    before = items[index - 1].role if index else ""
    if index > 2 and items[index - 2].role == "preposition" and items[index - 3].role in FINDINGS | {"anatomy"}:
        return False  # "the stent on the right has been removed"
    return before == "determiner" and items[index].value in ("left", "right")


def _is_second_side(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if a finding is said to lie on a second side: "18 mm on the right, 11 mm on the left"."""
    value = items[index].value
    if value not in ("left", "right") or not (_ends_clause(items, index) or _place_follows(items, words, index)):
        return False
    joined = False
    for position in range(index - 1, -1, -1):
        role = items[position].role
        if role == "side":
            return joined and items[position].value in ("left", "right") and items[position].value != value
        if role in ("comma", "semicolon", "conjunction"):
            joined = True
        elif role in FINDINGS:
            if joined:  # the first side may stand in front of the finding: "left stenosis at C5 and right at C6"
                front = position - 1
                while front >= 0 and items[front].role in MODIFIERS | {"anatomy"} and items[front].role != "side":
                    front -= 1
                return (
                    front >= 0
                    and items[front].role == "side"
                    and items[front].value in ("left", "right")
                    and items[front].value != value
                )
            return False
        elif role in ("normality", "cue"):
            return False
    return False


def _place_follows(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    return words[index + 1 : index + 2] in (["at"], ["in"]) and items[index - 1].role in ("conjunction", "comma")


def _is_denied(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """True if the predicate behind says no: "is not", "is normal", "is clear"."""
    for position in range(index + 1, min(index + 4, len(items))):
        if items[position].role == "normality" or (words[position] == "not" and _ends_clause(items, position)):
            return True
        if items[position].role != "verb":
            return False
    return False


def _ends_clause(items: Sequence[Item], index: int) -> bool:
    while index + 1 < len(items) and items[index + 1].role == "part":
        index += 1
    return index + 1 >= len(items) or items[index + 1].role in _ENDS


def _source(items: Sequence[Item], drafts: Sequence[Draft], before: int) -> Draft | None:
    """The last finding named before an item, past places and describing words."""
    for draft in reversed(drafts):
        if draft.item < before and items[draft.item].role not in ("anatomy", "normality"):
            return draft if items[draft.item].role not in MODIFIERS or draft.concept else None
    return None
