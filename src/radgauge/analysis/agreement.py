"""align: metrics against radiologists. How well does a judge agree with people, and is another one better?

Everything is turned so that larger means better before it is compared: a positive correlation always means
agreement, whatever the direction of the metric and of the judgment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.choices import Correction, CorrelationMethod, DependentMethod, Equality, Kind, Scope, TieRule
from radgauge.core.error_categories import JUDGES
from radgauge.core.errors import InputError
from radgauge.core.notebook import Grid, Shown, none_if_nan
from radgauge.core.progress import working
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import interval as interval_text
from radgauge.core.wording import number
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.targets import default_targets, mean_of_present, raters_on, target_name
from radgauge.stats import (
    Agreement,
    BestOfN,
    Correlation,
    JudgePair,
    LeaveOneOut,
    Preference,
    Ranking,
    best_of_n,
    compare_judges,
    correlation_table,
    icc,
    krippendorff_alpha,
    leave_one_rater_out,
    preference_accuracy,
    rank_judges,
)
from radgauge.stats.coefficients import association, grouped_association, merge_ties
from radgauge.stats.resample import unit_index
from radgauge.stats.resampling import Resampling

Array = NDArray[np.float64]

LIKE_WITH_LIKE = (
    "counts predict counts, quality predicts ratings: errors_total and errors_significant are to be held against "
    "counted errors, errors_quality against ratings"
)


@dataclass(frozen=True, slots=True)
class AlignLine:
    """Agreement of one output of one judge with one target."""

    judge: str  # Name of the metric
    column: str
    target: str  # What radiologists said: total, significant, a category, or rating
    rater: str  # "mean", or one rater's name
    correlation: Correlation  # Positive = agreement
    not_judged: int  # Cases that the metric, or the raters, could not judge
    # The coefficient on the cases whose candidate is no copy of a reference: every metric gets copies right. None
    # where no candidate is a copy.
    without_copies: float | None = None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Agreement of radiologists among themselves on one target.

    One radiologist against the mean of the others is a point of reference, not a bound: a metric is compared with
    the mean of all raters, which is more reliable than any of them.
    """

    target: str
    agreements: tuple[Agreement, ...]
    leave_one_out: LeaveOneOut


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alignment(Shown):
    """Result of `agree`."""

    lines: tuple[AlignLine, ...]  # One per output, target and rater asked for
    ceilings: tuple[Ceiling, ...]  # One per target, where there is more than one rater
    # Column -> how often the judge prefers the report that the mean rater prefers
    preferences: Mapping[str, Preference]
    # Column -> tie-calibrated pairwise accuracy (Deutsch et al. 2023), as mt-metrics-eval.
    calibrated: Mapping[str, Preference]
    best_of: Mapping[str, BestOfN]  # Column -> what choosing each study's best candidate by this output gains
    ranking: Ranking | None  # Judges by agreement with the first target, in clusters of what cannot be told apart
    pairs: tuple[JudgePair, ...]  # Every two judges on the first target, where asked for
    cases: int  # How many cases were used
    copies: int  # How many of them have a candidate that repeats a reference word for word
    notes: tuple[str, ...]  # What a reader of the numbers should know

    def to_dict(self) -> dict[str, list[Any]]:
        """One row per output, target and rater; None where there is no value."""
        rows = [
            {
                "judge": line.judge,
                "column": line.column,
                "target": line.target,
                "rater": line.rater,
                "correlation": line.correlation.value,
                "low": line.correlation.interval.low,
                "high": line.correlation.interval.high,
                "p": line.correlation.p,
                "without_copies": line.without_copies,
                "n": line.correlation.interval.n,
                "not_judged": line.not_judged,
            }
            for line in self.lines
        ]
        return {name: [none_if_nan(row[name]) for row in rows] for name in (rows[0] if rows else ())}

    def grid(self) -> Grid:
        """One row per output, target and rater."""
        rows = [
            (
                line.column,
                line.target,
                line.rater,
                number(line.correlation.value),
                interval_text(line.correlation.interval.low, line.correlation.interval.high),
                str(line.not_judged),
            )
            for line in self.lines
        ]
        notes = tuple(f"note: {note}" for note in self.notes)
        headers = ("metric", "target", "rater", "correlation", "interval", "not judged")
        return Grid(f"agreement with radiologists on {self.cases} cases", headers, rows, notes)


@working("correlating with radiologists")
def agree(
    results: Results,
    judgments: Judgments,
    *,
    targets: Sequence[str] | None = None,
    kind: Kind = "kendall_b",
    scope: Scope = "pooled",
    per_rater: bool = False,
    all_columns: bool = False,
    more_errors_than: float | None = None,
    method: CorrelationMethod = "percentile",
    level: float = 0.95,
    resamples: int = 1000,
    ties: TieRule = "half",
    equality: Equality = "precision",
    correction: Correction = "holm",
    pairs: bool = False,
    mine: str | None = None,
    test: DependentMethod = "williams1959",
    one_sided: bool = False,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Alignment:
    """Correlate every judge with what radiologists said.

    Args:
        results: Scores of metrics on the judged cases; joined with the judgments by (id, system).
        judgments: What `read_judgments` returned.
        targets: total, significant, rating, a category (omission, or 2), a category's significant errors
            (omission_significant); None = whatever the judgments have of total, significant and rating.
        kind: kendall_b, kendall_c, spearman or pearson.
        scope: "pooled" over all cases; "group" = mean over the candidate groups (ReXVal's four oracles);
            "study" = mean over studies.
        per_rater: Also against every single rater (supplementary table 1 of Yu et al.).
        all_columns: Every output; by default headlines, and against counted errors the outputs that count them.
        more_errors_than: Only the cases whose mean rater counted more errors than this (the noisy subset of
            Calamida et al. section 7).
        method: percentile or bca with studies as the unit; "yu2022" = the paper's own interval, which is the
            interval of a mean of resampled values and so much too narrow.
        level: Coverage of the intervals.
        resamples: Bootstrap resamples.
        ties: How preference accuracy treats ties.
        equality: "precision" takes values of a metric that differ by rounding for equal (`Metric.precision`);
            "exact" compares every digit, which is the procedure of published studies: their coefficients order
            copies by noise.
        correction: Over all pairs of judges.
        pairs: Also compare every two judges on the first target, by bootstrap and by `test`.
        mine: An output: only its pairs with the others are compared, with its difference from each.
        test: A test of two correlations with one target: hendrickson1970 (Calamida et al.), williams1959, ...
        one_sided: Whether `test` asks only if the better judge is better (Calamida et al. do). Half the p value:
            honest where the better one was named before looking.
        seed: Seed of all resampling.
        resampling: Method, level, resamples and seed as one record, instead of them.
    """
    how = resampling or Resampling(level, resamples, method, seed)
    wanted = list(dict.fromkeys(map(target_name, targets))) if targets else default_targets(judgments)
    judgments, unjudged = _with_every_case(results, judgments, counts=any(name != "rating" for name in wanted))
    joined, notes = _join(results, judgments)
    notes += unjudged
    keep = _noisy(judgments, joined, more_errors_than)
    studies = [joined.keys[i][0] for i in keep]
    groups = [joined.keys[i][1] for i in keep]
    within = {"pooled": None, "group": groups, "study": studies}[scope]
    outputs = [
        (name, column, _values(scores, column, equality)[joined.places[name]][keep])
        for name, scores in results.judges.items()
        for column in (scores.columns if all_columns else _compared(scores, wanted))
    ]
    copies = _copies(judgments)[joined.human][keep]
    if copies.any():
        notes.append(f"{int(copies.sum())} of {len(keep)} candidates repeat a reference word for word")
    if any(name != "rating" for name in wanted) and any(
        column.endswith("errors_quality") for _, column, _ in outputs
    ):
        notes.append(LIKE_WITH_LIKE)
    lines: list[AlignLine] = []
    ceilings: list[Ceiling] = []
    for target in wanted:
        raters = raters_on(judgments, target)
        by_rater = np.stack([values[joined.human][keep] for values in raters.values()], axis=1)
        mean = mean_of_present(by_rater)
        goals = {"mean": mean, **(dict(zip(raters, by_rater.T, strict=True)) if per_rater else {})}
        compared = [
            output for output in outputs if all_columns or output[1] in _compared(results[output[0]], [target])
        ]
        table = np.stack([values for _, _, values in compared], axis=1)
        found = correlation_table(
            table,
            np.stack(list(goals.values()), axis=1),
            kind=kind,
            studies=studies,
            within=within,
            method=how.correlation_interval,
            **how.draw(),
        )
        for (name, column, values), row in zip(compared, found, strict=True):
            for (rater, goal), correlation in zip(goals.items(), row, strict=True):
                unknown = int((np.isnan(values) | np.isnan(goal)).sum())
                rest = _coefficient(values, goal, ~copies, kind, within) if copies.any() else None
                lines.append(AlignLine(name, column, target, rater, correlation, unknown, rest))
        if len(raters) > 1:
            ceilings.append(_ceiling(target, by_rater, kind, studies, within, how))
    first = mean_of_present(
        np.stack([v[joined.human][keep] for v in raters_on(judgments, wanted[0]).values()], axis=1)
    )
    compared = [
        output for output in outputs if all_columns or output[1] in _compared(results[output[0]], wanted[:1])
    ]
    table = np.stack([values for _, _, values in compared], axis=1)
    names = [column for _, column, _ in compared]
    several = len(set(studies)) < len(studies)  # one candidate per study: there is nothing to prefer
    rivals = len(names) * (len(names) - 1) // 2
    smallest = rivals / (how.resamples + 1)
    if correction == "holm" and smallest > 0.05:
        notes.append(
            f"{how.resamples} resamples are too few to tell {len(names)} judges apart: the smallest p value after "
            f"correction for {rivals} pairs is {smallest:.2f}; ask for {40 * rivals} or more"
        )
    return Alignment(
        lines=tuple(lines),
        ceilings=tuple(ceilings),
        preferences=_preferences(names, table, first, studies, ties, how) if several else {},
        calibrated=_preferences(names, table, first, studies, "calibrated", how) if several else {},
        best_of={
            name: best_of_n(values, first, studies=studies, **how.draw())
            for name, values in zip(names, table.T, strict=True)
        }
        if several
        else {},
        ranking=_rank(names, table, first, kind, studies, within, correction, how),
        pairs=compare_judges(
            table,
            first,
            names=names,
            kind=kind,
            studies=studies,
            within=within,
            test=test,
            alternative="greater" if one_sided else "two-sided",
            correction=correction,
            against=mine,
            **how.draw(),
        )
        if pairs or mine is not None
        else (),
        cases=len(keep),
        copies=int(copies.sum()),
        notes=(*judgments.notes, *notes),
    )


def _compared(scores: Scores, targets: Sequence[str]) -> list[str]:
    """Return the outputs to compare with targets: headlines, and of counted errors the outputs that count them."""
    counts = tuple(f"errors_{target}{end}" for target in targets if target != "rating" for end in JUDGES)
    return [column for n, column in enumerate(scores.columns) if not n or (counts and column.endswith(counts))]


def _values(scores: Scores, column: str, equality: Equality) -> Array:
    values = scores.oriented(column)
    return values if equality == "exact" else merge_ties(values, scores.precision)


def _copies(judgments: Judgments) -> NDArray[np.bool_]:
    """Return which candidates repeat a reference, letter case and white space apart."""
    return np.array(
        [
            bool(text := _plain(case.candidate)) and text in {_plain(reference) for reference in case.references}
            for case in judgments.cases
        ],
        dtype=bool,
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _coefficient(
    values: Array, goal: Array, inside: NDArray[np.bool_], kind: Kind, within: Sequence[str] | None
) -> float:
    if within is None:
        return association(values[inside], goal[inside], kind=kind)
    index, groups = unit_index(
        [label for label, chosen in zip(within, inside, strict=True) if chosen], inside.sum()
    )
    parts = grouped_association(values[inside], goal[inside], index, groups, kind=kind)
    return float(np.nanmean(parts)) if (~np.isnan(parts)).any() else float("nan")


@dataclass(frozen=True, slots=True)
class _Joined:
    keys: tuple[tuple[str, str], ...]
    places: Mapping[str, NDArray[np.intp]]
    human: NDArray[np.intp]


def _with_every_case(results: Results, judgments: Judgments, *, counts: bool) -> tuple[Judgments, list[str]]:
    """Return judgments that say something of scored cases without one, as far as their table's form allows."""
    judged = {case.key for case in judgments.cases}
    scored = results.keys_of_cases
    missing = [key for key in scored if key not in judged]
    if not missing or len(missing) == len(scored):
        return judgments, []
    what = f"{len(missing)} of {len(scored)} scored cases have no judgment"
    if counts and judgments.no_row == "zero":
        return judgments.with_zero_counts(missing), [f"{what}: they count as cases without errors"]
    if counts and judgments.no_row == "refuse":
        raise InputError(
            f"{what}, first: {missing[0]}. Say what a missing row means: no_row='zero' (no errors) or 'unjudged' "
            "(--ratings no_row=)"
        )
    return judgments, [f"{what} and are left out"]


def _join(results: Results, judgments: Judgments) -> tuple[_Joined, list[str]]:
    """The cases that both sides have, by key, in the order of the judgments."""
    human = {case.key: index for index, case in enumerate(judgments.cases)}
    judged = set(results.keys_of_cases)
    shared = tuple(key for key in human if key in judged)
    if not shared:
        ours, theirs = next(iter(results.keys_of_cases), None), next(iter(human), None)
        raise InputError(
            f"scores and judgments share no (id, system): scores have {ours}, judgments {theirs}; "
            "score the judged reports with the same ids and the candidate group as system"
        )
    places = {
        name: np.array([where[key] for key in shared], dtype=np.intp)
        for name, scores in results.judges.items()
        for where in [{key: index for index, key in enumerate(scores.keys)}]
    }
    notes = []
    if len(shared) < len(human):
        notes.append(f"{len(human) - len(shared)} of {len(human)} judged cases have no scores and are left out")
    return _Joined(shared, places, np.array([human[key] for key in shared], dtype=np.intp)), notes


def _noisy(judgments: Judgments, joined: _Joined, more_errors_than: float | None) -> NDArray[np.intp]:
    if more_errors_than is None:
        return np.arange(len(joined.keys))
    totals = judgments.mean_errors().column("errors_total")[joined.human]
    keep = np.flatnonzero(totals > more_errors_than)
    if len(keep) < 3:
        raise InputError(f"only {len(keep)} cases have more than {more_errors_than:g} errors; correlations need 3")
    return keep


def _ceiling(
    target: str,
    by_rater: Array,
    kind: Kind,
    studies: Sequence[str],
    within: Sequence[str] | None,
    how: Resampling,
) -> Ceiling:
    draw = how.draw()  # one generator for both
    agreements = (
        icc(by_rater, level=how.level),
        icc(by_rater, average=True, level=how.level),
        krippendorff_alpha(by_rater, studies=studies, **draw),
    )
    left_out = leave_one_rater_out(by_rater, kind=kind, studies=studies, within=within, **draw)
    return Ceiling(target, agreements, left_out)


def _preferences(
    names: Sequence[str],
    table: Array,
    goal: Array,
    studies: Sequence[str],
    ties: TieRule,
    how: Resampling,
) -> dict[str, Preference]:
    return {
        name: preference_accuracy(values, goal, studies=studies, ties=ties, **how.draw())
        for name, values in zip(names, table.T, strict=True)
    }


def _rank(
    names: Sequence[str],
    table: Array,
    goal: Array,
    kind: Kind,
    studies: Sequence[str],
    within: Sequence[str] | None,
    correction: Correction,
    how: Resampling,
) -> Ranking | None:
    if len(names) < 2:
        return None
    return rank_judges(
        table,
        goal,
        names=names,
        kind=kind,
        studies=studies,
        within=within,
        correction=correction,
        **how.draw(),
    )
