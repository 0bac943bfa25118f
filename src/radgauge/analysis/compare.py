"""compare: systems against each other on the studies they share, from Scores alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.leading import leading_system
from radgauge.analysis.tables import ALPHA, comparison_table
from radgauge.core.choices import RESAMPLES, Correction, IntervalMethod, TestName
from radgauge.core.error_categories import BESIDE_HEADLINE
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Rows
from radgauge.core.notebook import Grid, Shown, none_if_nan
from radgauge.core.progress import working
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import arrow, p_value, signed
from radgauge.core.wording import interval as interval_text
from radgauge.render.metric_names import metric_name
from radgauge.render.tables import Table
from radgauge.stats.compare import Comparison, adjust_comparisons, compare_paired
from radgauge.stats.effect_sizes import effects
from radgauge.stats.relative import relative_change
from radgauge.stats.resample import Interval
from radgauge.stats.resampling import Resampling

NEGLIGIBLE_NOTE = "~ a difference unlikely to be chance, but below the smallest effect of interest of its metric"


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """One output of one judge: `system` against `baseline`, on the studies that both have.

    `result.difference` is system minus baseline; `result.p_adjusted` accounts for all pairs of systems that one
    call of `compare` tested, each output by itself: it does not depend on which other outputs were tested.
    `improvement` is the change in percent of the baseline's value, positive = better whatever the direction; NaN
    where the baseline's value is not positive; None if it was not asked for.
    """

    judge: str
    column: str
    system: str
    baseline: str
    result: Comparison
    signature: str
    improvement: Interval | None = None

    @property
    def negligible(self) -> bool:
        """True if the difference is below the smallest effect of interest of its output, if that was measured."""
        smallest = metric_name(self.column).smallest
        return smallest is not None and abs(self.result.difference.value) < smallest

    @property
    def p_text(self) -> str:
        """The p value for display, with "~" where a difference unlikely to be chance is negligible."""
        mark = "~" if self.negligible and self.result.p_shown < ALPHA else ""
        return p_value(self.result.p_shown, bound=self.result.p_is_bound) + mark


class Comparisons(Shown, list[SystemComparison]):
    """Lines of `compare`: a list that shows itself as a table and becomes a frame."""

    def to_dict(self) -> dict[str, list[Any]]:
        """One row per output and pair of systems; None where there is no value."""
        rows = [
            {
                "judge": line.judge,
                "column": line.column,
                "system": line.system,
                "baseline": line.baseline,
                "value": line.result.value_a,
                "baseline_value": line.result.value_b,
                "difference": line.result.difference.value,
                "low": line.result.difference.low,
                "high": line.result.difference.high,
                "p": line.result.p,
                "p_adjusted": line.result.p_adjusted,
                "p_is_bound": line.result.p_is_bound,
                "negligible": line.negligible,
                "higher_is_better": line.result.higher_is_better,
                "d_z": line.result.effect.d_z,
                "n": line.result.n,
                "improvement_percent": line.improvement.value if line.improvement else None,
                "signature": line.signature,
            }
            for line in self
        ]
        return {name: [none_if_nan(row[name]) for row in rows] for name in (rows[0] if rows else ())}

    def table(self) -> Table:
        """Return the first pair of systems as a table; `radgauge.analysis.tables` has one of every pair."""
        first = [line for line in self if (line.system, line.baseline) == (self[0].system, self[0].baseline)]
        return comparison_table(first) if first else super().table()

    def grid(self) -> Grid:
        """One row per output and pair of systems."""
        rows = [
            (
                f"{line.column} {arrow(line.result.higher_is_better)}",
                f"{line.system} against {line.baseline}",
                signed(line.result.difference.value),
                interval_text(line.result.difference.low, line.result.difference.high),
                line.p_text,
                str(line.result.n),
            )
            for line in self
        ]
        notes = (NEGLIGIBLE_NOTE,) if any(line.p_text.endswith("~") for line in self) else ()
        return Grid("", ("metric", "systems", "difference", "interval", "p", "n"), rows, notes)


def compare(
    results: Results,
    *,
    baseline: str | None = None,
    systems: Sequence[str] | None = None,
    all_pairs: bool = False,
    all_columns: bool = False,
    columns: Sequence[str] = (),
    test: TestName = "permutation",
    correction: Correction = "holm",
    permutations: int = 10_000,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: IntervalMethod = "auto",
    percent: bool = False,
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Comparisons:
    """Paired tests between systems, for every judge.

    Args:
        results: What `score` or `read_scores` returned, with two systems or more.
        baseline: The system that the others are compared with; by default the one that leads by the judge that
            agrees best with raters (`leading_system`).
        systems: The systems to compare; by default all.
        all_pairs: Compare every pair instead of each system with the baseline.
        all_columns: Test every output; by default the headlines of each judge (of systems, of cases) and, of
            `errors`, recall and false alarms.
        columns: Outputs to test besides those.
        test: "permutation" or "bootstrap".
        correction: "holm", "bh" or "none", over the pairs of systems of this call, each output by itself.
        permutations: Rearrangements of the permutation test; more are made where so many pairs are tested that
            none could be significant otherwise.
        resamples: Resamples behind the intervals of the differences.
        level: Coverage of the intervals.
        method: "percentile" or "bca".
        percent: Also the improvement in percent of the baseline's value.
        seed: Seed of all resampling.
        resampling: Resamples, level, method and seed as one record, instead of them.
    """
    how = resampling or Resampling(level, resamples, method, seed)
    there = list(dict.fromkeys(system for _, system in results.keys_of_cases))
    if baseline is None and not all_pairs and set(systems or ()) <= set(there):
        baseline = leading_system(results, systems)
    pairs = tested_pairs(there, baseline=baseline, systems=systems, all_pairs=all_pairs)
    permutations = enough_permutations(permutations, 1 if correction == "none" else len(pairs))
    tested: list[SystemComparison] = []
    with working("comparing") as tell:
        for number_done, (scores, (system, other)) in enumerate(itertools.product(results.judges.values(), pairs)):
            tell(scores.judge, number_done, len(results) * len(pairs))
            a, b = _shared_studies(scores.of_system(system), scores.of_system(other))
            lines = compare_paired(
                a.rows,
                b.rows,
                corpus_scores=scores.corpus_scores,
                values_a=a.values,
                values_b=b.values,
                behind_a=a.behind(),
                behind_b=b.behind(),
                ranges=scores.ranges,
                higher_is_better=scores.higher_is_better,
                test=test,
                permutations=permutations,
                method=how.difference_interval,
                **how.draw(),
            )
            changes: tuple[Interval, ...] = ()
            if percent:
                changes = relative_change(
                    a.rows,
                    b.rows,
                    corpus_scores=scores.corpus_scores,
                    method=how.difference_interval,
                    **how.draw(),
                )
            for number in tested_columns(scores, all_columns, columns):
                line, up = lines[number], scores.directions[number]
                if up is not scores.higher_is_better:
                    effect = effects(a.values[:, number], b.values[:, number], higher_is_better=up)
                    line = replace(line, effect=effect, higher_is_better=up)
                column = scores.columns[number]
                better = improvement(changes[number], up) if percent else None
                tested.append(
                    SystemComparison(scores.judge, column, system, other, line, scores.signature, better)
                )
    return adjusted_by_output(tested, correction)


def enough_permutations(permutations: int, tests: int) -> int:
    """Permutations with which a corrected p value of so many tests can fall below .05: at least 40 per test.

    >>> enough_permutations(10_000, 6), enough_permutations(100, 6)
    (10000, 240)
    """
    return max(permutations, 40 * tests)


def adjusted_by_output(lines: Sequence[SystemComparison], correction: Correction) -> Comparisons:
    """The same lines with p values corrected over the pairs of systems, each output by itself."""
    families: dict[tuple[str, str], list[int]] = {}
    for position, line in enumerate(lines):
        families.setdefault((line.judge, line.column), []).append(position)
    adjusted = list(lines)
    for positions in families.values():
        results = adjust_comparisons([lines[position].result for position in positions], method=correction)
        for position, result in zip(positions, results, strict=True):
            adjusted[position] = replace(lines[position], result=result)
    return Comparisons(adjusted)


def tested_pairs(
    there: Sequence[str], *, baseline: str | None, systems: Sequence[str] | None, all_pairs: bool
) -> list[tuple[str, str]]:
    """(system, the one it is compared with), of the systems that are there.

    >>> tested_pairs(["a", "b", "c"], baseline="b", systems=None, all_pairs=False)
    [('a', 'b'), ('c', 'b')]
    """
    chosen = list(systems) if systems else list(there)
    for name in [*chosen, *([baseline] if baseline else [])]:
        if name not in there:
            raise UsageError(f"there is no system {name!r} in these scores; there are: {', '.join(there)}")
    if len(chosen) < 2 and not (baseline and chosen != [baseline]):
        raise InputError(f"comparing needs two systems or more, got {len(there)}: {', '.join(there)}")
    first = baseline if baseline is not None else chosen[0]
    if all_pairs:
        return [(b, a) for a, b in itertools.combinations(chosen, 2)]
    return [(name, first) for name in chosen if name != first]


def tested_columns(scores: Scores, every: bool, more: Sequence[str]) -> list[int]:
    """Positions of the outputs to test: all, or the headline, what belongs beside it, and what is asked for."""
    if every:
        return list(range(len(scores.columns)))
    names = dict.fromkeys((scores.system_headline, scores.columns[0], *BESIDE_HEADLINE, *more))
    return [scores.columns.index(name) for name in names if name in scores.columns]


def improvement(change: Interval, higher_is_better: bool) -> Interval:
    """A change in percent, turned so that positive means better."""
    if higher_is_better:
        return change
    return replace(change, value=-change.value, low=-change.high, high=-change.low)


def _shared_studies(a: Scores, b: Scores) -> tuple[Scores, Scores]:
    where_b = {study: index for index, (study, _) in enumerate(b.keys)}
    shared = [(index, where_b[study]) for index, (study, _) in enumerate(a.keys) if study in where_b]
    if not shared:
        raise InputError(
            f"systems {a.keys[0][1]!r} and {b.keys[0][1]!r} share no study id, so they cannot be compared in pairs"
        )
    return _without_noise(a.take([i for i, _ in shared]), b.take([j for _, j in shared]))


def _without_noise(a: Scores, b: Scores) -> tuple[Scores, Scores]:
    """Return both with the first one's outputs, and statistics, where they differ by rounding alone.

    Two texts may have equal outputs and other counts: BLEU is 0 for both, of which one is longer.
    """
    tied = _near(a.values, b.values, a.precision)
    same = tied & _near(a.rows, b.rows, a.precision)
    return a, replace(
        b,
        rows=np.where(same[:, None], a.rows, b.rows),
        values=np.where(tied[:, None], a.values, b.values),
    )


def _near(a: Rows, b: Rows, precision: float) -> NDArray[np.bool_]:
    """True for each row in which no value differs by more than the precision."""
    near: NDArray[np.bool_] = np.all((np.abs(a - b) <= precision) | (np.isnan(a) & np.isnan(b)), axis=1)
    return near
