"""Words that the lexicon lacks: open claims, and the content words that no rule explained.

A noun phrase or a predicate that stands where a finding would stand is a claim even if nobody knows its words:
"zorbing of the left kidney", "there is no quellation". It becomes an item of role "open", so that scope, side,
severity, place and change are read as they are for every finding.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from radgauge.reader.ellipsis import SPARING
from radgauge.reader.retag import called_normal
from radgauge.reader.vocabulary import FINDINGS, MODIFIERS, Item
from radgauge.text.tokens import Tokens, tokenize

_PHRASE = MODIFIERS | {"unknown", "anatomy"}
_CONTENT = FINDINGS | MODIFIERS | {"anatomy", "normality", "unknown"}
_OVER = frozenset(
    {"preposition", "determiner", "side", "position", "quantity", "part", "number", "severity", "quality"}
)
_BEFORE = frozenset({"determiner", "number", "unit", "mask", "context"})
_SEEN = frozenset({"verb", "cue"})
_LEAST_LETTERS = 3


def open_concept(words: str) -> str:
    """Return the concept of an open claim in these words.

    >>> open_concept("Zorb-like Quellations")
    'open:zorb like quellation'
    """
    return "open:" + " ".join(tokenize(words).norms)


def count_content(items: Sequence[Item], tokens: Tokens) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """Content words, those of them that the lexicon knows, and the spans of those that no rule explained."""
    content = understood = 0
    unread = []
    for item in items:
        if item.role not in _CONTENT:
            continue
        words = item.last - item.first
        if item.role == "unknown":
            if len(item.value) < 2:
                continue
            unread.append((tokens.starts[item.first], tokens.ends[item.last - 1]))
        elif item.role != "open":
            understood += words
        content += words
    return content, understood, tuple(unread)


def open_claims(items: list[Item], words: Sequence[str], tokens: Tokens, composing: Container[str]) -> list[Item]:
    """The items with unknown words in the position of a finding joined to open claims.

    A word that makes a finding with an organ ("fluid", "air") stays as it is, of form "open": it is an open claim
    only if there is no such organ.
    """
    result = list(items)
    end = len(items)
    while end > 0:
        if items[end - 1].role not in _PHRASE:
            end -= 1
            continue
        start = end
        while start > 0 and items[start - 1].role in _PHRASE:
            start -= 1
        head = _head(items, start, end)
        if head < start or not _in_position(items, words, start, head) or called_normal(items, end):
            end = start
            continue
        if items[head].value in composing:
            result[head] = items[head]._replace(form="open")
        else:
            first = head
            while first > start and items[first - 1].role in ("unknown", "quality"):
                first -= 1
            while items[first].role == "quality":
                first += 1
            last = head + 1
            if last < end and items[last].role == "part" and not _is_of(words, last + 1):
                last += 1
            concept = open_concept(" ".join(tokens.texts[items[first].first : items[last - 1].last]))
            result[first:last] = [Item(items[first].first, items[last - 1].last, "open", concept, "noun", ())]
        end = start
    return result


def _is_of(words: Sequence[str], index: int) -> bool:
    return index < len(words) and words[index] == "of"


def _head(items: Sequence[Item], start: int, end: int) -> int:
    """The last unknown word of the phrase [start, end) if it is the phrase's head, else -1."""
    if end < len(items) and items[end].role in FINDINGS | {"normality"}:
        return -1
    for index in range(end - 1, start - 1, -1):
        role = items[index].role
        if role == "unknown":
            word = items[index].value
            if word in SPARING:
                return -1
            return index if len(word) >= _LEAST_LETTERS and not word.endswith("ly") else -1
        if role == "anatomy":
            return -1
    return -1


def _in_position(items: Sequence[Item], words: Sequence[str], start: int, head: int) -> bool:
    """True if a finding could stand where the unknown phrase [start, head] stands."""
    if any(items[index].role == "anatomy" for index in range(start, head)):
        return True  # "lung sliding", "the diaphragm rides higher"
    if _place_follows(items, head + 1):
        return True
    before = start - 1
    while before >= 0 and items[before].role in _BEFORE:
        before -= 1
    if before < 0 or items[before].role == "semicolon":
        after = items[head + 1].role if head + 1 < len(items) else "mark"
        return after in _SEEN or (after == "mark" and start < head)
    item = items[before]
    if words[before].startswith("there "):
        return True
    if item.role == "cue":
        return any(
            cue.direction != "after" and cue.asserts in ("absent", "uncertain", "present") for cue in item.cues
        )
    if item.role == "verb":
        return _anatomy_before(items, before) or (
            before > 0 and words[before - 1] in ("it", "this", "these", "they")
        )
    return False


def _place_follows(items: Sequence[Item], index: int) -> bool:
    """True if anatomy follows across a preposition or as the object of a verb."""
    begin = index
    while index < len(items) and items[index].role in _OVER:
        index += 1
    return index > begin and index < len(items) and items[index].role == "anatomy"


def _anatomy_before(items: Sequence[Item], index: int) -> bool:
    """True if the subject of the verb at `index` is anatomy: "the carina is quelled"."""
    while index > 0 and items[index - 1].role in MODIFIERS | {"verb"}:
        index -= 1
    return index > 0 and items[index - 1].role == "anatomy"
