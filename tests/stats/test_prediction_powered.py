"""Means from labels and predictions: against formulas, by hand, and by how often intervals hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from radgauge.core.errors import InputError
from radgauge.stats.prediction_powered import LabelledStratum, labels_for_width, powered_mean

FRAME = 2000


def _draw(rng: np.random.Generator, number: int, noise: float = 0.5) -> tuple[LabelledStratum, float]:
    truth = rng.normal(1.0, 1.0, FRAME)
    predictions = truth + rng.normal(0, noise, FRAME)
    rows = rng.permutation(FRAME)[:number]
    return LabelledStratum(FRAME, truth[rows], predictions[rows]), float(predictions.mean())


def test_labels_alone_are_the_t_interval_of_a_mean_without_skewness() -> None:
    labels = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    alone = powered_mean([LabelledStratum(10**9, labels, np.zeros(6))], frame_mean=0.0, powered=False)
    half = student.ppf(0.975, 5) * labels.std(ddof=1) / math.sqrt(6)
    assert (alone.low, alone.value, alone.high) == pytest.approx((2.5 - half, 2.5, 2.5 + half), rel=1e-4)


def test_perfect_predictions_leave_the_variance_of_the_frame() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    estimate = powered_mean(
        [LabelledStratum(400, truth[:50], 3 * truth[:50] + 1)], frame_mean=3 * truth.mean() + 1
    )
    assert estimate.slope == pytest.approx(1 / 3)
    assert estimate.value == pytest.approx(truth.mean())
    assert estimate.width == pytest.approx(2 * 2.0 * truth[:50].std(ddof=1) / math.sqrt(400), rel=0.05)


def test_predictions_without_information_move_nothing() -> None:
    stratum, _ = _draw(np.random.default_rng(1), 100)
    constant = LabelledStratum(FRAME, stratum.labels, np.full(100, 7.0))
    powered = powered_mean([constant], frame_mean=7.0)
    assert powered.value == pytest.approx(stratum.labels.mean())
    assert powered.slope == 0


def test_strata_are_weighted_by_their_size_and_not_by_their_labels() -> None:
    rare = LabelledStratum(100, np.array([4.0, 5.0, 6.0, 5.0]), np.zeros(4))
    many = LabelledStratum(900, np.array([1.0, 0.0, 2.0, 1.0]), np.zeros(4))
    assert powered_mean([rare, many], frame_mean=0.0).value == pytest.approx(0.1 * 5 + 0.9 * 1)


@pytest.mark.parametrize("number", [50, 200])
def test_the_interval_holds_the_truth_as_often_as_it_says_and_is_narrower(number: int) -> None:
    rng = np.random.default_rng(number)
    hits, widths, alone = 0, [], []
    for _ in range(400):
        stratum, mean = _draw(rng, number)
        estimate = powered_mean([stratum], frame_mean=mean)
        hits += estimate.low <= 1.0 <= estimate.high
        widths.append(estimate.width)
        alone.append(powered_mean([stratum], frame_mean=0.0, powered=False).width)
    assert 0.92 <= hits / 400 <= 0.98
    assert np.mean(widths) < 0.65 * np.mean(alone)


def test_the_number_of_labels_for_a_width_gives_about_that_width() -> None:
    rng = np.random.default_rng(2)
    stratum, mean = _draw(rng, 50)
    needed = labels_for_width([stratum], width=0.2)
    assert needed is not None
    widths = []
    for _ in range(20):
        larger, mean = _draw(rng, needed)
        widths.append(powered_mean([larger], frame_mean=mean).width)
    assert np.mean(widths) == pytest.approx(0.2, rel=0.15)
    assert labels_for_width([stratum], width=10.0) == 50
    assert labels_for_width([stratum], width=0.05) is None  # var(label) / N alone is wider


def test_a_stratum_without_two_labels_is_refused() -> None:
    with pytest.raises(InputError, match="900 studies must have 2 to 900 labels, got 1"):
        powered_mean([LabelledStratum(900, np.array([1.0]), np.array([1.0]))], frame_mean=0.0)
