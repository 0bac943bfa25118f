"""Task 3 of RaTE-Eval: how often a metric prefers a report in other words to its opposite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.metric import Metric
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.io.judgments.rate_eval import Triple
from radgauge.run.score import score
from radgauge.stats.resample import wilson_interval


@dataclass(frozen=True, slots=True)
class TripleResult:
    """Share of triples in which a metric scores the rewrite above the opposite."""

    column: str
    accuracy: float  # Share of triples; a tie and a triple that cannot be judged count as wrong, as in the paper
    low: float  # Lower bound (Wilson)
    high: float
    right: int  # Triples decided rightly
    ties: int  # Triples with equal values
    not_judged: int  # Triples with a text that could not be judged
    total: int
    same: float  # Mean value of the rewrites that could be judged (SS&DE in Layman's RRG, table 2)
    other: float  # Mean value of the opposites (DS&SE)
    wrong: tuple[str, ...]  # Ids of the others, for looking at


@working("judging triples")
def triple_accuracy(
    triples: Sequence[Triple],
    metrics: Sequence[str | Metric],
    *,
    reading: Readings | None = None,
    models: str = "embedded",
    level: float = 0.95,
) -> list[TripleResult]:
    """Does each metric's headline prefer the rewrite to the opposite?"""
    if not triples:
        raise InputError("there are no triples")
    cases = [
        Case(str(row), text, (triple.original,), system)
        for row, triple in enumerate(triples)
        for system, text in (("rewrite", triple.rewrite), ("opposite", triple.opposite))
    ]
    lines = []
    for scores in score(cases, list(metrics), reading=reading, models=models).judges.values():
        values = scores.oriented(scores.columns[0]).reshape(-1, 2)
        right = values[:, 0] > values[:, 1]
        low, high = wilson_interval(int(right.sum()), len(right), level=level)
        lines.append(
            TripleResult(
                scores.columns[0],
                float(right.mean()),
                low,
                high,
                int(right.sum()),
                int((values[:, 0] == values[:, 1]).sum()),
                int(np.isnan(values).any(axis=1).sum()),
                len(right),
                _mean(scores.headline[::2]),
                _mean(scores.headline[1::2]),
                tuple(triple.id for triple, well in zip(triples, right, strict=True) if not well),
            )
        )
    return lines


def _mean(values: NDArray[np.float64]) -> float:
    judged = values[~np.isnan(values)]
    return float(judged.mean()) if len(judged) else float("nan")
