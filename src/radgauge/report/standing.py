"""Percentile rank of each case by each metric, and the cases on which metrics disagree most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from radgauge.core.cases import Key
from radgauge.core.scores import Results
from radgauge.stats import association

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case that one metric holds for good and another for bad."""

    row: int  # Its place among the cases
    key: Key  # (study id, system)
    high: tuple[
        str, float
    ]  # Column that scores it highest, with the percentile (0 = worst of all cases, 100 = best)
    low: tuple[str, float]  # Column that scores it lowest
    percentiles: tuple[float, ...]  # Of all columns, NaN where one could not judge

    @property
    def gap(self) -> float:
        """Percentile points between the two."""
        return self.high[1] - self.low[1]


def headlines(results: Results) -> list[str]:
    """The first column of every judge."""
    return [scores.columns[0] for scores in results.judges.values()]


def percentiles(results: Results) -> Array:
    """(cases, judges): share of the judged cases that are worse, ties counted half, in percent; NaN = not judged.

    Larger is always better, whatever the metric's direction.
    """
    columns = []
    for scores in results.judges.values():
        values = scores.oriented(scores.columns[0])
        judged = ~np.isnan(values)
        percentile: Array = np.full(len(values), np.nan)
        if judged.any():
            percentile[judged] = 100 * (rankdata(values[judged]) - 0.5) / judged.sum()
        columns.append(percentile)
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def most_disputed(results: Results, *, max_cases: int = 15, per_study: int = 2) -> tuple[Disagreement, ...]:
    """Cases by the distance between the metric that likes them most and the one that likes them least.

    Args:
        results: Scores of two judges or more.
        max_cases: Number of cases.
        per_study: How many of one study at most, so that one odd reference does not fill the list.
    """
    names, ranks = headlines(results), percentiles(results)
    if len(names) < 2:
        return ()
    judged = (~np.isnan(ranks)).sum(axis=1) >= 2
    spread = np.full(len(ranks), -1.0)
    spread[judged] = np.nanmax(ranks[judged], axis=1) - np.nanmin(ranks[judged], axis=1)
    disputed: list[Disagreement] = []
    seen: Counter[str] = Counter()
    for row in np.argsort(-spread, kind="stable").tolist():
        if len(disputed) == max_cases or spread[row] <= 0:
            break
        key = results.keys_of_cases[row]
        if seen[key[0]] < per_study:
            seen[key[0]] += 1
            up, down = int(np.nanargmax(ranks[row])), int(np.nanargmin(ranks[row]))
            disputed.append(
                Disagreement(
                    row,
                    key,
                    (names[up], float(ranks[row, up])),
                    (names[down], float(ranks[row, down])),
                    tuple(ranks[row].tolist()),
                )
            )
    return tuple(disputed)


def metric_correlations(results: Results) -> Array:
    """Kendall's tau-b of every two headlines over the cases both judged; positive = they agree."""
    columns = [scores.oriented(scores.columns[0]) for scores in results.judges.values()]
    table = np.full((len(columns), len(columns)), np.nan)
    for i, first in enumerate(columns):
        for j in range(i, len(columns)):
            table[i, j] = table[j, i] = association(first, columns[j])
    return table
