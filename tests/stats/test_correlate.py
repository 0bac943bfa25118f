"""Correlations against scipy, brute force and published intervals."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import association, correlation, correlation_table
from radgauge.stats import coefficients as module
from radgauge.stats.coefficients import (
    KINDS,
    _kendall_by_inversions,
    grouped_association,
    weighted_association,
)
from radgauge.stats.correlate import pair_replicates
from radgauge.stats.resample import draw_weights

grades = st.integers(0, 4)
samples = st.lists(st.tuples(grades, grades), min_size=0, max_size=14)


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scipy_value(x: np.ndarray, y: np.ndarray, kind: str) -> float:
    if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    if kind.startswith("kendall"):
        return float(scipy_stats.kendalltau(x, y, variant=kind[-1]).statistic)
    return float({"spearman": scipy_stats.spearmanr, "pearson": scipy_stats.pearsonr}[kind](x, y).statistic)


def test_kendall_by_hand() -> None:
    # Pairs: 1-2 concordant, 1-3 tied in y, 2-3 discordant: (1 - 1) / sqrt(3 * 2) = 0.
    assert association([1, 2, 3], [1, 2, 1]) == 0.0
    # Five concordant, one tied in x: 5 / sqrt(5 * 6); tau-c with three distinct values: 2 * 5 / (16 * 2 / 3).
    assert association([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(5 / math.sqrt(30))
    assert association([1, 2, 2, 3], [1, 2, 3, 4], kind="kendall_c") == pytest.approx(10 / (16 * 2 / 3))


@settings(max_examples=150, deadline=None)
@given(samples, st.sampled_from(KINDS))
def test_point_values_equal_scipy(pairs: list[tuple[int, int]], kind: str) -> None:
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    assert association(x, y, kind=kind) == pytest.approx(scipy_value(x, y, kind), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("kind", ["kendall_b", "kendall_c"])
@pytest.mark.parametrize("values", [3, 40, 10**9])
def test_counting_inversions_equals_scipy_on_long_lists(kind: str, values: int) -> None:
    rng = seeded(values)
    x, y = rng.integers(0, values, 3001).astype(float), rng.integers(0, values, 3001).astype(float)
    y += x
    assert association(x, y, kind=kind) == pytest.approx(scipy_value(x, y, kind))


@settings(max_examples=80, deadline=None)
@given(samples, st.sampled_from(["kendall_b", "kendall_c"]))
def test_inversions_and_signs_count_the_same(pairs: list[tuple[int, int]], kind: str) -> None:
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    if len(x) >= 1:
        signs = association(x, y, kind=kind)
        assert _kendall_by_inversions(x, y, kind) == pytest.approx(signs, nan_ok=True)


@settings(max_examples=80, deadline=None)
@given(samples.filter(lambda s: len(s) >= 1), st.sampled_from(KINDS), st.integers(0, 1000))
def test_weights_stand_for_copies(pairs: list[tuple[int, int]], kind: str, seed: int) -> None:
    x, y = np.array(pairs, dtype=float).T
    weights = next(draw_weights(len(x), resamples=6, rng=seeded(seed)))
    found = weighted_association(x, y, weights, kind=kind)
    for value, times in zip(found, weights.astype(int), strict=True):
        expected = scipy_value(np.repeat(x, times), np.repeat(y, times), kind)
        assert value == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_blocks_of_signs_do_not_change_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(3)
    x, y = rng.normal(size=50), rng.integers(0, 4, 50).astype(float)
    weights = next(draw_weights(50, resamples=9, rng=rng))
    whole = weighted_association(x, y, weights, kind="kendall_b")
    monkeypatch.setattr(module, "BLOCK", 1)
    assert weighted_association(x, y, weights, kind="kendall_b") == pytest.approx(whole)
    monkeypatch.setattr(module, "PAIRWISE", 1)
    assert weighted_association(x, y, weights, kind="kendall_b") == pytest.approx(whole)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(grades, grades, st.integers(0, 3)), max_size=16), st.sampled_from(KINDS))
def test_groups_one_by_one(rows: list[tuple[int, int, int]], kind: str) -> None:
    x, y, index = np.array(rows, dtype=float).reshape(-1, 3).T
    found = grouped_association(x, y, index.astype(int), 4, kind=kind)
    for g in range(4):
        expected = scipy_value(x[index == g], y[index == g], kind)
        assert found[g] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_large_groups_take_the_other_path_to_the_same_values() -> None:
    rng = seeded(4)
    x, y, index = rng.normal(size=200), rng.normal(size=200), np.repeat([0, 1], 100)
    for kind in KINDS:
        found = grouped_association(x, y, index, 2, kind=kind)
        assert found == pytest.approx([scipy_value(x[index == g], y[index == g], kind) for g in (0, 1)])


def test_missing_values_are_left_out_and_counted() -> None:
    found = correlation([1, 2, np.nan, 4, 5], [1, 2, 3, np.nan, 4], rng=seeded())
    assert (found.value, found.interval.n, found.interval.missing) == (1.0, 3, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_redraw_studies(kind: str) -> None:
    rng = seeded(5)
    x, y = rng.normal(size=30), rng.integers(0, 5, 30).astype(float)
    studies = np.repeat(np.arange(10), 3)
    found = pair_replicates([(x, y)], rng=seeded(1), kind=kind, studies=studies, resamples=20)
    drawn = seeded(1).integers(0, 10, size=(20, 10))
    for value, chosen in zip(found[:, 0], drawn, strict=True):
        cases = np.concatenate([np.flatnonzero(studies == s) for s in chosen])
        assert value == pytest.approx(scipy_value(x[cases], y[cases], kind))


def test_within_crossing_groups_is_the_mean_of_their_values() -> None:
    rng = seeded(6)
    target = rng.integers(0, 6, 80).astype(float)
    judge = target + rng.normal(scale=2, size=80)
    oracle = np.tile(["bleu", "bertscore", "s_emb", "radgraph"], 20)
    studies = np.repeat(np.arange(20), 4)
    found = correlation(judge, target, rng=seeded(), within=oracle, studies=studies, resamples=300)
    expected = [scipy_value(judge[oracle == o], target[oracle == o], "kendall_b") for o in oracle[:4]]
    assert [g.label for g in found.groups] == oracle[:4].tolist()
    assert [g.value for g in found.groups] == pytest.approx(expected)
    assert [g.n for g in found.groups] == [20] * 4
    assert found.value == pytest.approx(np.mean(expected))
    drawn = seeded().integers(0, 20, size=(300, 20))
    brute = []
    for chosen in drawn:
        cases = [np.flatnonzero((studies == s) & (oracle == o))[0] for o in oracle[:4] for s in chosen]
        parts = np.array(cases).reshape(4, 20)
        brute.append(np.mean([scipy_value(judge[p], target[p], "kendall_b") for p in parts]))
    assert (found.interval.low, found.interval.high) == pytest.approx(np.quantile(brute, [0.025, 0.975]))


@pytest.mark.parametrize("kind", KINDS)
def test_within_studies_leaves_undefined_studies_out(kind: str) -> None:
    target = np.array([1.0, 2, 3, 3, 2, 1, 5, 5, 5] * 2)
    judge = np.array([1.0, 2, 3, 1, 2, 3, 1, 2, 3] * 2)
    studies = np.repeat(["a", "b", "c", "d", "e", "f"], 3)
    found = correlation(judge, target, rng=seeded(), kind=kind, within=studies, studies=studies)
    assert [g.value for g in found.groups] == pytest.approx([1.0, -1.0, math.nan] * 2, nan_ok=True)
    assert found.value == 0.0
    assert (found.interval.low, found.interval.high) == pytest.approx((-1.0, 1.0))
    few = correlation(judge[:9], target[:9], rng=seeded(), kind=kind, within=studies[:9], studies=studies[:9])
    assert math.isnan(few.interval.low)  # three studies, two of them defined: no interval


def test_bca_equals_scipy_on_the_same_replicates() -> None:
    rng = seeded(7)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40)
    ours = correlation(x, y, rng=seeded(), kind="pearson", method="bca", resamples=999).interval
    replicates = pair_replicates([(x, y)], rng=seeded(), kind="pearson", resamples=999)[:, 0]
    theirs = scipy_stats.bootstrap(
        (x, y),
        lambda a, b: scipy_stats.pearsonr(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=0,
        method="BCa",
        bootstrap_result=SimpleNamespace(bootstrap_distribution=replicates),
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_interval_width_of_pearson_follows_fisher() -> None:
    rng = seeded(8)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    found = correlation(x, y, rng=seeded(), kind="pearson", resamples=4000)
    reach = 1.96 / math.sqrt(397)
    expected = [math.tanh(math.atanh(found.value) + side * reach) for side in (-1, 1)]
    assert (found.interval.low, found.interval.high) == pytest.approx(expected, abs=0.012)


def test_published_interval_method_is_narrower_by_the_root_of_the_resamples() -> None:
    # The size of ReXVal: 50 studies, four candidates each, errors averaged over six raters.
    rng = seeded(9)
    studies = np.repeat(np.arange(50), 4)
    errors = rng.poisson(rng.gamma(2.0, 0.8, size=50)[studies]).astype(float)
    judge = -errors + rng.normal(scale=1.6, size=200)
    common = {"studies": studies, "resamples": 1000}
    yu = correlation(judge, -errors, rng=seeded(), method="yu2022", **common).interval
    plain = correlation(judge, -errors, rng=seeded(), **common).interval
    ratio = (plain.high - plain.low) / (yu.high - yu.low)
    assert ratio == pytest.approx(math.sqrt(1000), rel=0.1)
    # Published widths: 0.006 for 0.500 [0.497, 0.503] (Yu et al. 2022, BERTScore, total errors).
    assert 0.004 < yu.high - yu.low < 0.008
    replicates = pair_replicates([(judge, -errors)], rng=seeded(), **common)[:, 0]
    theirs = scipy_stats.t.interval(0.95, 999, loc=replicates.mean(), scale=scipy_stats.sem(replicates))
    assert (yu.low, yu.high) == pytest.approx(theirs)


def test_table_shares_draws_and_keeps_its_shape() -> None:
    rng = seeded(10)
    judges, targets = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    judges[4, 1] = np.nan
    table = correlation_table(judges, targets, rng=seeded(), resamples=100)
    assert [len(row) for row in table] == [2, 2, 2]
    for i, j in itertools.product(range(3), range(2)):
        alone = correlation(judges[:, i], targets[:, j], rng=seeded(), resamples=100)
        assert table[i][j] == alone
    assert [row[0].interval.missing for row in table] == [0, 1, 0]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.one_of(grades, st.just(math.nan)), st.one_of(grades, st.just(math.nan)), grades),
        max_size=10,
    ),
    st.sampled_from(KINDS),
    st.sampled_from(["percentile", "bca", "yu2022"]),
    st.booleans(),
)
def test_anything_correlates_without_warnings(
    rows: list[tuple[float, float, int]], kind: str, method: str, inside: bool
) -> None:
    x, y, study = np.array(rows, dtype=float).reshape(-1, 3).T
    within = study if inside else None
    found = correlation(x, y, rng=seeded(), kind=kind, method=method, studies=study, within=within, resamples=30)
    assert found.interval.n + found.interval.missing == len(rows)
    assert math.isnan(found.value) or -1 <= found.value <= 1
    if not math.isnan(found.interval.low):
        assert -1 - 1e-9 <= found.interval.low <= found.interval.high <= 1 + 1e-9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: association([1], [1, 2]), InputError, "two equally long lists"),
        (
            lambda: association([1], [1], kind="kendall"),
            UsageError,
            "kind must be one of kendall_b, kendall_c",
        ),
        (
            lambda: correlation_table(np.ones((2, 1)), np.ones((3, 1)), rng=seeded()),
            InputError,
            "same cases, got 2 and 3 rows",
        ),
        (lambda: correlation([1, 2], [1, 2], rng=seeded(), method="t"), UsageError, "method must be one of"),
        (lambda: correlation([1, 2], [1, 2], rng=seeded(), studies=["a"]), InputError, "1 labels for 2 rows"),
    ],
)
def test_messages(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()
