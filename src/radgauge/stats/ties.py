"""Ties up to the precision of a metric: values that differ by rounding alone must not be ordered."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def merge_ties(values: ArrayLike, precision: float) -> NDArray[np.float64]:
    """Return values in which a run of neighbours no farther apart than `precision` has its smallest value.

    Rounding to decimals would leave apart what lies on both sides of a boundary; runs do not.

    >>> merge_ties([0.5, 0.50000004, 0.7, np.nan, 0.49999999], 1e-6).tolist()
    [0.49999999, 0.49999999, 0.7, nan, 0.49999999]
    """
    table = np.asarray(values, dtype=np.float64)
    distinct = np.unique(table[~np.isnan(table)])
    if precision <= 0 or len(distinct) < 2:
        return table.copy()
    starts = np.concatenate([[True], np.diff(distinct) > precision])
    lowest = distinct[starts][np.cumsum(starts) - 1]
    merged = table.copy()
    defined = ~np.isnan(table)
    merged[defined] = lowest[np.searchsorted(distinct, table[defined])]
    return merged
