"""Two systems on the same studies: values, interval of the difference, test, effect sizes.

A case counts only where both systems were judged; how many were lost to each is part of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import Correction, IntervalMethod, TestName
from radgauge.core.errors import InputError
from radgauge.stats.corrections import adjust
from radgauge.stats.effect_sizes import Effect, effects
from radgauge.stats.paired import Alternative, bootstrap_difference, pair, permutation_test
from radgauge.stats.resample import (
    MIN_UNITS,
    CorpusScores,
    Interval,
    Labels,
    Rows,
    as_rows,
    check_choice,
    chosen_method,
    mean_scores,
    sum_by_unit,
    totals_and_counts,
    unit_index,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output of one metric, system a against system b.

    `difference` is a minus b as the metric counts, whatever its direction; `effect` is turned so that
    positive means a is better. `n` pairs were judged for both; `missing_a` and `missing_b` pairs lack a
    judgment of that system. `p_adjusted` is set by `adjust_comparisons`. `n` counts the cases behind `value_a`
    and `value_b`, `effect.n` those that have a value of their own.
    """

    value_a: float
    value_b: float
    difference: Interval
    p: float
    p_adjusted: float | None
    test: TestName
    alternative: str
    exact: bool
    resamples: int
    effect: Effect
    n: int
    missing_a: int
    missing_b: int
    higher_is_better: bool

    @property
    def p_is_bound(self) -> bool:
        """True if no permutation reached the difference: p is then at most what is given."""
        return not self.exact and self.p * (self.resamples + 1) < 1.5

    @property
    def p_shown(self) -> float:
        """The p value to show and to judge by: the adjusted one where there is one."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def better(self) -> Literal["a", "b", ""]:
        """System with the better value; says nothing about significance."""
        if not self.difference.value:
            return ""
        return "a" if (self.difference.value > 0) is self.higher_is_better else "b"


def compare_paired(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    rng: np.random.Generator,
    corpus_scores: CorpusScores = mean_scores,
    values_a: ArrayLike | None = None,
    values_b: ArrayLike | None = None,
    behind_a: NDArray[np.bool_] | None = None,
    behind_b: NDArray[np.bool_] | None = None,
    ranges: Sequence[tuple[float, float]] | None = None,
    groups: Labels | None = None,
    higher_is_better: bool = True,
    test: TestName = "permutation",
    alternative: Literal["two-sided", "better", "worse"] = "two-sided",
    permutations: int = 10_000,
    resamples: int = 2000,
    level: float = 0.95,
    method: IntervalMethod = "percentile",
) -> tuple[Comparison, ...]:
    """Compare two systems judged on the same cases, row by row; one comparison per output.

    Args:
        rows_a: (n, k) sufficient statistics of system a; NaN where it could not be judged.
        rows_b: the same cases of system b, in the same order.
        corpus_scores: maps column sums and counts to scores.
        values_a: (n, m) scores per case for the effect sizes; by default the corpus score of each case alone.
        values_b: the same for system b.
        behind_a: (n, m) cases behind each corpus value of system a; by default those with a value per case. Cases
            that have no value in either system, such as a normal study for a recall, do not count.
        behind_b: the same for system b.
        ranges: smallest and largest possible value of each output: no interval leaves the range of a difference.
        groups: one label per row; rows with the same label (a patient, a study) move together.
        alternative: `better` asks whether a is better than b, in the metric's own direction.

    >>> a, b = [0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.6, 0.4]
    >>> result, = compare_paired(a, b, rng=np.random.default_rng(0))
    >>> round(result.difference.value, 3), result.p, result.exact, result.effect.wins
    (0.3, 0.125, True, 1.0)
    """
    check_choice("test", test, ("permutation", "bootstrap"))
    check_choice("alternative", alternative, ("two-sided", "better", "worse"))
    a, b = pair(rows_a, rows_b)
    whole_a, whole_b = as_rows(rows_a), as_rows(rows_b)
    side: Alternative = "two-sided"
    if alternative != "two-sided":
        side = "greater" if (alternative == "better") is higher_is_better else "less"
    (swaps,) = rng.spawn(1)  # of its own, so that p does not depend on the number of resamples
    tested, bounds = bootstrap_difference(
        a,
        b,
        corpus_scores,
        groups=groups,
        resamples=resamples,
        rng=rng,
        level=level,
        method=method,
        side=side,
    )
    if test == "permutation":
        tested = permutation_test(
            a,
            b,
            corpus_scores=corpus_scores,
            groups=groups,
            permutations=permutations,
            alternative=side,
            rng=swaps,
        )
    case_a = _case_values(whole_a, corpus_scores) if values_a is None else as_rows(values_a, "values_a")
    case_b = _case_values(whole_b, corpus_scores) if values_b is None else as_rows(values_b, "values_b")
    scores_a, scores_b = _corpus_values(a, corpus_scores), _corpus_values(b, corpus_scores)
    if case_a.shape != case_b.shape or case_a.shape != (len(a), len(scores_a)):
        raise InputError(
            f"values_a and values_b must have one row per case and one column per output, "
            f"{(len(a), len(scores_a))}; got {case_a.shape} and {case_b.shape}"
        )
    missing_a, missing_b = np.isnan(case_a), np.isnan(case_b)
    if behind_a is not None and behind_b is not None:  # 0 / 0 in one system is no reason to leave out the other
        silent = missing_a & missing_b
        missing_a, missing_b = ~behind_a | silent, ~behind_b | silent
    both = ~(missing_a | missing_b)
    index, units = unit_index(groups, len(a))
    judged_units = (sum_by_unit(both.astype(np.float64), index, units) > 0).sum(0)
    used = chosen_method(method, int(judged_units.max(initial=0)))
    bounds = np.where(judged_units >= MIN_UNITS, bounds, np.nan)
    if ranges is not None:
        widths = np.array([high - low for low, high in ranges])
        bounds = np.clip(bounds, -widths, widths)
    return tuple(
        Comparison(
            value_a=float(scores_a[j]),
            value_b=float(scores_b[j]),
            difference=Interval(
                float(scores_a[j] - scores_b[j]),
                float(bounds[0, j]),
                float(bounds[1, j]),
                level,
                used,
                int(both[:, j].sum()),
                int((~both[:, j]).sum()),
            ),
            p=float(tested.p[j]),
            p_adjusted=None,
            test=test,
            alternative=alternative,
            exact=tested.exact,
            resamples=tested.resamples,
            effect=effects(case_a[:, j], case_b[:, j], higher_is_better=higher_is_better),
            n=int(both[:, j].sum()),
            missing_a=int(missing_a[:, j].sum()),
            missing_b=int(missing_b[:, j].sum()),
            higher_is_better=higher_is_better,
        )
        for j in range(len(scores_a))
    )


def adjust_comparisons(
    comparisons: Sequence[Comparison], *, method: Correction = "holm"
) -> tuple[Comparison, ...]:
    """The same comparisons with `p_adjusted` for having made all of them."""
    adjusted = adjust([c.p for c in comparisons], method=method)
    return tuple(replace(c, p_adjusted=float(p)) for c, p in zip(comparisons, adjusted, strict=True))


def _corpus_values(rows: Rows, corpus_scores: CorpusScores) -> Rows:
    totals, counts = totals_and_counts(rows)
    return corpus_scores(totals.sum(0), counts.sum(0))


def _case_values(rows: Rows, corpus_scores: CorpusScores) -> Rows:
    totals, counts = totals_and_counts(rows)
    return corpus_scores(totals, counts)
