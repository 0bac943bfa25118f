"""p values of correlations are those of scipy, ties and unknown values included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from radgauge.stats import correlation
from radgauge.stats.independence import independence_p


@pytest.mark.parametrize("levels", [3, 7, 1000])
def test_p_values_are_those_of_scipy(levels: int) -> None:
    rng = np.random.default_rng(levels)
    x = rng.integers(0, levels, 60).astype(float)
    y = np.round(x + rng.normal(size=60) * levels, 0)
    assert independence_p(x, y) == pytest.approx(kendalltau(x, y, method="asymptotic").pvalue)
    assert independence_p(x, y, kind="kendall_c") == pytest.approx(
        kendalltau(x, y, variant="c", method="asymptotic").pvalue
    )
    assert independence_p(x, y, kind="spearman") == pytest.approx(spearmanr(x, y).pvalue)
    assert independence_p(x, y, kind="pearson") == pytest.approx(pearsonr(x, y).pvalue)


def test_what_is_not_judged_is_left_out_and_nothing_is_made_up() -> None:
    x, y = np.array([1.0, 2, 3, 4, math.nan, 5]), np.array([1.0, 3, 2, 4, 9, math.nan])
    assert independence_p(x, y) == pytest.approx(kendalltau(x[:4], y[:4], method="asymptotic").pvalue)
    assert math.isnan(independence_p(np.ones(5), np.arange(5.0)))
    assert math.isnan(independence_p([1, 2], [1, 2]))


def test_a_mean_within_groups_has_none() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    pooled = correlation(x, y, rng=rng, resamples=10)
    assert pooled.p == pytest.approx(kendalltau(x, y, method="asymptotic").pvalue)
    within = correlation(x, y, rng=rng, resamples=10, within=[n % 2 for n in range(20)])
    assert math.isnan(within.p)
