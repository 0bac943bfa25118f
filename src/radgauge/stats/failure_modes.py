"""Where metrics fail: do reports that one metric prefers carry more errors of a kind than another's?

Yu et al. (2022), supplementary tables 2 and 3: reports retrieved to please a metric (its oracle) are read by
radiologists; mean errors per category are compared between oracles by one-sided two-sample t tests, and
Benjamini-Hochberg is applied over the ordered pairs of oracles within a category.

That test takes every count of every radiologist as independent. It is not: six radiologists read the same
report, and all oracles answer the same studies. Beside it stands the test one would make today, on each
study's mean over radiologists, paired by study.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations as ordered_pairs
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from radgauge.core.errors import InputError, UsageError
from radgauge.stats.corrections import adjust, bh_critical_values
from radgauge.stats.paired import permutation_test
from radgauge.stats.resample import Rows, check_choice


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
    known = ~np.isnan(table)
    means = np.full((table.shape[1], table.shape[3]), np.nan)
    number = known.sum((0, 2))
    np.divide(np.where(known, table, 0.0).sum((0, 2)), number, out=means, where=number > 0)
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
    for name, given, axis in (("groups", groups, 1), ("categories", categories, 3)):
        if len(given) != table.shape[axis]:
            raise InputError(
                f"{name} must name axis {axis} of counts: got {len(given)} names for {table.shape[axis]}"
            )
    if total:
        table, categories = _with_total(table), [*categories, "total"]
    sign = 1.0 if direction == "more" else -1.0
    means = mean_errors(table, total=False)
    by_study = _study_means(table)
    found: list[FailureMode] = []
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
            found.append(
                FailureMode(category, groups[i], groups[j], float(means[i, c]), float(means[j, c]), one, other)
            )
    return tuple(found)


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
    known = ~np.isnan(table)
    means = np.full((table.shape[0], table.shape[1], table.shape[3]), np.nan)
    np.divide(np.where(known, table, 0.0).sum(2), known.sum(2), out=means, where=known.any(2))
    return means
