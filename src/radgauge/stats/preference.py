"""Does a judge prefer the report that radiologists prefer? Accuracy over pairs, and what choosing by it gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import IntervalMethod, TieRule
from radgauge.core.errors import InputError
from radgauge.stats.resample import SAME, Interval, Labels, Rows, check_choice, interval, unit_index

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


@dataclass(frozen=True, slots=True)
class Preference:
    """Share of pairs judged as the target does; `interval.n` counts the pairs that the tie rule admits.

    `threshold` is the largest difference that counted as a tie of the judge; `tied_judge` and
    `tied_target` are counted over all `pairs` with values on both sides.
    """

    interval: Interval
    ties: TieRule
    threshold: float
    pairs: int
    tied_judge: int
    tied_target: int


def preference_accuracy(
    judge: ArrayLike,
    target: ArrayLike,
    *,
    studies: Labels,
    rng: np.random.Generator,
    ties: TieRule = "half",
    method: IntervalMethod = "percentile",
    level: float = 0.95,
    resamples: int = 2000,
) -> Preference:
    """Accuracy over all pairs of cases that share a study; intervals draw studies.

    Higher values mean a better report on both sides; the caller turns the signs.

    Args:
        ties: what to do with equal values.
            `half`: pairs the target ties are left out; a tie of the judge is worth one half.
            `wrong`: the same, but a tie of the judge is an error.
            `skip`: pairs that either side ties are left out.
            `match`: all pairs count; a tie is right only against a tie (acc_eq of Deutsch et al. 2023). As in
            mt-metrics-eval the value is the mean of the accuracies of the studies.
            `calibrated`: as `match`, with differences up to a threshold taken as ties, the threshold that
            serves the judge best on these data (Deutsch et al. 2023). Chosen on the same pairs, it flatters
            a little, and the interval does not know of the choice.

    >>> result = preference_accuracy([0.9, 0.1, 0.5, 0.5], [5, 1, 4, 2], studies=["s", "s", "t", "t"],
    ...                             rng=np.random.default_rng(0))
    >>> result.interval.value, result.pairs
    (0.75, 2)
    """
    check_choice("ties", ties, TIE_RULES)
    x, y = np.asarray(judge, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"judge and target must be two equally long lists, got shapes {x.shape} and {y.shape}")
    index, _ = unit_index(studies, len(x))
    first, second = pairs_within(index)
    apart_x, apart_y = x[first] - x[second], y[first] - y[second]
    complete = ~(np.isnan(apart_x) | np.isnan(apart_y))
    weight = np.ones(len(first))
    if ties in ("match", "calibrated"):  # every study counts the same, however many candidates it has
        pairs_of_study = np.bincount(index[first][complete], minlength=int(index.max(initial=0)) + 1)
        weight = 1.0 / np.maximum(pairs_of_study[index[first]], 1)
    threshold = 0.0
    if ties == "calibrated":
        threshold = _best_threshold(apart_x[complete], apart_y[complete], weight[complete])
    sign_x = np.where(np.abs(apart_x) <= threshold, 0.0, np.sign(apart_x))
    sign_y = np.sign(apart_y)
    credit = np.where(complete, (sign_x == sign_y).astype(np.float64), np.nan)
    if ties in ("half", "wrong", "skip"):
        credit[sign_y == 0] = np.nan
        credit[complete & (sign_y != 0) & (sign_x == 0)] = {"half": 0.5, "wrong": 0.0, "skip": np.nan}[ties]
    (bounds,) = interval(
        np.stack([credit * weight, np.where(np.isnan(credit), np.nan, weight)], axis=1),
        _weighted_mean,
        rng=rng,
        groups=index[first],
        method=method,
        level=level,
        resamples=resamples,
    )
    return Preference(
        bounds,
        ties,
        float(threshold),
        int(complete.sum()),
        int((complete & (sign_x == 0)).sum()),
        int((complete & (sign_y == 0)).sum()),
    )


def _weighted_mean(totals: Rows, counts: Rows) -> Rows:
    means = np.full((*totals.shape[:-1], 1), np.nan)
    np.divide(totals[..., :1], totals[..., 1:], out=means, where=totals[..., 1:] > 0)
    return means


@dataclass(frozen=True, slots=True)
class BestOfN:
    """Gain of keeping the candidate of each study that a judge scores highest."""

    gain: Interval  # (chosen - random) / (oracle - random): 0 is a random choice, 1 that of the target itself
    chosen: float  # Mean target value of the judge's choices; among equal values the mean of the tied ones
    random: float  # Mean target value of all candidates
    oracle: float  # Mean of the best target value of each study


def best_of_n(
    judge: ArrayLike,
    target: ArrayLike,
    *,
    studies: Labels,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> BestOfN:
    """Compute the best-of-N gain over studies with two candidates or more, all with values on both sides.

    Higher values mean a better report on both sides; intervals draw studies.

    >>> result = best_of_n([0.9, 0.1, 0.5, 0.5], [5, 1, 4, 2], studies=["s", "s", "t", "t"],
    ...                   rng=np.random.default_rng(0))
    >>> result.chosen, result.random, result.oracle, round(result.gain.value, 3)
    (4.0, 3.0, 4.5, 0.667)
    """
    x, y = np.asarray(judge, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"judge and target must be two equally long lists, got shapes {x.shape} and {y.shape}")
    index, units = unit_index(studies, len(x))
    rows = np.full((units, 3), np.nan)
    for study in range(units):
        own = index == study
        if own.sum() > 1 and not (np.isnan(x[own]) | np.isnan(y[own])).any():
            rows[study] = y[own][x[own] == x[own].max()].mean(), y[own].mean(), y[own].max()

    def gain(totals: Rows, counts: Rows) -> Rows:
        chosen, random, oracle = np.moveaxis(totals, -1, 0)
        gains = np.full(np.shape(chosen), np.nan)
        np.divide(chosen - random, oracle - random, out=gains, where=oracle - random > SAME * np.abs(oracle))
        return gains[..., None]

    (bounds,) = interval(rows, gain, rng=rng, level=level, resamples=resamples)
    defined = rows[~np.isnan(rows[:, 0])]
    means = defined.mean(axis=0).tolist() if len(defined) else [np.nan] * 3
    return BestOfN(bounds, *means)


def pairs_within(index: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of all pairs of cases with the same number.

    >>> [side.tolist() for side in pairs_within(np.array([0, 1, 0, 0]))]
    [[0, 2, 0], [2, 3, 3]]
    """
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first, second = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for step in range(1, int(np.bincount(index).max(initial=0)) if len(index) else 0):
        start = np.flatnonzero(ordered[step:] == ordered[:-step])
        first.append(order[start])
        second.append(order[start + step])
    return np.concatenate(first), np.concatenate(second)


def _best_threshold(apart_x: Rows, apart_y: Rows, weight: Rows) -> float:
    """The difference up to which calling a tie gives the most right answers; the smallest such."""
    size = np.abs(apart_x)
    order = np.argsort(size, kind="stable")
    right = (np.sign(apart_x) == np.sign(apart_y)) & (apart_x != 0)
    # Taking a pair as tied wins it if the target ties it, and loses it if it was right before.
    won = (apart_y[order] == 0).astype(np.float64) - right[order]
    gain = np.cumsum(np.where(apart_x[order] == 0, 0.0, won * weight[order]))
    ends = np.append(np.diff(size[order]) > 0, True)[: len(order)]
    candidates = np.flatnonzero(ends)
    if not len(candidates) or gain[candidates].max() <= SAME:
        return 0.0
    return float(size[order][candidates[np.argmax(gain[candidates])]])
