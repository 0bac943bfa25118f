"""Which one, and how far: ribs, levels, segments, grades and percentages that a sentence gives to a finding."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radgauge.findings.numbers import DATA

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    "twelfth",
)
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_ONE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(_ORDINALS)}|(?:viii|vii|vi|iv|ix|v|iii|ii|i)[ab]?)"
_LIST = rf"\b({_ONE}(?:\s*(?:,\s*and|,|and|&|/|-|–|to|through)\s*{_ONE})*)\b"
_RANGE = re.compile(r"-|–|to|through")
_VALUE = re.compile(_ONE)
_NUMBERS = re.compile(r"\d+")
_MAY_HOLD = re.compile(
    r"\d|\b[ivx]+\b|types?\b|quadrant|upper|lower|superior|inferior|" + "|".join(_ORDINALS), re.IGNORECASE
)


class Label(NamedTuple):
    """A value that a text gives a name, and where."""

    name: str
    value: str
    start: int


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, eq=False)
class Labels:
    """data/labels.toml, compiled."""

    rules: tuple[_Rule, ...]
    places: frozenset[str]
    within: dict[str, float]

    def differ(self, name: str, a: frozenset[str], b: frozenset[str]) -> bool:
        """Whether two sets of values of one name have nothing in common."""
        limit = self.within.get(name)
        if limit is None:
            return a.isdisjoint(b)
        return all(abs(float(x) - float(y)) > limit for x in a for y in b)


def labels_in(sentence: str) -> tuple[Label, ...]:
    """Every label of a sentence.

    >>> [each[:2] for each in labels_in("Fractures of the left sixth and 7th ribs.")]
    [('rib', '6'), ('rib', '7')]
    """
    return _found(sentence) if _MAY_HOLD.search(sentence) is not None else ()


@lru_cache(maxsize=1 << 14)
def _found(sentence: str) -> tuple[Label, ...]:
    lowered = sentence.lower()
    return tuple(
        dict.fromkeys(
            Label(rule.name, value, match.start())
            for rule in label_rules().rules
            for match in rule.pattern.finditer(lowered)
            for value in _values(rule.name, next(group for group in match.groups() if group))
        )
    )


def _values(name: str, words: str) -> list[str]:
    if name == "percent":
        numbers = [float(number) for number in _NUMBERS.findall(words)]
        return [f"{sum(numbers) / len(numbers):g}"]
    if name in ("disc", "vertebra"):
        return [_level(words)]
    if name in ("quadrant", "nodal level") or not _VALUE.search(words):
        return [words.replace("-", " ")]
    values: list[int] = []
    last = 0
    for match in _VALUE.finditer(words):
        value = _number(match[0])
        if values and _RANGE.search(words[last : match.start()]) and values[-1] < value <= values[-1] + 12:
            values += range(values[-1] + 1, value)
        values.append(value)
        last = match.end()
    return [str(value) for value in dict.fromkeys(values)]


def _number(word: str) -> int:
    if word in _ORDINALS:
        return _ORDINALS.index(word) + 1
    digits = _NUMBERS.match(word)
    return int(digits[0]) if digits else _ROMAN.get(word.rstrip("ab"), 0)


def _level(words: str) -> str:
    """A vertebra or disc in one spelling: "L4/5" and "L4-L5" are one."""
    parts = [part.strip() for part in re.split(r"[-/–]", words)]
    if len(parts) == 2 and parts[1][:1].isdigit():
        parts[1] = ("s" if parts[0] == "l5" else parts[0][0]) + parts[1]
    return "-".join(parts)


@lru_cache(maxsize=1)
def label_rules() -> Labels:
    """The rules of the data file."""
    table = tomllib.loads((DATA / "labels.toml").read_text(encoding="utf-8"))["label"]
    return Labels(
        rules=tuple(
            _Rule(entry["name"], re.compile("|".join(p.replace("{list}", _LIST) for p in entry["patterns"])))
            for entry in table
        ),
        places=frozenset(entry["name"] for entry in table if entry["tells"] == "place"),
        within={entry["name"]: float(entry["within"]) for entry in table if "within" in entry},
    )
