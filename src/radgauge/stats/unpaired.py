"""Permutation test of two sets of values that need not come from the same units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.errors import InputError
from radgauge.stats.paired import Alternative, at_least
from radgauge.stats.resample import SAME, Rows, check_choice, check_positive

_AT_ONCE = 1 << 21  # random numbers held at once


@dataclass(frozen=True, slots=True)
class UnpairedTest:
    """Difference of the means a - b, its p value, and how many values each side has."""

    difference: float
    p: float
    size_a: int
    size_b: int


def unpaired_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    permutations: int = 5000,
    alternative: Alternative = "two-sided",
) -> UnpairedTest:
    """Permutation test of the difference of two means of unpaired values.

    p = (hits + 1) / (permutations + 1), never 0; NaN if a side has no value. Where some units have a value on
    either side and these go together, p is larger than it need be: use `permutation_test` on such units.

    >>> result = unpaired_test([3.0, 4, 5], [1.0, 2], rng=np.random.default_rng(0), alternative="greater")
    >>> result.difference, round(result.p, 1)  # one of the ten ways to deal
    (2.5, 0.1)

    Args:
        a: Values of one side; NaN is no value.
        b: Values of the other.
        rng: Source of chance.
        permutations: How many times values are dealt.
        alternative: "greater": a is greater.
    """
    check_positive("permutations", permutations)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    sides = [np.asarray(sample, dtype=np.float64) for sample in (a, b)]
    if any(sample.ndim != 1 for sample in sides):
        raise InputError(f"a and b must be lists of values, got shapes {sides[0].shape} and {sides[1].shape}")
    left, right = (sample[~np.isnan(sample)] for sample in sides)
    if not len(left) or not len(right):
        return UnpairedTest(np.nan, np.nan, len(left), len(right))
    values = np.concatenate([left, right])
    total = values.sum()

    def differences(sums: Rows) -> Rows:
        difference: Rows = sums / len(left) - (total - sums) / len(right)
        return difference

    observed = differences(left.sum())
    margin = np.asarray(SAME * np.abs(values).max())
    hits = 0
    block = max(1, _AT_ONCE // len(values))
    for start in range(0, permutations, block):
        numbers = rng.random((min(block, permutations - start), len(values)))
        dealt = values[numbers.argpartition(len(left) - 1, axis=1)[:, : len(left)]].sum(axis=1)
        hits += int(at_least(differences(dealt), observed, margin, alternative).sum())
    return UnpairedTest(float(observed), (hits + 1) / (permutations + 1), len(left), len(right))
