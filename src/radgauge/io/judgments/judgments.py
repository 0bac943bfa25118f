"""Judgments: what radiologists said about reports, raters kept apart.

A rater is a judge like any metric: counts of errors (lower is better) and ratings (higher is better) are
Scores. The mean rater is the mean of those who judged a case; a case that nobody judged has NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.choices import NoRow
from radgauge.core.error_categories import BY_NUMBER, CATEGORIES, count_columns
from radgauge.core.errors import InputError
from radgauge.core.metric import Rows
from radgauge.core.scores import Scores


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments of a study's raters."""

    name: str  # Name of the data set or file
    cases: tuple[Case, ...]  # The cases, with texts where the files have them; `system` is the candidate's group
    # Rater -> error counts (columns of `count_columns()`); lower is better
    errors: Mapping[str, Scores] = field(default_factory=dict)
    ratings: Mapping[str, Scores] = field(default_factory=dict)  # Rater -> overall rating; higher is better
    notes: tuple[str, ...] = ()  # Assumptions made in reading, for people
    no_row: NoRow = "unjudged"  # What it means for the counts that a scored case is not among the cases

    def __repr__(self) -> str:
        kinds = [what for what, scores in (("errors", self.errors), ("ratings", self.ratings)) if scores]
        raters = f"{' and '.join(kinds)} of {len(self.raters)} raters"
        return f"<Judgments {self.name!r}: {raters}, {len(self.cases)} cases>"

    @property
    def raters(self) -> tuple[str, ...]:
        """Everyone who counted or rated."""
        return tuple(dict.fromkeys([*self.errors, *self.ratings]))

    def with_zero_counts(self, keys: Sequence[Key]) -> Judgments:
        """Return these judgments and further cases in which no rater counted an error."""
        cases = (*self.cases, *(Case(study, "", system=system) for study, system in keys))
        zero = {rater: np.where(np.isnan(s.values).all(axis=0), np.nan, 0.0) for rater, s in self.errors.items()}
        errors = {rater: _extended(scores, keys, zero[rater]) for rater, scores in self.errors.items()}
        ratings = {rater: _extended(scores, keys, np.array([np.nan])) for rater, scores in self.ratings.items()}
        return replace(self, cases=cases, errors=errors, ratings=ratings)

    def mean_errors(self) -> Scores:
        """The mean rater's error counts."""
        return mean_rater(self.errors, f"{self.name}: mean of {len(self.errors)} raters")

    def mean_ratings(self) -> Scores:
        """The mean rater's rating."""
        return mean_rater(self.ratings, f"{self.name}: mean of {len(self.ratings)} raters")


def _extended(scores: Scores, keys: Sequence[Key], row: Rows) -> Scores:
    values = np.vstack([scores.values, np.tile(row, (len(keys), 1))])
    return replace(scores, keys=(*scores.keys, *keys), rows=values, values=values)


def mean_rater(raters: Mapping[str, Scores], signature: str) -> Scores:
    """Mean over the raters who judged a case, column by column."""
    if not raters:
        raise InputError("there is no rater to take a mean of")
    every = list(raters.values())
    stack = np.stack([scores.values for scores in every])
    judged = ~np.isnan(stack)
    counts = judged.sum(axis=0)
    values: Rows = np.full(counts.shape, np.nan)
    np.divide(np.where(judged, stack, 0.0).sum(axis=0), counts, out=values, where=counts > 0)
    first = every[0]
    return Scores("mean rater", signature, first.keys, values, values, first.columns, first.higher_is_better)


Count = tuple[Key, str, int, bool, float]
"""(case, rater, category number, significant, how many)"""


def error_scores(
    counts: Iterable[Count],
    *,
    keys: tuple[Key, ...],
    signature: str,
    judged: Mapping[str, set[Key]] | None = None,
    categories: Iterable[int] = range(1, 7),
) -> dict[str, Scores]:
    """Single counts as one table per rater.

    Args:
        counts: Every count that was given; what is not mentioned is 0.
        keys: The cases, in order.
        signature: Where the counts come from.
        judged: Rater -> cases that the rater looked at, where that is known; others become NaN.
        categories: The categories that the raters were asked about; others become NaN.
    """
    row_of = {key: number for number, key in enumerate(keys)}
    width = len(CATEGORIES)
    tables: dict[str, Rows] = {rater: np.zeros((len(keys), 2, width)) for rater in judged or {}}
    for key, rater, category, significant, number in counts:
        if key not in row_of:
            raise InputError(f"{signature}: a count is given for {key}, which is not among the cases")
        if category not in BY_NUMBER:
            raise InputError(f"{signature}: error category must be 1 to {width}, got {category} for {key}")
        if not number >= 0:
            raise InputError(f"{signature}: a number of errors must be 0 or more, got {number} for {key}")
        table = tables.setdefault(rater, np.zeros((len(keys), 2, width)))
        table[row_of[key], int(significant), category - 1] += number
    surveyed = np.array([category.number in set(categories) for category in CATEGORIES])
    by_rater = {}
    for rater, table in tables.items():
        per_category = np.where(surveyed, table.sum(axis=1), np.nan)
        significant_ones = np.where(surveyed, table[:, 1], np.nan)
        totals = np.stack([table.sum(axis=(1, 2)), table[:, 1].sum(axis=1)], axis=1)
        values = np.concatenate([totals, per_category, significant_ones], axis=1)
        if judged is not None:
            values[[key not in judged[rater] for key in keys]] = np.nan
        by_rater[rater] = Scores(f"rater {rater}", signature, keys, values, values, count_columns(), False)
    return by_rater


def rating_scores(
    ratings: Mapping[str, Mapping[Key, float]], *, keys: tuple[Key, ...], signature: str
) -> dict[str, Scores]:
    """Rater -> case -> rating as one table per rater; NaN where a rater gave none."""
    by_rater = {}
    for rater, rater_ratings in ratings.items():
        values = np.array([[rater_ratings.get(key, np.nan)] for key in keys], dtype=np.float64).reshape(-1, 1)
        by_rater[rater] = Scores(f"rater {rater}", signature, keys, values, values, ("rating",), True)
    return by_rater
