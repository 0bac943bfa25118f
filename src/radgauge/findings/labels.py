"""Labels of a finding: ribs, levels, grades, percentages and opposed words."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.findings.numbers import DATA
from radgauge.text.literals import literals_of

_LISTS = shipped_toml(__file__, "word_lists.toml")
_ORDINALS: tuple[str, ...] = tuple(_LISTS["ordinals"])
CARDINALS: dict[str, int] = {word: number for number, word in enumerate(_LISTS["cardinals"], start=2)}
_ROMAN: dict[str, int] = {numeral: number for number, numeral in enumerate(_LISTS["roman"], start=1)}
_ONE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(_ORDINALS)}|(?:viii|vii|vi|iv|ix|v|iii|ii|i)[ab]?)"
_LIST = rf"\b({_ONE}(?:\s*(?:,\s*and|,|and|&|/|-|–|to|through)\s*{_ONE})*)\b"
_CARDINAL = rf"({'|'.join(CARDINALS)})"
_COUNTED = rf"(?!(?:{'|'.join(_LISTS['not_counted'])})\b)"
_PLURAL = rf"(?:{_COUNTED}[a-z-]+\s+){{0,3}}?{_COUNTED}(?:[a-z]+s|{'|'.join(_LISTS['irregular_plurals'])})\b"
_RANGE = re.compile(r"-|–|to|through")
_VALUE = re.compile(_ONE)
_NUMBERS = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")


class Label(NamedTuple):
    """A value that a text gives a name, and where."""

    name: str
    value: str
    start: int


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    pattern: re.Pattern[str]
    value: str = ""  # of every match; "" = what the pattern's group holds


@dataclass(frozen=True, eq=False)
class Labels:
    """data/labels.toml, compiled."""

    rules: tuple[_Rule, ...]
    words: tuple[tuple[str, tuple[int, ...]], ...]  # a sentence that has the word may match these rules
    numbered: tuple[int, ...]  # these need no word: any sentence with a digit may match
    places: frozenset[str]
    within: dict[str, float]

    def that_may_match(self, lowered: str) -> list[_Rule]:
        """The rules that can find something in a lower-cased sentence, in their order."""
        match = set(self.numbered) if _DIGIT.search(lowered) is not None else set()
        for word, rules in self.words:
            if word in lowered:
                match.update(rules)
        return [self.rules[number] for number in sorted(match)]

    def differ(self, name: str, a: frozenset[str], b: frozenset[str]) -> bool:
        """True if two sets of values of one name have nothing in common."""
        limit = self.within.get(name)
        if limit is None:
            return a.isdisjoint(b)
        return all(abs(float(x) - float(y)) > limit for x in a for y in b)


@lru_cache(maxsize=1 << 15)  # sentences repeat
def labels_in(sentence: str) -> tuple[Label, ...]:
    """Every label of a sentence.

    >>> [each[:2] for each in labels_in("Fractures of the left sixth and 7th ribs.")]
    [('rib', '6'), ('rib', '7')]
    """
    lowered = sentence.lower()
    return tuple(
        dict.fromkeys(
            Label(rule.name, value, match.start())
            for rule in label_rules().that_may_match(lowered)
            for match in rule.pattern.finditer(lowered)
            for value in ([rule.value] if rule.value else _values(rule.name, next(filter(None, match.groups()))))
        )
    )


def _values(name: str, words: str) -> list[str]:
    if name == "percent":
        numbers = [float(number) for number in _NUMBERS.findall(words)]
        return [f"{sum(numbers) / len(numbers):g}"]
    if name == "count":
        return [str(CARDINALS.get(words, words))]
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


def _filled(pattern: str) -> str:
    for name, part in (("{list}", _LIST), ("{cardinal}", _CARDINAL), ("{plural}", _PLURAL)):
        pattern = pattern.replace(name, part)
    return pattern


@lru_cache(maxsize=1)
def label_rules() -> Labels:
    """The rules of the data file."""
    table = tomllib.loads((DATA / "labels.toml").read_text(encoding="utf-8"))["label"]
    numbered = [
        _Rule(entry["name"], re.compile("|".join(_filled(p) for p in entry["patterns"])))
        for entry in table
        if "patterns" in entry
    ]
    worded = [
        _Rule(entry["name"], re.compile("|".join(patterns)), value)
        for entry in table
        for value, patterns in entry.get("values", {}).items()
    ]
    rules = (*numbered, *worded)
    words: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        for word in literals_of(rule.pattern):
            words.setdefault(word, []).append(number)
    return Labels(
        rules=rules,
        words=tuple((word, tuple(numbers)) for word, numbers in words.items()),
        numbered=tuple(number for number, rule in enumerate(rules) if not literals_of(rule.pattern)),
        places=frozenset(entry["name"] for entry in table if entry["tells"] == "place"),
        within={entry["name"]: float(entry["within"]) for entry in table if "within" in entry},
    )
