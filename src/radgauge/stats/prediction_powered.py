"""Means from few labels and predictions for all: prediction-powered inference for simple and stratified draws.

Studies are drawn from a frame, each stratum with its own probability, and labelled; every study of the frame has a
prediction. With the weights `W = N_h / N` of the strata the estimate is

    sum_h W_h (mean of the labels - slope * mean of their predictions) + slope * mean of all predictions

The predictions cancel, so a poor judge widens the interval and moves nothing; the slope with the least variance is
estimated from the labels. The interval is that of the mean of studies like those of the frame: to the variance of
the draw comes that of the frame, var(label) / N. Residuals are enlarged by their leverage on the slope, and the
interval is turned by the skewness of the estimate: without both it holds 1 to 2 % less with 50 counts of errors.

Angelopoulos et al., PPI++: Efficient prediction-powered inference (2023); Cochran, Sampling Techniques (1977),
section 7.8 (the same estimator for the frame alone); MacKinnon and White (1985), HC3; Satterthwaite (1946); Hall,
On the removal of skewness by transformation (1992).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from radgauge.core.errors import InputError

Array = NDArray[np.float64]
MIN_LABELS = 2
"""Labels that a stratum needs for a variance."""
MANY = 1e9


@dataclass(frozen=True, slots=True)
class LabelledStratum:
    """Labels and predictions of the studies drawn from a stratum of `size` studies."""

    size: int
    labels: Array
    predictions: Array


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean with its interval, the weight of the predictions (0 = labels alone) and the number of labels."""

    value: float
    low: float
    high: float
    slope: float
    n_labels: int

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class _Moments:
    """Sizes, numbers of labels, variances and third moments of the residuals by stratum; variance of the frame."""

    size: Array
    drawn: Array
    variance: Array
    third: Array
    frame_variance: float
    n_fitted: int

    def spread(self, level: float) -> tuple[float, float, float]:
        """Standard error, quantile of t, and skewness of the estimate."""
        frame = self.size.sum()
        parts = _shares(self.size, self.drawn) * self.variance
        of_frame = self.frame_variance / frame
        total = float(parts.sum()) + of_frame
        below = float((parts**2 / (self.drawn - 1)).sum()) + of_frame**2 / (self.drawn.sum() - 1)
        freedom = max(total**2 / below - self.n_fitted, 1.0) if below > 0 else MANY
        open_part = np.where(self.drawn < self.size, self.third, 0.0)
        third = float(((self.size / frame) ** 3 / self.drawn**2 * open_part).sum())
        quantile = float(stdtrit(min(freedom, MANY), (1 + level) / 2))
        return math.sqrt(total), quantile, third / total**1.5 if total > 0 else 0.0


def powered_mean(
    strata: Sequence[LabelledStratum], *, frame_mean: float, level: float = 0.95, powered: bool = True
) -> PoweredMean:
    """Return the mean over studies like those of the frame.

    Args:
        strata: Labelled studies of each stratum; together the strata are the frame.
        frame_mean: Mean of the predictions over the whole frame.
        level: Coverage of the interval.
        powered: False = labels alone, the stratified mean.

    >>> drawn = LabelledStratum(100, np.array([0.0, 1.0, 1.0, 3.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    >>> estimate = powered_mean([drawn], frame_mean=2.0)
    >>> round(estimate.slope, 2), round(estimate.value, 2)
    (0.9, 1.7)
    """
    _check(strata)
    slope = _slope(strata) if powered else 0.0
    sizes = np.array([stratum.size for stratum in strata], dtype=np.float64)
    residual = np.array([(stratum.labels - slope * stratum.predictions).mean() for stratum in strata])
    value = float(sizes @ residual / sizes.sum()) + slope * frame_mean
    error, quantile, skewness = _moments(strata, slope, powered).spread(level)
    low, high = (value - error * _unskewed(sign * quantile, skewness) for sign in (1, -1))
    return PoweredMean(value, low, high, slope, sum(len(stratum.labels) for stratum in strata))


def labels_for_width(strata: Sequence[LabelledStratum], *, width: float, level: float = 0.95) -> int | None:
    """Return about how many labels, in the proportions drawn, give this width; None = not even all would."""
    _check(strata)
    moments = _moments(strata, _slope(strata), powered=True)
    labelled, frame = int(moments.drawn.sum()), int(moments.size.sum())

    def width_with(number: int) -> float:
        drawn = np.minimum(np.ceil(moments.drawn * number / labelled), moments.size)
        error, quantile, _ = replace(moments, drawn=drawn).spread(level)
        return 2 * error * quantile

    largest = math.ceil(max(moments.size / moments.drawn) * labelled)  # every stratum is read to its end
    if width_with(largest) > width:
        return None
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= labelled and width_with(middle) <= width else (middle, high)
    drawn = np.minimum(np.ceil(moments.drawn * high / labelled), moments.size)
    return min(int(drawn.sum()), frame)


def _unskewed(quantile: float, skewness: float) -> float:
    """Quantile of a studentised mean whose estimate has this skewness (Hall 1992, the inverse of his cubic)."""
    if abs(skewness) < 1e-6:
        return quantile
    return float(3 / skewness * (np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1))


def _check(strata: Sequence[LabelledStratum]) -> None:
    for stratum in strata:
        drawn = len(stratum.labels)
        if not MIN_LABELS <= drawn <= stratum.size:
            raise InputError(
                f"a stratum of {stratum.size} studies must have {MIN_LABELS} to {stratum.size} labels, got {drawn}"
            )


def _shares(size: Array, drawn: Array) -> Array:
    """Weight of the variance of each stratum in that of the estimate."""
    shares: Array = (size / size.sum()) ** 2 * (1 - drawn / size) / drawn
    return shares


def _fit_parts(strata: Sequence[LabelledStratum]) -> list[tuple[Array, Array, float]]:
    """For each stratum its centred labels and predictions and its weight per degree of freedom."""
    size = np.array([stratum.size for stratum in strata], dtype=np.float64)
    drawn = np.array([len(stratum.labels) for stratum in strata], dtype=np.float64)
    weight = _shares(size, drawn) / (drawn - 1)
    return [
        (part.labels - part.labels.mean(), part.predictions - part.predictions.mean(), float(share))
        for part, share in zip(strata, weight, strict=True)
    ]


def _slope(strata: Sequence[LabelledStratum]) -> float:
    """Slope of the labels on the predictions within strata with the least variance of the estimate."""
    parts = _fit_parts(strata)
    below = sum(share * float(x @ x) for _, x, share in parts)
    return sum(share * float(x @ y) for y, x, share in parts) / below if below > 0 else 0.0


def _moments(strata: Sequence[LabelledStratum], slope: float, powered: bool) -> _Moments:
    parts = _fit_parts(strata)
    below = sum(share * float(x @ x) for _, x, share in parts)
    variance, third = [], []
    for y, x, share in parts:
        leverage = np.minimum(share * x * x / below, 0.9) if powered and below > 0 else np.zeros(len(x))
        residual = y - slope * x
        variance.append(float(((residual / (1 - leverage)) ** 2).sum()) / (len(y) - 1))
        third.append(float((residual**3).mean()))
    size = np.array([stratum.size for stratum in strata], dtype=np.float64)
    n_labels = sum(len(stratum.labels) for stratum in strata)
    mean = float(size @ np.array([stratum.labels.mean() for stratum in strata])) / size.sum()
    squares = float(size @ np.array([np.mean((stratum.labels - mean) ** 2) for stratum in strata])) / size.sum()
    return _Moments(
        size,
        np.array([len(stratum.labels) for stratum in strata], dtype=np.float64),
        np.array(variance),
        np.array(third),
        squares * n_labels / (n_labels - 1),
        int(powered),
    )
