"""Differences of correlations and rankings: loops, calibration, and the two cluster rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import compare_correlations, correlation_difference, rank_judges, significance_clusters


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_difference_is_drawn_in_pairs() -> None:
    rng = seeded(1)
    target = rng.integers(0, 6, 60).astype(float)
    first, second = target + rng.normal(size=60), target + rng.normal(scale=3, size=60)
    studies = np.repeat(np.arange(20), 3)
    found = correlation_difference(first, second, target=target, studies=studies, rng=seeded(2), resamples=200)
    apart = []
    for chosen in seeded(2).integers(0, 20, size=(200, 20)):
        cases = np.concatenate([np.flatnonzero(studies == s) for s in chosen])
        a, b = (scipy_stats.kendalltau(v[cases], target[cases]).statistic for v in (first, second))
        apart.append(a - b)
    assert (found.interval.low, found.interval.high) == pytest.approx(np.quantile(apart, [0.025, 0.975]))
    assert found.interval.value == pytest.approx(found.first - found.second)
    shifted = np.abs(np.array(apart) - np.mean(apart))
    assert found.p == pytest.approx(((shifted >= abs(found.interval.value)).sum() + 1) / 201)


def test_p_agrees_with_williams_where_its_assumptions_hold() -> None:
    apart = []
    for seed in range(20):
        rng = seeded(seed)
        shared = rng.normal(size=200)
        target, first, second = (shared + rng.normal(size=200) for _ in range(3))
        classic = compare_correlations(
            scipy_stats.pearsonr(target, first).statistic,
            scipy_stats.pearsonr(target, second).statistic,
            r_kh=scipy_stats.pearsonr(first, second).statistic,
            n=200,
        )
        drawn = correlation_difference(first, second, target=target, kind="pearson", rng=rng, resamples=1000)
        apart.append(drawn.p - classic.p)
    assert abs(np.mean(apart)) < 0.03
    assert np.max(np.abs(apart)) < 0.12


def test_equal_judges_do_not_differ() -> None:
    rng = seeded(4)
    target, judge = rng.normal(size=50), rng.normal(size=50)
    found = correlation_difference(judge, judge, target=target, rng=seeded(), resamples=200)
    assert (found.p, found.interval.low, found.interval.high) == (1.0, 0.0, 0.0)


def test_one_sided_alternatives() -> None:
    rng = seeded(5)
    target = rng.normal(size=100)
    good, bad = target + 0.3 * rng.normal(size=100), rng.normal(size=100)
    p = {
        side: correlation_difference(good, bad, target=target, rng=seeded(), alternative=side, resamples=500).p
        for side in ("greater", "less", "two-sided")
    }
    assert p["greater"] == p["two-sided"] == 1 / 501
    assert p["less"] == 1.0


def test_ranking_orders_clusters_and_counts_the_lost() -> None:
    rng = seeded(6)
    target = rng.normal(size=200)
    judges = np.stack(
        [rng.normal(size=200), target + rng.normal(size=200), target + 0.2 * rng.normal(size=200)], 1
    )
    judges = np.column_stack([judges, judges[:, 1] + 1e-3 * rng.normal(size=200)])
    judges[:5, 0] = np.nan
    studies = np.repeat(np.arange(50), 4)
    found = rank_judges(judges, target, names=["noise", "fair", "best", "twin"], studies=studies, rng=seeded())
    assert found.judges[0].name == "best"
    assert {r.name for r in found.judges[1:3]} == {"fair", "twin"}
    assert [r.cluster for r in found.judges] == [1, 2, 2, 3]
    assert {(r.correlation.interval.n, r.correlation.interval.missing) for r in found.judges} == {(195, 5)}
    assert np.isnan(np.diag(found.p)).all()
    assert np.allclose(found.p, found.p.T, equal_nan=True)
    assert np.nanmin(found.p_adjusted) == pytest.approx(6 * np.nanmin(found.p))


def test_false_clusters_are_rare_among_equal_judges() -> None:
    split = 0
    for seed in range(40):
        rng = seeded(seed)
        target = rng.normal(size=80)
        judges = target[:, None] + rng.normal(size=(80, 4))
        found = rank_judges(judges, target, names=list("abcd"), rng=rng, resamples=300)
        split += found.judges[-1].cluster > 1
    assert split <= 5  # 5 % of 40 is 2


@pytest.mark.parametrize(
    ("p", "some", "every"),
    [
        # b is not told from a, c is worse than a but not than b.
        ([[1, 0.5, 0.01], [0.5, 1, 0.2], [0.01, 0.2, 1]], (1, 1, 2), (1, 1, 1)),
        ([[1, 0.01, 0.01], [0.01, 1, 0.2], [0.01, 0.2, 1]], (1, 2, 2), (1, 2, 2)),
        ([[1, 0.01, 0.01], [0.01, 1, 0.01], [0.01, 0.01, 1]], (1, 2, 3), (1, 2, 3)),
        ([[1]], (1,), (1,)),
        (np.empty((0, 0)), (), ()),
    ],
)
def test_cluster_rules(p: object, some: tuple[int, ...], every: tuple[int, ...]) -> None:
    assert significance_clusters(p) == some  # type: ignore[arg-type]
    assert significance_clusters(p, rule="all") == every  # type: ignore[arg-type]


def test_a_judge_without_spread_is_ranked_last_without_a_test() -> None:
    target = np.arange(20.0)
    found = rank_judges(
        np.stack([np.ones(20), target], 1), target, names=["flat", "true"], rng=seeded(), resamples=50
    )
    assert [r.name for r in found.judges] == ["true", "flat"]
    assert math.isnan(found.judges[1].correlation.value)
    assert math.isnan(found.p[0, 1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rank_judges(np.ones((4, 2)), np.ones(4), names=["a"], rng=seeded()),
            InputError,
            "got 1 names for 2 columns",
        ),
        (
            lambda: rank_judges([[1.0, np.nan]] * 4, np.ones(4), names=["a", "b"], rng=seeded()),
            InputError,
            "only 0 of 4 cases are judged by all; leave out 'b', which lacks 4",
        ),
        (
            lambda: correlation_difference([1.0, 2], [1.0, 2], target=[1.0], rng=seeded()),
            InputError,
            "target must have one value per case",
        ),
        (
            lambda: correlation_difference([1.0] * 3, [1.0] * 3, target=[1.0] * 3, studies=["a"], rng=seeded()),
            InputError,
            "labels must name every case: got 1 for 3 cases",
        ),
        (
            lambda: rank_judges(np.ones((4, 1)), np.ones(4), names=["a"], rule="most", rng=seeded()),
            UsageError,
            "rule must be one of any, all",
        ),
    ],
)
def test_messages(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()
