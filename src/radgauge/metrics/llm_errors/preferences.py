"""Preferences: the reports of two systems on one study, shown in both orders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Rows
from radgauge.llm.structured import Verdict
from radgauge.metrics.llm_errors.accounts import Ledger
from radgauge.metrics.llm_errors.pairs import Item
from radgauge.metrics.llm_errors.short_forms import self_agreement

Orders = tuple[list[Item], list[Item]]
"""The questions of one order and of the other, one for each repeat."""
_OR = "\n\nor, as another radiologist reported it:\n"


def system_pairs(cases: Sequence[Case]) -> list[tuple[int, int]]:
    """Positions of every two reports on one study."""
    studies: dict[str, list[int]] = {}
    for at, case in enumerate(cases):
        studies.setdefault(case.id, []).append(at)
    return [pair for own in studies.values() for pair in combinations(own, 2)]


def both_orders(a: Case, b: Case, context: str, repeats: int) -> Orders:
    """The questions about two reports; none if they are the same words, of which neither is better."""
    if a.candidate == b.candidate:
        return [], []
    joined = _OR.join(sorted({*a.references, *b.references}))
    one, other = (
        [Item(joined, texts, context, repeat) for repeat in range(repeats)]
        for texts in ((a.candidate, b.candidate), (b.candidate, a.candidate))
    )
    return one, other


def first_wins(verdict: Verdict) -> float | None:
    """1 if the first report was preferred, 0 if the second, half if neither; None without an answer."""
    if verdict.value is None:
        return None
    return {"first": 1.0, "second": 0.0, "equal": 0.5}[verdict.value["better"]]


def preference_rows(
    cases: Sequence[Case], requested: Mapping[tuple[int, int], Orders], ledger: Ledger, *, repeated: bool
) -> Rows:
    """Share of comparisons won, ties half; the share that went with the position; and agreement of repeats.

    A pair counts only if both orders were answered: one of them alone would be biased.
    """
    won: list[list[float]] = [[] for _ in cases]
    by_position: list[list[float]] = [[] for _ in cases]
    agreement: list[list[float]] = [[] for _ in cases]
    for pair, both in requested.items():
        answers = [[first_wins(ledger.verdicts[item]) for item in order] for order in both]
        answered = [[verdict for verdict in order if verdict is not None] for order in answers]
        if both[0] and not all(answered):
            why = next(ledger.verdicts[item].why for order in both for item in order if ledger.verdicts[item].why)
            for at in pair:
                ledger.why.setdefault(cases[at].key, why)
            continue
        share = 0.5
        if both[0]:
            one, other = (float(np.mean(order)) for order in answered)
            share = (one + 1.0 - other) / 2
            ledger.first_wins += [verdict for order in answered for verdict in order]
            for at in pair:
                by_position[at].append(float(one == other and one != 0.5))
                agreement[at] += [self_agreement(order, 1.0) for order in answered]
        for at, value in zip(pair, (share, 1.0 - share), strict=True):
            won[at].append(value)
    columns = [won, by_position, *([agreement] if repeated else [])]
    return np.array([[_mean(values[at]) for values in columns] for at in range(len(cases))]).reshape(
        len(cases), len(columns)
    )


def _mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan
