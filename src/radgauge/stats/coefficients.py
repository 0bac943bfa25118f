"""Kendall, Spearman and Pearson: of one sample, of many weighted resamples, and inside many groups.

A resample is a vector of how often each case was drawn. Kendall's numerator is then the quadratic form
w'Cw / 2 with C the matrix of concordance signs, and its tie counts follow from summed weights per tied
value, so a thousand resamples are one matrix product (single precision holds these integers exactly).
Weighted midranks give Spearman in the same way. scipy has no weighted form of either.

Everything leaves out pairs with a NaN and returns NaN where a value is undefined (fewer than two cases, or
one side constant).
"""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import Kind
from radgauge.core.errors import InputError
from radgauge.stats.products import product
from radgauge.stats.resample import Rows, check_choice

KINDS: tuple[Kind, ...] = get_args(Kind)

PAIRWISE = 10_000  # cases up to which the quadratic form beats counting inversions resample by resample
BLOCK = 1 << 22  # signs held at a time
FLAT = 1e-12  # variance below this share of the squared scale is rounding: the sample is constant


def association(x: ArrayLike, y: ArrayLike, *, kind: Kind = "kendall_b") -> float:
    """One correlation coefficient in [-1, 1].

    >>> association([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    check_choice("kind", kind, KINDS)
    first, second = complete_pairs(x, y)
    if kind in ("kendall_b", "kendall_c") and len(first) > 500:
        return _kendall_by_inversions(first, second, kind)
    return float(weighted_association(first, second, np.ones((1, len(first))), kind=kind)[0])


def complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Rows, Rows]:
    """The pairs in which both values are defined."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"x and y must be two equally long lists, got shapes {first.shape} and {second.shape}")
    complete = ~(np.isnan(first) | np.isnan(second))
    return first[complete], second[complete]


def weighted_association(x: Rows, y: Rows, weights: Rows, *, kind: Kind) -> Rows:
    """Coefficients (b,) of b samples in which case i occurs weights[b, i] times (whole numbers)."""
    complete = ~(np.isnan(x) | np.isnan(y))
    if not complete.all():
        x, y, weights = x[complete], y[complete], weights[:, complete]
    if len(x) < 2:
        return np.full(len(weights), np.nan)
    if kind == "pearson":
        return _pearson(x, y, weights)
    group_x, weight_x = _weight_per_value(x, weights)
    group_y, weight_y = _weight_per_value(y, weights)
    size = weights.sum(1)
    if kind == "spearman":
        rank_x, rank_y = _centred_midranks(weight_x), _centred_midranks(weight_y)
        cross = np.einsum("bi,bi,bi->b", weights, rank_x[:, group_x], rank_y[:, group_y])
        square_x, square_y = (
            np.einsum("bg,bg,bg->b", w, r, r) for w, r in ((weight_x, rank_x), (weight_y, rank_y))
        )
        return _ratio(cross, np.sqrt(square_x) * np.sqrt(square_y))
    balance = _concordant_less_discordant(group_x, group_y, weights)
    if kind == "kendall_b":
        untied_x, untied_y = ((size**2 - (w**2).sum(1)) / 2 for w in (weight_x, weight_y))
        return _ratio(balance, np.sqrt(untied_x * untied_y))
    distinct = np.minimum((weight_x > 0).sum(1), (weight_y > 0).sum(1))
    return _ratio(2 * balance * distinct, size**2 * np.maximum(distinct - 1, 0))


def grouped_association(x: Rows, y: Rows, index: NDArray[np.intp], groups: int, *, kind: Kind) -> Rows:
    """Coefficients (groups,) inside each group, `index` naming the group of every case by number.

    Groups are padded to one block of sign matrices, so hundreds of studies with a few reports each take
    no loop; centred midranks are the row means of a sign matrix, which gives Spearman besides Kendall.
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y, index = x[complete], y[complete], index[complete]
    sizes = np.bincount(index, minlength=groups)
    largest = int(sizes.max(initial=0))
    if largest > 40:
        return np.array([association(x[index == g], y[index == g], kind=kind) for g in range(groups)])
    if largest < 2:
        return np.full(groups, np.nan)
    order = np.argsort(index, kind="stable")
    column = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    padded = np.full((2, groups, largest), np.nan)
    padded[:, index[order], column] = x[order], y[order]
    signs_x, signs_y = (np.nan_to_num(np.sign(p[:, :, None] - p[:, None, :])) for p in padded)
    if kind in ("kendall_b", "kendall_c"):
        balance = (signs_x * signs_y).sum((1, 2)) / 2
        if kind == "kendall_b":
            untied_x, untied_y = (np.abs(s).sum((1, 2)) / 2 for s in (signs_x, signs_y))
            return _ratio(balance, np.sqrt(untied_x * untied_y))
        distinct = np.minimum(_distinct(padded[0], signs_x), _distinct(padded[1], signs_y))
        return _ratio(2 * balance * distinct, sizes**2 * np.maximum(distinct - 1, 0))
    if kind == "spearman":
        padded = np.stack([signs_x.sum(2), signs_y.sum(2)])
    present = np.arange(largest) < sizes[:, None]
    middle = np.where(present, padded, 0.0).sum(2, keepdims=True) / np.maximum(sizes, 1)[:, None]
    apart = np.where(present, padded - middle, 0.0)
    scale = np.abs(np.where(present, padded, 0.0)).max((1, 2))
    spread = (apart**2).sum(2)
    spread[spread <= FLAT * sizes * scale[:, None] ** 2] = 0.0
    return _ratio((apart[0] * apart[1]).sum(1), np.sqrt(spread[0]) * np.sqrt(spread[1]))


def _distinct(padded: Rows, signs: Rows) -> NDArray[np.intp]:
    earlier = np.tril(np.ones(signs.shape[1:], dtype=bool), -1)
    present = ~np.isnan(padded)
    repeats = ((signs == 0) & earlier & present[:, None, :]).any(2)
    count: NDArray[np.intp] = (present & ~repeats).sum(1)
    return count


def _ratio(above: Rows, below: Rows) -> Rows:
    ratio = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    np.clip(ratio, -1.0, 1.0, out=ratio)
    return ratio


def _weight_per_value(x: Rows, weights: Rows) -> tuple[NDArray[np.intp], Rows]:
    """Number of each case's value in ascending order, and the weight (b, values) drawn of each value."""
    order = np.argsort(x, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(x[order]) > 0]))
    group = np.empty(len(x), dtype=np.intp)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(x))))
    return group, np.add.reduceat(weights[:, order], starts, axis=1)


def _centred_midranks(weight: Rows) -> Rows:
    ranks: Rows = np.cumsum(weight, axis=1) - weight / 2 - weight.sum(1, keepdims=True) / 2
    return ranks


def _pearson(x: Rows, y: Rows, weights: Rows) -> Rows:
    size = np.maximum(weights.sum(1), 1)
    x, y = (v - v.mean() for v in (x, y))
    x, y = (v / max(np.abs(v).max(), np.finfo(float).tiny) for v in (x, y))
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = product(weights, np.stack([x, y, x * x, y * y, x * y], 1)).T
    spread_x, spread_y = sum_xx - sum_x**2 / size, sum_yy - sum_y**2 / size
    for spread in (spread_x, spread_y):
        spread[spread <= FLAT * size] = 0.0
    return _ratio(sum_xy - sum_x * sum_y / size, np.sqrt(spread_x) * np.sqrt(spread_y))


def _concordant_less_discordant(x: NDArray[np.intp], y: NDArray[np.intp], weights: Rows) -> Rows:
    if len(x) > PAIRWISE:
        cases = np.arange(len(x))
        samples = (np.repeat(cases, w.astype(np.intp)) for w in weights)
        return np.array([_balance_by_inversions(x[s], y[s]) for s in samples], dtype=np.float64)
    single = weights.astype(np.float32)
    balance = np.zeros(len(weights))
    rows = max(1, BLOCK // len(x))
    small_x, small_y = x.astype(np.int32), y.astype(np.int32)
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        signs = np.sign(small_x[:, None] - small_x[part]) * np.sign(small_y[:, None] - small_y[part])
        balance += np.einsum("bi,bi->b", product(single, signs.astype(np.float32)), weights[:, part])
    return balance / 2


def _kendall_by_inversions(x: Rows, y: Rows, kind: Kind) -> float:
    size = len(x)
    balance = float(_balance_by_inversions(x, y))
    count_x, count_y = (np.unique(v, return_counts=True)[1].astype(np.float64) for v in (x, y))
    if kind == "kendall_b":
        untied_x, untied_y = ((size**2 - (c**2).sum()) / 2 for c in (count_x, count_y))
        below = np.sqrt(untied_x * untied_y)
        return float(_ratio(np.array(balance), np.array(below)))
    distinct = min(len(count_x), len(count_y))
    return float(_ratio(np.array(2 * balance * distinct), np.array(float(size**2 * (distinct - 1)))))


def _balance_by_inversions(x: NDArray[np.generic], y: NDArray[np.generic]) -> int:
    """Concordant less discordant pairs in O(n log n): discordant pairs are inversions of y ordered by x.

    Inversions are counted one binary digit of y's rank at a time: inside a run of equal higher digits, a
    0 is out of order with every 1 before it.
    """
    order = np.lexsort((y, x))  # ties in x are put in order of y, so that they count no inversion
    rank = np.unique(y[order], return_inverse=True)[1].astype(np.int64)
    size = len(rank)
    discordant = 0
    digits = rank
    for bit in reversed(range(max(int(rank.max(initial=0)), 1).bit_length())):
        ones = (digits >> bit) & 1
        before = np.cumsum(ones) - ones
        run = digits >> (bit + 1)
        starts = np.flatnonzero(np.concatenate([[True], run[1:] != run[:-1]]))
        since = before - np.repeat(before[starts], np.diff(np.append(starts, size)))
        discordant += int(since[ones == 0].sum())
        digits = digits[np.argsort(digits >> bit, kind="stable")]
    ranks = np.unique(x[order], return_inverse=True)[1].astype(np.int64)
    tied_x, tied_y, tied_both = (_tied_pairs(v) for v in (ranks, rank, ranks * size + rank))
    return size * (size - 1) // 2 - tied_x - tied_y + tied_both - 2 * discordant


def _tied_pairs(values: NDArray[np.int64]) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def merge_ties(values: ArrayLike, precision: float) -> Rows:
    """Return values in which a run of neighbours no farther apart than `precision` has its smallest value.

    Rounding to decimals would leave apart what lies on both sides of a boundary; runs do not.

    >>> merge_ties([0.5, 0.50000004, 0.7, np.nan, 0.49999999], 1e-6).tolist()
    [0.49999999, 0.49999999, 0.7, nan, 0.49999999]
    """
    table = np.asarray(values, dtype=np.float64)
    distinct = np.unique(table[~np.isnan(table)])
    if precision <= 0 or len(distinct) < 2:
        return table.copy()
    starts = np.concatenate([[True], np.diff(distinct) > precision])
    lowest = distinct[starts][np.cumsum(starts) - 1]
    merged = table.copy()
    defined = ~np.isnan(table)
    merged[defined] = lowest[np.searchsorted(distinct, table[defined])]
    return merged
