"""By how many percent one system's corpus score lies above another's, with bootstrap intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.choices import IntervalMethod
from radgauge.stats.paired import drawn_scores, pair
from radgauge.stats.resample import (
    METHODS,
    MIN_UNITS,
    CorpusScores,
    Interval,
    Labels,
    Rows,
    bca_bounds,
    check_choice,
    check_level,
    check_positive,
    chosen_method,
    jackknife,
    mean_scores,
    percentile_bounds,
    t_bounds,
    totals_and_counts,
)


def relative_change(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    rng: np.random.Generator,
    corpus_scores: CorpusScores = mean_scores,
    groups: Labels | None = None,
    resamples: int = 2000,
    level: float = 0.95,
    method: IntervalMethod = "percentile",
) -> tuple[Interval, ...]:
    """100 (a - b) / b for every output, on the cases that both were judged on; units are drawn for both together.

    A percentage of nothing, or of less than nothing, means nothing: where b is not positive the change is NaN,
    and where b is not positive in any resample the interval is.

    >>> (result,) = relative_change([2.0, 4.0], [1.0, 3.0], rng=np.random.default_rng(0))
    >>> result.value
    50.0
    """
    check_level(level)
    check_positive("resamples", resamples)
    check_choice("method", method, METHODS)
    a, b = pair(rows_a, rows_b)
    totals_a, counts = totals_and_counts(a, groups=groups)
    totals_b, _ = totals_and_counts(b, groups=groups)
    values = _percent(corpus_scores(totals_a.sum(0), counts.sum(0)), corpus_scores(totals_b.sum(0), counts.sum(0)))
    bounds = np.full((2, len(values)), np.nan)
    used = chosen_method(method, len(counts))
    if len(counts) >= MIN_UNITS:  # a few studies say nothing about spread
        drawn = drawn_scores(totals_a, totals_b, counts, corpus_scores, resamples=resamples, rng=rng)
        replicates = _percent(*drawn)
        ends = percentile_bounds(replicates, level=level)
        if used != "percentile":
            left_out = _percent(
                jackknife(totals_a, counts, corpus_scores), jackknife(totals_b, counts, corpus_scores)
            )
            if used == "bca":
                ends = bca_bounds(replicates, values, left_out, level=level)
            else:
                left_out[(counts == 0).all(axis=1)] = np.nan
                ends = t_bounds(values, left_out, level=level)
        bounds = np.where(np.isnan(replicates).any(axis=0) | np.isnan(values), np.nan, ends)
    judged = ~np.isnan(a).all(axis=1)
    n = int(judged.sum())
    return tuple(
        Interval(float(value), float(low), float(high), level, used, n, len(a) - n)
        for value, low, high in zip(values, *bounds, strict=True)
    )


def _percent(a: Rows, b: Rows) -> Rows:
    change: Rows = np.full(np.shape(b), np.nan)
    with np.errstate(invalid="ignore"):
        positive = b > 0
    np.divide(100 * (a - b), b, out=change, where=positive)
    return change
