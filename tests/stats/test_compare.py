"""Paired tests against full enumeration, scipy and hand-computed cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import (
    adjust_comparisons,
    bootstrap_test,
    cliffs_delta,
    compare_paired,
    effects,
    permutation_test,
)

small = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7)
values = st.one_of(st.floats(-100, 100), st.just(math.nan))


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ratio(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    score = np.full(totals.shape[:-1], np.nan)
    np.divide(totals[..., 0], totals[..., 1], out=score, where=totals[..., 1] > 0)
    return score[..., None]


def enumerate_p(a: np.ndarray, b: np.ndarray, alternative: str) -> float:
    observed = ratio(a.sum(0), None) - ratio(b.sum(0), None)  # type: ignore[arg-type]
    hits = 0
    for swap in itertools.product([False, True], repeat=len(a)):
        chosen = np.array(swap)[:, None]
        first, second = np.where(chosen, b, a), np.where(chosen, a, b)
        found = ratio(first.sum(0), None) - ratio(second.sum(0), None)  # type: ignore[arg-type]
        hits += {
            "two-sided": abs(found) >= abs(observed) - 1e-12,
            "greater": found >= observed - 1e-12,
            "less": found <= observed + 1e-12,
        }[alternative]
    return hits / 2 ** len(a)


@settings(max_examples=40, deadline=None)
@given(small, st.sampled_from(["two-sided", "greater", "less"]), st.integers(0, 99))
def test_exact_p_equals_enumeration_of_a_ratio_score(
    pairs: list[tuple[int, int]], alternative: str, seed: int
) -> None:
    rng = seeded(seed)
    a = np.array([[x, x + rng.integers(1, 4)] for x, _ in pairs], dtype=float)
    b = np.array([[y, y + rng.integers(1, 4)] for _, y in pairs], dtype=float)
    found = permutation_test(a, b, corpus_scores=ratio, alternative=alternative, rng=seeded())
    assert found.exact
    assert found.p[0] == pytest.approx(float(np.squeeze(enumerate_p(a, b, alternative))))


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_exact_p_of_a_mean_equals_scipy(alternative: str) -> None:
    rng = seeded(8)
    a, b = rng.normal(0.3, 1, 10), rng.normal(0, 1, 10)
    theirs = scipy_stats.permutation_test(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative=alternative,
    )
    ours = permutation_test(a, b, alternative=alternative, rng=seeded())
    assert ours.p[0] == pytest.approx(theirs.pvalue)


def test_random_p_is_near_the_exact_one_and_never_zero() -> None:
    rng = seeded(9)
    a, b = rng.normal(0.5, 1, 12), rng.normal(0, 1, 12)
    exact = permutation_test(a, b, rng=seeded())
    sampled = permutation_test(a, b, rng=seeded(), permutations=4000)
    assert (exact.exact, sampled.exact) == (True, False)
    assert sampled.p[0] == pytest.approx(exact.p[0], abs=0.02)
    clear = permutation_test(np.arange(100.0) + 5, np.arange(100.0), rng=seeded(), permutations=999)
    assert clear.p[0] == 1 / 1000


def test_large_sample_p_agrees_with_the_paired_t_test() -> None:
    rng = seeded(10)
    a = rng.normal(size=2000)
    b = a + rng.normal(0.02, 0.5, 2000)
    assert permutation_test(a, b, rng=seeded()).p[0] == pytest.approx(scipy_stats.ttest_rel(a, b).pvalue, abs=0.02)


def test_p_is_uniform_when_nothing_differs() -> None:
    p = []
    for seed in range(200):
        rng = seeded(seed)
        p.append(permutation_test(rng.random(25), rng.random(25), rng=rng, permutations=199).p[0])
    assert scipy_stats.kstest(p, "uniform").pvalue > 0.01


def test_bootstrap_test_agrees_with_the_permutation_test() -> None:
    rng = seeded(11)
    a, b = rng.normal(0.15, 1, 300), rng.normal(0, 1, 300)
    for alternative in ("two-sided", "greater", "less"):
        swapped = permutation_test(a, b, alternative=alternative, rng=seeded()).p[0]
        drawn = bootstrap_test(a, b, alternative=alternative, rng=seeded(), resamples=10_000).p[0]
        assert drawn == pytest.approx(swapped, abs=0.02)


def test_groups_swap_together() -> None:
    a, b = np.array([1.0, 1.0, 1.0, 1.0]), np.zeros(4)
    assert permutation_test(a, b, rng=seeded()).p[0] == 2 / 16
    assert permutation_test(a, b, groups=["x", "x", "y", "y"], rng=seeded()).p[0] == 2 / 4


def test_equal_systems() -> None:
    rows = seeded(1).random((30, 2))
    for one in compare_paired(rows, rows, rng=seeded()):
        assert (one.p, one.exact, one.better) == (1.0, True, "")
        assert (one.difference.low, one.difference.high) == (0.0, 0.0)
        assert one.effect.ties == 1.0


def test_pairs_need_both_judgments() -> None:
    a = np.array([1.0, np.nan, 3.0, 4.0, np.nan])
    b = np.array([0.0, 1.0, np.nan, 1.0, np.nan])
    (found,) = compare_paired(a, b, rng=seeded())
    assert (found.n, found.missing_a, found.missing_b, found.difference.missing) == (2, 2, 2, 3)
    assert (found.value_a, found.value_b) == (2.5, 0.5)


def test_direction_turns_the_effect_and_the_alternative_not_the_difference() -> None:
    errors_a, errors_b = np.arange(12.0), np.arange(12.0) + np.tile([1.0, 2.0], 6)
    (found,) = compare_paired(errors_a, errors_b, rng=seeded(), higher_is_better=False, alternative="better")
    assert found.difference.value == -1.5
    assert found.better == "a"
    assert found.effect.wins == 1.0
    assert found.effect.d_z > 0
    assert found.p == 1 / 2**12
    (worse,) = compare_paired(errors_a, errors_b, rng=seeded(), higher_is_better=False, alternative="worse")
    assert worse.p == 1.0


def test_interval_of_the_difference_matches_theory_and_bca_is_close() -> None:
    rng = seeded(12)
    a = rng.normal(size=500)
    b = a - 0.1 + rng.normal(scale=0.5, size=500)
    half = 1.96 * np.std(a - b) / math.sqrt(500)
    for method in ("percentile", "bca"):
        (found,) = compare_paired(a, b, rng=seeded(), method=method, resamples=8000)
        middle = (a - b).mean()
        assert found.difference.low == pytest.approx(middle - half, abs=0.004)
        assert found.difference.high == pytest.approx(middle + half, abs=0.004)


def test_case_values_may_be_given() -> None:
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [1.0, 4.0]])
    (found,) = compare_paired(
        a, b, rng=seeded(), corpus_scores=ratio, values_a=[[0.9], [0.8]], values_b=[[0.1], [np.nan]]
    )
    assert (found.n, found.effect.n, found.missing_b) == (1, 1, 1)
    assert math.isnan(found.difference.low)  # one pair says nothing about spread


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(values, values), max_size=9), st.sampled_from(["percentile", "bca"]))
def test_any_pairs_compare_without_warnings(pairs: list[tuple[float, float]], method: str) -> None:
    table = np.array(pairs, dtype=float).reshape(-1, 2)
    for test in ("permutation", "bootstrap"):
        (found,) = compare_paired(table[:, 0], table[:, 1], rng=seeded(), method=method, resamples=40, test=test)
        assert found.n == int((~np.isnan(table)).all(axis=1).sum())
        assert math.isnan(found.p) == (found.n == 0)
        assert found.n == 0 or 0 < found.p <= 1


def test_holm_over_comparisons() -> None:
    rng = seeded(13)
    made = [compare_paired(rng.random(40), rng.random(40), rng=rng)[0] for _ in range(3)]
    adjusted = adjust_comparisons(made)
    assert min(c.p_adjusted for c in adjusted) == pytest.approx(min(1, 3 * min(c.p for c in made)))
    assert [c.p for c in adjusted] == [c.p for c in made]


def test_same_seed_same_numbers() -> None:
    rng = seeded(14)
    a, b = rng.random((50, 2)), rng.random((50, 2))
    assert compare_paired(a, b, rng=seeded(0)) == compare_paired(a, b, rng=seeded(0))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_cliffs_delta_counts_all_pairs(a: list[int], b: list[int]) -> None:
    signs = [(x > y) - (x < y) for x in a for y in b]
    assert cliffs_delta(a, b) == pytest.approx(sum(signs) / len(signs))


def test_effects_by_hand() -> None:
    found = effects([1.0, 2.0, 3.0, np.nan], [0.0, 0.0, 0.0, 1.0])
    assert found.d_z == 2.0  # mean 2, standard deviation 1
    assert (found.wins, found.n, found.superiority, found.cliffs_delta) == (1.0, 3, 1.0, 1.0)
    assert math.isnan(effects([0.3, 0.4], [0.2, 0.3]).d_z)  # differences do not vary
    assert effects([0.5, 0.6], [0.45, 0.9], tie=0.1).ties == 0.5
    empty = effects([], [])
    assert empty.n == 0
    assert math.isnan(empty.wins)
    assert math.isnan(cliffs_delta([], [1.0]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: permutation_test([1.0], [1.0, 2.0], rng=seeded()), InputError, "join them by study first"),
        (
            lambda: permutation_test([1.0], [2.0], rng=seeded(), alternative="better"),
            UsageError,
            "alternative must be one of two-sided, greater, less; got 'better'",
        ),
        (
            lambda: permutation_test([1.0], [2.0], rng=seeded(), permutations=0),
            UsageError,
            "permutations must be",
        ),
        (lambda: compare_paired([1.0], [2.0], rng=seeded(), test="t"), UsageError, "test must be one of"),
        (
            lambda: compare_paired([1.0], [2.0], rng=seeded(), values_a=[[1.0, 2.0]]),
            InputError,
            "one row per case and one column per output",
        ),
        (lambda: effects([1.0], [1.0, 2.0]), InputError, "two equally long lists"),
    ],
)
def test_messages(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()


def test_p_does_not_depend_on_the_number_of_bootstrap_resamples() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 40, 1))
    found = [
        compare_paired(a, b, rng=np.random.default_rng(0), permutations=500, resamples=number)[0].p
        for number in (100, 300)
    ]
    assert found[0] == found[1] > 1 / 501
