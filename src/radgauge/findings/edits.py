"""Sentences that two reports share but for a word that turns them round.

A report that repeats a sentence of the other and has "left" for "right", "positive" for "negative", 0.4 for 4 cm
or a denial where there is none says the opposite, whether or not the reader knows the finding. Only sentences that
share most of their words are compared: in others a different word may be part of another way of saying the same.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radgauge.findings.numbers import DATA

COMPARED = 100
"""Sentences of a report that one of another is compared with at most; no real report has as many."""

_TOKEN = re.compile(r"(\d+(?:\.\d+)?)\s*(mm|cm|%|percent)?(?![^\W_])|[^\W\d_]+")
_MM = {"cm": 10.0, "mm": 1.0}
_CHANGES = ("increased", "decreased", "stable")
_YEAR = (1900.0, 2100.0)


class Edit(NamedTuple):
    """One thing that two sentences tell differently."""

    # What it concerns: side, location, severity, size, change or uncertainty; added or omitted for a finding that
    # only one of the sentences affirms
    tells: str
    reference: str  # The word of the reference; "" for a denial that it lacks
    candidate: str  # The word of the candidate
    sentence_r: int  # Number of the sentence in the reference
    sentence_c: int  # Number of the sentence in the candidate


class Words(NamedTuple):
    """A sentence as words and numbers."""

    content: frozenset[str]
    numbers: tuple[tuple[float, str], ...]
    denials: int
    order: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Table:
    alike: float
    copy: float
    copied: float
    words: int
    numbers: float
    denial: float
    same_number: float
    values: Mapping[str, tuple[tuple[int, int], ...]]
    tells: tuple[str, ...]
    far: tuple[int, ...]
    denials: frozenset[str]
    empty: frozenset[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    table = tomllib.loads((DATA / "edits.toml").read_text(encoding="utf-8"))
    values: dict[str, list[tuple[int, int]]] = {}
    for number, group in enumerate(table["opposed"]):
        for position, words in enumerate(group["values"]):
            for word in words:
                values.setdefault(word, []).append((number, position))
    limits = table["limits"]
    return _Table(
        limits["alike"],
        limits["copy"],
        limits["copied"],
        limits["words"],
        limits["numbers"],
        limits["denial"],
        limits["same_number"],
        {word: tuple(result) for word, result in values.items()},
        tuple(group["tells"] for group in table["opposed"]),
        tuple(group.get("far", 1) for group in table["opposed"]),
        frozenset(table["denials"]["words"]),
        frozenset(table["empty"]["words"]),
    )


@lru_cache(maxsize=1 << 14)
def words_of(sentence: str) -> Words:
    """The words of a sentence, its numbers (lengths in mm) and how often it denies.

    >>> words_of("No nodule above 0.6 cm.").numbers
    ((6.0, 'mm'),)
    """
    table = _table()
    content, order, numbers, denials = set(), [], [], 0
    for match in _TOKEN.finditer(sentence.lower()):
        if match[1] is not None:
            unit = match[2] or ""
            numbers.append((float(match[1]) * _MM.get(unit, 1.0), "mm" if unit in _MM else unit))
            continue
        denials += match[0] in table.denials
        if match[0] in table.values or (match[0] not in table.denials and match[0] not in table.empty):
            content.add(match[0])
            order.append(match[0])
    return Words(frozenset(content), tuple(numbers), denials, tuple(order))


class Copies(NamedTuple):
    """Two reports, sentence by sentence."""

    edits: list[Edit]  # What near copies of a sentence tell differently
    # For each sentence of the reference how much the nearest of the candidate is alike, 0 to 1; 0 for a sentence
    # of very few words, which two reports share by chance
    nearest_r: list[float]
    nearest_c: list[float]  # The same for each sentence of the candidate


def compare_sentences(reference: Sequence[str], candidate: Sequence[str]) -> Copies:
    """Each sentence of the candidate against its nearest in the reference.

    >>> found = compare_sentences(["Mass in the left kidney."], ["Mass in the right kidney."])
    >>> [edit[:3] for edit in found.edits], found.nearest_c
    ([('side', 'left', 'right')], [0.6666666666666666])
    """
    theirs = [words_of(each) for each in reference]
    nearby = _Nearby(theirs, len(candidate))
    where = {text: number for number, text in enumerate(reference)}
    nearest_r, nearest_c = [0.0] * len(theirs), []
    result: list[Edit] = []
    for at, sentence in enumerate(candidate):
        ours = words_of(sentence)
        if (same := where.get(sentence)) is not None:
            copy = 1.0 if len(ours.content) >= _table().words else 0.0
            nearest_r[same] = max(nearest_r[same], copy)
            nearest_c.append(copy)
            continue
        best, nearest = 0.0, -1
        for number in nearby(ours, at):
            other = theirs[number]
            alike = _alike(ours, other)
            if alike > best:
                best, nearest = alike, number
            if alike > nearest_r[number] and len(other.content) >= _table().words:
                nearest_r[number] = alike
        nearest_c.append(best if len(ours.content) >= _table().words else 0.0)
        if best >= _table().alike:
            result += [Edit(*each, nearest, at) for each in _between(theirs[nearest], ours, best)]
    return Copies(result, nearest_r, nearest_c)


class _Nearby:
    """The sentences of a report that one of another is compared with: all, or the likeliest of a very long one."""

    def __init__(self, sentences: Sequence[Words], others: int) -> None:
        self._all = range(len(sentences))
        self._share = len(sentences) / max(1, others)
        self._with: dict[str, list[int]] = {}
        if len(sentences) > COMPARED:
            for number, words in enumerate(sentences):
                for word in words.content:
                    self._with.setdefault(word, []).append(number)

    def __call__(self, words: Words, at: int) -> Iterable[int]:
        """Those with its rarest words, of a frequent word those around the same part of the report, in order."""
        if not self._with:
            return self._all
        numbers: set[int] = set()
        for having in sorted((self._with.get(word, []) for word in sorted(words.content)), key=len):
            room = COMPARED - len(numbers)
            if room <= 0:
                break
            middle = bisect_left(having, int(at * self._share))
            numbers.update(having[max(0, middle - room // 2) : middle + room // 2 + 1])
        return sorted(numbers)


def is_copy(nearest: Sequence[float], claiming: Collection[int]) -> bool:
    """True if most of the sentences with these numbers are near copies of one in the other report."""
    table = _table()
    copied = sum(nearest[number] >= table.copy for number in claiming)
    return bool(claiming) and copied >= table.copied * len(claiming)


def _alike(a: Words, b: Words) -> float:
    size = len(a.content) + len(b.content)
    return 2.0 * len(a.content & b.content) / size if size else 0.0


def _between(r: Words, c: Words, alike: float) -> list[tuple[str, str, str]]:
    table = _table()
    result = []
    only_r, only_c = r.content - c.content, c.content - r.content
    if only_r and only_c:
        for word in sorted(only_r):
            for group, structure in table.values.get(word, ()):
                if any(table.values.get(shared, ()) and _has(shared, group, structure) for shared in c.content):
                    continue
                there = ((term, _far(term, group, structure)) for term in sorted(only_c))
                other, to = next((term for term in there if term[1] is not None), ("", None))
                if to is not None:
                    result.append(_named(table.tells[group], structure, to, word, other))
    more = only_r if r.denials else only_c
    if alike >= table.denial and bool(r.denials) is not bool(c.denials) and not result and not more:
        result.append(("added", "no", "") if r.denials else ("omitted", "", "no"))
    if alike >= table.numbers and (size := _other_number(r, c, table.same_number)):
        result.append(("size", *size))
    return result


def _named(tells: str, structure: int, to: int, word: str, other: str) -> tuple[str, str, str]:
    """An edit in the words of the differences: which of two reports affirms a finding, which way a change goes."""
    if tells == "finding":
        return ("omitted" if structure else "added", word, other)
    if tells == "change":
        return (tells, _CHANGES[structure], _CHANGES[to])
    if tells == "uncertainty":
        words = ("certain", "uncertain")
        return (tells, words[structure], words[1 - structure])
    return (tells, word, other)


def _has(word: str, group: int, structure: int) -> bool:
    return (group, structure) in _table().values.get(word, ())


def _far(word: str, group: int, structure: int) -> int | None:
    """Other value of a word in a group, if that is far enough from this one."""
    table = _table()
    values = table.values.get(word, ())
    return next((to for number, to in values if number == group and abs(to - structure) >= table.far[group]), None)


def _other_number(r: Words, c: Words, same: float) -> tuple[str, str] | None:
    """The first numbers, in the order of the sentences, that differ, if both have as many of each unit."""
    if not r.numbers or len(r.numbers) != len(c.numbers) or sorted(r.numbers) == sorted(c.numbers):
        return None
    units_r, units_c = [unit for _, unit in r.numbers], [unit for _, unit in c.numbers]
    if sorted(units_r) != sorted(units_c):
        return None
    for (a, unit), (b, _) in zip(sorted(r.numbers, key=_by_unit), sorted(c.numbers, key=_by_unit), strict=True):
        if abs(a - b) > same * max(a, b) and not (_YEAR[0] <= a <= _YEAR[1] or _YEAR[0] <= b <= _YEAR[1]):
            return f"{a:g} {unit}".strip(), f"{b:g} {unit}".strip()
    return None


def _by_unit(number: tuple[float, str]) -> tuple[str, float]:
    return number[1], number[0]
