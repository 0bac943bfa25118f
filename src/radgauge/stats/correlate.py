"""Correlation of judges with a target, with intervals that draw studies.

Three questions, three answers. Pooled: do scores order all reports as the radiologists do? Within groups:
the mean of the coefficients inside each group (the four oracles of ReXVal), free of differences between
groups. Within studies: the same with studies as groups, which asks whether the better of several reports on
one study is found. The caller turns signs so that a positive value means agreement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import CorrelationMethod, Kind
from radgauge.core.errors import InputError
from radgauge.stats.coefficients import KINDS, association, grouped_association, weighted_association
from radgauge.stats.independence import independence_p
from radgauge.stats.resample import (
    MIN_UNITS,
    Interval,
    Labels,
    Rows,
    as_rows,
    bca_bounds,
    check_choice,
    check_level,
    check_positive,
    draw_weights,
    percentile_bounds,
    simulation_bounds,
    unit_index,
)

BLOCK_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class GroupValue:
    """The coefficient inside one group of `n` cases; NaN where it is undefined."""

    label: Hashable
    value: float
    n: int


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient with its interval; `groups` holds the parts of a mean within groups, else nothing.

    `p` is that of no association, two-sided, which takes cases for independent; NaN for a mean within groups.
    """

    kind: Kind
    interval: Interval
    groups: tuple[GroupValue, ...] = ()
    p: float = float("nan")

    @property
    def value(self) -> float:
        """The coefficient itself."""
        return self.interval.value


def correlation(
    judge: ArrayLike,
    target: ArrayLike,
    *,
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    method: CorrelationMethod = "percentile",
    level: float = 0.95,
    resamples: int = 1000,
) -> Correlation:
    """Correlate one judge with one target over the cases that both judged.

    >>> result = correlation([1, 2, 3, 4], [10, 20, 30, 40], rng=np.random.default_rng(0))
    >>> result.value, result.interval.n
    (1.0, 4)
    """
    table = correlation_table(
        np.asarray(judge, dtype=np.float64)[:, None],
        np.asarray(target, dtype=np.float64)[:, None],
        rng=rng,
        kind=kind,
        studies=studies,
        within=within,
        method=method,
        level=level,
        resamples=resamples,
    )
    return table[0][0]


def correlation_table(
    judges: ArrayLike,
    targets: ArrayLike,
    *,
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    method: CorrelationMethod = "percentile",
    level: float = 0.95,
    resamples: int = 1000,
) -> tuple[tuple[Correlation, ...], ...]:
    """Correlate every judge (n, M) with every target (n, T): M rows of T, all from the same draws.

    Args:
        judges: one column per judge, NaN where it could not judge.
        targets: one column per target, the same cases in the same order.
        studies: one label per case; what is drawn is the study with all its cases.
        within: one label per case; coefficients are taken inside each group and averaged over the groups
            in which they are defined.
        method: `percentile` and `bca` are bootstrap intervals of the coefficient. `yu2022` is what Yu et al.
            (2022) print beside their coefficients: a t interval of the mean of the resampled values, mean
            +- t(0.975, B - 1) sd / sqrt(B). That is the precision of the simulation, not of the coefficient:
            it goes to zero as B grows however few studies there are. Their [0.497, 0.503] from B = 1000
            stands for a standard deviation of about 0.045 and so for a 95 % interval of about [0.41, 0.59].
            Use it only to compare with their tables, never to judge a difference.
    """
    check_choice("method", method, ("percentile", "bca", "yu2022"))
    check_choice("kind", kind, KINDS)
    check_level(level)
    x, y = as_rows(judges, "judges"), as_rows(targets, "targets")
    if len(x) != len(y):
        raise InputError(f"judges and targets must hold the same cases, got {len(x)} and {len(y)} rows")
    pairs = [(x[:, i], y[:, j]) for i in range(x.shape[1]) for j in range(y.shape[1])]
    replicates = pair_replicates(pairs, rng=rng, kind=kind, studies=studies, within=within, resamples=resamples)
    correlations = summarise(
        pairs, replicates, kind=kind, studies=studies, within=within, method=method, level=level
    )
    wide = y.shape[1]
    return tuple(correlations[start : start + wide] for start in range(0, len(correlations), wide))


def summarise(
    pairs: Sequence[tuple[Rows, Rows]],
    replicates: Rows,
    *,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    method: CorrelationMethod = "percentile",
    level: float = 0.95,
) -> tuple[Correlation, ...]:
    """Coefficient, parts and interval of every pair of columns, given its replicates (resamples, pairs)."""
    n = len(pairs[0][0]) if pairs else 0
    index, units = unit_index(studies, n)
    strata = None if within is None else unit_index(within, n)
    labels = () if within is None else distinct_labels(within)
    points = [_point(a, b, strata, kind) for a, b in pairs]
    values = np.array([value for value, _ in points])
    if method == "yu2022":
        bounds = np.clip(simulation_bounds(replicates, level=level), -1.0, 1.0)
    elif method == "bca" and n:
        left_out = np.vstack([_coefficients(pairs, w, index, strata, kind) for w in _leave_one_out(units)])
        bounds = bca_bounds(replicates, values, left_out, level=level)
    else:
        bounds = percentile_bounds(replicates, level=level)
    correlations = []
    for (a, b), (value, parts), low, high in zip(pairs, points, *bounds, strict=True):
        complete = ~(np.isnan(a) | np.isnan(b))
        groups: tuple[GroupValue, ...] = ()
        if strata is not None:
            sizes = np.bincount(strata[0][complete], minlength=strata[1])
            groups = tuple(
                GroupValue(label, float(v), int(size)) for label, v, size in zip(labels, parts, sizes, strict=True)
            )
        if len(np.unique(index[complete])) < (2 if method == "yu2022" else MIN_UNITS):
            low = high = np.nan  # a few studies say nothing about spread
        judged = int(complete.sum())
        overall = Interval(value, float(low), float(high), level, method, judged, n - judged)
        p = independence_p(a, b, kind=kind) if strata is None else float("nan")
        correlations.append(Correlation(kind, overall, groups, p))
    return tuple(correlations)


def pair_replicates(
    pairs: Sequence[tuple[Rows, Rows]],
    *,
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    resamples: int = 1000,
) -> Rows:
    """Resampled coefficients (resamples, pairs), every pair of columns on the same draws of studies."""
    check_positive("resamples", resamples)
    n = len(pairs[0][0]) if pairs else 0
    index, units = unit_index(studies, n)
    strata = None if within is None else unit_index(within, n)
    if not n or not pairs:
        return np.full((resamples, len(pairs)), np.nan)
    per_row = max(1, BLOCK_BYTES * units // n)
    blocks = draw_weights(units, resamples=resamples, rng=rng, chunk_bytes=per_row)
    return np.vstack([_coefficients(pairs, weights, index, strata, kind) for weights in blocks])


def _coefficients(
    pairs: Sequence[tuple[Rows, Rows]],
    weights: Rows,
    index: NDArray[np.intp],
    strata: tuple[NDArray[np.intp], int] | None,
    kind: Kind,
) -> Rows:
    if strata is None:
        spread = weights[:, index]
        return np.stack([weighted_association(a, b, spread, kind=kind) for a, b in pairs], 1)
    return np.stack([_within(a, b, weights, index, strata, kind) for a, b in pairs], 1)


def _within(
    a: Rows,
    b: Rows,
    weights: Rows,
    index: NDArray[np.intp],
    strata: tuple[NDArray[np.intp], int],
    kind: Kind,
) -> Rows:
    """Means over groups (b,). A group inside one study is drawn with it, and copies leave its value alone."""
    stratum, number = strata
    unit_of = np.zeros(number, dtype=np.intp)
    unit_of[stratum] = index
    nested = np.bincount(stratum, index != unit_of[stratum], minlength=number) == 0
    top, bottom = np.zeros(len(weights)), np.zeros(len(weights))
    if nested.any():
        values = grouped_association(a, b, stratum, number, kind=kind)
        use = nested & ~np.isnan(values)
        drawn = weights[:, unit_of[use]]
        top, bottom = drawn @ values[use], drawn.sum(1)
    for g in np.flatnonzero(~nested):
        member = stratum == g
        value = weighted_association(a[member], b[member], weights[:, index[member]], kind=kind)
        top, bottom = top + np.nan_to_num(value), bottom + ~np.isnan(value)
    mean = np.full(len(weights), np.nan)
    np.divide(top, bottom, out=mean, where=bottom > 0)
    return mean


def _point(a: Rows, b: Rows, strata: tuple[NDArray[np.intp], int] | None, kind: Kind) -> tuple[float, Rows]:
    if strata is None:
        return association(a, b, kind=kind), np.empty(0)
    parts = grouped_association(a, b, *strata, kind=kind)
    defined = ~np.isnan(parts)
    return (float(parts[defined].mean()) if defined.any() else float("nan")), parts


def _leave_one_out(units: int) -> Iterator[Rows]:
    block = max(1, BLOCK_BYTES // (8 * max(units, 1)))
    for start in range(0, units, block):
        rows = np.arange(start, min(start + block, units))
        weights = np.ones((len(rows), units))
        weights[rows - start, rows] = 0.0
        yield weights


def distinct_labels(labels: Labels) -> tuple[Hashable, ...]:
    """Labels in order of first appearance, as `unit_index` numbers them."""
    plain: Iterable[Hashable] = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return tuple(dict.fromkeys(plain))
