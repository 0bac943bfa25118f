"""Parts of one whole: levels of a spine, lobes of the lung that a sentence is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from radgauge.reader.lexicon import Lexicon
from radgauge.reader.vocabulary import FINDINGS, JOINS, MODIFIERS, Item, Vocabulary

if TYPE_CHECKING:
    from radgauge.reader.composing import Draft

_WHERE = frozenset({"side", "position"})


def coordinated_before(
    items: Sequence[Item], starts: Sequence[bool], structure: int, vocabulary: Vocabulary
) -> tuple[list[int], list[int]]:
    """Places joined to the one at `place` in front of a finding ("T12 and L1 fractures"), and words before them.

    Only parts of one whole are taken: in "heart and lung base opacities" the heart is on its own.
    """
    structures: list[int] = []
    first = structure
    while True:
        while first > 0 and items[first - 1].role in _WHERE:
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
