"""Values and normal intervals of a folder of scores that is not read into memory: sums over its parts."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import numpy as np

from radgauge.analysis.summary import Summaries, Summary
from radgauge.core.metric import Rows
from radgauge.core.progress import working
from radgauge.core.scores import Scores
from radgauge.io.score_folder import iter_parts, read_manifest
from radgauge.stats.resample import MIN_UNITS
from radgauge.stats.resampling import Resampling

IN_MEMORY = 2_000_000
"""Maximum number of cases that are read as columns: about 1 GB with the default metrics."""


def exceeds_memory(folder: Path | str) -> bool:
    """Return whether a folder holds more cases than are read as columns."""
    return read_manifest(folder).cases > IN_MEMORY


class _Totals:
    """Sums of one judge's rows on one system, and of the products of their columns."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        width = 2 * scores.rows.shape[1]
        self.cases = 0
        self.sums = np.zeros(width)
        self.products = np.zeros((width, width))
        self.judged = np.zeros(len(scores.columns), dtype=np.int64)
        self.not_judged = np.zeros(len(scores.columns), dtype=np.int64)
        self.reasons: Counter[str] = Counter()
        self.truncated = 0

    def add(self, scores: Scores) -> None:
        """Add the cases of one part."""
        is_number = ~np.isnan(scores.rows)
        table = np.hstack([np.where(is_number, scores.rows, 0.0), is_number])
        judged = ~np.isnan(scores.values)
        self.cases += len(table)
        self.sums += table.sum(axis=0)
        self.products += table.T @ table
        self.judged += judged.sum(axis=0)
        self.not_judged += (~judged & ~judged[:, :1]).sum(axis=0)
        self.reasons.update(scores.reasons.values())
        self.truncated += len(scores.truncated)

    def values(self, sums: Rows) -> Rows:
        """Return corpus scores (m,) or (r, m) of sums with their counts behind them."""
        half = self.sums.shape[0] // 2
        return self.scores.corpus_scores(sums[..., :half], sums[..., half:])

    def errors(self) -> Rows:
        """Return standard errors (m,) of the corpus scores by the delta method.

        The derivative along each sum is a central difference of one standard deviation of that sum.
        """
        covariance = self.products - np.outer(self.sums, self.sums) / self.cases
        deviations = np.sqrt(np.clip(np.diag(covariance), 0.0, None))
        steps = np.diag(deviations)
        slopes = (self.values(self.sums + steps) - self.values(self.sums - steps)) / 2
        safe = np.where(deviations > 0, deviations, 1.0)
        slopes = np.where(deviations[:, None] > 0, slopes / safe[:, None], 0.0)
        variances: Rows = np.einsum("jm,jk,km->m", slopes, covariance, slopes)
        return np.sqrt(np.clip(variances, 0.0, None))


@working("summing parts")
def summarise_parts(folder: Path | str, *, resampling: Resampling) -> Summaries:
    """Compute what `radgauge.summarise` does, with one part in memory at a time and normal intervals.

    At such numbers of cases the bootstrap distribution of a corpus score is normal.

    Args:
        folder: A folder of scores.
        resampling: Its level; without resamples there are no intervals.
    """
    totals: dict[tuple[str, str], _Totals] = {}
    first_row: dict[str, int] = {}
    for results, rows in iter_parts(folder):
        for (_, system), row in zip(results.keys_of_cases, rows.tolist(), strict=True):
            first_row[system] = min(row, first_row.get(system, row))
        for judge, scores in results.judges.items():
            for system in scores.systems:
                part = scores.of_system(system)
                totals.setdefault((judge, system), _Totals(part)).add(part)
    judges = dict.fromkeys(judge for judge, _ in totals)
    return Summaries(
        line
        for judge in judges
        for system in sorted(first_row, key=first_row.__getitem__)
        if (judge, system) in totals
        for line in _lines(totals[judge, system], system, resampling)
    )


def _lines(totals: _Totals, system: str, how: Resampling) -> list[Summary]:
    scores = totals.scores
    values = totals.values(totals.sums)
    z = NormalDist().inv_cdf(0.5 + how.level / 2)
    margins = z * totals.errors() if how.resamples else np.full(len(values), math.nan)
    margins = np.where(totals.judged < MIN_UNITS, math.nan, margins)
    lows, highs = np.array(scores.ranges).T
    return [
        Summary(
            system=system,
            judge=scores.judge,
            column=column,
            value=float(values[i]),
            low=float(np.maximum(values[i] - margins[i], lows[i])),
            high=float(np.minimum(values[i] + margins[i], highs[i])),
            level=how.level,
            judged=int(totals.judged[i]),
            not_judged=int(totals.not_judged[i]),
            reasons=tuple(totals.reasons.most_common()),
            higher_is_better=scores.directions[i],
            signature=scores.signature,
            method="normal" if how.resamples else "",
            not_applicable=totals.cases - int(totals.judged[i]) - int(totals.not_judged[i]),
            truncated=totals.truncated,
        )
        for i, column in enumerate(scores.columns)
    ]
