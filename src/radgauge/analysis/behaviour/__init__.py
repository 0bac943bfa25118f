"""The behavioural suite: small invented pairs whose true order nobody doubts, run through any metric.

Correlations say how often a metric is right; these cases say about what. Every group has its own pass rate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.metric import Metric
from radgauge.core.parsing import parse_toml
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Scores
from radgauge.run.score import score

SHIPPED = Path(__file__).parent / "cases.toml"
TOLERANCE = 0.01
"""Share of the headline's range within which two values are equal; better means better by any amount."""

REWORDED = 0.8
"""Share of the pairs that deserve the same below which a judge cannot tell a report from itself in other words."""


@dataclass(frozen=True, slots=True)
class BehaviourCase:
    """One question to a metric."""

    group: str  # What it is about
    number: int  # Its place in the group, from 1
    reference: str
    first: str  # The better candidate, or one of two equals
    second: str  # The worse candidate, or the other of two equals
    equal: bool  # True if both deserve the same
    meta: Mapping[str, str] = field(default_factory=dict)  # Age, indication


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of a metric on a case; NaN values fail."""

    case: BehaviourCase
    first: float
    second: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Result of `behaviour` for one metric."""

    judge: str  # Name of the metric
    column: str
    verdicts: tuple[Verdict, ...]  # One for each case, in the order of the file
    # What asking a language model took, if the metric does
    account: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        """Number of cases that passed."""
        return sum(verdict.passed for verdict in self.verdicts)

    @property
    def warning(self) -> str:
        """That the metric does not take a report for the same in other words, if it does not; otherwise empty."""
        same = [verdict for verdict in self.verdicts if verdict.case.equal]
        right = sum(verdict.passed for verdict in same)
        if not same or right >= REWORDED * len(same):
            return ""
        return (
            f"{self.judge} cannot tell a report from itself in other words: it values the two differently in "
            f"{len(same) - right} of {len(same)} cases, so small differences between systems mean little"
        )

    def by_group(self) -> dict[str, tuple[int, int]]:
        """Group -> (passed, asked)."""
        groups: dict[str, tuple[int, int]] = {}
        for verdict in self.verdicts:
            good, total = groups.get(verdict.case.group, (0, 0))
            groups[verdict.case.group] = (good + verdict.passed, total + 1)
        return groups


@lru_cache(maxsize=4)
def behaviour_cases(path: Path = SHIPPED) -> tuple[BehaviourCase, ...]:
    """The suite from a TOML file: [[group]] with a name and cases."""
    try:
        table = parse_toml(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file ({error})") from None
    groups = table.get("group")
    if not isinstance(groups, list) or not groups:
        raise InputError(f"{path}: a behavioural suite must have [[group]] tables with a name and cases")
    return tuple(
        _case(entry, group, number, path)
        for group in groups
        for number, entry in enumerate(group.get("cases", ()), start=1)
    )


def _case(entry: Mapping[str, Any], group: Mapping[str, Any], number: int, path: Path) -> BehaviourCase:
    where = f"{path}: case {number} of group {group.get('name')!r}"
    if not isinstance(entry.get("reference"), str):
        raise InputError(f"{where} must have a reference")
    pair = entry.get("equal")
    if pair is None:
        pair = [entry.get("better"), entry.get("worse")]
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise InputError(f"{where} must have better and worse, or equal with two texts")
    meta = {name: str(value) for name, value in entry.get("meta", {}).items()}
    first, second = pair
    return BehaviourCase(str(group["name"]), number, entry["reference"], first, second, "equal" in entry, meta)


@working("testing metrics on changed reports")
def behaviour(
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    *,
    cases: Sequence[BehaviourCase] | None = None,
    reading: Readings | None = None,
    models: str = "embedded",
) -> list[Behaviour]:
    """Run metrics through the suite.

    Args:
        metrics: As for `score`; None = the defaults.
        cases: The questions; None = the suite that ships.
        reading: Shared readings.
        models: Profile for metrics given by name.

    >>> found = behaviour("rouge")[0]
    >>> found.by_group()["order"][1] >= 8
    True
    """
    probes = behaviour_cases() if cases is None else tuple(cases)
    judged = [
        Case(f"{case.group} {case.number}", text, (case.reference,), system, meta=case.meta)
        for case in probes
        for system, text in (("first", case.first), ("second", case.second))
    ]
    results = score(judged, metrics, reading=reading, models=models)
    accounts = results.header.get("accounts", {})
    return [
        replace(_behaviour(scores, probes), account=accounts.get(name, {}))
        for name, scores in results.judges.items()
    ]


def _behaviour(scores: Scores, probes: Sequence[BehaviourCase]) -> Behaviour:
    column = scores.columns[0]
    values = scores.oriented(column)
    low, high = scores.metric.range if scores.metric is not None else (0.0, 1.0)
    width = high - low if np.isfinite(high - low) else 1.0
    verdicts = []
    for number, case in enumerate(probes):
        first, second = float(values[2 * number]), float(values[2 * number + 1])
        gap = first - second
        passed = abs(gap) <= TOLERANCE * width if case.equal else gap > 1e-9 * width
        verdicts.append(Verdict(case, first, second, bool(passed)))
    return Behaviour(scores.judge, column, tuple(verdicts))
