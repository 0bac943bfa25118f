"""Effect sizes of a paired difference, apart from whether it is significant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect sizes of system a against system b; positive, or above one half, means a is better.

    `d_z` is the mean difference in units of the differences' standard deviation (Cohen), NaN where they do
    not vary. `cliffs_delta` in [-1, 1] compares every case of a with every case of b, unpaired.
    `superiority` in [0, 1] is the share of pairs that a wins, ties counted half. `wins`, `ties` and
    `losses` are shares of the `n` pairs.
    """

    d_z: float
    cliffs_delta: float
    superiority: float
    wins: float
    ties: float
    losses: float
    n: int


def effects(
    values_a: ArrayLike, values_b: ArrayLike, *, higher_is_better: bool = True, tie: float = 0.0
) -> Effect:
    """Effect sizes of paired values; pairs with a NaN are left out.

    `tie` is the largest difference that counts as a tie.

    >>> result = effects([3.0, 2.0, 5.0, 1.0], [1.0, 2.0, 4.0, 2.0])
    >>> result.wins, result.ties, result.losses, result.superiority, result.cliffs_delta
    (0.5, 0.25, 0.25, 0.625, 0.1875)
    """
    a, b = np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"values must be two equally long lists, got shapes {a.shape} and {b.shape}")
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = (a[both], b[both]) if higher_is_better else (-a[both], -b[both])
    n = len(a)
    if not n:
        return Effect(np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    difference = a - b
    wins, losses = float((difference > tie).mean()), float((difference < -tie).mean())
    return Effect(
        d_z=_standardised_mean(difference),
        cliffs_delta=cliffs_delta(a, b),
        superiority=(1 + wins - losses) / 2,
        wins=wins,
        ties=float((np.abs(difference) <= tie).mean()),
        losses=losses,
        n=n,
    )


def cliffs_delta(a: ArrayLike, b: ArrayLike) -> float:
    """P(a > b) - P(a < b) over all pairs of a value of a and a value of b; NaN if either has none.

    >>> cliffs_delta([2.0, 3.0], [1.0, 2.0])
    0.75
    """
    first, second = np.asarray(a, dtype=np.float64), np.sort(np.asarray(b, dtype=np.float64))
    if not len(first) or not len(second):
        return float("nan")
    below = np.searchsorted(second, first, side="left").sum()
    above = len(first) * len(second) - np.searchsorted(second, first, side="right").sum()
    return float((below - above) / (len(first) * len(second)))


def _standardised_mean(difference: NDArray[np.float64]) -> float:
    spread = float(np.std(difference, ddof=1)) if len(difference) > 1 else 0.0
    # Rounding leaves a spread of a few units in the last place where all differences are equal.
    if spread <= 1e-12 * float(np.abs(difference).max()):
        return float("nan")
    return float(difference.mean()) / spread
