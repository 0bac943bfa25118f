"""The part of the report on radiologists: agreement by metric, metric against metric, and the scatter plots."""

from __future__ import annotations

import math
from collections.abc import Mapping

from radgauge.cases import Key
from radgauge.io.judgments import Judgments
from radgauge.scores import Results
from radgauge.show.plots import scatter
from radgauge.show.svg import Plot
from radgauge.show.tables import Cell, Table
from radgauge.show.wording import arrow, interval, number, p_value, signed
from radgauge.studies.agreement import Alignment

TARGETS = {"rating": "rating", "total": "errors", "significant": "significant errors"}
KINDS = {"kendall_b": "Kendall τ-b", "kendall_c": "Kendall τ-c", "spearman": "Spearman ρ", "pearson": "Pearson r"}


def radiologist_table(found: Alignment) -> Table:
    """Agreement of every metric with the mean radiologist, by target, with the radiologists' own agreement."""
    targets = list(dict.fromkeys(line.target for line in found.lines))
    lines = {(line.column, line.target): line for line in found.lines if line.rater == "mean"}
    columns = list(dict.fromkeys(column for column, _ in lines))
    columns.sort(key=lambda name: -_known(lines[name, targets[0]].correlation.value))
    clusters = {each.name: each.cluster for each in found.ranking.judges} if found.ranking else {}
    rows, records = [], []
    for column in columns:
        row = [Cell(column)]
        for target in targets:
            line = lines[column, target]
            got = line.correlation.interval
            row.append(Cell(number(got.value), interval(got.low, got.high)))
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
        liked = found.preferences.get(column)
        row.append(Cell("–" if liked is None else f"{100 * liked.interval.value:.0f} %"))
        row.append(Cell(str(clusters.get(column, "–"))))
        rows.append(tuple(row))
    if found.ceilings:
        ceiling = {each.target: each.leave_one_out.mean for each in found.ceilings}
        last = [Cell("one radiologist against the others")]
        for target in targets:
            got_ = ceiling.get(target)
            last.append(Cell("–") if got_ is None else Cell(number(got_.value), interval(got_.low, got_.high)))
        rows.append((*last, Cell(""), Cell("")))
    kind = KINDS[found.lines[0].correlation.kind]
    headers = ("metric", *(TARGETS.get(target, target) for target in targets), "preferred", "cluster")
    title = f"Agreement with the mean radiologist: {kind}, positive = agreement"
    right = tuple(range(1, len(headers)))
    return Table("radiologists", title, headers, tuple(rows), tuple(records), right)


def pairs_table(found: Alignment) -> Table | None:
    """Is one metric better than another?"""
    if not found.pairs:
        return None
    rows, records = [], []
    for pair in found.pairs:
        gap, test = pair.difference.interval, pair.tests[0]
        name = test.found.method if test.found is not None else "–"
        rows.append(
            (
                Cell(pair.first),
                Cell(pair.second),
                Cell(signed(gap.value), interval(gap.low, gap.high)),
                Cell(p_value(pair.p_adjusted), strong=pair.p_adjusted < 0.05),
                Cell(number(test.r_between, 2)),
                Cell(p_value(test.p_adjusted), strong=test.p_adjusted < 0.05),
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
    method = next((t.found.method for p in found.pairs for t in p.tests if t.found is not None), "test")
    headers = ("better", "than", "difference", "p bootstrap", "r between", f"p {method}")
    title = f"Every two metrics on {TARGETS.get(found.lines[0].target, found.lines[0].target)}"
    return Table("pairs", title, headers, tuple(rows), tuple(records), (2, 3, 4, 5))


def scatter_plots(
    results: Results, judgments: Judgments, found: Alignment, places: Mapping[Key, int]
) -> list[Plot]:
    """Every headline against the mean radiologist on the first target."""
    target = found.lines[0].target
    mean = judgments.mean_ratings() if target == "rating" else judgments.mean_errors()
    human = mean.column("rating" if target == "rating" else f"errors_{target}")
    goal = dict(zip(mean.keys, human.tolist(), strict=True))
    lines = {line.column: line for line in found.lines if (line.target, line.rater) == (target, "mean")}
    systems = list(dict.fromkeys(system for _, system in results.keys_of_cases))
    plots = []
    for scores in results.values():
        column = scores.columns[0]
        got = lines[column].correlation
        name, sign = KINDS[got.kind].split()
        points = [
            (float(value), goal[key], systems.index(key[1]), places.get(key, -1))
            for key, value in zip(scores.keys, scores.headline, strict=True)
            if key in goal
        ]
        wide = interval(got.interval.low, got.interval.high)
        plots.append(
            scatter(
                points,
                key=f"radiologists-{column}",
                title=column,
                note=f"{name} {sign} {number(got.value)} {wide}, n = {got.interval.n}",
                x_label=f"{column} {arrow(scores.higher_is_better)}",
                y_label=f"{TARGETS.get(target, target)} {arrow(target == 'rating')}",
            )
        )
    return plots


def _known(value: float) -> float:
    return -2.0 if math.isnan(value) else value
