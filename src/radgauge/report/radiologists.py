"""The part of the report on radiologists: agreement by metric, metric against metric, and the scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from radgauge.analysis.agreement import Alignment
from radgauge.core.cases import Key
from radgauge.core.scores import Results
from radgauge.core.wording import arrow, interval, number, p_value, share, signed
from radgauge.io.judgments import Judgments
from radgauge.render.metric_names import metric_name
from radgauge.render.plots import scatter
from radgauge.render.svg import Plot
from radgauge.render.tables import Cell, Column, Row, Table, Value, bounded, table

if TYPE_CHECKING:
    from radgauge.analysis.failure_modes import FailureModes

TARGETS = {"rating": "rating", "total": "errors", "significant": "significant errors"}
KINDS = {"kendall_b": "Kendall τ-b", "kendall_c": "Kendall τ-c", "spearman": "Spearman ρ", "pearson": "Pearson r"}


def radiologist_table(alignment: Alignment) -> Table:
    """Agreement of every metric with the mean radiologist, by target, with the radiologists' own agreement."""
    targets = list(dict.fromkeys(line.target for line in alignment.lines))
    lines = {(line.column, line.target): line for line in alignment.lines if line.rater == "mean"}
    columns = list(dict.fromkeys(column for column, _ in lines))
    first = {name: lines[name, targets[0]].correlation.value for name in columns if (name, targets[0]) in lines}
    columns.sort(key=lambda name: -_or_lowest(first.get(name, math.nan)))  # counts are held against counts alone
    clusters = {judge.name: judge.cluster for judge in alignment.ranking.judges} if alignment.ranking else {}
    rows, records = [], []
    for column in columns:
        row: list[Value] = [Cell(metric_name(column).name, value=column, hint=f"column {column}")]
        for target in targets:
            line = lines.get((column, target))
            if line is None:
                row.append("–")
                continue
            got = line.correlation.interval
            row.append(bounded(got))
            records.append(
                {
                    "judge": column,
                    "target": target,
                    "kind": line.correlation.kind,
                    "value": got.value,
                    "low": got.low,
                    "high": got.high,
                    "n": got.n,
                    "not_judged": line.not_judged,
                }
            )
        liked = alignment.preferences.get(column)
        row += [share(None if liked is None else liked.interval.value, 0), str(clusters.get(column, "–"))]
        rows.append(row)
    if alignment.ceilings:
        leave_one_out = {ceiling.target: ceiling.leave_one_out.mean for ceiling in alignment.ceilings}
        among = [leave_one_out.get(target) for target in targets]
        own = ("–" if estimate is None else bounded(estimate) for estimate in among)
        rows.append(["one radiologist against the others", *own, "", ""])
    kind = KINDS[alignment.lines[0].correlation.kind]
    names = (*(TARGETS.get(target, target) for target in targets), "preferred", "cluster")
    return table(
        "metric",
        *(Column(name, right=True) for name in names),
        key="radiologists",
        title=f"Agreement with the mean radiologist: {kind}, positive = agreement",
        rows=rows,
        records=records,
    )


def pairs_table(alignment: Alignment) -> Table | None:
    """Is one metric better than another?"""
    if not alignment.pairs:
        return None
    rows, records = [], []
    for pair in alignment.pairs:
        gap, test = pair.difference.interval, pair.tests[0]
        name = test.test.method if test.test is not None else "–"
        rows.append(
            (
                metric_name(pair.first).name,
                metric_name(pair.second).name,
                bounded(gap, signed),
                pair.p_adjusted,
                test.r_between,
                test.p_adjusted,
            )
        )
        records.append(
            {
                "first": pair.first,
                "second": pair.second,
                "difference": gap.value,
                "low": gap.low,
                "high": gap.high,
                "p_bootstrap": pair.difference.p,
                "p_bootstrap_adjusted": pair.p_adjusted,
                "test": name,
                "r_between": test.r_between,
                "p_test_adjusted": test.p_adjusted,
            }
        )
    method = next((t.test.method for p in alignment.pairs for t in p.tests if t.test is not None), "test")
    return table(
        *("better", "than", "difference", Column("p bootstrap", format=p_value, significant=0.05)),
        Column("r between", format=lambda r: number(r, 2)),
        Column(f"p {method}", format=p_value, significant=0.05),
        key="pairs",
        title=f"Every two metrics on {TARGETS.get(alignment.lines[0].target, alignment.lines[0].target)}",
        rows=rows,
        records=records,
    )


def failure_table(failures: Sequence[FailureModes]) -> Table:
    """Candidate groups with more errors of a kind than another: rows that either test finds, records of all."""
    rows: list[Row] = []
    records = []
    for part in failures:
        for mode in part.modes:
            one, other = mode.two_sample, mode.paired
            if one.significant or other.significant:
                rows.append(
                    (
                        *(TARGETS.get(part.target, part.target), mode.category, mode.first, mode.second),
                        *(mode.mean_first, mode.mean_second),
                        *(Cell(p_value(test.p), strong=test.significant) for test in (one, other)),
                    )
                )
            records.append(
                {
                    "target": part.target,
                    "category": mode.category,
                    "first": mode.first,
                    "second": mode.second,
                    "mean_first": mode.mean_first,
                    "mean_second": mode.mean_second,
                    "t": one.statistic,
                    "p_two_sample": one.p,
                    "critical": one.critical,
                    "p_paired": other.p,
                    "studies": part.studies,
                    "not_judged": part.not_judged,
                }
            )
    return table(
        *("errors", "category", "more in", "than in", "mean", "mean"),
        *(Column(name, right=True) for name in ("p t test", "p paired")),
        key="failure_modes",
        title="Failure modes: pairs of groups that differ (one-sided, Benjamini-Hochberg within a category, 1 %)",
        rows=rows,
        records=records,
    )


def scatter_plots(
    results: Results, judgments: Judgments, alignment: Alignment, case_numbers: Mapping[Key, int]
) -> list[Plot]:
    """Every headline against the mean radiologist on the first target."""
    target = alignment.lines[0].target
    mean = judgments.mean_ratings() if target == "rating" else judgments.mean_errors()
    human = mean.column("rating" if target == "rating" else f"errors_{target}")
    goal = dict(zip(mean.keys, human.tolist(), strict=True))
    lines = {line.column: line for line in alignment.lines if (line.target, line.rater) == (target, "mean")}
    systems = list(dict.fromkeys(system for _, system in results.keys_of_cases))
    plots = []
    for scores in results.judges.values():
        column = scores.columns[0]
        got = lines[column].correlation
        name, sign = KINDS[got.kind].split()
        points = [
            (float(value), goal[key], systems.index(key[1]), case_numbers.get(key, -1))
            for key, value in zip(scores.keys, scores.headline, strict=True)
            if key in goal
        ]
        wide = interval(got.interval.low, got.interval.high)
        plots.append(
            scatter(
                points,
                key=f"radiologists-{column}",
                title=metric_name(column).name,
                note=f"{name} {sign} {number(got.value)} {wide}, n = {got.interval.n}",
                x_label=f"{metric_name(column).name} {arrow(scores.higher_is_better)}",
                y_label=f"{TARGETS.get(target, target)} {arrow(target == 'rating')}",
            )
        )
    return plots


def _or_lowest(value: float) -> float:
    return -2.0 if math.isnan(value) else value
