"""Paired tests between two systems that were judged on the same cases.

Everything is paired: a case counts only where both systems were judged, and what is swapped or drawn is
the study. Under the null hypothesis the two reports of a study could have changed places, which changes
the two column sums by the study's difference; so a permutation is one row of zeros and ones times the
table of differences, and thousands of them are one matrix product.

Koehn (2004), Riezler and Maxwell (2005); p = (hits + 1) / (permutations + 1) as in Phipson and Smyth (2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radgauge.core.choices import IntervalMethod
from radgauge.core.errors import InputError
from radgauge.stats.products import product
from radgauge.stats.resample import (
    CHUNK_BYTES,
    METHODS,
    SAME,
    CorpusScores,
    Labels,
    Rows,
    as_rows,
    bca_bounds,
    check_choice,
    check_level,
    check_positive,
    chosen_method,
    draw_weights,
    jackknife,
    mean_scores,
    percentile_bounds,
    t_bounds,
    totals_and_counts,
)

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True, eq=False)
class PairedTest:
    """Differences a minus b and p values, one per output; `exact` if every rearrangement was seen."""

    differences: Rows
    p: Rows
    exact: bool
    resamples: int


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
    a, b = pair(rows_a, rows_b)
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
            moved = product(swaps, change)
            drawn = corpus_scores(sum_a + moved, judged) - corpus_scores(sum_b - moved, judged)
            hits += at_least(drawn, observed, margin, alternative).sum(0)
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
    a, b = pair(rows_a, rows_b)
    test, _ = bootstrap_difference(
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
    return test


def bootstrap_difference(
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
    """The bootstrap test and, from the same draws, the bounds (2, m) of the difference."""
    check_level(level)
    check_positive("resamples", resamples)
    check_choice("method", method, METHODS)
    totals_a, counts = totals_and_counts(a, groups=groups)
    totals_b, _ = totals_and_counts(b, groups=groups)
    observed = corpus_scores(totals_a.sum(0), counts.sum(0)) - corpus_scores(totals_b.sum(0), counts.sum(0))
    if not len(counts):
        nothing = np.full_like(observed, np.nan)
        return PairedTest(observed, nothing, False, resamples), np.vstack([nothing, nothing])
    drawn_a, drawn_b = drawn_scores(totals_a, totals_b, counts, corpus_scores, resamples=resamples, rng=rng)
    replicates = drawn_a - drawn_b
    bounds = percentile_bounds(replicates, level=level)
    if method != "percentile":
        left_out = jackknife(totals_a, counts, corpus_scores) - jackknife(totals_b, counts, corpus_scores)
        if method == "bca":
            bounds = bca_bounds(replicates, observed, left_out, level=level)
        else:
            judged = (counts > 0).any(axis=1)
            if chosen_method(method, int(judged.sum())) == "t":
                left_out[~judged] = np.nan
                bounds = t_bounds(observed, left_out, level=level)
    defined = np.isfinite(replicates)
    number = defined.sum(0)
    centre = np.where(defined, replicates, 0.0).sum(0) / np.maximum(number, 1)
    margin = SAME * np.abs(observed)
    with np.errstate(invalid="ignore"):
        hits = (at_least(replicates - centre, observed, margin, side) & defined).sum(0)
    p = np.where(np.isnan(observed), np.nan, (hits + 1) / (number + 1))
    return PairedTest(observed, p, False, resamples), bounds


def drawn_scores(
    totals_a: Rows,
    totals_b: Rows,
    counts: Rows,
    corpus_scores: CorpusScores,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Rows, Rows]:
    """The corpus scores of both systems in every resample; units are drawn for both together."""
    sums = np.hstack([totals_a, totals_b, counts])
    drawn = np.vstack([product(w, sums) for w in draw_weights(len(sums), resamples=resamples, rng=rng)])
    drawn_a, drawn_b, drawn_counts = np.hsplit(drawn, 3)
    return corpus_scores(drawn_a, drawn_counts), corpus_scores(drawn_b, drawn_counts)


def at_least(drawn: Rows, observed: Rows, margin: Rows, alternative: Alternative) -> NDArray[np.bool_]:
    """True if a drawn difference is as extreme as the observed one."""
    if alternative == "greater":
        return drawn >= observed - margin
    if alternative == "less":
        return drawn <= observed + margin
    return np.abs(drawn) >= np.abs(observed) - margin


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


def pair(rows_a: ArrayLike, rows_b: ArrayLike) -> tuple[Rows, Rows]:
    """Both tables with NaN wherever either has one, so that the sums of both run over the same cases."""
    a, b = as_rows(rows_a, "rows_a"), as_rows(rows_b, "rows_b")
    if a.shape != b.shape:
        raise InputError(
            "rows_a and rows_b must hold the same cases in the same order, "
            f"got shapes {a.shape} and {b.shape}; join them by study first"
        )
    both = ~(np.isnan(a) | np.isnan(b))
    return np.where(both, a, np.nan), np.where(both, b, np.nan)
