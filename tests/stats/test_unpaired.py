"""The unpaired permutation test: counted out by hand on small sets, and its limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import unpaired_test


def counted_out(a: list[float], b: list[float]) -> float:
    """Share of all ways to deal the values whose difference is at least the observed one."""
    values, observed = np.array([*a, *b]), np.mean(a) - np.mean(b)
    ways = list(combinations(range(len(values)), len(a)))
    found = [values[list(way)].mean() - np.delete(values, way).mean() for way in ways]
    return float(np.mean(np.array(found) >= observed - 1e-12))


@pytest.mark.parametrize(
    ("a", "b"),
    [([3.0, 2, 5, 4], [1.0, 2, 2]), ([1.0], [0.0]), ([1.0, 2, 3], [2.0, 2, 2, 1, 5]), ([0.5, 0.5], [0.5, 0.5])],
)
def test_p_is_the_share_of_ways_to_deal(a: list[float], b: list[float]) -> None:
    rng = np.random.default_rng(0)
    found = unpaired_test(a, b, rng=rng, permutations=20_000, alternative="greater")
    assert found.p == pytest.approx(counted_out(a, b), abs=0.012)
    assert found.difference == pytest.approx(np.mean(a) - np.mean(b))
    mirrored = unpaired_test(b, a, rng=rng, permutations=20_000, alternative="less")
    assert mirrored.p == pytest.approx(found.p, abs=0.012)


def test_a_clear_difference_and_none() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=200)
    assert unpaired_test(noise + 1, noise, rng=rng, permutations=999, alternative="greater").p == 1 / 1000
    assert unpaired_test(noise + 1, noise, rng=rng, permutations=999).p == 1 / 1000
    assert unpaired_test(noise + 1, noise, rng=rng, permutations=999, alternative="less").p == 1.0
    assert unpaired_test(np.ones(5), np.ones(9), rng=rng, permutations=999).p == 1.0


def test_p_values_are_uniform_without_a_difference() -> None:
    rng = np.random.default_rng(2)
    found = [
        unpaired_test(rng.normal(size=9), rng.normal(size=25), rng=rng, permutations=199, alternative="greater").p
        for _ in range(400)
    ]
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)


def test_a_side_without_values_has_no_p() -> None:
    found = unpaired_test([1.0, np.nan], [np.nan], rng=np.random.default_rng(0))
    assert np.isnan([found.difference, found.p]).all()
    assert (found.size_a, found.size_b) == (1, 0)


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"got shapes \(1, 1\) and \(2,\)"):
        unpaired_test([[1.0]], [1.0, 2.0], rng=rng)
    with pytest.raises((InputError, UsageError), match="alternative"):
        unpaired_test([1.0], [1.0], rng=rng, alternative="more")  # type: ignore[arg-type]
