"""Ranking of judges by agreement with a target: differences between correlations, and clusters.

All judges are compared on the same draws of the same studies, so what they have in common cancels. Cases
that any of the judges compared could not judge are left out for all of them, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import Correction, Kind
from radgauge.core.errors import InputError
from radgauge.stats.coefficients import KINDS
from radgauge.stats.corrections import adjust
from radgauge.stats.correlate import Correlation, pair_replicates, summarise
from radgauge.stats.paired import Alternative, at_least
from radgauge.stats.resample import (
    SAME,
    Interval,
    Labels,
    Rows,
    as_rows,
    check_choice,
    check_level,
    percentile_bounds,
)

MIN_CASES = 3  # cases that a comparison needs


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """The first judge's correlation with the target less the second's; `p` from the same draws.

    NaN where fewer than three cases are judged by both.
    """

    first: float
    second: float
    interval: Interval
    p: float
    kind: Kind
    alternative: Alternative


@dataclass(frozen=True, slots=True)
class Ranked:
    """One judge in a ranking; judges of one cluster are not told apart."""

    name: str
    correlation: Correlation
    cluster: int


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Judges from best to worst; `p` and `p_adjusted` (two-sided) follow that order, NaN on the diagonal."""

    judges: tuple[Ranked, ...]
    p: Rows
    p_adjusted: Rows
    alpha: float
    correction: Correction
    rule: Literal["any", "all"]


def correlation_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    target: ArrayLike,
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    resamples: int = 2000,
) -> CorrelationDifference:
    """Paired bootstrap of the difference of two correlations with one target, drawing studies.

    The p value asks how often the drawn differences, moved to mean zero, are as large as the observed one:
    (hits + 1) / (resamples + 1).

    >>> result = correlation_difference([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5], target=[1, 2, 3, 4, 5, 6],
    ...                                rng=np.random.default_rng(0))
    >>> round(result.interval.value, 3)
    0.4
    """
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    both = np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)], 1)
    goal = np.asarray(target, dtype=np.float64)
    same = goal.shape == (len(both),)
    if same and (n_complete := int((~np.isnan(both).any(axis=1) & ~np.isnan(goal)).sum())) < MIN_CASES:
        nothing = Interval(math.nan, math.nan, math.nan, level, "percentile", n_complete, len(both) - n_complete)
        return CorrelationDifference(math.nan, math.nan, nothing, math.nan, kind, alternative)
    judges, goal, studies_left, within_left, n_complete = _complete(both, target, studies, within)
    (one, other), replicates = _correlations(
        judges, goal, kind=kind, studies=studies_left, within=within_left, resamples=resamples, rng=rng
    )
    apart = replicates[:, 0] - replicates[:, 1]
    check_level(level)
    low, high = percentile_bounds(apart[:, None], level=level)[:, 0]
    difference = one.value - other.value
    return CorrelationDifference(
        one.value,
        other.value,
        Interval(difference, float(low), float(high), level, "percentile", n_complete, len(both) - n_complete),
        float(_p_values(apart[:, None], np.array([difference]), alternative)[0]),
        kind,
        alternative,
    )


def rank_judges(
    judges: ArrayLike,
    target: ArrayLike,
    *,
    names: Sequence[str],
    rng: np.random.Generator,
    kind: Kind = "kendall_b",
    studies: Labels | None = None,
    within: Labels | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    rule: Literal["any", "all"] = "any",
    level: float = 0.95,
    resamples: int = 2000,
) -> Ranking:
    """Judges (n, M) sorted by correlation with the target, in clusters that differ significantly.

    All pairs are tested two-sided on common draws and corrected together. From the top, a new cluster begins
    at a judge that is significantly worse than `any` judge of the current cluster, so that a cluster holds no
    significant difference to a later member (the rule of mt-metrics-eval), or than `all` judges above it (the
    rule of WMT's system rankings, with fewer and larger clusters).
    """
    check_choice("rule", rule, ("any", "all"))
    table = as_rows(judges, "judges")
    if len(names) != table.shape[1]:
        raise InputError(f"names must name every judge: got {len(names)} names for {table.shape[1]} columns")
    complete, goal, studies_left, within_left, n_complete = _complete(table, target, studies, within, names=names)
    correlations, replicates = _correlations(
        complete,
        goal,
        kind=kind,
        studies=studies_left,
        within=within_left,
        resamples=resamples,
        rng=rng,
        level=level,
    )
    values = np.array([c.value for c in correlations])
    order = np.argsort(-values, kind="stable")  # NaN last
    values, replicates = values[order], replicates[:, order]
    upper = np.triu_indices(len(order), 1)
    p = np.full((len(order), len(order)), np.nan)
    p_values = _p_values(replicates[:, upper[0]] - replicates[:, upper[1]], values[upper[0]] - values[upper[1]])
    p[upper] = p_values
    p.T[upper] = p_values
    adjusted = np.full_like(p, np.nan)
    adjusted[upper] = adjust(p_values, method=correction)
    adjusted.T[upper] = adjusted[upper]
    clusters = significance_clusters(adjusted, alpha=alpha, rule=rule)
    lost = len(table) - n_complete
    ranked = tuple(
        Ranked(names[j], replace(c, interval=replace(c.interval, missing=lost)), cluster)
        for j, cluster in zip(order, clusters, strict=True)
        for c in (correlations[j],)
    )
    return Ranking(ranked, p, adjusted, alpha, correction, rule)


def significance_clusters(
    p_values: ArrayLike, *, alpha: float = 0.05, rule: Literal["any", "all"] = "any"
) -> tuple[int, ...]:
    """Cluster numbers from 1 of items sorted from best to worst, given p values of all pairs.

    >>> p = [[1, 0.5, 0.01], [0.5, 1, 0.2], [0.01, 0.2, 1]]
    >>> significance_clusters(p), significance_clusters(p, rule="all")
    ((1, 1, 2), (1, 1, 1))
    """
    p = np.asarray(p_values, dtype=np.float64)
    clusters: list[int] = []
    start = 0
    for i in range(len(p)):
        above = p[:i, i] <= alpha if rule == "all" else p[start:i, i] <= alpha
        if i and (above.all() if rule == "all" else above.any()):
            start = i
        clusters.append(clusters[-1] + (start == i) if clusters else 1)
    return tuple(int(c) for c in clusters)


def _complete(
    judges: Rows,
    target: ArrayLike,
    studies: Labels | None,
    within: Labels | None,
    *,
    names: Sequence[str] = ("first", "second"),
) -> tuple[Rows, Rows, Labels | None, Labels | None, int]:
    goal = np.asarray(target, dtype=np.float64)
    if goal.shape != (len(judges),):
        raise InputError(f"target must have one value per case: got shape {goal.shape} for {len(judges)} cases")
    complete = ~(np.isnan(judges).any(axis=1) | np.isnan(goal))
    n_complete = int(complete.sum())
    if n_complete < MIN_CASES:
        absent = np.isnan(judges).sum(0)
        worst = int(absent.argmax()) if len(absent) else 0
        raise InputError(
            f"only {n_complete} of {len(judges)} cases are judged by all; leave out {names[worst]!r}, "
            f"which lacks {int(absent[worst])}"
        )
    return (
        judges[complete],
        goal[complete],
        _labels_of(studies, complete),
        _labels_of(within, complete),
        n_complete,
    )


def _labels_of(labels: Labels | None, complete: NDArray[np.bool_]) -> Labels | None:
    if labels is None:
        return None
    plain: Sequence[Hashable] = labels.tolist() if isinstance(labels, np.ndarray) else labels
    if len(plain) != len(complete):
        raise InputError(f"labels must name every case: got {len(plain)} for {len(complete)} cases")
    return [label for label, keep in zip(plain, complete, strict=True) if keep]


def _correlations(
    judges: Rows,
    target: Rows,
    *,
    kind: Kind,
    studies: Labels | None,
    within: Labels | None,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> tuple[tuple[Correlation, ...], Rows]:
    check_choice("kind", kind, KINDS)
    check_level(level)
    pairs = [(judges[:, j], target) for j in range(judges.shape[1])]
    replicates = pair_replicates(pairs, rng=rng, kind=kind, studies=studies, within=within, resamples=resamples)
    return summarise(pairs, replicates, kind=kind, studies=studies, within=within, level=level), replicates


def _p_values(apart: Rows, observed: Rows, alternative: Alternative = "two-sided") -> Rows:
    defined = np.isfinite(apart)
    number = defined.sum(0)
    centre = np.where(defined, apart, 0.0).sum(0) / np.maximum(number, 1)
    # Without the margin, judges that are copies of each other would differ by rounding.
    with np.errstate(invalid="ignore"):
        hits = (at_least(apart - centre, observed, np.full_like(observed, SAME), alternative) & defined).sum(0)
    return np.where(np.isnan(observed) | (number == 0), np.nan, (hits + 1) / (number + 1))
