"""Corrections for many tests at once. A NaN p value was no test: it stays NaN and is not counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.choices import Correction
from radgauge.core.errors import InputError
from radgauge.stats.resample import Rows, check_choice


def adjust(p_values: ArrayLike, *, method: Correction = "holm") -> Rows:
    """Adjusted p values, in the given order and shape.

    `holm` bounds the chance of any false claim (Holm 1979); `bh` bounds the expected share of false
    claims (Benjamini and Hochberg 1995), for independent or positively dependent tests.

    >>> adjust([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("method", method, ("holm", "bh", "none"))
    p = _p_values(p_values)
    if method == "none":
        return p.copy()
    flat = p.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    number = len(order)
    rank = np.arange(1, number + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(flat[order] * (number - rank + 1))
    else:
        stepped = np.minimum.accumulate((flat[order] * number / rank)[::-1])[::-1]
    adjusted = np.full_like(flat, np.nan)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.reshape(p.shape)


def bh_critical_values(p_values: ArrayLike, *, fdr: float) -> Rows:
    """Benjamini-Hochberg's critical value of each test: its rank times the rate over the number of tests.

    A test is significant if its p value, or a larger one, is at or below its critical value; the same as
    `adjust(p, method="bh") <= fdr`.

    >>> bh_critical_values([0.5, 0.001], fdr=0.01).tolist()
    [0.01, 0.005]
    """
    p = _p_values(p_values)
    flat = p.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    critical = np.full_like(flat, np.nan)
    critical[order] = np.arange(1, len(order) + 1) * fdr / max(len(order), 1)
    return critical.reshape(p.shape)


def _p_values(p_values: ArrayLike) -> Rows:
    p = np.asarray(p_values, dtype=np.float64)
    wrong = (p < 0) | (p > 1)
    if wrong.any():
        raise InputError(f"p values must lie between 0 and 1, got {p[wrong][0]}")
    return p
