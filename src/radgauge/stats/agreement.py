"""Agreement among raters: the ceiling for the agreement of metrics with them.

Every coefficient here is a function of sums over items, so bootstrap intervals that draw studies come from
`resample.interval` like any corpus score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.choices import Kind
from radgauge.core.errors import InputError
from radgauge.stats.correlate import Correlation, pair_replicates, summarise
from radgauge.stats.resample import (
    CorpusScores,
    Interval,
    Labels,
    Rows,
    as_rows,
    check_choice,
    interval,
    percentile_bounds,
)

Scale = Literal["nominal", "ordinal", "interval"]
KappaWeights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement among `raters`; `interval.n` items entered it, `missing` could not."""

    name: str
    interval: Interval
    raters: int

    @property
    def value(self) -> float:
        """The coefficient itself."""
        return self.interval.value


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Each rater against the mean of the others, and the mean over raters with its interval."""

    kind: Kind
    mean: Interval
    raters: tuple[Correlation, ...]


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    rng: np.random.Generator,
    scale: Scale = "interval",
    studies: Labels | None = None,
    level: float = 0.95,
    resamples: int = 1000,
) -> Agreement:
    """Krippendorff's alpha: 1 less observed over expected disagreement; any number of missing ratings.

    Items with fewer than two ratings cannot disagree; they are left out and counted. The interval draws
    studies (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, for the coefficient).

    Args:
        ratings: (items, raters), NaN where a rater did not rate.
        scale: `nominal` counts any difference as 1, `interval` squares it, `ordinal` squares the number of
            ratings between the two.
    """
    check_choice("scale", scale, ("nominal", "ordinal", "interval"))
    table = rating_table(ratings)
    defined = ~np.isnan(table)
    rated = defined.sum(1)
    pairable = rated >= 2
    weight = np.where(pairable, 1.0 / np.maximum(rated - 1, 1), 0.0)
    scores: CorpusScores
    if scale == "interval":
        # Moments are enough, however many different values there are.
        values = np.nan_to_num(centred(table))
        one, two = values.sum(1), (values**2).sum(1)
        statistics = np.stack([2 * weight * (rated * two - one**2), rated, one, two], 1)
        scores = _alpha_from_moments
    else:
        categories, position = np.unique(table[defined], return_inverse=True)
        chosen = np.zeros((len(table), len(categories)))
        np.add.at(chosen, (np.nonzero(defined)[0], position), 1.0)
        together = np.einsum("uc,uk,u->uck", chosen, chosen, weight)
        diagonal = np.arange(len(categories))
        together[:, diagonal, diagonal] -= chosen * weight[:, None]
        statistics = together.reshape(len(table), len(categories) ** 2)

        def scores(totals: Rows, counts: Rows) -> Rows:
            return _alpha_from_coincidences(totals, len(categories), scale)

    statistics = np.where(pairable[:, None], statistics, np.nan)
    alpha = drawn_interval(statistics, scores, "percentile", level, studies, resamples, rng)
    return Agreement(f"Krippendorff alpha ({scale})", alpha, table.shape[1])


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    weights: KappaWeights = "none",
    studies: Labels | None = None,
    level: float = 0.95,
    resamples: int = 2000,
) -> Agreement:
    """Cohen's kappa of two raters; weighted kappa forgives in proportion to the distance of the values.

    Distances are taken between the values themselves, not between their ranks among those that occur, so a
    grade that nobody gave still counts as a step.
    """
    check_choice("weights", weights, ("none", "linear", "quadratic"))
    table = rating_table(np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)], 1))
    rated = ~np.isnan(table).any(axis=1)
    categories, position = np.unique(table[rated], return_inverse=True)
    number = len(categories)
    codes = position.reshape(-1, 2)
    statistics = np.full((len(table), max(number**2, 1)), np.nan)
    statistics[rated] = 0.0
    statistics[np.flatnonzero(rated), codes[:, 0] * number + codes[:, 1]] = 1.0
    distance = np.abs(categories[:, None] - categories)
    cost = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weights]

    def scores(totals: Rows, counts: Rows) -> Rows:
        joint = totals[..., : number**2].reshape(*totals.shape[:-1], number, number)
        expected = joint.sum(-1)[..., :, None] * joint.sum(-2)[..., None, :]
        size = joint.sum((-1, -2))
        return _one_less(size * (joint * cost).sum((-1, -2)), (expected * cost).sum((-1, -2)))

    name = "Cohen kappa" if weights == "none" else f"Cohen kappa ({weights})"
    return Agreement(name, drawn_interval(statistics, scores, "percentile", level, studies, resamples, rng), 2)


def leave_one_rater_out(
    ratings: ArrayLike,
    *,
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    level: float = 0.95,
    resamples: int = 1000,
) -> LeaveOneOut:
    """Correlate each rater with the mean of the others: what a metric as good as a radiologist reaches.

    Each metric is judged against the mean of all raters, a rater here against the mean of one fewer, so the
    ceiling is, if anything, a little low.
    """
    table = rating_table(ratings)
    raters = table.shape[1]
    pairs = [(table[:, j], _mean_of_defined(np.delete(table, j, axis=1))) for j in range(raters)]
    replicates = pair_replicates(pairs, rng=rng, kind=kind, studies=studies, within=within, resamples=resamples)
    single = summarise(pairs, replicates, kind=kind, studies=studies, within=within, level=level)
    values = np.array([c.value for c in single])
    low, high = percentile_bounds(replicates.mean(1, keepdims=True), level=level)[:, 0]
    n = int(((~np.isnan(table)).sum(1) >= 2).sum())
    overall = Interval(float(values.mean()), float(low), float(high), level, "percentile", n, len(table) - n)
    return LeaveOneOut(kind, overall, single)


def rating_table(ratings: ArrayLike) -> Rows:
    """Ratings (items, raters) of at least two raters."""
    table = as_rows(ratings, "ratings")
    if table.shape[1] < 2:
        raise InputError(f"ratings must hold at least two raters (columns), got {table.shape[1]}")
    return table.copy()


def centred(table: Rows) -> Rows:
    """Ratings less their mean, which cancels in every coefficient here: centred sums lose no digits."""
    rated = ~np.isnan(table)
    apart: Rows = table - np.where(rated, table, 0.0).sum() / max(rated.sum(), 1)
    scale = np.abs(np.where(rated, table, 0.0)).max(initial=0.0)
    apart[np.abs(apart) <= 1e-12 * scale] = 0.0  # rounding must not pass for disagreement
    return apart


def drawn_interval(
    statistics: Rows,
    scores: CorpusScores,
    method: Literal["percentile", "bca"],
    level: float,
    studies: Labels | None,
    resamples: int,
    rng: np.random.Generator | None,
) -> Interval:
    """The interval of a coefficient that is a function of sums over items."""
    if rng is None:
        raise InputError(f"method {method!r} draws studies: pass rng, for example numpy.random.default_rng(0)")
    (bounds,) = interval(
        statistics, scores, rng=rng, method=method, level=level, groups=studies, resamples=resamples
    )
    return bounds


def _mean_of_defined(table: Rows) -> Rows:
    rated = ~np.isnan(table)
    mean = np.full(len(table), np.nan)
    np.divide(np.where(rated, table, 0.0).sum(1), rated.sum(1), out=mean, where=rated.any(1))
    return mean


def _one_less(above: Rows, below: Rows) -> Rows:
    ratio = np.full((*np.shape(above), 1), np.nan)
    np.divide(above[..., None], below[..., None], out=ratio, where=below[..., None] > 0)
    return 1.0 - ratio


def _alpha_from_moments(totals: Rows, counts: Rows) -> Rows:
    observed, size, one, two = np.moveaxis(totals, -1, 0)
    expected = 2 * (size * two - one**2)
    expected = np.where(expected > 1e-12 * size * two, expected, 0.0)
    return _one_less((size - 1) * observed, expected)


def _alpha_from_coincidences(totals: Rows, number: int, scale: Scale) -> Rows:
    together = totals.reshape(*totals.shape[:-1], number, number)
    marginals = together.sum(-1)
    size = marginals.sum(-1)
    if scale == "nominal":
        observed = size - np.trace(together, axis1=-2, axis2=-1)
        return _one_less((size - 1) * observed, size**2 - (marginals**2).sum(-1))
    # Ratings between two categories, half of each included: the distance of their midranks.
    middle = np.cumsum(marginals, -1) - marginals / 2
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = (marginals[..., :, None] * marginals[..., None, :] * apart).sum((-1, -2))
    return _one_less((size - 1) * (together * apart).sum((-1, -2)), expected)
