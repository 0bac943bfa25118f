"""Differences and intervals.

One comparison has one p value and one interval wherever it is shown, and no interval holds impossible values.
"""

from __future__ import annotations

import math
from functools import cache

from outcome import Outcome

import radgauge as rg
from radgauge.analysis.summary import summarise
from radgauge.core.metric import Metric
from radgauge.core.registry import DEFAULTS, load
from radgauge.report import build_report
from radgauge.samples import sample_reports_path

SIZES = (2, 3, 5, 8, 13)
PAIR = ("careful", "hasty")


@cache
def results(studies: int) -> rg.Results:
    """Default metrics on the first studies of two bundled systems."""
    cases = [case for case in rg.read_cases(sample_reports_path()).cases if case.system in PAIR]
    ids = list(dict.fromkeys(case.id for case in cases))[:studies]
    return rg.score([case for case in cases if case.id in ids], progress=False)


def _ranges() -> dict[str, tuple[float, float]]:
    metrics: list[Metric] = [load(name) for name in DEFAULTS]
    return {
        column: limits for metric in metrics for column, limits in zip(metric.columns, metric.ranges, strict=True)
    }


def control_intervals_within_the_range() -> Outcome:
    """Values and intervals of every output stay where values can be."""
    ranges, outside, checked = _ranges(), [], 0
    for studies in SIZES:
        for line in summarise(results(studies)):
            low, high = ranges[line.column]
            limits = [value for value in (line.value, line.low, line.high) if not math.isnan(value)]
            checked += len(limits) == 3
            outside += [line.column for value in limits if not low - 1e-9 <= value <= high + 1e-9]
    did = f"{checked} intervals of sets of {SIZES[0]} to {SIZES[-1]} studies, {len(outside)} outside"
    return Outcome("every output of the default metrics", "stay within the range of the output", did, not outside)


def control_interval_of_a_system_that_reports_nothing() -> Outcome:
    """Resamples of studies without a match are all 0, which is no certainty."""
    cases = [rg.Case(f"s{n}", "The lungs are clear.", ("Large left pneumothorax.",)) for n in range(30)]
    (recall,) = [line for line in summarise(rg.score(cases, ["errors"])) if line.column == "errors_recall"]
    did = f"recall {recall.value:.3f} [{recall.low:.3f}, {recall.high:.3f}]"
    return Outcome(
        "30 studies of which no finding is reported", "have an interval above 0", did, recall.high > 0.05
    )


def control_intervals_of_differences() -> Outcome:
    """A difference cannot be larger than the range."""
    ranges, outside, checked = _ranges(), [], 0
    for studies in SIZES:
        for line in rg.compare(results(studies), all_columns=True, permutations=200):
            width = ranges[line.column][1] - ranges[line.column][0]
            gap = line.result.difference
            limits = [value for value in (gap.value, gap.low, gap.high) if not math.isnan(value)]
            checked += len(limits) == 3
            outside += [line.column for value in limits if abs(value) > width + 1e-9]
    did = f"{checked} intervals of differences, {len(outside)} wider"
    return Outcome(
        "every difference of two systems", "be at most the width of the range", did, not outside and checked > 0
    )


def control_one_study() -> Outcome:
    """One study has no interval."""
    lines = summarise(results(1))
    with_interval = [line.column for line in lines if not (math.isnan(line.low) and math.isnan(line.high))]
    gaps = [line.result.difference for line in rg.compare(results(1), permutations=200)]
    with_interval += ["difference" for gap in gaps if not (math.isnan(gap.low) and math.isnan(gap.high))]
    did = f"{len(with_interval)} of {len(lines) + len(gaps)} have an interval"
    return Outcome("a set of one study", "show values without intervals", did, not with_interval)


def control_one_p_value() -> Outcome:
    """What Python says, the tables of a report say."""
    compared = {(line.column, line.system): line for line in rg.compare(results(13), permutations=2000)}
    (table,) = [
        table
        for name, table in build_report(results(13), permutations=2000).tables.items()
        if name == "comparison"
    ]
    rows = {(record["metric"], record["system"]): record for record in table.records}
    shared = [key for key in rows if key in compared]
    same = [
        key
        for key in shared
        if (rows[key]["p_adjusted"], rows[key]["low"], rows[key]["high"])
        == (
            compared[key].result.p_adjusted,
            compared[key].result.difference.low,
            compared[key].result.difference.high,
        )
        or math.isnan(compared[key].result.difference.value)
    ]
    did = f"{len(same)} of {len(rows)} rows the same"
    return Outcome(
        "p values and intervals of `rg.compare` and of the report", "be the same", did, len(same) == len(rows) > 0
    )


def control_n_of_a_comparison() -> Outcome:
    """The values of a comparison are over the studies that it counts."""
    cases = [case for case in rg.read_cases(sample_reports_path()).cases if case.system in PAIR]
    silent = {case.id for case in cases[:20]}
    kept = [case for case in cases if case.system == PAIR[0] or case.id not in silent]
    both = [case for case in cases if case.id not in silent]
    (part,) = rg.compare(rg.score(kept, "rouge", progress=False), permutations=200)
    (shared,) = rg.compare(rg.score(both, "rouge", progress=False), permutations=200)
    same = (part.result.n, part.result.value_a) == (shared.result.n, shared.result.value_a)
    did = f"n {part.result.n}, value {part.result.value_a:.3f} (shared studies alone {shared.result.value_a:.3f})"
    return Outcome("one system lacks some studies", "values and n of the shared studies", did, same)
