"""Is one correlation with a target larger than another, measured on the same cases?

The two correlations r_jk and r_jh share the target j, and the judges k and h resemble each other (r_kh), so
the usual tests for two independent correlations do not apply. Here are the tests and intervals that the R
package cocor collects (Diedenhofen and Musch 2015), under its names. All assume Pearson correlations of
independent, normal observations. For Kendall or Spearman, tied counts, or several reports per study, use
`correlation_difference` of `ranking`, which draws studies; the tests here serve comparison with papers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtr, ndtri, stdtr

from radgauge.core.choices import DependentMethod
from radgauge.core.errors import InputError
from radgauge.stats.paired import Alternative
from radgauge.stats.resample import check_choice, check_level

Statistic = Callable[[float, float, float, int], float]


@dataclass(frozen=True, slots=True)
class DependentTest:
    """A test of r_jk = r_jh; `df` is None for a normal statistic."""

    method: DependentMethod
    statistic: float
    df: int | None
    p: float
    alternative: Alternative


def compare_correlations(
    r_jk: float,
    r_jh: float,
    *,
    r_kh: float,
    n: int,
    method: DependentMethod = "williams1959",
    alternative: Alternative = "two-sided",
) -> DependentTest:
    """Test r_jk against r_jh, two correlations with the same variable j in the same n cases.

    `less` asks whether r_jk is smaller than r_jh. The result depends strongly on `r_kh`, the correlation of
    the two judges with each other: a p value without it cannot be checked.

    >>> result = compare_correlations(0.3, 0.4, r_kh=0.5, n=100, method="williams1959")
    >>> round(result.statistic, 4), result.df, round(result.p, 4)
    (-1.0767, 97, 0.2843)
    """
    check_choice("method", method, METHODS)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    _check(r_jk, r_jh, r_kh, n)
    statistic = METHODS[method](r_jk, r_jh, r_kh, n)
    df = n - 3 if method in ("hotelling1940", "williams1959", "hendrickson1970") else None

    def below(value: float) -> float:
        return float(ndtr(value) if df is None else stdtr(df, value))

    p = {
        "less": below(statistic),
        "greater": below(-statistic),
        "two-sided": 2 * below(-abs(statistic)),
    }[alternative]
    return DependentTest(method, statistic, df, p, alternative)


def zou_interval(r_jk: float, r_jh: float, *, r_kh: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of r_jk - r_jh (Zou 2007, p. 409).

    >>> [round(bound, 3) for bound in zou_interval(0.396, 0.179, r_kh=0.088, n=66)]
    [-0.093, 0.517]
    """
    check_level(level)
    _check(r_jk, r_jh, r_kh, n)
    a, b, c = r_jk, r_jh, r_kh
    reach = float(ndtri((1 + level) / 2)) / math.sqrt(n - 3)
    low_a, high_a = math.tanh(math.atanh(a) - reach), math.tanh(math.atanh(a) + reach)
    low_b, high_b = math.tanh(math.atanh(b) - reach), math.tanh(math.atanh(b) + reach)
    shared = ((c - a * b / 2) * (1 - a**2 - b**2 - c**2) + c**3) / ((1 - a**2) * (1 - b**2))
    below = (a - low_a) ** 2 + (high_b - b) ** 2 - 2 * shared * (a - low_a) * (high_b - b)
    above = (high_a - a) ** 2 + (b - low_b) ** 2 - 2 * shared * (high_a - a) * (b - low_b)
    return a - b - math.sqrt(max(below, 0.0)), a - b + math.sqrt(max(above, 0.0))


def meng_interval(r_jk: float, r_jh: float, *, r_kh: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of atanh(r_jk) - atanh(r_jh), Fisher's z (Meng, Rosenthal and Rubin 1992, formula 4).

    >>> [round(bound, 3) for bound in meng_interval(0.63, -0.03, r_kh=-0.19, n=15)]
    [-0.129, 1.672]
    """
    check_level(level)
    _check(r_jk, r_jh, r_kh, n)
    half = float(ndtri((1 + level) / 2)) * _meng_error(r_jk, r_jh, r_kh, n)
    middle = math.atanh(r_jk) - math.atanh(r_jh)
    return middle - half, middle + half


def _check(r_jk: float, r_jh: float, r_kh: float, n: int) -> None:
    for name, value in (("r_jk", r_jk), ("r_jh", r_jh), ("r_kh", r_kh)):
        if not -1 < value < 1:
            raise InputError(f"{name} must lie strictly between -1 and 1, got {value}")
    if n < 4:
        raise InputError(f"n must be at least 4 cases, got {n}")
    if _determinant(r_jk, r_jh, r_kh) <= 0:
        raise InputError(
            f"no three variables can have the correlations r_jk={r_jk}, r_jh={r_jh}, r_kh={r_kh}: "
            "their correlation matrix is not positive definite; check r_kh"
        )


def _determinant(a: float, b: float, c: float) -> float:
    return 1 + 2 * a * b * c - a**2 - b**2 - c**2


def _pearson_filon(a: float, b: float, c: float, n: int) -> float:
    k = c * (1 - a**2 - b**2) - a * b * (1 - a**2 - b**2 - c**2) / 2
    return math.sqrt(n) * (a - b) / math.sqrt((1 - a**2) ** 2 + (1 - b**2) ** 2 - 2 * k)


def _hotelling(a: float, b: float, c: float, n: int) -> float:
    return (a - b) * math.sqrt((n - 3) * (1 + c) / (2 * _determinant(a, b, c)))


def _williams(a: float, b: float, c: float, n: int) -> float:
    mean = (a + b) / 2
    below = 2 * (n - 1) / (n - 3) * _determinant(a, b, c) + mean**2 * (1 - c) ** 3
    return (a - b) * math.sqrt((n - 1) * (1 + c) / below)


def _hendrickson(a: float, b: float, c: float, n: int) -> float:
    below = 2 * _determinant(a, b, c) + (a - b) ** 2 * (1 - c) ** 3 / (4 * (n - 1))
    return (a - b) * math.sqrt((n - 3) * (1 + c) / below)


def _olkin(a: float, b: float, c: float, n: int) -> float:
    rest = 2 * c**3 + (2 * c - a * b) * (1 - a**2 - b**2 - c**2)
    return (a - b) * math.sqrt(n) / math.sqrt((1 - a**2) ** 2 + (1 - b**2) ** 2 - rest)


def _fisher(a: float, b: float, n: int, shared: float) -> float:
    return (math.atanh(a) - math.atanh(b)) * math.sqrt(n - 3) / math.sqrt(2 - 2 * shared)


def _dunn(a: float, b: float, c: float, n: int) -> float:
    shared = c * (1 - a**2 - b**2) - a * b * (1 - a**2 - b**2 - c**2) / 2
    return _fisher(a, b, n, shared / ((1 - a**2) * (1 - b**2)))


def _pooled(a: float, b: float, c: float, n: int, r: float) -> float:
    shared = c * (1 - 2 * r**2) - r**2 * (1 - 2 * r**2 - c**2) / 2
    return _fisher(a, b, n, shared / (1 - r**2) ** 2)


def _steiger(a: float, b: float, c: float, n: int) -> float:
    return _pooled(a, b, c, n, (a + b) / 2)


def _hittner(a: float, b: float, c: float, n: int) -> float:
    return _pooled(a, b, c, n, math.tanh((math.atanh(a) + math.atanh(b)) / 2))


def _meng_error(a: float, b: float, c: float, n: int) -> float:
    mean = (a**2 + b**2) / 2
    f = min(1.0, (1 - c) / (2 * (1 - mean)))
    return math.sqrt(2 * (1 - c) * (1 - f * mean) / (1 - mean) / (n - 3))


def _meng(a: float, b: float, c: float, n: int) -> float:
    return (math.atanh(a) - math.atanh(b)) / _meng_error(a, b, c, n)


METHODS: dict[str, Statistic] = {
    "pearson1898": _pearson_filon,
    "hotelling1940": _hotelling,
    "williams1959": _williams,
    "olkin1967": _olkin,
    "dunn1969": _dunn,
    "hendrickson1970": _hendrickson,
    "steiger1980": _steiger,
    "meng1992": _meng,
    "hittner2003": _hittner,
}
