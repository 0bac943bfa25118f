"""Statistics on score tables: pure functions on arrays, independent of the rest of the package."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations as ordered_pairs
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri, stdtr

from radgauge.core.errors import InputError, UsageError
from radgauge.stats.agreement import (
    Agreement,
    LeaveOneOut,
    centred,
    cohen_kappa,
    drawn_interval,
    krippendorff_alpha,
    leave_one_rater_out,
    rating_table,
)
from radgauge.stats.coefficients import association
from radgauge.stats.compare import Comparison, adjust_comparisons, compare_paired
from radgauge.stats.corrections import adjust, bh_critical_values
from radgauge.stats.correlate import Correlation, GroupValue, correlation, correlation_table
from radgauge.stats.dependent import DependentTest, compare_correlations, meng_interval, zou_interval
from radgauge.stats.effect_sizes import Effect, cliffs_delta, effects
from radgauge.stats.judge_pairs import JudgePair, OverlapTest, compare_judges
from radgauge.stats.paired import PairedTest, bootstrap_test, permutation_test
from radgauge.stats.preference import BestOfN, Preference, best_of_n, preference_accuracy
from radgauge.stats.ranking import (
    CorrelationDifference,
    Ranked,
    Ranking,
    correlation_difference,
    rank_judges,
    significance_clusters,
)
from radgauge.stats.resample import (
    Interval,
    Labels,
    Rows,
    bootstrap,
    check_choice,
    check_level,
    interval,
    mean_scores,
)
from radgauge.stats.unpaired import UnpairedTest, unpaired_test

# Intraclass correlation: how reliable one rater is, or the mean of several.
#
# Its mean squares are functions of sums over items, so the interval may come from drawn studies as well as
# from the F distribution.


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

    >>> result = icc([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(result.value, 2), round(result.interval.low, 2), round(result.interval.high, 2)
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
        bounds = drawn_interval(statistics, scores, method, level, studies, resamples, rng)
        return Agreement(name, bounds, raters)
    sums = np.nan_to_num(statistics).sum(0)
    n = int(complete.sum())
    value = float(scores(sums, np.full(len(sums), float(n)))[0])
    low, high = _icc_bounds(*_mean_squares(sums, np.array(float(n)), raters), n, raters, level)
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
    values = np.full(np.shape(rows), np.nan)
    np.divide(rows - rest, below, out=values, where=(below > 0) & (n >= 2))
    return values


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


# Where metrics fail: do reports that one metric prefers carry more errors of a kind than another's?
#
# Yu et al. (2022), supplementary tables 2 and 3: reports retrieved to please a metric (its oracle) are read by
# radiologists; mean errors per category are compared between oracles by one-sided two-sample t tests, and
# Benjamini-Hochberg is applied over the ordered pairs of oracles within a category.
#
# That test takes every count of every radiologist as independent. It is not: six radiologists read the same
# report, and all oracles answer the same studies. Beside it stands the test one would make today, on each
# study's mean over radiologists, paired by study.


@dataclass(frozen=True, slots=True)
class OneSided:
    """A one-sided test with its place in the Benjamini-Hochberg procedure."""

    statistic: float
    df: int
    p: float
    critical: float
    significant: bool


@dataclass(frozen=True, slots=True)
class FailureMode:
    """Reports of group `first` against those of `second` in one error category.

    `two_sample` is the published test, `paired` the one on study means; both ask whether the first group has
    more (or fewer) errors.
    """

    category: str
    first: str
    second: str
    mean_first: float
    mean_second: float
    two_sample: OneSided
    paired: OneSided


def mean_errors(counts: ArrayLike, *, total: bool = True) -> Rows:
    """Mean errors (groups, categories [+ total]) over studies and raters: supplementary table 2.

    Args:
        counts: (studies, groups, raters, categories), NaN where a rater did not rate.
        total: add the sum over categories as last column.
    """
    table = _with_total(_counts(counts)) if total else _counts(counts)
    counted = ~np.isnan(table)
    means = np.full((table.shape[1], table.shape[3]), np.nan)
    number = counted.sum((0, 2))
    np.divide(np.where(counted, table, 0.0).sum((0, 2)), number, out=means, where=number > 0)
    return means


def find_failure_modes(
    counts: ArrayLike,
    *,
    groups: Sequence[str],
    categories: Sequence[str],
    direction: Literal["more", "less"] = "more",
    fdr: float = 0.01,
    paired: Literal["t", "permutation"] = "t",
    total: bool = False,
    permutations: int = 10_000,
    rng: np.random.Generator | None = None,
) -> tuple[FailureMode, ...]:
    """Test all ordered pairs of groups in every category: supplementary table 3, and the paired test.

    Args:
        counts: (studies, groups, raters, categories), NaN where a rater did not rate.
        groups: names of the groups, such as the oracles' metrics.
        categories: names of the error categories.
        direction: whether the first group is suspected of more or of fewer errors.
        fdr: false discovery rate; the correction runs over the ordered pairs within one category.
        total: also test the sum over categories, as category "total".
        paired: `t` on the differences of study means, or `permutation` of their signs, which needs `rng`.
    """
    check_choice("direction", direction, ("more", "less"))
    check_choice("paired", paired, ("t", "permutation"))
    if paired == "permutation" and rng is None:
        raise UsageError("paired='permutation' needs rng, for example numpy.random.default_rng(0)")
    table = _counts(counts)
    for name, labels, axis in (("groups", groups, 1), ("categories", categories, 3)):
        if len(labels) != table.shape[axis]:
            raise InputError(
                f"{name} must name axis {axis} of counts: got {len(labels)} names for {table.shape[axis]}"
            )
    if total:
        table, categories = _with_total(table), [*categories, "total"]
    sign = 1.0 if direction == "more" else -1.0
    means = mean_errors(table, total=False)
    by_study = _study_means(table)
    modes: list[FailureMode] = []
    for c, category in enumerate(categories):
        pairs = list(ordered_pairs(range(len(groups)), 2))
        pooled = [two_sample_t(table[:, i, :, c], table[:, j, :, c], sign=sign) for i, j in pairs]
        matched = [
            paired_t(by_study[:, i, c], by_study[:, j, c], sign=sign)
            if rng is None or paired == "t"
            else _sign_flip(by_study[:, i, c], by_study[:, j, c], sign, permutations, rng)
            for i, j in pairs
        ]
        for (i, j), one, other in zip(pairs, _judge(pooled, fdr), _judge(matched, fdr), strict=True):
            modes.append(
                FailureMode(category, groups[i], groups[j], float(means[i, c]), float(means[j, c]), one, other)
            )
    return tuple(modes)


def two_sample_t(first: ArrayLike, second: ArrayLike, *, sign: float = 1.0) -> tuple[float, int, float]:
    """t, degrees of freedom and p (one-sided: first larger) with equal variances; NaN if nothing varies."""
    a, b = (np.asarray(v, dtype=np.float64).ravel() for v in (first, second))
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    df = len(a) + len(b) - 2
    if len(a) < 1 or len(b) < 1 or df < 1:
        return math.nan, max(df, 0), math.nan
    variance = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / df
    return _t(a.mean() - b.mean(), math.sqrt(variance * (1 / len(a) + 1 / len(b))), df, sign)


def paired_t(first: ArrayLike, second: ArrayLike, *, sign: float = 1.0) -> tuple[float, int, float]:
    """t, degrees of freedom and p (one-sided: first larger) of paired values; NaN if nothing varies."""
    apart = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    apart = apart[~np.isnan(apart)]
    df = len(apart) - 1
    if df < 1:
        return math.nan, max(df, 0), math.nan
    return _t(apart.mean(), float(apart.std(ddof=1)) / math.sqrt(len(apart)), df, sign)


def _t(difference: float, error: float, df: int, sign: float) -> tuple[float, int, float]:
    # Equal differences leave a spread of rounding only: no test.
    if error <= 1e-12 * abs(difference) or error == 0:
        return math.nan, df, math.nan
    statistic = sign * float(difference) / error
    return statistic, df, float(stdtr(df, -statistic))


def _sign_flip(
    first: Rows, second: Rows, sign: float, permutations: int, rng: np.random.Generator
) -> tuple[float, int, float]:
    statistic, df, _ = paired_t(first, second, sign=sign)
    tested = permutation_test(
        sign * first, sign * second, rng=rng, permutations=permutations, alternative="greater"
    )
    return statistic, df, float(tested.p[0])


def _judge(tests: Sequence[tuple[float, int, float]], fdr: float) -> list[OneSided]:
    p = np.array([test[2] for test in tests])
    with np.errstate(invalid="ignore"):
        significant = adjust(p, method="bh") <= fdr
    return [
        OneSided(statistic, df, value, float(critical), bool(verdict))
        for (statistic, df, value), critical, verdict in zip(
            tests, bh_critical_values(p, fdr=fdr), significant, strict=True
        )
    ]


def _counts(counts: ArrayLike) -> Rows:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 4:
        raise InputError(
            f"counts must have four axes (studies, groups, raters, categories), got shape {table.shape}"
        )
    return table


def _with_total(table: Rows) -> Rows:
    return np.concatenate([table, table.sum(3, keepdims=True)], axis=3)


def _study_means(table: Rows) -> Rows:
    counted = ~np.isnan(table)
    means = np.full((table.shape[0], table.shape[1], table.shape[3]), np.nan)
    np.divide(np.where(counted, table, 0.0).sum(2), counted.sum(2), out=means, where=counted.any(2))
    return means


__all__ = [
    "Agreement",
    "BestOfN",
    "Comparison",
    "Correlation",
    "CorrelationDifference",
    "DependentTest",
    "Effect",
    "FailureMode",
    "GroupValue",
    "Interval",
    "JudgePair",
    "LeaveOneOut",
    "OneSided",
    "OverlapTest",
    "PairedTest",
    "Preference",
    "Ranked",
    "Ranking",
    "UnpairedTest",
    "adjust",
    "adjust_comparisons",
    "association",
    "best_of_n",
    "bh_critical_values",
    "bootstrap",
    "bootstrap_test",
    "cliffs_delta",
    "cohen_kappa",
    "compare_correlations",
    "compare_judges",
    "compare_paired",
    "correlation",
    "correlation_difference",
    "correlation_table",
    "effects",
    "find_failure_modes",
    "icc",
    "interval",
    "krippendorff_alpha",
    "leave_one_rater_out",
    "mean_errors",
    "mean_scores",
    "meng_interval",
    "permutation_test",
    "preference_accuracy",
    "rank_judges",
    "significance_clusters",
    "unpaired_test",
    "zou_interval",
]
