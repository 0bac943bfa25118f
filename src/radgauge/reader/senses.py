"""Words that take their meaning from the sentence: "base" of an appendix, "popliteal and tibial veins"."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.reader.vocabulary import FINDINGS, JOINS, Item, Vocabulary
from radgauge.text.tokens import Tokens

_NO_REGION = frozenset({"any", "general"})

SHARED = "shared"
"""Form of anatomy whose noun stands with another structure: "mid" in "mid and lower lungs"."""
_PART = "part"  # instead of a structure: the word names no structure of its own there
_FRONT = frozenset({"side", "determiner"})


def choose_senses(items: list[Item], words: Sequence[str], vocabulary: Vocabulary) -> None:
    """A word that many organs share is no place of its own where the sentence speaks of other regions only."""
    for index, word in enumerate(words):
        if word in vocabulary.senses:
            _choose(items, index, vocabulary.senses[word], vocabulary)
    shared = vocabulary.shared_words
    doubtful = [index for index, word in enumerate(words) if word in shared and items[index].role == "anatomy"]
    if not doubtful:
        return
    stated = {
        region
        for index, item in enumerate(items)
        if index not in doubtful and (item.role == "anatomy" or item.role in FINDINGS)
        for region in _regions(item.value, vocabulary)
    } - _NO_REGION
    for index in doubtful:
        if stated and stated.isdisjoint(_regions(items[index].value, vocabulary)):
            role = "position" if items[index].form == "adjective" else "part"
            items[index] = items[index]._replace(role=role, value=words[index], form="noun")


def _choose(
    items: list[Item], index: int, senses: Sequence[tuple[frozenset[str], str]], vocabulary: Vocabulary
) -> None:
    """Give the word at `index` the meaning it has beside another structure of its sentence."""
    stated: set[str] = set()
    for other, item in enumerate(items):
        if other == index or item.value not in vocabulary.lexicon.concepts:
            continue
        stated.update((item.value, *vocabulary.lexicon.ancestors(item.value)))
        stated.update(vocabulary.lexicon.concepts[item.value].location)
    for near, meant in senses:
        if not stated.isdisjoint(near):
            role = "part" if meant == _PART else "anatomy"
            items[index] = items[index]._replace(role=role, value=meant, form="noun", cues=())
            return


def _regions(concept: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    entry = vocabulary.lexicon.concepts.get(concept)
    return entry.regions if entry is not None else ()


def share_heads(items: list[Item], tokens: Tokens, vocabulary: Vocabulary) -> None:
    """The last word of joined structures belongs to all of them: "popliteal and posterior tibial veins"."""
    behind = len(items) - 1  # the first item behind `index` that neither joins nor stands in front
    for index in range(len(items) - 2, 0, -1):
        if items[index + 1].role not in JOINS and items[index + 1].role not in _FRONT:
            behind = index + 1
        if items[index].role not in JOINS:
            continue
        named, front = items[behind], items[index - 1]
        if named.role != "anatomy" or named.last - named.first < 2 or not _is_bare(front):
            continue
        norms = (*tokens.norms[front.first : front.last], tokens.norms[named.last - 1])
        entry = vocabulary.term(norms)
        if entry is not None and entry.role == "anatomy" and entry.value not in (front.value, named.value):
            form = front.form if front.role == "anatomy" else SHARED
            items[index - 1] = front._replace(role="anatomy", value=entry.value, form=form, cues=())


def _is_bare(item: Item) -> bool:
    return item.role in ("position", "unknown") or (item.role == "anatomy" and item.form == "adjective")
