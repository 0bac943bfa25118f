"""Ledger of the questions of a run under one set of settings, and their cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from radgauge.core.cases import Key
from radgauge.core.wording import number
from radgauge.llm.structured import Tally, Verdict
from radgauge.metrics.llm_errors.short_forms import self_agreement
from radgauge.stats.coefficients import association


class Ledger:
    """Verdicts by question, and the tallies of asking for them.

    Attributes:
        verdicts: What came of each question.
        why: Why cases of a preference have no value.
        first_wins: Whether the first of two reports won, for each answer of a preference.
        addressed: Candidates that speak to the judge.
    """

    def __init__(self) -> None:
        self.verdicts: dict[Any, Verdict] = {}
        self.why: dict[Key, str] = {}
        self.first_wins: list[float] = []
        self.addressed: set[str] = set()
        self._tally = Tally()
        self._server: dict[str, str] = {}

    def add(self, verdicts: Mapping[Any, Verdict], tally: Tally, server: Mapping[str, str]) -> None:
        """Answers to more questions."""
        self.verdicts.update(verdicts)
        self._tally = merged(self._tally, tally)
        self._server = dict(server)

    def account(
        self, settings: Mapping[str, Any], repeated: Sequence[Sequence[float]], width: float
    ) -> dict[str, Any]:
        """The account of a run; empty if nothing was asked.

        Args:
            settings: Of the sampling.
            repeated: Headline values of the repeated judgments of each pair of reports; NaN = none.
            width: Of the headline's range.
        """
        if not self.verdicts:
            return {}
        totals: dict[str, Any] = {**self._server, **settings, **dataclasses.asdict(self._tally)}
        if (agreement := _agreement(repeated, width)) is not None:
            totals["self_agreement"] = agreement
        if self.addressed:
            totals["addressed_judge"] = len(self.addressed)
        if self.first_wins:
            counts = {name: self.first_wins.count(value) for name, value in _POSITIONS.items()}
            totals["position"] = counts
        return totals


_POSITIONS = {"first": 1.0, "second": 0.0, "equal": 0.5}


def merged(one: Tally, other: Tally) -> Tally:
    """Two tallies as one."""
    totals: dict[str, Any] = {}
    for item in dataclasses.fields(Tally):
        a, b = getattr(one, item.name), getattr(other, item.name)
        if isinstance(a, Mapping):
            totals[item.name] = {name: a.get(name, 0) + b.get(name, 0) for name in {**a, **b}}
        elif isinstance(a, tuple):
            totals[item.name] = tuple(sorted({*a, *b}))
        else:
            totals[item.name] = a + b
    return Tally(**totals)


def _agreement(repeated: Sequence[Sequence[float]], width: float) -> dict[str, float] | None:
    """Agreement of repeats: the mean over cases, and Kendall's tau-b between repeats over all cases."""
    if not repeated or len(repeated[0]) < 2:
        return None
    values = np.array(repeated, dtype=np.float64)
    agreements = [self_agreement(row, width) for row in repeated]
    defined = [value for value in agreements if not math.isnan(value)]
    taus = []
    for a, b in combinations(range(values.shape[1]), 2):
        both = ~np.isnan(values[:, a]) & ~np.isnan(values[:, b])
        if both.sum() >= _MIN_CASES:
            taus.append(association(values[both, a], values[both, b], kind="kendall_b"))
    taus = [tau for tau in taus if not math.isnan(tau)]
    return {
        "cases": float(len(defined)),
        "mean": float(np.mean(defined)) if defined else math.nan,
        "kendall_b": float(np.mean(taus)) if taus else math.nan,
    }


_MIN_CASES = 3  # cases that a correlation needs


def account_text(judge: str, account: Mapping[str, Any]) -> str:
    """An account for people, in one line.

    >>> said = {"host": "here", "questions": 4, "judged": 3, "failed": 1, "reasons": {"cut": 1}, "requests": 5}
    >>> account_text("llm_errors", {**dataclasses.asdict(Tally()), **said})
    'llm_errors: 3 of 4 questions judged, 1 failed (cut: 1); 5 requests, 0 + 0 tokens, cost 0.0000; here'
    """
    counts = [f"{account['judged']:,} of {account['questions']:,} questions judged"]
    if account["failed"]:
        why = "; ".join(f"{reason}: {count}" for reason, count in account["reasons"].items())
        counts.append(f"{account['failed']:,} failed ({why})")
    for name, words in _COUNTS.items():
        if account[name]:
            counts.append(f"{account[name]:,} {words}")
    money = f"{account['requests']:,} requests, {account['tokens_in']:,} + {account['tokens_out']:,} tokens, "
    money += f"cost {account['cost']:.4f}"
    if account["unsure"]:
        money += f" (up to {account['unsure']:.4f} more unsure)"
    who = [str(account["host"])]
    who += [f"{name} ({count:,} answers)" for name, count in account["models"].items() if name]
    who += [f"form held by {name}" for name in account["forms"] if name]
    if "temperature" in account:
        who.append(f"temperature {account['temperature']:g}, seed {account['seed']}")
    if account["ignored"]:
        who.append(f"the server takes no {' and no '.join(account['ignored'])}")
    parts = [f"{judge}: {', '.join(counts)}", money, ", ".join(who)]
    if "self_agreement" in account:
        own = account["self_agreement"]
        parts.append(
            f"self-agreement {number(own['mean'])} over {account['repeats']} repeats "
            f"(tau-b between them {number(own['kendall_b'])})"
        )
    if "addressed_judge" in account:
        parts.append(
            f"{account['addressed_judge']:,} candidates speak to the judge, which was told to pass over it"
        )
    if "constant" in account:
        parts.append(
            f"all pairs of different reports got {account['constant']:g}: the judge may have read nothing"
        )
    if account.get("long_texts"):
        parts.append(f"{account['long_texts']:,} texts of more than 300 words, which were sent in full")
    if "position" in account:
        where = account["position"]
        parts.append(f"the first report won {where['first']} times, the second {where['second']}")
    return "; ".join(parts)


_COUNTS = {
    "repaired": "right after a repair",
    "reused": "answered in an earlier run",
    "not_asked": "not asked for want of budget",
    "retried": "requests put again",
}
