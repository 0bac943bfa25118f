"""Matrix products that stay on one thread where a second one only costs.

Resampling multiplies tall weight matrices with tables of a few columns. That is bound by memory, so more
threads gain little, and on a busy machine (a laptop at work, many workers on one node) each product waits for
the slowest thread: measured 10 to 25 times slower with four other processes on two cores. OpenBLAS, which
numpy ships, starts threads only above a certain size of product, so small ones are computed slice by slice.
On an idle machine the slices cost about the time of one thread; with another BLAS they do no harm.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", np.float32, np.float64)

SINGLE_THREAD = 1 << 18  # multiplications up to which OpenBLAS stays on one thread
THIN = 16  # columns up to which slicing pays however long the table is


def product(weights: NDArray[Float], table: NDArray[Float]) -> NDArray[Float]:
    """weights (b, n) @ table (n, k).

    >>> product(np.ones((1, 3)), np.arange(3.0)[:, None]).tolist()
    [[3.0]]
    """
    inner, columns = table.shape
    if columns == 1:  # a single column would be passed to a routine that always starts threads
        return product(weights, np.hstack([table, table]))[:, :1]
    small = inner * columns * 4 <= SINGLE_THREAD
    if not columns or not (small or columns <= THIN):
        return weights @ table
    depth = min(max(inner, 1), SINGLE_THREAD // (8 * columns))
    rows = max(2, SINGLE_THREAD // (depth * columns))
    products = np.zeros((len(weights), columns), dtype=weights.dtype)
    for top in range(0, len(weights), rows):
        part = slice(top, top + rows)
        for left in range(0, inner, depth):
            products[part] += weights[part, left : left + depth] @ table[left : left + depth]
    return products
