"""Percent change: by hand, by direction, and where a percentage has no meaning."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.stats.relative import relative_change

rng = np.random.default_rng


def test_by_hand() -> None:
    (found,) = relative_change([0.087] * 5, [0.048] * 5, rng=rng(0))
    assert found.value == pytest.approx(81.25)  # M2 Trans against random, BLEU of supplementary table 4
    assert (found.low, found.high) == (pytest.approx(81.25), pytest.approx(81.25))
    assert (found.n, found.missing) == (5, 0)


def test_only_cases_of_both_count() -> None:
    (found,) = relative_change([1.0, np.nan, 3.0], [1.0, 9.0, 1.0], rng=rng(0))
    assert found.value == pytest.approx(100)
    assert (found.n, found.missing) == (2, 1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_cover_the_value_and_narrow_with_cases(method: str) -> None:
    widths = []
    for n in (30, 3000):
        draw = rng(1)
        a, b = draw.normal(2, 0.5, n), draw.normal(1, 0.5, n)
        (found,) = relative_change(a, b, rng=rng(0), method=method)  # type: ignore[arg-type]
        assert found.low < found.value < found.high
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 5


def test_no_percentage_of_nothing() -> None:
    zero, negative = (relative_change([1.0, 2.0], [b, b], rng=rng(0))[0] for b in (0.0, -1.0))
    assert np.isnan([zero.value, zero.low, negative.value, negative.high]).all()
    # the mean is positive, and some resamples of it are not
    (shaky,) = relative_change([1.0, 1.0], [3.0, -1.0], rng=rng(0))
    assert shaky.value == pytest.approx(0)
    assert np.isnan([shaky.low, shaky.high]).all()


def test_one_study_has_no_interval() -> None:
    (found,) = relative_change([2.0], [1.0], rng=rng(0))
    assert found.value == pytest.approx(100)
    assert np.isnan(found.low)
