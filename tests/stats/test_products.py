"""Sliced products equal plain ones for every shape."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.stats.products import product


@pytest.mark.parametrize("shape", [(0, 3, 2), (5, 0, 2), (5, 3, 0), (1, 1, 1), (70, 5000, 1), (33, 40_000, 7)])
def test_thin_tables(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    weights, table = rng.random(shape[:2]), rng.random(shape[1:])
    assert product(weights, table) == pytest.approx(weights @ table)


@pytest.mark.parametrize("size", [3, 200, 300])
def test_square_tables_of_signs_are_exact_in_single_precision(size: int) -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 5, (101, size)).astype(np.float32)
    table = rng.integers(-1, 2, (size, size)).astype(np.float32)
    found = product(weights, table)
    assert found.dtype == np.float32
    assert np.array_equal(found, weights.astype(np.float64) @ table.astype(np.float64))
