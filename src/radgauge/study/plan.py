"""Sample size of a study: interval widths by simulation from an earlier study.

The earlier ratings are taken apart into what a case deserves, how strict each rater is, and what is left (two-way
random effects). A new study draws studies with all their candidates from the earlier ones, shrinks their means to
what they would be without the noise of too few raters, draws new raters from a normal distribution of strictness,
and adds residuals of the same case. The middle 95 % of a coefficient over many such studies is as wide as its
interval will be. Counts become fractional in this; their variances are what matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results
from radgauge.io.judgments.judgments import Judgments
from radgauge.io.judgments.targets import default_targets, raters_on, target_name
from radgauge.stats import association, icc

Statistic = Literal["mean", "difference", "icc", "alpha", "correlation"]
Array = NDArray[np.float64]
LEAST_STUDIES, LEAST_RATERS = 5, 2


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A size of study: the coefficient over simulated studies (median), and the width of its interval."""

    studies: int
    raters: int
    value: float
    width: float


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of the earlier study: between cases, between raters, and the rest."""

    cases: float
    raters: float
    residual: float
    mean: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Expected results of each study size."""

    statistic: Statistic  # What the interval is of
    target: str  # What radiologists said
    lines: tuple[PlanLine, ...]  # One per number of studies and raters
    # Raters -> the smallest number of studies tried whose interval is as narrow as wanted; None = none
    enough: Mapping[int, int | None]
    width: float | None  # The width wanted; None = not asked for
    components: Components  # Variances behind the simulation
    notes: tuple[str, ...]  # What a reader should know


def plan_study(
    judgments: Judgments,
    *,
    target: str | None = None,
    statistic: Statistic = "mean",
    studies: Sequence[int] = (25, 50, 100, 200, 400),
    raters: Sequence[int] = (1, 2, 3, 5),
    width: float | None = None,
    systems: tuple[str, str] | None = None,
    scores: Results | None = None,
    column: str | None = None,
    level: float = 0.95,
    simulations: int = 1000,
    seed: int = 0,
) -> Plan:
    """Widths of intervals for studies of several sizes.

    Args:
        judgments: The earlier study, with at least two raters.
        target: total, significant, rating, a category; None = the first that the judgments have.
        statistic: mean = of the target over all candidates; difference = of two systems, by study; icc = ICC(2,1);
            alpha = Krippendorff's alpha; correlation = Kendall's tau-b of a metric with the mean rater.
        studies: Numbers of studies to try.
        raters: Numbers of raters to try; agreement needs two.
        width: The width of the interval that is wanted.
        systems: The two systems of a difference; None = if there are two, these.
        scores: Scores of the metric of a correlation, on the judged cases.
        column: Its output; None = the first.
        level: Coverage.
        simulations: Simulated studies per size.
        seed: Of the simulation.
    """
    if statistic not in get_args(Statistic):
        raise UsageError(f"statistic must be one of {', '.join(get_args(Statistic))}, got {statistic!r}")
    if not 0.5 <= level < 1 or simulations < 50:
        raise UsageError("level must be 0.5 to below 1, and there must be at least 50 simulations")
    if min(studies, default=0) < 2 or min(raters, default=0) < 1:
        raise UsageError("a study has at least two studies and one rater")
    chosen = target_name(target) if target else default_targets(judgments)[0]
    table = np.stack(list(raters_on(judgments, chosen).values()), axis=1)
    if chosen != "rating":
        table = -table  # as counted: more is worse
    metric = _metric(judgments, scores, column) if statistic == "correlation" else None
    complete = (~np.isnan(table)).any(axis=1) & (~np.isnan(metric) if metric is not None else True)
    keys = [case.key for case in judgments.cases]
    model = _model(table[complete])
    groups = _groups([keys[at] for at in np.flatnonzero(complete)])
    if len(groups) < LEAST_STUDIES or table.shape[1] < LEAST_RATERS:
        raise InputError(
            f"an earlier study needs at least {LEAST_STUDIES} studies and {LEAST_RATERS} raters, got "
            f"{len(groups)} and {table.shape[1]}"
        )
    coefficient = _coefficient(
        statistic,
        [keys[at][1] for at in np.flatnonzero(complete)],
        systems,
        metric[complete] * (1 if chosen == "rating" else -1) if metric is not None else None,
    )
    rng = np.random.default_rng(seed)
    lines = []
    few = statistic in ("icc", "alpha")
    for people in dict.fromkeys(raters):
        if few and people < LEAST_RATERS:
            continue
        for number in dict.fromkeys(studies):
            values = np.array([coefficient(*model.draw(groups, number, people, rng)) for _ in range(simulations)])
            values = values[~np.isnan(values)]
            if len(values) < simulations / 2:
                lines.append(PlanLine(number, people, float("nan"), float("nan")))
                continue
            low, middle, high = np.quantile(values, [(1 - level) / 2, 0.5, (1 + level) / 2])
            lines.append(PlanLine(number, people, float(middle), float(high - low)))
    enough = {
        people: next(
            (
                line.studies
                for line in sorted(lines, key=lambda each: each.studies)
                if line.raters == people and width is not None and line.width <= width
            ),
            None,
        )
        for people in dict.fromkeys(line.raters for line in lines)
    }
    notes = [
        f"simulated from {len(groups)} studies and {table.shape[1]} raters of {judgments.name}: raters and cases "
        "of the new study are taken to be of the same kind"
    ]
    if max(studies) > 4 * len(groups):
        notes.append(f"up to {max(studies)} studies are drawn from {len(groups)}: rare cases may be missing")
    return Plan(statistic, chosen, tuple(lines), enough, width, model.components, tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    components: Components
    deserved: Array
    residuals: Array  # (cases, most raters), padded with zeros
    sizes: NDArray[np.intp]  # how many of them are residuals

    def draw(
        self, groups: Sequence[NDArray[np.intp]], number: int, people: int, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
        """Ratings (cases, raters) of a new study, which earlier case each row is, and which study it is of."""
        chosen = rng.integers(len(groups), size=number)
        rows = np.concatenate([groups[group] for group in chosen])
        study = np.repeat(np.arange(number), [len(groups[group]) for group in chosen])
        strict = rng.normal(0.0, np.sqrt(self.components.raters), size=people)
        at = (rng.random((len(rows), people)) * self.sizes[rows, None]).astype(np.intp)
        return self.deserved[rows, None] + strict + self.residuals[rows[:, None], at], rows, study


def _model(table: Array) -> _Model:
    """Two-way random effects by moments; missing ratings are allowed."""
    judged = ~np.isnan(table)
    counts = judged.sum(axis=1)
    mean = float(table[judged].mean())
    case_means = np.nansum(table, axis=1) / counts
    apart = np.where(judged, table - case_means[:, None], np.nan)
    offsets = np.array([np.nanmean(column) if (~np.isnan(column)).any() else 0.0 for column in apart.T])
    rest = apart - offsets
    freedom = int(judged.sum()) - len(table) - table.shape[1] + 1
    if freedom < 1:
        raise InputError("the earlier study has too few cases that several raters judged")
    residual = float(np.nansum(rest**2) / freedom)
    per_rater = float(judged.sum(axis=0).mean())
    between = max(float(np.var(offsets, ddof=1)) - residual / per_rater, 0.0)
    noise = residual * float((1 / counts).mean())
    spread = float(np.var(case_means, ddof=1))
    cases = max(spread - noise, 0.0)
    shrink = np.sqrt(cases / spread) if spread > 0 else 0.0
    deserved = mean + (case_means - mean) * shrink
    residuals = []
    for row, number in zip(rest, counts, strict=True):
        if number >= 2:
            own = row[~np.isnan(row)]
            residuals.append((own - own.mean()) * np.sqrt(number / (number - 1)))
        else:
            residuals.append(np.sqrt(residual) * np.array([-1.0, 1.0]))
    # What rounding of degrees of freedom leaves: on average the residuals have their variance.
    size = np.sqrt(np.mean([np.mean(part**2) for part in residuals]))
    if size > 0:
        residuals = [part * np.sqrt(residual) / size for part in residuals]
    sizes = np.array([len(part) for part in residuals], dtype=np.intp)
    padded = np.stack([np.pad(part, (0, sizes.max() - len(part))) for part in residuals])
    return _Model(Components(cases, between, residual, mean), deserved, padded, sizes)


def _groups(keys: Sequence[tuple[str, str]]) -> list[NDArray[np.intp]]:
    groups: dict[str, list[int]] = {}
    for index, (study, _) in enumerate(keys):
        groups.setdefault(study, []).append(index)
    return [np.array(indices, dtype=np.intp) for indices in groups.values()]


def _metric(judgments: Judgments, scores: Results | None, column: str | None) -> Array:
    if scores is None:
        raise UsageError("a correlation needs the scores of a metric on the judged cases")
    for judge in scores.judges.values():
        name = column or judge.columns[0]
        if name in judge.columns:
            index = {key: at for at, key in enumerate(judge.keys)}
            values = judge.oriented(name)
            matched = np.array([values[index[c.key]] if c.key in index else np.nan for c in judgments.cases])
            if np.isnan(matched).all():
                raise InputError("the scores are of other cases: no (id, system) occurs in both")
            return matched
    raise UsageError(f"no metric has a column {column!r}")


Coefficient = Callable[[Array, NDArray[np.intp], NDArray[np.intp]], float]


def _coefficient(
    statistic: Statistic, of: Sequence[str], systems: tuple[str, str] | None, metric: Array | None
) -> Coefficient:
    if statistic == "mean":
        return lambda values, rows, study: float(values.mean())
    if statistic == "icc":
        return lambda values, rows, study: icc(values).value
    if statistic == "alpha":
        return lambda values, rows, study: plain_alpha(values)
    if statistic == "correlation" and metric is not None:
        return lambda values, rows, study: _tau(values.mean(axis=1), metric[rows])
    there = sorted(set(of))
    pair = systems or tuple(there)
    if len(pair) != 2 or not set(pair) <= set(there) or pair[0] == pair[1]:
        raise UsageError(f"a difference needs two of the systems {', '.join(there)}")
    names = np.array(of)

    def difference(values: Array, rows: NDArray[np.intp], study: NDArray[np.intp]) -> float:
        means = values.mean(axis=1)
        first, second = (np.full(int(study.max()) + 1, np.nan) for _ in range(2))
        for side, name in ((first, pair[0]), (second, pair[1])):
            here = names[rows] == name
            side[study[here]] = means[here]
        gaps = first - second
        return float(gaps[~np.isnan(gaps)].mean()) if (~np.isnan(gaps)).any() else float("nan")

    return difference


def plain_alpha(values: Array) -> float:
    """Krippendorff's alpha (interval scale) of a table without gaps: 1 less within-item over total variance."""
    total = float(np.var(values, ddof=1))
    return 1 - float(np.var(values, axis=1, ddof=1).mean()) / total if total > 0 else float("nan")


def _tau(first: Array, second: Array) -> float:
    return float(association(first, second, kind="kendall_b"))
