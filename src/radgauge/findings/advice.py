"""Follow-up recommendations of two reports: what is to be done, when, how urgently, or that nothing is needed.

They are no findings: a changed recommendation is counted by itself, beside the eight categories of errors.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from radgauge.findings.labels import CARDINALS
from radgauge.findings.numbers import DATA
from radgauge.reader.reading import ReportReading

_SAME_INTERVAL = 1.2
"""Ratio of two intervals up to which they are the same: 12 months and a year."""
COMPARED = 50
"""Distinct recommendations of a report that are compared; no real report gives as many."""
_CARDINAL = "|".join(("one", *CARDINALS))
_INTERVAL = re.compile(
    rf"\b(\d+(?:\.\d+)?|{_CARDINAL})(?:\s*(?:-|–|to|or)\s*(\d+(?:\.\d+)?|{_CARDINAL}))?[\s-]*(day|week|month|year)"
)
_NAMED_INTERVALS = (
    (re.compile(r"\bannual|\byearly\b"), 365.0),
    (re.compile(r"\bshort[- ](?:term|interval)"), 0.0),
)


class Advice(NamedTuple):
    """One recommendation."""

    actions: frozenset[str]  # What is to be done; empty for a follow-up that names nothing
    denied: bool  # True if the report says that it is not needed
    # Shortest and longest interval; None where the report names none, 0 for "short-interval"
    days: tuple[float, float] | None
    urgency: str  # urgent, routine, or ""
    sentence: int  # Index of its sentence
    span: tuple[int, int]  # Where the report says so

    def agrees_with(self, other: Advice) -> bool:
        """Return True if both recommend the same; an urgency that only one of them names is no difference."""
        return (
            (self.actions, self.denied) == (other.actions, other.denied)
            and (not self.urgency or not other.urgency or self.urgency == other.urgency)
            and _overlap(self.days, other.days)
        )


@dataclass(frozen=True, eq=False)
class _Table:
    triggers: re.Pattern[str]
    denied: re.Pattern[str]
    actions: tuple[tuple[str, re.Pattern[str]], ...]
    urgency: tuple[tuple[str, re.Pattern[str]], ...]
    days: dict[str, float]


@lru_cache(maxsize=1)
def _table() -> _Table:
    table = tomllib.loads((DATA / "advice.toml").read_text(encoding="utf-8"))
    return _Table(
        _any(table["triggers"]),
        _any(table["denied"]),
        tuple((name, _any(patterns)) for name, patterns in table["actions"].items()),
        tuple((name, _any(patterns)) for name, patterns in table["urgency"].items()),
        {name: float(days) for name, days in table["days"].items()},
    )


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def advice_of(reading: ReportReading) -> tuple[Advice, ...]:
    """Return the recommendations of a report, one per sentence that gives any.

    >>> from radgauge.reader import read_report
    >>> advice, = advice_of(read_report("4 mm nodule. Follow-up CT in 2 to 3 weeks is recommended."))
    >>> sorted(advice.actions), advice.days
    (['ct'], (14.0, 21.0))
    """
    advice = []
    for index, sentence in enumerate(reading.sentences):
        words = " ".join(reading.text[sentence.start : sentence.end].split())
        parts = _parts_of(words, section=sentence.section)
        if parts is not None:
            advice.append(Advice(*parts, index, (sentence.start, sentence.end)))
    return tuple(advice)


@lru_cache(maxsize=1 << 14)
def _parts_of(
    sentence: str, *, section: str
) -> tuple[frozenset[str], bool, tuple[float, float] | None, str] | None:
    table, lowered = _table(), sentence.lower()
    if section in ("history", "technique") or (section != "recommendation" and not table.triggers.search(lowered)):
        return None
    actions = frozenset(name for name, pattern in table.actions if pattern.search(lowered))
    urgency = next((name for name, pattern in table.urgency if pattern.search(lowered)), "")
    return actions, table.denied.search(lowered) is not None, _days(lowered), urgency


def _days(lowered: str) -> tuple[float, float] | None:
    interval = _INTERVAL.search(lowered)
    if interval is None:
        days = next((days for pattern, days in _NAMED_INTERVALS if pattern.search(lowered)), None)
        return None if days is None else (days, days)
    unit = _table().days[interval[3]]
    first, last = (_number(word) * unit for word in (interval[1], interval[2] or interval[1]))
    return min(first, last), max(first, last)


def _number(word: str) -> float:
    return 1.0 if word == "one" else float(CARDINALS.get(word, word))


def _overlap(a: tuple[float, float] | None, b: tuple[float, float] | None) -> bool:
    if a is None or b is None:
        return a is b
    return a[0] <= b[1] * _SAME_INTERVAL and b[0] <= a[1] * _SAME_INTERVAL


class ChangedAdvice(NamedTuple):
    """A recommendation that only one report gives, or that two reports give differently."""

    reference: Advice | None
    candidate: Advice | None


def changed_advice(reference: tuple[Advice, ...], candidate: tuple[Advice, ...]) -> tuple[ChangedAdvice, ...]:
    """Return the recommendations that were left out, added or changed, in the order of the reference.

    Of those without an equal in the other report, two that share an action are one that was changed, then the
    rest in the order of the texts.
    """
    left = _distinct(candidate)
    alone: list[Advice] = []
    for advice in _distinct(reference):
        same = next((other for other in left if advice.agrees_with(other)), None)
        if same is None:
            alone.append(advice)
        else:
            left.remove(same)
    changed: list[ChangedAdvice] = []
    for advice in alone:
        partner = next((other for other in left if advice.actions & other.actions), left[0] if left else None)
        if partner is not None:
            left.remove(partner)
        changed.append(ChangedAdvice(advice, partner))
    return (*changed, *(ChangedAdvice(None, advice) for advice in left))


def _distinct(advice: tuple[Advice, ...]) -> list[Advice]:
    """Return the recommendations without those that repeat another or a part of it, as an impression does."""
    first: dict[tuple[object, ...], Advice] = {}
    for advised in advice:
        first.setdefault((advised.actions, advised.denied, advised.days), advised)
    kinds = list(first.values())[:COMPARED]
    return [
        advised
        for advised in kinds
        if not any(
            other is not advised
            and advised.denied is other.denied
            and advised.actions <= other.actions
            and advised.days in (None, other.days)
            for other in kinds
        )
    ]
