"""Holm and Benjamini-Hochberg against scipy, by hand, and as published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import adjust, bh_critical_values

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)

# Yu et al. (2022), supplementary table 3(a): p value, critical value at 1 %, verdict.
# The two p values printed as 1.00e0 are written as one less their reverse test.
FALSE_FINDING_TOTAL = [
    (3.79e-3, 2.50e-3, False),
    (9.50e-6, 1.67e-3, True),
    (1.07e-7, 8.33e-4, True),
    (9.96e-1, 8.33e-3, False),
    (7.65e-2, 4.17e-3, False),
    (6.39e-3, 3.33e-3, False),
    (1 - 9.50e-6, 9.17e-3, False),
    (9.51e-1, 6.67e-3, False),
    (2.24e-1, 5.00e-3, False),
    (1 - 1.07e-7, 1.00e-2, False),
    (9.94e-1, 7.50e-3, False),
    (7.76e-1, 5.83e-3, False),
]
# The same, table 3(d): location errors, clinically significant.
LOCATION_SIGNIFICANT = [
    (2.74e-4, 8.33e-4, True),
    (2.07e-2, 1.67e-3, False),
    (5.75e-2, 3.33e-3, False),
    (1 - 2.74e-4, 1.00e-2, False),
    (9.25e-1, 6.67e-3, False),
    (9.67e-1, 8.33e-3, False),
    (9.79e-1, 9.17e-3, False),
    (7.53e-2, 4.17e-3, False),
    (6.65e-1, 5.83e-3, False),
    (9.42e-1, 7.50e-3, False),
    (3.32e-2, 2.50e-3, False),
    (3.35e-1, 5.00e-3, False),
]


@pytest.mark.parametrize("table", [FALSE_FINDING_TOTAL, LOCATION_SIGNIFICANT])
def test_published_critical_values_and_verdicts(table: list[tuple[float, float, bool]]) -> None:
    p, critical, significant = zip(*table, strict=True)
    assert bh_critical_values(p, fdr=0.01) == pytest.approx(np.array(critical), rel=5e-3)
    assert (adjust(p, method="bh") <= 0.01).tolist() == list(significant)


@given(p_lists)
def test_bh_equals_scipy(p: list[float]) -> None:
    assert adjust(p, method="bh") == pytest.approx(false_discovery_control(p))


@given(p_lists)
def test_holm_equals_the_step_down_procedure(p: list[float]) -> None:
    order = sorted(range(len(p)), key=p.__getitem__)
    expected, running = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        running = max(running, p[i] * (len(p) - step))
        expected[i] = min(running, 1.0)
    assert adjust(p) == pytest.approx(np.array(expected))


def test_nan_is_no_test() -> None:
    assert adjust([0.02, np.nan, 0.5]).tolist()[0] == pytest.approx(0.04)
    assert np.isnan(adjust([0.02, np.nan])[1])
    assert np.isnan(bh_critical_values([0.02, np.nan], fdr=0.1)[1])


def test_shape_is_kept_and_empty_is_fine() -> None:
    assert adjust(np.full((2, 3), 0.5), method="bh").shape == (2, 3)
    assert adjust([]).shape == (0,)
    assert adjust([0.3, 0.2], method="none").tolist() == [0.3, 0.2]


def test_messages() -> None:
    with pytest.raises(InputError, match=r"p values must lie between 0 and 1, got 1\.5"):
        adjust([0.2, 1.5])
    with pytest.raises(UsageError, match=r"method must be one of .*got 'bonferroni'"):
        adjust([0.2], method="bonferroni")  # type: ignore[arg-type]
