"""Learn a RadCliQ of your own: a linear model of metric scores that predicts how many errors radiologists count.

As Yu et al. (2023), Patterns 4(9), fitted theirs: scores are standardised, then least squares. What the fit is
worth is measured on studies it has not seen, and coefficients have intervals that draw studies.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radgauge
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import write_file
from radgauge.core.metric import PRECISION, Metric, Rows, ratio, unaliased
from radgauge.core.progress import working
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import Judgments
from radgauge.metrics.radcliq import Composite, Term
from radgauge.stats import correlation
from radgauge.stats.coefficients import merge_ties
from radgauge.stats.resample import Interval, check_positive, draw_weights, percentile_bounds, unit_index
from radgauge.stats.resampling import USUAL, Resampling

Array = NDArray[np.float64]
MOST_FOLDS = 50  # a model for every two folds: 1,275
FLAT = 1e-9  # a column that varies less than this share of its size is constant


@dataclass(frozen=True, slots=True)
class FittedTerm:
    """One score of the composite."""

    column: str  # The output that was used
    part: str  # The metric and settings that give it, as `radgauge.load` reads them
    mean: float  # Subtracted from the score
    scale: float  # Then divided by
    coefficient: Interval  # What one standard deviation adds to the number of errors, with its interval


@dataclass(frozen=True, slots=True)
class RadcliqFit:
    """Result of `fit_radcliq`."""

    terms: tuple[FittedTerm, ...]  # In the order of the columns
    intercept: Interval  # Errors of a report with average scores
    target: str  # What was predicted: total, significant, or a category
    cases: int  # Judged reports that were used
    studies: int
    left_out: int  # Judged reports that lack a score or a judgment
    r2: float  # Share of the variance explained on the same reports: flattering
    # Each study predicted from the others: what to expect; below 0 is worse than the mean
    r2_cross_validated: float
    tau: Interval  # Kendall's tau-b with the mean rater on the same reports
    # On studies not seen: every two reports are ordered by one model that has seen neither of their studies.
    # Predictions of several models pooled would order equal scores by which model it was.
    tau_cross_validated: Interval
    tau_p: float  # Two-sided p of no association on the same reports, taken for independent, as papers do
    folds: int  # Parts of the cross-validation
    ridge: float  # Penalty on the squared coefficients
    signatures: dict[str, str]  # Column -> settings behind it
    source: str  # Name of the judgments

    def predict(self, scores: Rows) -> Array:
        """Predicted number of errors; columns of `scores` are the terms in order."""
        terms = tuple(Term(t.part, t.mean, t.scale, t.coefficient.value) for t in self.terms)
        return Composite(terms, self.intercept.value, "").predict(scores)

    def as_dict(self) -> dict[str, Any]:
        """The form that the setting `version` of the metric `radcliq` reads from a file."""
        return {
            "about": f"fitted by radgauge {radgauge.__version__} to {self.source}; lower is better",
            "unit": f"errors ({self.target}) per report",
            "intercept": self.intercept.value,
            "terms": [
                {
                    "part": term.part,
                    "column": term.column,
                    "mean": term.mean,
                    "scale": term.scale,
                    "coefficient": term.coefficient.value,
                    "interval": [term.coefficient.low, term.coefficient.high],
                }
                for term in self.terms
            ],
            "target": self.target,
            "cases": self.cases,
            "studies": self.studies,
            "r2": self.r2,
            "r2_cross_validated": self.r2_cross_validated,
            "tau_b": self.tau.value,
            "tau_b_p": self.tau_p,
            "tau_b_cross_validated": self.tau_cross_validated.value,
            "folds": self.folds,
            "ridge": self.ridge,
            "signatures": self.signatures,
        }


@working("fitting")
def fit_radcliq(
    results: Results,
    judgments: Judgments,
    *,
    columns: Sequence[str] | None = None,
    target: str = "total",
    ridge: float = 0.0,
    folds: int | None = None,
    resampling: Resampling = USUAL,
) -> RadcliqFit:
    """Fit a composite to the mean rater's error counts.

    Args:
        results: Scores of the judged reports, joined with the judgments by (id, system).
        judgments: What `read_judgments` returned, with error counts.
        columns: Outputs to combine; None = the headline of every metric.
        target: total, significant, or an error category (also with _significant).
        ridge: Penalty on the squared coefficients of standardised scores, 0 = plain least squares.
        folds: Parts that the studies are split into for cross-validation; None = leave one study out.
        resampling: Coverage, resamples and seed of the intervals.
    """
    if ridge < 0:
        raise UsageError(f"ridge must be 0 or more, got {ridge:g}")
    check_positive("resamples", resampling.resamples)
    chosen = _choose(results, columns)
    keys, table, goal = _join(chosen, judgments, target)
    complete = ~(np.isnan(table).any(axis=1) | np.isnan(goal))
    scores, errors = table[complete], goal[complete]
    studies, number = unit_index([key[0] for key, use in zip(keys, complete, strict=True) if use], len(scores))
    needed = len(chosen) + 2
    if number < max(3, needed):
        raise InputError(
            f"{judgments.name}: fitting {len(chosen)} columns needs {max(3, needed)} studies or more with scores "
            f"and error counts, {number} can be used"
        )
    parts = number if folds is None else folds
    if not 2 <= parts <= number:
        raise UsageError(f"folds must be from 2 to the number of studies, {number}; got {parts}")
    mean, scale = scores.mean(axis=0), scores.std(axis=0)
    for name, centre, spread in zip(chosen, mean, scale, strict=True):
        if spread <= FLAT * max(abs(centre), 1e-300):
            raise InputError(
                f"the column {name!r} is {centre:g} for every judged report and cannot predict anything"
            )
    standard = (scores - mean) / scale
    weights = _solve(standard, errors, np.ones((1, len(errors))), ridge)[0]
    predicted = standard @ weights[:-1] + weights[-1]
    unseen = _cross_validate(scores, errors, studies % parts, ridge)
    draws = draw_weights(number, resamples=resampling.resamples, rng=resampling.rng())
    drawn = [_solve(standard, errors, each[:, studies], ridge) for each in draws]
    level = resampling.level
    bounds = percentile_bounds(np.vstack(drawn), level=level)
    intervals = [
        Interval(float(value), float(low), float(high), level, "percentile", len(errors), int((~complete).sum()))
        for value, low, high in zip(weights, *bounds, strict=True)
    ]
    tau = correlation(merge_ties(predicted, PRECISION), errors, studies=studies, **resampling.draw())
    order = _order_unseen(scores, errors, studies % min(parts, MOST_FOLDS), ridge)
    return RadcliqFit(
        terms=tuple(
            FittedTerm(column, _part(scores_of), float(mean[i]), float(scale[i]), intervals[i])
            for i, (column, scores_of) in enumerate(chosen.items())
        ),
        intercept=intervals[-1],
        target=target,
        cases=len(errors),
        studies=number,
        left_out=int((~complete).sum()),
        r2=_r2(predicted, errors),
        r2_cross_validated=_r2(unseen, errors),
        tau=tau.interval,
        tau_cross_validated=_tau_of_order(order, errors, studies, resampling),
        tau_p=tau.p,
        folds=parts,
        ridge=ridge,
        signatures={column: scores_of.signature for column, scores_of in chosen.items()},
        source=judgments.name,
    )


def check_radcliq_path(path: Path) -> None:
    """Check before the work that a composite can be written there."""
    if path.suffix != ".json":
        raise UsageError(f"a composite is written as .json, got {path.name!r}")


def write_radcliq(path: Path, fit: RadcliqFit) -> None:
    """Write a composite as readable JSON; `radcliq:version=FILE` is then a metric.

    Args:
        path: A .json file; its name without ending becomes part of the metric's column.
        fit: What `fit_radcliq` found.
    """
    check_radcliq_path(path)
    text = json.dumps(_plain(fit.as_dict()), ensure_ascii=False, indent=1, allow_nan=False)
    write_file(path, text + "\n")


def _choose(results: Results, columns: Sequence[str] | None) -> dict[str, Scores]:
    """Column -> the scores that have it."""
    headlines = [scores.columns[0] for scores in results.judges.values()]
    by_column = {column: scores for scores in reversed(list(results.judges.values())) for column in scores.columns}
    by_column |= {scores.columns[0]: scores for scores in results.judges.values()}
    for column in columns or ():
        if column not in by_column:
            raise UsageError(f"there is no column {column!r} in these scores; there are: {', '.join(by_column)}")
    chosen = {column: by_column[column] for column in (columns or headlines)}
    if not chosen:
        raise InputError("there are no scores to fit")
    return chosen


def _join(
    chosen: dict[str, Scores], judgments: Judgments, target: str
) -> tuple[list[tuple[str, str]], Array, Array]:
    plain = target.removesuffix("_significant")
    if target not in ("total", "significant") and plain not in BY_KEY:
        raise UsageError(
            f"a RadCliQ predicts errors: target must be total, significant or a category ({', '.join(BY_KEY)}), "
            f"got {target!r}"
        )
    if not judgments.errors:
        raise InputError(f"{judgments.name} has no error counts to fit to")
    counted = judgments.mean_errors()
    errors = dict(zip(counted.keys, counted.column(f"errors_{target}"), strict=True))
    first = next(iter(chosen.values()))
    scored = set(first.keys)
    keys = [key for key in errors if key in scored]
    if not keys:
        raise InputError(
            f"scores and judgments share no (id, system): scores have {first.keys[:1]}, "
            f"judgments {counted.keys[:1]}; score the judged reports with the candidate group as system"
        )
    table = []
    for column, scores in chosen.items():
        values = dict(zip(scores.keys, merge_ties(scores.column(column), scores.precision), strict=True))
        table.append([values[key] for key in keys])
    return keys, np.array(table, dtype=np.float64).T, np.array([errors[key] for key in keys])


def _solve(standard: Array, errors: Array, weights: Array, ridge: float) -> Array:
    """Coefficients and intercept (b, p + 1) of b samples in which case i occurs weights[b, i] times."""
    design = np.hstack([standard, np.ones((len(standard), 1))])
    width = design.shape[1]
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    left = (weights @ squares).reshape(-1, width, width)
    left += ridge * np.diag([*np.ones(width - 1), 0.0])
    right = weights @ (design * errors[:, None])
    # columns that say the same are no error: the smallest coefficients that fit are taken
    coefficients: Array = (np.linalg.pinv(left, hermitian=True) @ right[:, :, None])[:, :, 0]
    return coefficients


def _cross_validate(scores: Array, errors: Array, fold: NDArray[np.intp], ridge: float) -> Array:
    """Every report predicted by a model that has seen neither it nor its study."""
    unseen = np.empty(len(errors))
    for number in np.unique(fold):
        inside = fold != number
        unseen[~inside] = _predict(scores, errors, inside, np.flatnonzero(~inside), ridge)
    return unseen


def _order_unseen(scores: Array, errors: Array, fold: NDArray[np.intp], ridge: float) -> Array:
    """Signs (n, n) of the differences of two predictions, both by a model that has seen neither of the folds."""
    order = np.zeros((len(errors), len(errors)))
    folds = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    for a, b in itertools.combinations_with_replacement(range(len(folds)), 2):
        apart = np.unique(np.concatenate([folds[a], folds[b]]))
        inside = np.ones(len(errors), dtype=bool)
        inside[apart] = False
        predicted = np.full(len(errors), np.nan)
        predicted[apart] = merge_ties(_predict(scores, errors, inside, apart, ridge), PRECISION)
        signs = np.sign(predicted[folds[a]][:, None] - predicted[folds[b]])
        order[np.ix_(folds[a], folds[b])] = signs
        order[np.ix_(folds[b], folds[a])] = -signs.T
    return order


def _tau_of_order(order: Array, errors: Array, studies: NDArray[np.intp], resampling: Resampling) -> Interval:
    """Return Kendall's tau-b of pairwise signs with error counts; the interval draws studies."""
    target = np.sign(errors[:, None] - errors)
    parts = (order * target, np.abs(order), np.abs(target))
    draws = draw_weights(int(studies.max()) + 1, resamples=resampling.resamples, rng=resampling.rng())
    blocks = [np.ones((1, len(errors))), *(each[:, studies] for each in draws)]
    replicates = []
    for weights in blocks:
        balance, untied, untied_target = (np.einsum("bi,bi->b", weights @ part, weights) for part in parts)
        replicates.append(ratio(balance, np.sqrt(untied * untied_target)))
    low, high = percentile_bounds(np.concatenate(replicates[1:])[:, None], level=resampling.level)[:, 0]
    value = float(replicates[0][0])
    return Interval(value, float(low), float(high), resampling.level, "percentile", len(errors), 0)


def _predict(
    scores: Array, errors: Array, inside: NDArray[np.bool_], cases: NDArray[np.intp], ridge: float
) -> Array:
    """Predictions for cases by a model of the reports inside."""
    mean, scale = scores[inside].mean(axis=0), scores[inside].std(axis=0)
    standard = (scores - mean) / np.where(scale > 0, scale, 1.0)
    weights = _solve(standard[inside], errors[inside], np.ones((1, int(inside.sum()))), ridge)[0]
    predicted: Array = standard[cases] @ weights[:-1] + weights[-1]
    return predicted


def _r2(predicted: Array, errors: Array) -> float:
    spread = ((errors - errors.mean()) ** 2).sum()
    return float(1 - ((errors - predicted) ** 2).sum() / spread) if spread else float("nan")


def _part(scores: Scores) -> str:
    """The metric with the settings that differ from its defaults, as `radgauge.load` reads them."""
    metric = scores.metric
    if metric is None:
        raise InputError(f"the metric behind {scores.judge!r} is not installed, so a composite cannot name it")
    metric = unaliased(metric)
    settings = [
        f"{name}={_setting(value)}"
        for name, value in metric.settings().items()
        if name != "models" and value != getattr(_default(metric), name)
    ]
    return metric.name + (":" + ",".join(settings) if settings else "")


def _default(metric: Metric) -> Metric:
    """The same metric as it is without settings, in the same model profile."""
    models = getattr(metric, "models", None)
    kind: Any = type(metric)
    default: Metric = kind() if models is None else kind(models=models)
    return default


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list | frozenset):
        return "+".join(_setting(item) for item in value)
    text = str(value)
    if "," in text:
        raise UsageError(f"a composite cannot name the setting {text!r}: settings are separated by commas")
    return text


def _plain(value: Any) -> Any:
    """NaN as null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value
