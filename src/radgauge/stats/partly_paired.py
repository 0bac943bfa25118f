"""Two conditions of which some units have both and others one: permutation within and between units.

Under the null hypothesis a value says nothing about its condition. Then the two values of a unit could have
changed places, and so could the conditions of the units that have one value each. All values are used, where a
paired test would drop the units with one value and an unpaired test would forget which belong together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from radgauge.errors import InputError
from radgauge.stats.paired import Alternative
from radgauge.stats.resample import SAME, Rows, check_choice, check_positive

_AT_ONCE = 1 << 21  # random numbers held at once


@dataclass(frozen=True, slots=True)
class PartlyPairedTest:
    """Difference of the means a - b, its p value, and how many units have both values, only a, only b."""

    difference: float
    p: float
    both: int
    only_a: int
    only_b: int


def partly_paired_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    permutations: int = 5000,
    alternative: Alternative = "two-sided",
) -> PartlyPairedTest:
    """How often is the difference of the means at least as large when conditions are dealt by chance?

    p = (hits + 1) / (permutations + 1), never 0; NaN if a condition has no value.

    >>> found = partly_paired_test([1.0, 2, 3, np.nan], [0.0, 1, 2, 1], rng=np.random.default_rng(0))
    >>> found.difference, found.both, found.only_a, found.only_b
    (1.0, 3, 0, 1)

    Args:
        a: One value per unit; NaN where there is none.
        b: The same units under the other condition.
        rng: Source of chance.
        permutations: How many times conditions are dealt.
        alternative: "greater": a is greater.
    """
    check_positive("permutations", permutations)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    left, right = (np.asarray(each, dtype=np.float64) for each in (a, b))
    if left.shape != right.shape or left.ndim != 1:
        raise InputError(f"a and b must hold one value per unit each, got shapes {left.shape} and {right.shape}")
    has_a, has_b = ~np.isnan(left), ~np.isnan(right)
    both, only_a, only_b = has_a & has_b, has_a & ~has_b, has_b & ~has_a
    counts = int(both.sum()), int(only_a.sum()), int(only_b.sum())
    size_a, size_b = counts[0] + counts[1], counts[0] + counts[2]
    if not size_a or not size_b:
        return PartlyPairedTest(np.nan, np.nan, *counts)
    singles = np.concatenate([left[only_a], right[only_b]])
    # Everything follows from the sum of a, because the sum of all values stays.
    total = left[has_a].sum() + right[has_b].sum()
    base = left[both].sum()
    change = right[both] - left[both]

    def difference(sum_a: Rows) -> Rows:
        found: Rows = sum_a / size_a - (total - sum_a) / size_b
        return found

    observed = float(difference(left[has_a].sum()))
    margin = SAME * max(np.abs(left[has_a]).max(), np.abs(right[has_b]).max())
    hits = 0
    block = max(1, _AT_ONCE // max(len(change) + len(singles), 1))
    for start in range(0, permutations, block):
        rows = min(block, permutations - start)
        dealt = np.full(rows, base)
        if len(change):
            dealt += (rng.random((rows, len(change))) < 0.5) @ change
        dealt += _subset_sums(singles, counts[1], rows, rng)
        found = difference(dealt)
        if alternative == "two-sided":
            hits += int((np.abs(found) >= abs(observed) - margin).sum())
        elif alternative == "greater":
            hits += int((found >= observed - margin).sum())
        else:
            hits += int((found <= observed + margin).sum())
    return PartlyPairedTest(observed, (hits + 1) / (permutations + 1), *counts)


def _subset_sums(values: Rows, size: int, rows: int, rng: np.random.Generator) -> Rows:
    """Sums of random subsets of a size."""
    if size in (0, len(values)):
        return np.full(rows, values.sum() if size else 0.0)
    chosen = rng.random((rows, len(values))).argpartition(size, axis=1)[:, :size]
    sums: Rows = values[chosen].sum(axis=1)
    return sums
