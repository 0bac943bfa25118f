"""The partly paired permutation test: counted out by hand on small sets, and its limits."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from radgauge.errors import InputError, UsageError
from radgauge.stats import partly_paired_test

NAN = np.nan


def counted_out(a: np.ndarray, b: np.ndarray) -> float:
    """Share of all rearrangements whose difference is at least the observed one."""
    both = ~np.isnan(a) & ~np.isnan(b)
    singles = np.concatenate([a[~both & ~np.isnan(a)], b[~both & ~np.isnan(b)]])
    size = int((~both & ~np.isnan(a)).sum())
    observed = np.nanmean(a) - np.nanmean(b)
    hits = total = 0
    for swap in product([False, True], repeat=int(both.sum())):
        left, right = np.where(swap, b[both], a[both]), np.where(swap, a[both], b[both])
        for chosen in combinations(range(len(singles)), size):
            mine = [*left, *singles[list(chosen)]]
            theirs = [*right, *np.delete(singles, chosen)]
            hits += np.mean(mine) - np.mean(theirs) >= observed - 1e-12
            total += 1
    return hits / total


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([3.0, 2, 5, 4, 1], [1.0, 2, 2, 3, 1.5]),  # all have both
        ([3.0, 2, 5, NAN, NAN, NAN], [NAN, NAN, NAN, 1.0, 2.5, 0]),  # none has
        ([3.0, 2, 5, 4, NAN, NAN], [1.0, NAN, 2, NAN, 2.5, 3.5]),
    ],
)
def test_p_is_the_share_of_rearrangements(a: list[float], b: list[float]) -> None:
    left, right = np.array(a), np.array(b)
    found = partly_paired_test(
        left, right, rng=np.random.default_rng(0), permutations=20_000, alternative="greater"
    )
    assert found.p == pytest.approx(counted_out(left, right), abs=0.012)
    assert found.difference == pytest.approx(np.nanmean(left) - np.nanmean(right))
    other = partly_paired_test(right, left, rng=np.random.default_rng(0), permutations=20_000, alternative="less")
    assert other.p == pytest.approx(found.p, abs=0.012)


def test_no_difference_is_no_evidence_and_a_clear_one_is() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=200)
    same = partly_paired_test(noise, rng.permutation(noise), rng=rng, permutations=999)
    assert same.p > 0.05
    higher = partly_paired_test(noise + 1, noise, rng=rng, permutations=999, alternative="greater")
    assert higher.p == 1 / 1000
    assert partly_paired_test(noise + 1, noise, rng=rng, permutations=999, alternative="less").p == 1.0
    assert partly_paired_test(noise, noise, rng=rng, permutations=999, alternative="greater").p == 1.0


def test_p_values_are_uniform_without_a_difference() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        a, b = rng.normal(size=(2, 24))
        a[rng.random(24) < 0.3] = NAN
        b[rng.random(24) < 0.3] = NAN
        found.append(partly_paired_test(a, b, rng=rng, permutations=199, alternative="greater").p)
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.06)
    assert np.mean(found) == pytest.approx(0.5, abs=0.06)


def test_a_condition_without_values_has_no_p() -> None:
    found = partly_paired_test([1.0, 2.0], [NAN, NAN], rng=np.random.default_rng(0))
    assert np.isnan([found.difference, found.p]).all()
    assert (found.both, found.only_a, found.only_b) == (0, 2, 0)


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"one value per unit each, got shapes \(1,\) and \(2,\)"):
        partly_paired_test([1.0], [1.0, 2.0], rng=rng)
    with pytest.raises((InputError, UsageError), match="alternative"):
        partly_paired_test([1.0], [1.0], rng=rng, alternative="more")  # type: ignore[arg-type]
