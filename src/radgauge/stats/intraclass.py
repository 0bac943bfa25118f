"""Intraclass correlation: how reliable one rater is, or the mean of several.

Its mean squares are functions of sums over items, so the interval may come from drawn studies as well as
from the F distribution.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from radgauge.stats.agreement import Agreement, centred, drawn_interval, rating_table
from radgauge.stats.resample import Interval, Labels, Rows, check_choice, check_level


def icc(
    ratings: ArrayLike,
    *,
    average: bool = False,
    level: float = 0.95,
    method: Literal["f", "percentile", "bca"] = "f",
    studies: Labels | None = None,
    resamples: int = 2000,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Intraclass correlation for absolute agreement, raters taken as a sample of raters.

    ICC(2,1) is the reliability of one rater, ICC(2,k) (`average`) that of the mean of all raters here
    (Shrout and Fleiss 1979). Items that lack a rating are left out and counted.

    Args:
        ratings: (items, raters), NaN where a rater did not rate.
        method: `f` is the usual interval from the F distribution, for independent items (McGraw and Wong
            1996); `percentile` and `bca` draw `studies` and need `rng`.

    >>> found = icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.value, 2), round(found.interval.low, 2), round(found.interval.high, 2)
    (0.29, 0.02, 0.76)
    """
    check_choice("method", method, ("f", "percentile", "bca"))
    check_level(level)
    table = rating_table(ratings)
    items, raters = table.shape
    name = f"ICC(2,{'k' if average else '1'})"
    complete = np.asarray(~np.isnan(table).any(axis=1))
    table[~complete] = np.nan
    table = centred(table)
    statistics = np.hstack([table, (table**2).sum(1, keepdims=True), table.sum(1, keepdims=True) ** 2])

    def scores(totals: Rows, counts: Rows) -> Rows:
        rows, columns, rest = _mean_squares(totals, counts[..., 0], raters)
        return _icc(rows, columns, rest, counts[..., 0], raters, average)[..., None]

    if method != "f":
        found = drawn_interval(statistics, scores, method, level, studies, resamples, rng)
        return Agreement(name, found, raters)
    known = np.nan_to_num(statistics).sum(0)
    n = int(complete.sum())
    value = float(scores(known, np.full(len(known), float(n)))[0])
    low, high = _icc_bounds(*_mean_squares(known, np.array(float(n)), raters), n, raters, level)
    if average:
        low, high = (_quotient(b * raters, 1 + b * (raters - 1)) for b in (low, high))
    return Agreement(name, Interval(value, float(low), float(high), level, method, n, items - n), raters)


def _mean_squares(totals: Rows, n: Rows, raters: int) -> tuple[Rows, Rows, Rows]:
    """Mean squares of items, raters and residual from sums of ratings, squares and squared row sums."""
    by_rater, squares, row_squares = totals[..., :raters], totals[..., raters], totals[..., raters + 1]
    size = np.maximum(n, 1)
    correction = by_rater.sum(-1) ** 2 / (size * raters)
    items = row_squares / raters - correction
    columns = (by_rater**2).sum(-1) / size - correction
    rest = squares - correction - items - columns
    items, columns, rest = (np.where(s > 1e-12 * squares, s, 0.0) for s in (items, columns, rest))
    return (
        items / np.maximum(n - 1, 1),
        columns / (raters - 1),
        rest / np.maximum((n - 1) * (raters - 1), 1),
    )


def _icc(rows: Rows, columns: Rows, rest: Rows, n: Rows, raters: int, average: bool) -> Rows:
    others = 0.0 if average else (raters - 1) * rest
    share = 1.0 if average else float(raters)
    below = rows + others + share * (columns - rest) / np.maximum(n, 1)
    found = np.full(np.shape(rows), np.nan)
    np.divide(rows - rest, below, out=found, where=(below > 0) & (n >= 2))
    return found


def _icc_bounds(rows: Rows, columns: Rows, rest: Rows, n: int, raters: int, level: float) -> tuple[float, float]:
    """Bounds of ICC(2,1), McGraw and Wong (1996), table 7."""
    if n < 2 or not rows + columns + rest > 0:
        return float("nan"), float("nan")
    if rest == 0 and columns == 0:
        return 1.0, 1.0  # every rater gave every item the same
    k = raters
    single = float(_icc(rows, columns, rest, np.array(float(n)), k, False))
    a = k * single
    b = n * (1 + (k - 1) * single) - a
    # Both parts times the squared residual, so that raters who differ by constants (no residual) work too.
    below = (a * columns) ** 2 / (k - 1) + (b * rest) ** 2 / ((n - 1) * (k - 1))
    if not below > 0:
        return float("nan"), float("nan")
    freedom = (a * columns + b * rest) ** 2 / below
    upper = fdtri(n - 1, freedom, (1 + level) / 2)
    lower = fdtri(freedom, n - 1, (1 + level) / 2)
    noise = k * columns + (k * n - k - n) * rest
    if not (0 < upper < np.inf and 0 < lower < np.inf):
        return float("nan"), float("nan")  # next to no degrees of freedom: the F distribution has no answer
    return (
        _quotient(n * (rows - upper * rest), upper * noise + n * rows),
        _quotient(n * (lower * rows - rest), noise + n * lower * rows),
    )


def _quotient(above: float, below: float) -> float:
    return float(above / below) if below > 0 else float("nan")
