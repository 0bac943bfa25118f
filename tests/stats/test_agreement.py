"""Agreement coefficients against published examples and definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import cohen_kappa, icc, krippendorff_alpha, leave_one_rater_out

NAN = math.nan

# Shrout and Fleiss (1979), table 2: six targets, four judges; ICC(2,1) = .29, ICC(2,4) = .62 in table 4.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T

grades = st.one_of(st.integers(0, 4), st.just(NAN))
tables = st.integers(0, 8).flatmap(lambda n: st.lists(st.tuples(grades, grades, grades), min_size=n, max_size=n))


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_icc_of_shrout_and_fleiss() -> None:
    single, mean = icc(SHROUT_FLEISS), icc(SHROUT_FLEISS, average=True)
    assert (single.name, mean.name, single.raters) == ("ICC(2,1)", "ICC(2,k)", 4)
    assert single.value == pytest.approx(0.29, abs=0.005)
    assert mean.value == pytest.approx(0.62, abs=0.005)
    # Intervals as R's psych::ICC prints them for these data.
    assert (single.interval.low, single.interval.high) == pytest.approx((0.019, 0.761), abs=6e-4)
    assert (mean.interval.low, mean.interval.high) == pytest.approx((0.071, 0.927), abs=6e-4)


def icc_by_anova(table: np.ndarray, average: bool) -> float:
    n, k = table.shape
    grand = table.mean()
    rows = k * ((table.mean(1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((table.mean(0) - grand) ** 2).sum() / (k - 1)
    rest = ((table - table.mean(1, keepdims=True) - table.mean(0) + grand) ** 2).sum() / ((n - 1) * (k - 1))
    if average:
        return (rows - rest) / (rows + (columns - rest) / n)
    return (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)


@pytest.mark.parametrize("average", [False, True])
def test_icc_equals_the_analysis_of_variance(average: bool) -> None:
    table = seeded(1).normal(1e4, 1, size=(30, 1)) + seeded(2).normal(size=(30, 5))
    assert icc(table, average=average).value == pytest.approx(icc_by_anova(table, average), rel=1e-6)


@pytest.mark.parametrize("average", [False, True])
def test_drawn_icc_intervals_resemble_those_of_the_f_distribution(average: bool) -> None:
    rng = seeded(3)
    table = rng.normal(size=(200, 1)) + rng.normal(scale=0.8, size=(200, 4))
    f = icc(table, average=average).interval
    drawn = icc(table, average=average, method="percentile", rng=seeded()).interval
    assert drawn.value == pytest.approx(f.value)
    assert (drawn.low, drawn.high) == pytest.approx((f.low, f.high), abs=0.03)


def test_icc_interval_covers_the_truth() -> None:
    hits = 0
    for seed in range(200):
        rng = seeded(seed)
        table = rng.normal(size=(25, 1)) + rng.normal(scale=0.5, size=4) + rng.normal(size=(25, 4))
        found = icc(table).interval
        hits += found.low <= 1 / 2.25 <= found.high
    assert hits / 200 >= 0.9


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_example(scale: str, expected: float) -> None:
    found = krippendorff_alpha(KRIPPENDORFF, scale=scale, rng=seeded())
    assert found.value == pytest.approx(expected, abs=6e-4)
    assert (found.interval.n, found.interval.missing, found.raters) == (11, 1, 4)
    assert found.interval.low < found.value < found.interval.high <= 1


def alpha_by_pairs(table: np.ndarray, scale: str) -> float:
    """Definition: disagreement of pairs inside units against that of all pairable values."""
    units = [row[~np.isnan(row)] for row in table]
    units = [u for u in units if len(u) >= 2]
    values = np.concatenate(units) if units else np.empty(0)

    def distance(a: float, b: float) -> float:
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = ((values >= low) & (values <= high)).sum()
        return (between - ((values == low).sum() + (values == high).sum()) / 2) ** 2 if a != b else 0.0

    observed = sum(distance(a, b) / (len(u) - 1) for u in units for a, b in itertools.permutations(u, 2))
    expected = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    return 1 - (len(values) - 1) * observed / expected if expected else math.nan


@settings(max_examples=80, deadline=None)
@given(tables, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_its_definition(rows: list[tuple[float, float, float]], scale: str) -> None:
    table = np.array(rows, dtype=float).reshape(-1, 3)
    found = krippendorff_alpha(table, scale=scale, rng=seeded(), resamples=30)
    assert found.value == pytest.approx(alpha_by_pairs(table, scale), nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_no_warnings_and_no_invented_numbers(rows: list[tuple[float, float, float]]) -> None:
    table = np.array(rows, dtype=float).reshape(-1, 3)
    complete = int((~np.isnan(table)).all(axis=1).sum())
    for average, method in itertools.product([False, True], ["f", "percentile", "bca"]):
        found = icc(table, average=average, method=method, rng=seeded(), resamples=20)
        assert (found.interval.n, found.interval.missing) == (complete, len(table) - complete)
        assert complete >= 2 or math.isnan(found.value)
    leave_one_rater_out(table, rng=seeded(), resamples=20)
    cohen_kappa(table[:, 0], table[:, 1], rng=seeded(), resamples=20)


def test_equal_raters_agree_fully_and_constant_ratings_say_nothing() -> None:
    same = np.repeat(np.arange(6.0)[:, None], 3, axis=1)
    assert icc(same).value == 1.0
    assert (icc(same).interval.low, icc(same).interval.high) == (1.0, 1.0)
    for constant in (np.full((5, 3), 0.1), np.full((5, 3), 2.0)):
        assert math.isnan(icc(constant).value)
        assert math.isnan(icc(constant).interval.low)
        assert math.isnan(krippendorff_alpha(constant, rng=seeded()).value)
        assert math.isnan(cohen_kappa(constant[:, 0], constant[:, 1], rng=seeded()).value)


@pytest.mark.parametrize("rows", [[(0, 0, 3), (0, 0, 4), (0, 3, 0)], [(0, 1), (1, 0)], [(0, 5), (0, 5), (0, 5)]])
def test_hopeless_ratings_give_no_warning(rows: list[tuple[int, ...]]) -> None:
    for average in (False, True):
        found = icc(rows, average=average)
        assert not found.value > 0
        assert not found.interval.low > found.interval.high


def test_raters_who_differ_by_a_constant_are_penalised() -> None:
    table = np.arange(8.0)[:, None] + np.array([0.0, 3.0])
    found = icc(table)
    assert found.value == pytest.approx(icc_by_anova(table, False))
    assert 0 <= found.interval.low <= found.value < 1


def test_kappa_by_hand() -> None:
    # Cohen's 2 x 2: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 - 0.5) / (1 - 0.5).
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = cohen_kappa(first, second, rng=seeded())
    assert found.value == pytest.approx(0.4)
    # The asymptotic standard error of Fleiss, Cohen and Everitt (1969) is 0.1261 here.
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * 0.1261, rel=0.1)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_equals_its_definition_and_keeps_unused_grades(weights: str) -> None:
    rng = seeded(4)
    first = rng.choice([1.0, 2.0, 5.0], 60)
    second = np.where(rng.random(60) < 0.6, first, rng.choice([1.0, 2.0, 5.0], 60))
    power = {"linear": 1, "quadratic": 2}[weights]
    observed = np.mean(np.abs(first - second) ** power)
    expected = np.mean([abs(a - b) ** power for a in first for b in second])
    found = cohen_kappa(first, second, weights=weights, rng=seeded())
    assert found.value == pytest.approx(1 - observed / expected)
    assert found.name == f"Cohen kappa ({weights})"


def test_leave_one_rater_out_is_each_rater_against_the_mean_of_the_rest() -> None:
    rng = seeded(5)
    table = rng.poisson(2, size=(60, 1)) + rng.poisson(0.7, size=(60, 4)).astype(float)
    table[3, 1] = np.nan
    found = leave_one_rater_out(table, rng=seeded(), studies=np.repeat(np.arange(15), 4))
    expected = []
    for j in range(4):
        rest = np.nanmean(np.delete(table, j, 1), axis=1)
        known = ~np.isnan(table[:, j])
        expected.append(scipy_stats.kendalltau(table[known, j], rest[known]).statistic)
    assert [c.value for c in found.raters] == pytest.approx(expected)
    assert found.mean.value == pytest.approx(np.mean(expected))
    assert found.mean.low < found.mean.value < found.mean.high
    assert (found.raters[1].interval.missing, found.mean.n) == (1, 60)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: icc([[1.0], [2.0]]), InputError, r"at least two raters \(columns\), got 1"),
        (lambda: icc(SHROUT_FLEISS, method="bca"), InputError, "method 'bca' draws studies: pass rng"),
        (lambda: icc(SHROUT_FLEISS, method="t"), UsageError, "method must be one of f, percentile, bca"),
        (
            lambda: krippendorff_alpha(KRIPPENDORFF, scale="ratio", rng=seeded()),
            UsageError,
            "scale must be one of",
        ),
        (
            lambda: cohen_kappa([1], [1], weights="cubic", rng=seeded()),
            UsageError,
            "weights must be one of none",
        ),
    ],
)
def test_messages(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()
