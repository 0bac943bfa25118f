"""Two systems on the same studies: paired tests, intervals of the difference, effect sizes.

Everything is paired: a study counts only where both systems were judged, and what is swapped or drawn is
the study. Under the null hypothesis the two reports of a study could have changed places, which changes
the two column sums by the study's difference; so a permutation is one row of zeros and ones times the
table of differences, and thousands of them are one matrix product.

Koehn (2004), Riezler and Maxwell (2005); p = (hits + 1) / (permutations + 1) as in Phipson and Smyth (2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.errors import InputError
from radgauge.stats.corrections import Correction, adjust
from radgauge.stats.effects import Effect, effects
from radgauge.stats.resample import (
    CHUNK_BYTES,
    SAME,
    CorpusScores,
    Interval,
    IntervalMethod,
    Labels,
    Rows,
    as_rows,
    bca_bounds,
    check_choice,
    check_level,
    check_positive,
    draw_weights,
    jackknife,
    mean_scores,
    percentile_bounds,
    sum_by_unit,
    totals_and_counts,
    unit_index,
)

Alternative = Literal["two-sided", "greater", "less"]
TestName = Literal["permutation", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output of one metric, system a against system b.

    `difference` is a minus b as the metric counts, whatever its direction; `effect` is turned so that
    positive means a is better. `n` pairs were judged for both; `missing_a` and `missing_b` pairs lack a
    judgment of that system. `p_adjusted` is set by `adjust_comparisons`.
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
    def better(self) -> Literal["a", "b", ""]:
        """Which system has the better value; says nothing about significance."""
        if not self.difference.value:
            return ""
        return "a" if (self.difference.value > 0) is self.higher_is_better else "b"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Differences a minus b and p values, one per output; `exact` if every rearrangement was seen."""

    differences: Rows
    p: Rows
    exact: bool
    resamples: int


def compare_paired(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    rng: np.random.Generator,
    corpus_scores: CorpusScores = mean_scores,
    values_a: ArrayLike | None = None,
    values_b: ArrayLike | None = None,
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
        groups: one label per row; rows with the same label (a patient, a study) move together.
        alternative: `better` asks whether a is better than b, in the metric's own direction.

    >>> a, b = [0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.6, 0.4]
    >>> found, = compare_paired(a, b, rng=np.random.default_rng(0))
    >>> round(found.difference.value, 3), found.p, found.exact, found.effect.wins
    (0.3, 0.125, True, 1.0)
    """
    check_choice("test", test, ("permutation", "bootstrap"))
    check_choice("alternative", alternative, ("two-sided", "better", "worse"))
    a, b = _pair(rows_a, rows_b)
    whole_a, whole_b = as_rows(rows_a), as_rows(rows_b)
    side: Alternative = "two-sided"
    if alternative != "two-sided":
        side = "greater" if (alternative == "better") is higher_is_better else "less"
    tested, bounds = _bootstrap_difference(
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
            rng=rng,
        )
    case_a = _case_values(whole_a, corpus_scores) if values_a is None else as_rows(values_a, "values_a")
    case_b = _case_values(whole_b, corpus_scores) if values_b is None else as_rows(values_b, "values_b")
    scores_a, scores_b = _whole(a, corpus_scores), _whole(b, corpus_scores)
    if case_a.shape != case_b.shape or case_a.shape != (len(a), len(scores_a)):
        raise InputError(
            f"values_a and values_b must have one row per case and one column per output, "
            f"{(len(a), len(scores_a))}; got {case_a.shape} and {case_b.shape}"
        )
    missing_a, missing_b = np.isnan(case_a), np.isnan(case_b)
    both = ~(missing_a | missing_b)
    index, units = unit_index(groups, len(a))
    judged_units = (sum_by_unit(both.astype(np.float64), index, units) > 0).sum(0)
    bounds = np.where(judged_units >= 2, bounds, np.nan)
    return tuple(
        Comparison(
            value_a=float(scores_a[j]),
            value_b=float(scores_b[j]),
            difference=Interval(
                float(scores_a[j] - scores_b[j]),
                float(bounds[0, j]),
                float(bounds[1, j]),
                level,
                method,
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


def permutation_test(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    rng: np.random.Generator,
    corpus_scores: CorpusScores = mean_scores,
    groups: Labels | None = None,
    permutations: int = 10_000,
    alternative: Alternative = "two-sided",
) -> PairedTest:
    """Swap the two systems' rows unit by unit; how often is the difference at least as large?

    Where all 2^u swaps of the u units that differ are no more than `permutations`, all are made and p is
    exact; otherwise p = (hits + 1) / (permutations + 1), which is never 0.
    """
    check_positive("permutations", permutations)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    a, b = _pair(rows_a, rows_b)
    totals_a, counts = totals_and_counts(a, groups=groups)
    totals_b, _ = totals_and_counts(b, groups=groups)
    sum_a, sum_b, judged = totals_a.sum(0), totals_b.sum(0), counts.sum(0)
    score_a, score_b = corpus_scores(sum_a, judged), corpus_scores(sum_b, judged)
    observed = score_a - score_b
    margin = SAME * np.maximum(np.abs(score_a), np.abs(score_b))
    change = totals_b - totals_a
    change = change[np.any(change != 0, axis=1)]  # units without a difference swap to no effect
    exact = len(change) < 63 and 2 ** len(change) <= permutations
    blocks = _all_swaps(len(change)) if exact else _random_swaps(len(change), permutations, rng)
    hits = np.zeros(len(observed))
    with np.errstate(invalid="ignore"):  # an output that nobody judged compares as NaN and ends as NaN
        for swaps in blocks:
            moved = swaps @ change
            found = corpus_scores(sum_a + moved, judged) - corpus_scores(sum_b - moved, judged)
            hits += _at_least(found, observed, margin, alternative).sum(0)
    number = 2 ** len(change) if exact else permutations
    p = hits / number if exact else (hits + 1) / (number + 1)
    return PairedTest(observed, np.where(np.isnan(observed), np.nan, p), exact, number)


def bootstrap_test(
    rows_a: ArrayLike,
    rows_b: ArrayLike,
    *,
    rng: np.random.Generator,
    corpus_scores: CorpusScores = mean_scores,
    groups: Labels | None = None,
    resamples: int = 2000,
    alternative: Alternative = "two-sided",
) -> PairedTest:
    """Draw units for both systems together; could a difference this large come from none?

    The bootstrap distribution is moved to mean zero first (Riezler and Maxwell 2005, section 4). Prefer
    the permutation test for the p value; this one serves where an interval of the difference is read
    from the same draws.
    """
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    a, b = _pair(rows_a, rows_b)
    found, _ = _bootstrap_difference(
        a,
        b,
        corpus_scores,
        groups=groups,
        resamples=resamples,
        rng=rng,
        level=0.95,
        method="percentile",
        side=alternative,
    )
    return found


def _bootstrap_difference(
    a: Rows,
    b: Rows,
    corpus_scores: CorpusScores,
    *,
    groups: Labels | None,
    resamples: int,
    rng: np.random.Generator,
    level: float,
    method: IntervalMethod,
    side: Alternative,
) -> tuple[PairedTest, Rows]:
    check_level(level)
    check_positive("resamples", resamples)
    check_choice("method", method, ("percentile", "bca"))
    totals_a, counts = totals_and_counts(a, groups=groups)
    totals_b, _ = totals_and_counts(b, groups=groups)
    observed = corpus_scores(totals_a.sum(0), counts.sum(0)) - corpus_scores(totals_b.sum(0), counts.sum(0))
    if not len(counts):
        nothing = np.full_like(observed, np.nan)
        return PairedTest(observed, nothing, False, resamples), np.vstack([nothing, nothing])
    sums = np.hstack([totals_a, totals_b, counts])
    drawn = np.vstack([w @ sums for w in draw_weights(len(sums), resamples=resamples, rng=rng)])
    drawn_a, drawn_b, drawn_counts = np.hsplit(drawn, 3)
    replicates = corpus_scores(drawn_a, drawn_counts) - corpus_scores(drawn_b, drawn_counts)
    if method == "bca":
        left_out = jackknife(totals_a, counts, corpus_scores) - jackknife(totals_b, counts, corpus_scores)
        bounds = bca_bounds(replicates, observed, left_out, level=level)
    else:
        bounds = percentile_bounds(replicates, level=level)
    defined = np.isfinite(replicates)
    number = defined.sum(0)
    centre = np.where(defined, replicates, 0.0).sum(0) / np.maximum(number, 1)
    margin = SAME * np.abs(observed)
    with np.errstate(invalid="ignore"):
        hits = (_at_least(replicates - centre, observed, margin, side) & defined).sum(0)
    p = np.where(np.isnan(observed), np.nan, (hits + 1) / (number + 1))
    return PairedTest(observed, p, False, resamples), bounds


def _at_least(found: Rows, observed: Rows, margin: Rows, alternative: Alternative) -> NDArray[np.bool_]:
    if alternative == "greater":
        return found >= observed - margin
    if alternative == "less":
        return found <= observed + margin
    return np.abs(found) >= np.abs(observed) - margin


def _all_swaps(units: int) -> Iterator[Rows]:
    block = 1 << 12
    for start in range(0, 1 << units, block):
        number = np.arange(start, min(start + block, 1 << units), dtype=np.int64)
        yield ((number[:, None] >> np.arange(units)) & 1).astype(np.float64)


def _random_swaps(units: int, permutations: int, rng: np.random.Generator) -> Iterator[Rows]:
    # Whole 64-bit words per permutation, so that the numbers do not depend on the size of the blocks.
    words = -(-units // 64)
    block = max(1, CHUNK_BYTES // (8 * units))
    for start in range(0, permutations, block):
        rows = min(block, permutations - start)
        packed = np.frombuffer(rng.bytes(8 * words * rows), dtype=np.uint8).reshape(rows, 8 * words)
        yield np.unpackbits(packed, axis=1, count=units).astype(np.float64)


def _pair(rows_a: ArrayLike, rows_b: ArrayLike) -> tuple[Rows, Rows]:
    a, b = as_rows(rows_a, "rows_a"), as_rows(rows_b, "rows_b")
    if a.shape != b.shape:
        raise InputError(
            "rows_a and rows_b must hold the same cases in the same order, "
            f"got shapes {a.shape} and {b.shape}; join them by study first"
        )
    both = ~(np.isnan(a) | np.isnan(b))
    return np.where(both, a, np.nan), np.where(both, b, np.nan)


def _whole(rows: Rows, corpus_scores: CorpusScores) -> Rows:
    totals, counts = totals_and_counts(rows)
    return corpus_scores(totals.sum(0), counts.sum(0))


def _case_values(rows: Rows, corpus_scores: CorpusScores) -> Rows:
    totals, counts = totals_and_counts(rows)
    return corpus_scores(totals, counts)
