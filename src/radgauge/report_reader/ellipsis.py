"""Ellipsis: findings that a clause means without naming them ("the left has increased", "none in the feet").

The finding is the last one named before; its place and side are those of the clause.
"""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.parsing import shipped_toml
from radgauge.report_reader.drafts import Draft, apart, composed
from radgauge.report_reader.phrases import look_right, object_after, subject_before
from radgauge.report_reader.vocabulary import MODIFIERS, Item, Vocabulary

_LISTS = shipped_toml(__file__, "word_lists.toml")
SPARING = frozenset(_LISTS["sparing"])
TRIGGERS = SPARING | {"none", "not"}
"""Words without which, and without a side, no finding is spoken of unnamed."""
_ENDS = frozenset({"mark", "comma", "semicolon", "conjunction"})
_PREDICATE = frozenset({"verb", "change"})


def unnamed_findings(
    items: list[Item], words: Sequence[str], starts: Sequence[bool], drafts: list[Draft], vocabulary: Vocabulary
) -> list[Draft]:
    """The drafts with those of findings that are spoken of without a name, in text order."""
    found = []
    for index, item in enumerate(items):
        word = words[index]
        places: list[int] | None
        if item.role == "side":
            places = [] if _is_subject(items, index) else None
        elif word in SPARING:
            places = (
                object_after(items, index) or look_right(items, index)[1] or subject_before(items, index, starts)
            )
            places = places or None
        elif word == "none" and index + 1 < len(items) and items[index + 1].role == "preposition":
            places = look_right(items, index)[1]
        elif word == "not" and _ends_clause(items, index) and index and items[index - 1].role == "verb":
            places = subject_before(items, index, starts) or None
        else:
            continue
        source = _source(items, drafts, min([index, *places]) if places is not None else -1)
        if places is None or source is None:
            continue
        draft = Draft(index, items[source.item].value or source.concept)
        draft.explicit, draft.unnamed = places, True
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
        found += (composing and apart(draft, items, words[source.item], vocabulary)) or [draft]
        items[index] = item._replace(role="abnormality", value=draft.concept, form="ellipsis", cues=())
    return sorted([*drafts, *found], key=lambda draft: draft.item) if found else drafts


def _is_subject(items: Sequence[Item], index: int) -> bool:
    """Whether a side word stands for a finding: "while the left has increased", "the right is not"."""
    if index + 1 >= len(items) or items[index + 1].role not in _PREDICATE:
        return False
    before = items[index - 1].role if index else ""
    return before == "determiner" and items[index].value in ("left", "right")


def _is_denied(items: Sequence[Item], words: Sequence[str], index: int) -> bool:
    """Whether the predicate behind says no: "is not", "is normal", "is clear"."""
    for position in range(index + 1, min(index + 4, len(items))):
        if items[position].role == "normality" or (words[position] == "not" and _ends_clause(items, position)):
            return True
        if items[position].role != "verb":
            return False
    return False


def _ends_clause(items: Sequence[Item], index: int) -> bool:
    return index + 1 >= len(items) or items[index + 1].role in _ENDS


def _source(items: Sequence[Item], drafts: Sequence[Draft], before: int) -> Draft | None:
    """The last finding named before an item, past places and describing words."""
    for draft in reversed(drafts):
        if draft.item < before and items[draft.item].role not in ("anatomy", "normality"):
            return draft if items[draft.item].role not in MODIFIERS or draft.concept else None
    return None
