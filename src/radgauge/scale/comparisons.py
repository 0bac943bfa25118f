"""Systems against each other in a folder of scores, part by part: as `radgauge.compare`, in bounded memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from radgauge.choices import Correction, IntervalMethod, TestName
from radgauge.errors import InputError, UsageError
from radgauge.metric import Rows
from radgauge.scale.statistics import Gathered, Index, Judge, column_of, sums_of, weights
from radgauge.show.progress import working
from radgauge.stats.compare import Comparison
from radgauge.stats.effect_sizes import effects
from radgauge.stats.paired import at_least, pair
from radgauge.stats.products import product
from radgauge.stats.resample import LEAST, SAME, Interval, percentile_bounds
from radgauge.stats.resampling import Resampling
from radgauge.studies.compare import (
    Comparisons,
    SystemComparison,
    adjusted_by_output,
    enough_permutations,
    improvement,
    tested_columns,
    tested_pairs,
)

SWAP_BYTES = 32 << 20
"""Of swaps at a time."""


@dataclass(frozen=True)
class _Pair:
    """Two systems on the studies that both have: positions in each part, and how many."""

    system: int
    other: int
    mine: list[Index]
    theirs: list[Index]

    @property
    def sizes(self) -> Index:
        return np.array([len(each) for each in self.mine], dtype=np.int64)


def compare_parts(
    gathered: Gathered,
    *,
    resampling: Resampling,
    baseline: str | None = None,
    systems: Sequence[str] | None = None,
    all_pairs: bool = False,
    all_columns: bool = False,
    columns: Sequence[str] = (),
    test: TestName = "permutation",
    correction: Correction = "holm",
    permutations: int = 10_000,
    percent: bool = False,
) -> Comparisons:
    """Paired tests between systems, for every judge; see `radgauge.compare` for the arguments.

    Intervals are percentiles, whatever `resampling` says: folders that come here hold many studies.

    Raises:
        InputError: Two systems share no study.
        UsageError: A system is not there; the bootstrap test, or bca or t intervals, were asked for.
    """
    method: IntervalMethod = resampling.difference_interval
    if method not in ("auto", "percentile"):
        raise UsageError(f"a folder of this size has percentile intervals, got {method!r}")
    if test != "permutation":
        raise UsageError(f"a folder of this size is tested by permutation, got {test!r}")
    found: list[SystemComparison] = []
    chosen = tested_pairs(gathered.systems, baseline=baseline, systems=systems, all_pairs=all_pairs)
    permutations = enough_permutations(permutations, 1 if correction == "none" else len(chosen))
    with working("comparing") as tell:
        for place, ((name, other), judge) in enumerate(itertools.product(chosen, gathered.judges)):
            tell(judge.name, place, len(chosen) * len(gathered.judges))
            both = _pair(gathered, name, other)
            lines, changes = _compared(gathered, judge, both, resampling, permutations)
            scores = judge.empty
            for at in tested_columns(scores, all_columns, columns):
                up = scores.directions[at]
                ours, theirs = (
                    column_of(gathered, judge, at, both.mine, both.system),
                    column_of(gathered, judge, at, both.theirs, both.other),
                )
                here, there = np.isnan(ours), np.isnan(theirs)
                judged = int((~(here | there)).sum())
                line = replace(
                    lines[at],
                    effect=effects(ours, theirs, higher_is_better=up),
                    higher_is_better=up,
                    n=judged,
                    missing_a=int(here.sum()),
                    missing_b=int(there.sum()),
                    difference=_enough(replace(lines[at].difference, n=judged, missing=len(ours) - judged)),
                )
                better = improvement(changes[at], up) if percent else None
                column = scores.columns[at]
                found.append(SystemComparison(judge.name, column, name, other, line, scores.signature, better))
    found.sort(key=lambda line: [judge.name for judge in gathered.judges].index(line.judge))
    return adjusted_by_output(found, correction)


def _pair(gathered: Gathered, name: str, other: str) -> _Pair:
    a, b = gathered.systems.index(name), gathered.systems.index(other)
    shared = [gathered.shared(part, a, b) for part in gathered.parts]
    if not any(len(mine) for mine, _ in shared):
        raise InputError(f"systems {name!r} and {other!r} share no study id, so they cannot be compared in pairs")
    return _Pair(a, b, [mine for mine, _ in shared], [theirs for _, theirs in shared])


def _compared(
    gathered: Gathered, judge: Judge, both: _Pair, how: Resampling, permutations: int
) -> tuple[list[Comparison], list[Interval]]:
    """One comparison per output, effect sizes and counts still open; and the changes in percent."""
    width = judge.rows
    scores = judge.empty.corpus_scores
    totals = np.zeros(3 * width)
    drawn = np.zeros((how.resamples, 3 * width))
    moved = np.zeros((permutations, width))
    table, held = np.empty((0, 0)), -1
    for part, start, block in weights(both.sizes, resamples=how.resamples, seed=how.seed):
        if part != held:
            table, held = _table(gathered, judge, both, part), part
            totals += table.sum(axis=0)
            _swap(moved, table[:, width : 2 * width] - table[:, :width], [how.seed, 2, part])
        drawn[start : start + len(block)] += product(block, table)
    sum_a, sum_b, counts = np.split(totals, 3)
    value_a, value_b = scores(sum_a, counts), scores(sum_b, counts)
    observed = value_a - value_b
    margin = SAME * np.maximum(np.abs(value_a), np.abs(value_b))
    with np.errstate(invalid="ignore"):
        by_chance = scores(sum_a + moved, counts) - scores(sum_b - moved, counts)
        hits = at_least(by_chance, observed, margin, "two-sided").sum(axis=0)
    p = np.where(np.isnan(observed), np.nan, (hits + 1) / (permutations + 1))
    drawn_a, drawn_b, drawn_counts = np.hsplit(drawn, 3)
    again_a, again_b = scores(drawn_a, drawn_counts), scores(drawn_b, drawn_counts)
    bounds = percentile_bounds(again_a - again_b, level=how.level)
    widths = np.array([high - low for low, high in judge.empty.ranges])
    bounds = np.clip(bounds, -widths, widths)
    change, changes = _percent(value_a, value_b), _percent(again_a, again_b)
    limits = np.where(np.isnan(changes).any(axis=0), np.nan, percentile_bounds(changes, level=how.level))
    units = int(both.sizes.sum())
    nothing = effects([], [])
    lines = [
        Comparison(
            value_a=float(value_a[at]),
            value_b=float(value_b[at]),
            difference=Interval(
                float(observed[at]), float(bounds[0, at]), float(bounds[1, at]), how.level, "percentile", units, 0
            ),
            p=float(p[at]),
            p_adjusted=None,
            test="permutation",
            alternative="two-sided",
            exact=False,
            resamples=permutations,
            effect=nothing,
            n=units,
            missing_a=0,
            missing_b=0,
            higher_is_better=judge.empty.higher_is_better,
        )
        for at in range(len(observed))
    ]
    percents = [
        Interval(float(change[at]), float(limits[0, at]), float(limits[1, at]), how.level, "percentile", units, 0)
        for at in range(len(observed))
    ]
    return lines, percents


def _table(gathered: Gathered, judge: Judge, both: _Pair, part: int) -> Rows:
    """Sums of a, of b and counts, one row per study of a part that both systems have."""
    a, b = pair(
        gathered.rows(judge, part, both.system)[both.mine[part]],
        gathered.rows(judge, part, both.other)[both.theirs[part]],
    )
    return np.hstack([sums_of(a)[:, : judge.rows], sums_of(b)])


def _swap(moved: Rows, change: Rows, seed: list[int]) -> None:
    """Add what swapping the systems in a random half of the studies moves, for every permutation."""
    change = change[np.any(change != 0, axis=1)]
    units = len(change)
    if not units:
        return
    rng = np.random.default_rng(seed)
    words = -(-units // 64)
    block = max(1, SWAP_BYTES // (8 * units))
    for start in range(0, len(moved), block):
        rows = min(block, len(moved) - start)
        packed = np.frombuffer(rng.bytes(8 * words * rows), dtype=np.uint8).reshape(rows, 8 * words)
        swaps = np.unpackbits(packed, axis=1, count=units).astype(np.float64)
        moved[start : start + rows] += product(swaps, change)


def _percent(a: Rows, b: Rows) -> Rows:
    found = np.full(np.broadcast_shapes(a.shape, b.shape), math.nan)
    np.divide(100 * (a - b), b, out=found, where=b > 0)
    return found


def _enough(found: Interval) -> Interval:
    return found if found.n >= LEAST else replace(found, low=math.nan, high=math.nan)
