"""Could a correlation be chance? The p values that papers print beside coefficients.

They take every case for independent; several reports on one study are not, so the interval that draws studies is
the better witness. Kendall's is the normal approximation with ties (scipy's method="asymptotic"), Spearman's and
Pearson's are Student's t. Written out here because importing scipy.stats takes longer than many a run.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from radgauge.core.choices import Kind
from radgauge.stats.coefficients import association, complete_pairs
from radgauge.stats.resample import Rows


def independence_p(x: ArrayLike, y: ArrayLike, *, kind: Kind = "kendall_b") -> float:
    """Two-sided p of no association between independent cases; NaN where it is undefined.

    >>> round(independence_p([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), 4)
    0.0143
    """
    first, second = complete_pairs(x, y)
    n = len(first)
    value = association(first, second, kind="kendall_b" if kind == "kendall_c" else kind)
    if math.isnan(value) or n < 3:
        return math.nan
    if kind in ("spearman", "pearson"):
        apart = 1 - value * value
        return 2 * float(stdtr(n - 2, -abs(value) * math.sqrt((n - 2) / apart))) if apart > 0 else 0.0
    pairs = n * (n - 1) / 2
    ties = [_ties(side) for side in (first, second)]
    signs = value * math.sqrt(math.prod(pairs - (t * (t - 1)).sum() / 2 for t in ties))
    (two_x, three_x, spread_x), (two_y, three_y, spread_y) = (
        ((t * (t - 1)).sum(), (t * (t - 1) * (t - 2)).sum(), (t * (t - 1) * (2 * t + 5)).sum()) for t in ties
    )
    variance = (n * (n - 1) * (2 * n + 5) - spread_x - spread_y) / 18
    variance += two_x * two_y / (2 * n * (n - 1)) + three_x * three_y / (9 * n * (n - 1) * (n - 2))
    return 2 * float(ndtr(-abs(signs) / math.sqrt(variance)))


def _ties(values: Rows) -> Rows:
    return np.unique(values, return_counts=True)[1].astype(np.float64)
