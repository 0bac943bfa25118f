"""Learn the weights of the `errors` metric from radiologists' judgments.

The quality value should order reports as radiologists do, so the loss is that of every pair of reports that they
rate differently: log(1 + exp(-(q_better - q_worse) / SCALE)). Weights are learned as logarithms and pulled towards
a starting point, since a hundred judged reports cannot settle seventeen numbers by themselves. What the fit is
worth is measured on studies it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from radgauge.core.cases import Case
from radgauge.core.error_categories import CATEGORIES
from radgauge.core.errors import InputError, UsageError
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.findings.error import OMITTED
from radgauge.findings.profile import Profile
from radgauge.findings.rules import TIERS
from radgauge.findings.weights import PRIOR, SCALARS, Weights
from radgauge.io.judgments import Judgments
from radgauge.metrics.errors import Errors
from radgauge.stats.coefficients import association
from radgauge.stats.independence import independence_p

Array = NDArray[np.float64]

SCALE = 0.25  # a difference of quality that people see
SMALLEST = 1e-3  # weights are positive: logarithms
LEARNED_TIERS = tuple(tier for tier in TIERS if tier != "actionable")  # "actionable" is the unit
COSTS = frozenset({*(category.key for category in CATEGORIES), "reversed", "inexact", "silence", "unread"})
NAMES = (*LEARNED_TIERS, *(category.key for category in CATEGORIES), *SCALARS)


class Profiling(Protocol):
    """A metric whose value is made of an error profile by weights."""

    def profiles(self, cases: Sequence[Case], *, reading: Readings) -> list[Profile | None]:
        """The errors of each case; None if it cannot be judged."""


@dataclass(frozen=True, slots=True)
class ErrorsFit:
    """Result of `fit_errors`."""

    weights: Weights  # Learned from all judgments; `about` says from what
    target: str  # What was fitted: rating, total or significant
    cases: int  # How many judged reports were used
    studies: int
    start: float  # Kendall's tau-b of the starting weights with the mean rater
    fitted: float  # Of the learned weights on the same reports: flattering
    cross_validated: float  # Each study scored with weights learned from the others: what to expect
    strength: float  # How strongly weights were pulled to the start
    start_p: float  # Two-sided p of no association, reports taken for independent, as papers do
    fitted_p: float  # Of the learned weights
    cross_validated_p: float  # On studies not seen


@working("fitting")
def fit_errors(
    judgments: Judgments,
    *,
    target: str | None = None,
    start: Weights = PRIOR,
    strength: float = 0.2,
    folds: int | None = None,
    metric: Profiling | None = None,
    reading: Readings | None = None,
) -> ErrorsFit:
    """Learn weights from judgments with report texts.

    Args:
        judgments: What `read_judgments` returned.
        target: rating, total or significant; None = rating where there are ratings, else significant errors.
        start: Weights to begin with and to stay near.
        strength: Pull towards them, per squared logarithm; large = no learning.
        folds: Parts that the studies are split into for cross-validation; None = leave one study out.
        metric: Who finds the errors: `errors`, or `llm_errors`, with settings; its weights do not matter.
        reading: Shared readings.
    """
    goal, name = _goal(judgments, target)
    if strength < 0:
        raise UsageError(f"strength must be 0 or more, got {strength:g}")
    metric = Errors() if metric is None else metric
    shared = Readings() if reading is None else reading
    able = [case for case in judgments.cases if case.references and case.candidate.strip()]
    known = {case.key: profile for case, profile in zip(able, metric.profiles(able, reading=shared), strict=True)}
    profiles = [known.get(case.key) for case in judgments.cases]
    usable = [i for i, profile in enumerate(profiles) if profile is not None and not np.isnan(goal[i])]
    studies = [judgments.cases[i].id for i in usable]
    distinct = list(dict.fromkeys(studies))
    if len(distinct) < 3:
        raise InputError(
            f"{judgments.name}: fitting needs judged reports of 3 studies or more, {len(distinct)} can be used"
        )
    table = _Table([profile for i in usable if (profile := profiles[i]) is not None])
    ratings = goal[usable]
    origin = _logs(start)
    index = {study: number for number, study in enumerate(distinct)}
    parts = len(distinct) if folds is None else folds
    if not 2 <= parts <= len(distinct):
        raise UsageError(f"folds must be from 2 to the number of studies, {len(distinct)}; got {parts}")
    fold = np.array([index[study] % parts for study in studies])
    unseen = np.empty(len(usable))
    for number in range(parts):
        inside = fold != number
        learned = _learn([_Part(table.take(inside), ratings[inside])], origin, strength)
        unseen[~inside] = table.quality(learned)[~inside]
    learned = _learn([_Part(table, ratings)], origin, strength)
    about = {
        "from": f"{judgments.name}: {len(usable)} reports of {len(distinct)} studies, target {name}",
        "strength": strength,
        "cross_validated_tau_b": round(_tau(unseen, ratings), 4),
        "tau_b_on_the_same_reports": round(_tau(table.quality(learned), ratings), 4),
    }
    return ErrorsFit(
        weights=_weights(learned, about),
        target=name,
        cases=len(usable),
        studies=len(distinct),
        start=_tau(table.quality(origin), ratings),
        fitted=_tau(table.quality(learned), ratings),
        cross_validated=_tau(unseen, ratings),
        strength=strength,
        start_p=independence_p(table.quality(origin), ratings),
        fitted_p=independence_p(table.quality(learned), ratings),
        cross_validated_p=independence_p(unseen, ratings),
    )


@dataclass(frozen=True, slots=True)
class SourcesFit:
    """Result of `fit_sources`: Kendall's tau-b with the mean rating, per source."""

    weights: Weights  # Learned from all sources; `about` says from which
    start: Mapping[str, float]  # Of the starting weights
    left_out: Mapping[str, float]  # Of weights learned from all other sources: what to expect on a new one
    fitted: Mapping[str, float]  # Of the weights learned from all: flattering


@working("fitting")
def fit_sources(
    sources: Mapping[str, Judgments],
    *,
    start: Weights = PRIOR,
    strength: float = 0.2,
    metric: Errors | None = None,
    reading: Readings | None = None,
) -> SourcesFit:
    """Learn weights from the ratings of several sources, and test each source with the weights of the others.

    Reports are compared within a source only, since raters of different sources use the scale differently, and
    every source counts the same however many pairs it has.

    Args:
        sources: Name -> judgments with ratings and texts, two sources or more.
        start: Weights to begin with and to stay near.
        strength: Pull towards them, per squared logarithm.
        metric: Lexicon and context settings; its weights do not matter.
        reading: Shared readings.
    """
    if len(sources) < 2:
        raise InputError(f"leaving a source out needs two sources or more, got {len(sources)}")
    metric = Errors() if metric is None else metric
    shared = Readings() if reading is None else reading
    parts: dict[str, _Part] = {}
    for name, judgments in sources.items():
        ratings = judgments.mean_ratings().headline
        profiles = [metric.profile(case, reading=shared) for case in judgments.cases]
        usable = [i for i, each in enumerate(profiles) if each is not None and not np.isnan(ratings[i])]
        parts[name] = _Part(_Table([profiles[i][0] for i in usable]), ratings[usable])  # type: ignore[index]
    origin = _logs(start)
    learned = _learn(list(parts.values()), origin, strength)
    left_out = {}
    for name, part in parts.items():
        others = _learn([each for other, each in parts.items() if other != name], origin, strength)
        left_out[name] = round(_tau(part.table.quality(others), part.wanted), 4)
    about = {
        "from": "ratings of " + ", ".join(f"{name} ({part.table.cases} pairs)" for name, part in parts.items()),
        "strength": strength,
        "tau_b_source_left_out": left_out,
    }
    return SourcesFit(
        weights=_weights(learned, about),
        start={name: _tau(part.table.quality(origin), part.wanted) for name, part in parts.items()},
        left_out=left_out,
        fitted={name: _tau(part.table.quality(learned), part.wanted) for name, part in parts.items()},
    )


def _goal(judgments: Judgments, target: str | None) -> tuple[Array, str]:
    name = target or ("rating" if judgments.ratings else "significant")
    if name not in ("rating", "total", "significant"):
        raise UsageError(f"target must be rating, total or significant, got {name!r}")
    if name == "rating":
        if not judgments.ratings:
            raise InputError(f"{judgments.name} has no ratings; use the target total or significant")
        return judgments.mean_ratings().headline, name
    if not judgments.errors:
        raise InputError(f"{judgments.name} has no error counts; use the target rating")
    return -judgments.mean_errors().column(f"errors_{name}"), name


def _tau(values: Array, ratings: Array) -> float:
    return association(values, ratings, kind="kendall_b")


@dataclass(frozen=True, slots=True, init=False, eq=False)
class _Table:
    """Profiles as flat arrays, so that a set of weights gives all qualities in a few array operations."""

    cases: int
    error_case: NDArray[np.intp]
    error_tier: NDArray[np.intp]
    error_category: NDArray[np.intp]  # behind the last category: a change told the other way round
    error_flags: NDArray[np.bool_]  # hedged, denied, negligible, turned
    error_share: Array  # what remains of an error that the other report may say in other words
    whole: Array  # (cases, tier, hedged): number of findings of the reference
    inexact: Array  # (cases, tier, hedged): sum of what similarity lacks
    silent: Array
    unread: Array

    def __init__(self, profiles: Sequence[Profile]) -> None:
        errors = [(case, error) for case, profile in enumerate(profiles) for error in profile.errors]
        flags = [(e.hedged, e.denied, e.category > OMITTED and not e.significant, e.turned) for _, e in errors]
        counts = np.zeros((len(profiles), len(TIERS), 2))
        inexact = np.zeros_like(counts)
        for case, profile in enumerate(profiles):
            for tier, hedged in profile.tiers:
                counts[case, tier, int(hedged)] += 1
            for tier, hedged, gap in profile.inexact:
                inexact[case, tier, int(hedged)] += gap
        for name, value in (
            ("cases", len(profiles)),
            ("error_case", np.array([case for case, _ in errors], dtype=np.intp)),
            ("error_tier", np.array([e.tier for _, e in errors], dtype=np.intp)),
            (
                "error_category",
                np.array([len(CATEGORIES) if e.is_reversed else e.category for _, e in errors], dtype=np.intp),
            ),
            ("error_flags", np.array(flags, dtype=bool).reshape(-1, 4)),
            ("error_share", np.array([1.0 - e.support for _, e in errors])),
            ("whole", counts),
            ("inexact", inexact),
            ("silent", np.array([profile.silent for profile in profiles])),
            ("unread", np.array([profile.unread for profile in profiles])),
        ):
            object.__setattr__(self, name, value)

    def take(self, mask: NDArray[np.bool_]) -> _Table:
        """The cases under the mask."""
        taken = mask[self.error_case]
        new = object.__new__(_Table)
        numbers = np.cumsum(mask) - 1
        for name, value in (
            ("cases", int(mask.sum())),
            ("error_case", numbers[self.error_case[taken]]),
            ("error_tier", self.error_tier[taken]),
            ("error_category", self.error_category[taken]),
            ("error_flags", self.error_flags[taken]),
            ("error_share", self.error_share[taken]),
            ("whole", self.whole[mask]),
            ("inexact", self.inexact[mask]),
            ("silent", self.silent[mask]),
            ("unread", self.unread[mask]),
        ):
            object.__setattr__(new, name, value)
        return new

    def template(self, logs: Array) -> Array:
        """x of a report that omits every finding of the reference."""
        w = dict(zip(NAMES, np.exp(logs), strict=True))
        tiers = np.array([w.get(tier, 1.0) for tier in TIERS])
        reference_weight = np.einsum("cth,t,h->c", self.whole, tiers, np.array([1.0, w["hedged"]]))
        x: Array = w["omission"] * reference_weight * (1.0 + w["base"]) / (reference_weight + w["base"])
        return x

    def quality(self, logs: Array) -> Array:
        """Quality of every case under these weights; the same arithmetic as Arithmetic.quality."""
        w = dict(zip(NAMES, np.exp(logs), strict=True))
        tiers = np.array([w.get(tier, 1.0) for tier in TIERS])
        categories = np.array([*(w[category.key] for category in CATEGORIES), w["reversed"]])
        factors = np.where(
            self.error_flags, np.array([w["hedged"], w["contradiction"], w["negligible"], w["turned"]]), 1.0
        )
        costs = tiers[self.error_tier] * categories[self.error_category] * factors.prod(axis=1) * self.error_share
        lost = np.bincount(self.error_case, weights=costs, minlength=self.cases)
        certainty = np.array([1.0, w["hedged"]])
        lost = (
            lost
            + w["inexact"] * np.einsum("cth,t,h->c", self.inexact, tiers, certainty)
            + w["silence"] * self.silent
            + w["unread"] * self.unread
        )
        reference_weight = np.einsum("cth,t,h->c", self.whole, tiers, certainty)
        x = lost * (1.0 + w["base"]) / (reference_weight + w["base"])
        quality: Array = (1.0 - x) / (1.0 + x)
        return quality


@dataclass(frozen=True, slots=True)
class _Part:
    """Judged reports that may be compared with each other, and how good people found them."""

    table: _Table
    wanted: Array


def _learn(parts: Sequence[_Part], origin: Array, strength: float) -> Array:
    pairs = [np.nonzero(part.wanted[:, None] > part.wanted[None, :]) for part in parts]
    if not any(len(better) for better, _ in pairs):
        return origin

    def loss(logs: Array) -> float:
        total = 0.0
        for part, (better, worse) in zip(parts, pairs, strict=True):
            if len(better):
                quality = part.table.quality(logs)
                total += np.logaddexp(0.0, -(quality[better] - quality[worse]) / SCALE).mean()
        return float(total / len(parts) + strength * ((logs - origin) ** 2).sum())

    learned: Array = minimize(loss, origin, method="L-BFGS-B", bounds=[(o - 3, o + 3) for o in origin]).x
    return _centred([part.table for part in parts], learned)


def _centred(tables: Sequence[_Table], logs: Array) -> Array:
    """The same order of reports, scaled so that a normal template, which omits all, has mean quality 0."""
    x = np.concatenate([table.template(logs) for table in tables])
    x = x[x > 0]
    if not len(x):
        return logs

    def mean_quality(shift: float) -> float:
        scaled = x * np.exp(shift)
        return float(((1.0 - scaled) / (1.0 + scaled)).mean())

    shift = brentq(mean_quality, -5.0, 5.0) if mean_quality(-5.0) > 0 > mean_quality(5.0) else 0.0
    costs = [name in COSTS for name in NAMES]
    centred: Array = logs + np.where(costs, shift, 0.0)
    return centred


def _logs(weights: Weights) -> Array:
    values = [weights.tiers[tier] for tier in LEARNED_TIERS]
    values += [weights.categories[category.key] for category in CATEGORIES]
    values += [getattr(weights, name) for name in SCALARS]
    return np.log(np.maximum(np.array(values, dtype=np.float64), SMALLEST))


def _weights(logs: Array, about: dict[str, object]) -> Weights:
    values = {name: round(float(value), 4) for name, value in zip(NAMES, np.exp(logs), strict=True)}
    return replace(
        PRIOR,
        tiers={tier: values.get(tier, 1.0) for tier in TIERS},
        categories={category.key: values[category.key] for category in CATEGORIES},
        **{name: values[name] for name in SCALARS},
        about=about,
    )
