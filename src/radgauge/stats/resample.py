"""Bootstrap intervals of corpus scores, computed from sufficient statistics.

A corpus score is a function of column sums over the cases that could be judged, so a resample of the
corpus needs no re-reading: it is one row of a weight matrix times the table of sums. Where several rows
belong to one study (several systems, several readers), the study is what is drawn, never the row: rows of
one study resemble each other, and drawing them singly makes intervals too narrow.

scipy.stats.bootstrap would call the score once per resample, or gather (resamples, cases) copies of the
data; the weight matrix is faster and its memory is bounded. Only scipy.special is imported, because
scipy.stats would double the start-up time of the command line.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from radgauge.core.choices import IntervalMethod, ValueMethod
from radgauge.core.errors import InputError, UsageError
from radgauge.stats.products import product

Rows = NDArray[np.float64]
CorpusScores = Callable[[Rows, Rows], Rows]
Labels = Sequence[Hashable] | NDArray[np.generic]
METHODS: tuple[str, ...] = get_args(IntervalMethod)

CHUNK_BYTES = 4 << 20  # a block of weights that stays near the processor's cache; measured, see benchmarks
SAME = 1e-10  # relative difference below which two scores differ by rounding only


MIN_UNITS = 5
"""Units below which no interval is given: by whichever method, it would not hold what it says."""
ENOUGH_TO_RESAMPLE = 100
"""Units from which `auto` takes percentiles; below, Student's t holds better (`docs/intervals.md`)."""
FEW = 50
"""Units below which intervals near the end of a range hold less than they say; measured, same page."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its interval: `n` cases were judged, `missing` could not be.

    `low` and `high` are NaN where fewer than `MIN_UNITS` units were judged: so few show no spread.
    `method` is the one that was used: percentile, bca, t or wilson.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: int
    missing: int


def mean_scores(totals: Rows, counts: Rows) -> Rows:
    """Mean of each column over the judged cases; NaN where none was judged.

    >>> mean_scores(np.array([3.0, 0.0]), np.array([2.0, 0.0]))
    array([1.5, nan])
    """
    shape = np.broadcast_shapes(np.shape(totals), np.shape(counts))
    means = np.full(shape, np.nan)
    np.divide(totals, counts, out=means, where=np.broadcast_to(counts, shape) > 0)
    return means


def as_rows(rows: ArrayLike, name: str = "rows") -> Rows:
    """Rows as a float64 table; one dimension is read as one column."""
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise InputError(f"{name} must be a table (cases, columns), got {table.ndim} dimensions")
    if np.isinf(table).any():
        first = int(np.flatnonzero(np.isinf(table).any(axis=1))[0])
        raise InputError(f"{name} must be finite or NaN, got an infinite value in row {first}")
    return table


def unit_index(groups: Labels | None, n: int) -> tuple[NDArray[np.intp], int]:
    """Number of the unit of every row (in order of first appearance) and how many units there are."""
    if groups is None:
        return np.arange(n), n
    labels: Iterable[Hashable] = groups.tolist() if isinstance(groups, np.ndarray) else groups
    seen: dict[Hashable, int] = {}
    index = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), dtype=np.intp)
    if len(index) != n:
        raise InputError(f"groups must name one unit per row: got {len(index)} labels for {n} rows")
    return index, len(seen)


def sum_by_unit(rows: Rows, index: NDArray[np.intp], units: int) -> Rows:
    """Column sums of the rows of every unit, in the order of the unit numbers."""
    if units == len(rows):
        return rows  # as many units as rows: unit_index numbered them in row order
    sums = np.zeros((units, rows.shape[1]))
    np.add.at(sums, index, rows)
    return sums


def totals_and_counts(rows: Rows, *, groups: Labels | None = None) -> tuple[Rows, Rows]:
    """Per unit: column sums over judged rows and how many rows were judged.

    >>> totals, counts = totals_and_counts(np.array([[1.0], [np.nan], [2.0]]), groups=["a", "a", "b"])
    >>> totals.ravel().tolist(), counts.ravel().tolist()
    ([1.0, 2.0], [1.0, 1.0])
    """
    index, units = unit_index(groups, len(rows))
    judged = ~np.isnan(rows)
    return (
        sum_by_unit(np.where(judged, rows, 0.0), index, units),
        sum_by_unit(judged.astype(np.float64), index, units),
    )


def draw_weights(
    units: int, *, resamples: int, rng: np.random.Generator, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[Rows]:
    """Blocks (b, units) of how often each unit is drawn, `resamples` rows in all.

    The numbers depend on the generator only, not on the size of the blocks.
    """
    block = max(1, chunk_bytes // (8 * max(units, 1)))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(0, units, size=(rows, units))
        drawn += np.arange(rows)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def bootstrap(
    rows: ArrayLike,
    corpus_scores: CorpusScores = mean_scores,
    *,
    rng: np.random.Generator,
    groups: Labels | None = None,
    resamples: int = 2000,
    chunk_bytes: int = CHUNK_BYTES,
) -> Rows:
    """Scores (resamples, m) of corpora drawn with replacement, whole units at a time.

    Args:
        rows: (n, k) sufficient statistics; NaN marks what could not be judged and is left out of the sums.
        corpus_scores: maps column sums and counts (..., k) to scores (..., m).
        groups: one label per row; rows with the same label are drawn together.
    """
    check_positive("resamples", resamples)
    totals, counts = totals_and_counts(as_rows(rows), groups=groups)
    columns = totals.shape[1]
    sums = np.hstack([totals, counts])
    if not len(sums):
        return np.full((resamples, corpus_scores(totals.sum(0), counts.sum(0)).shape[-1]), np.nan)
    # Wide tables need smaller blocks: what comes out of the product is as wide as the table.
    room = chunk_bytes * len(sums) // max(len(sums), 2 * columns)
    scores = []
    for weights in draw_weights(len(sums), resamples=resamples, rng=rng, chunk_bytes=room):
        drawn = product(weights, sums)
        scores.append(corpus_scores(drawn[:, :columns], drawn[:, columns:]))
    return np.vstack(scores)


def jackknife(totals: Rows, counts: Rows, corpus_scores: CorpusScores) -> Rows:
    """Scores (units, m) with each unit left out in turn: the total less its own sums."""
    return corpus_scores(totals.sum(0) - totals, np.rint(counts.sum(0) - counts))


def interval(
    rows: ArrayLike,
    corpus_scores: CorpusScores = mean_scores,
    *,
    rng: np.random.Generator,
    method: ValueMethod = "percentile",
    level: float = 0.95,
    groups: Labels | None = None,
    resamples: int = 2000,
    judged: NDArray[np.bool_] | None = None,
    ranges: Sequence[tuple[float, float]] | None = None,
) -> tuple[Interval, ...]:
    """One interval per output of `corpus_scores`.

    `judged` (n, m) says which case was judged by which output; without it, a case counts as judged if
    any of its columns is. Percentile intervals are plain and robust; BCa corrects bias and skewness and
    is better for scores near the end of their range, given some dozens of units. `t` is Student's interval with
    the jackknife's standard error: for a mean the textbook one. `auto` takes Wilson's for shares (every value 0
    or 1), `t` for few units and percentiles for many. How often each covers is measured in docs/intervals.md.
    `ranges` has the smallest and largest possible value of each output, which no interval leaves. Where every unit
    is at such an end (no finding of 126 studies reported), `auto` takes Wilson's interval over the units: a sample
    without spread does not show that there is none.
    `yu2022` is what supplementary tables 4 and 5 of Yu et al. (2022) print (`simulation_bounds`): only to compare
    with them.

    >>> result, = interval([0.2, 0.4, 0.5, 0.6, 0.8, np.nan], method="t", rng=np.random.default_rng(0))
    >>> round(result.value, 3), round(result.low, 3), round(result.high, 3), result.n, result.missing
    (0.5, 0.222, 0.778, 5, 1)
    """
    check_level(level)
    check_choice("method", method, get_args(ValueMethod))
    table = as_rows(rows)
    totals, counts = totals_and_counts(table, groups=groups)
    values = corpus_scores(totals.sum(0), counts.sum(0))
    mask = judged
    if mask is None:
        mask = np.repeat(~np.isnan(table).all(axis=1, keepdims=True), len(values), axis=1)
    index, units = unit_index(groups, len(table))
    judged_units = sum_by_unit(mask.astype(np.float64), index, units) > 0
    number = judged_units.sum(0)
    used: list[str] = [chosen_method(method, int(count)) for count in number]
    bounds = np.full((2, len(values)), np.nan)
    left_out = jackknife(totals, counts, corpus_scores) if {"bca", "t"} & {*used} else np.empty((0, len(values)))
    if {"percentile", "bca", "yu2022"} & {*used}:
        replicates = bootstrap(table, corpus_scores, rng=rng, groups=groups, resamples=resamples)
    for output, name in enumerate(used):
        if name == "t":
            judged_jackknife = np.where(judged_units[:, output], left_out[:, output], np.nan)[:, None]
            ends = t_bounds(values[[output]], judged_jackknife, level=level)
        elif name == "bca":
            judged_jackknife = left_out[:, [output]]
            ends = bca_bounds(replicates[:, [output]], values[[output]], judged_jackknife, level=level)
        elif name == "yu2022":
            ends = simulation_bounds(replicates[:, [output]], level=level)
        else:
            ends = percentile_bounds(replicates[:, [output]], level=level)
        if method == "auto" and number[output] and units == len(table) and _is_share(table, output, values):
            used[output] = "wilson"
            hits = round(float(values[output]) * int(number[output]))
            ends = np.array(wilson_interval(hits, int(number[output]), level=level))[:, None]
        elif ranges is not None:
            low, high = ranges[output]
            if (
                method == "auto"
                and values[output] in (low, high)
                and ends[0, 0] == ends[1, 0]
                and high - low < np.inf
            ):
                used[output] = "wilson"
                share = wilson_interval(
                    int(number[output]) * (values[output] == high), int(number[output]), level=level
                )
                ends = low + (high - low) * np.array(share)[:, None]
            ends = np.clip(ends, low, high)
        bounds[:, output] = ends[:, 0]
    bounds = np.where(number >= MIN_UNITS, bounds, np.nan)
    return tuple(
        Interval(float(value), float(low), float(high), level, name, int(n), len(table) - int(n))
        for value, low, high, name, n in zip(values, *bounds, used, mask.sum(0), strict=True)
    )


def chosen_method(method: str, units: int) -> str:
    """The method that `auto` stands for, given the number of units.

    >>> chosen_method("auto", 10), chosen_method("auto", 500), chosen_method("bca", 10)
    ('t', 'percentile', 'bca')
    """
    return method if method != "auto" else "t" if units < ENOUGH_TO_RESAMPLE else "percentile"


def _is_share(table: Rows, output: int, values: Rows) -> bool:
    """True if an output is the share of cases that have it: a column of zeros and ones, and its mean."""
    if table.shape[1] != len(values):
        return False
    judged = table[~np.isnan(table[:, output]), output]
    return bool(len(judged)) and bool(np.isin(judged, (0.0, 1.0)).all()) and bool(values[output] == judged.mean())


def wilson_interval(hits: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share after Wilson (1927); it does not leave 0 to 1 and is not empty at the ends.

    >>> tuple(round(bound, 3) for bound in wilson_interval(490, 500))
    (0.964, 0.989)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, more = hits / total, z * z / total
    middle, half = share + more / 2, z * ((share * (1 - share) + more / 4) / total) ** 0.5
    return (middle - half) / (1 + more), (middle + half) / (1 + more)


def t_bounds(values: Rows, left_out: Rows, *, level: float) -> Rows:
    """Student's bounds (2, m) with the jackknife's standard error; units that are NaN in `left_out` do not count.

    Efron and Tibshirani, chapter 11. For a mean the standard error is s / sqrt(n), exactly.
    """
    defined = np.isfinite(left_out)
    number = defined.sum(0)
    filled = np.where(defined, left_out, 0.0)
    centre = filled.sum(0) / np.maximum(number, 1)
    squares = np.where(defined, (filled - centre) ** 2, 0.0).sum(0)
    error = np.sqrt(squares * (number - 1) / np.maximum(number, 1))
    reach = stdtrit(np.maximum(number - 1, 1), (1 + level) / 2) * error
    return np.where(number >= 2, np.vstack([values - reach, values + reach]), np.nan)


def percentile_bounds(replicates: Rows, *, level: float) -> Rows:
    """Lower and upper bound (2, m) from the quantiles of the replicates that are defined."""
    tail = (1 - level) / 2
    return quantiles(replicates, np.array([[tail], [1 - tail]]))


def simulation_bounds(replicates: Rows, *, level: float) -> Rows:
    """Bounds (2, m) that Yu et al. (2022) print: a t interval of the mean of the resampled values.

    That is the precision of the simulation, not of the value: it goes to zero as resamples are added, however few
    studies there are. Use it only to compare with their tables, never to judge a difference.
    """
    defined = np.isfinite(replicates)
    number = defined.sum(0)
    mean = np.where(defined, replicates, 0.0).sum(0) / np.maximum(number, 1)
    square = np.where(defined, replicates - mean, 0.0) ** 2
    freedom = np.maximum(number - 1, 1)
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(square.sum(0) / freedom / np.maximum(number, 1))
    return np.where(number >= 2, np.stack([mean - half, mean + half]), np.nan)


def bca_bounds(replicates: Rows, values: Rows, left_out: Rows, *, level: float) -> Rows:
    """Bias-corrected and accelerated bounds (2, m).

    Ties with the observed value count half. Where every replicate lies on one side of it, half a
    replicate is assumed on the other, so that the bias stays finite.
    """
    defined = np.isfinite(replicates)
    number = np.maximum(defined.sum(0), 1)
    margin = SAME * np.abs(values)
    with np.errstate(invalid="ignore"):
        below = (defined & (replicates < values - margin)).sum(0)
        above = (defined & (replicates > values + margin)).sum(0)
    share = np.clip((number + below - above) / (2 * number), 0.5 / number, 1 - 0.5 / number)
    bias = ndtri(share)
    tails = ndtri(np.array([[(1 - level) / 2], [(1 + level) / 2]]))
    shifted = bias + tails
    stretch = 1 - acceleration(left_out) * shifted
    far = np.copysign(np.inf, shifted)
    corrected = np.where(stretch > 0, shifted / np.where(stretch > 0, stretch, 1.0), far)
    return quantiles(replicates, ndtr(bias + corrected))


def acceleration(left_out: Rows) -> Rows:
    """Acceleration (m,) from leave-one-out scores (units, m); 0 where they do not vary."""
    defined = np.isfinite(left_out)
    filled = np.where(defined, left_out, 0.0)
    centre = filled.sum(0) / np.maximum(defined.sum(0), 1)
    apart = np.where(defined, centre - filled, 0.0)
    scale = np.abs(apart).max(axis=0, initial=0.0)
    varies = scale > SAME * np.abs(centre) / max(len(left_out), 1)
    unit = apart / np.where(varies, scale, 1.0)
    square = (unit**2).sum(0)
    return np.where(varies, (unit**3).sum(0) / (6 * np.where(varies, square, 1.0) ** 1.5), 0.0)


def quantiles(replicates: Rows, shares: Rows) -> Rows:
    """Quantiles (q, m) of each column at its own shares (q, m) or (q, 1); undefined replicates are left out.

    Linear interpolation, as numpy.quantile; numpy has no form with a different share per column.
    """
    ordered = np.sort(np.where(np.isfinite(replicates), replicates, np.nan), axis=0)  # NaN sorts last
    number = np.isfinite(ordered).sum(0)
    rank = np.clip(shares, 0, 1) * np.maximum(number - 1, 0)
    lower = np.floor(rank).astype(np.intp)
    upper = np.minimum(lower + 1, np.maximum(number - 1, 0))
    start, stop = np.take_along_axis(ordered, lower, 0), np.take_along_axis(ordered, upper, 0)
    quantile: Rows = start + (stop - start) * (rank - lower)
    return quantile


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1 (0.95 is usual), got {level}")


def check_positive(name: str, number: int) -> None:
    """Refuse a number of resamples below one."""
    if number < 1:
        raise UsageError(f"{name} must be at least 1, got {number}")


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Refuse a setting that is not one of the named ones."""
    names = tuple(choices)
    if value not in names:
        raise UsageError(f"{name} must be one of {', '.join(names)}; got {value!r}")
