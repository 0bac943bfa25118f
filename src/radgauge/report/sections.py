"""The parts of the report as tables and plots, each from what the library already computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.compare import SystemComparison
from radgauge.analysis.summary import Summary
from radgauge.core.cases import Key
from radgauge.core.error_categories import CATEGORIES, JUDGES
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import arrow, number, signed
from radgauge.render.metric_names import metric_name
from radgauge.render.plots import category_bars, distribution, forest, heat_map, percentile_strip, strip
from radgauge.render.svg import Plot
from radgauge.render.tables import P_COLUMN, Cell, Column, Row, Table, Value, bounded, table
from radgauge.report.standing import Disagreement, headlines, metric_correlations

if TYPE_CHECKING:
    from radgauge.analysis.releases import Releases


def named(column: str, higher_is_better: bool, limits: tuple[float, float] | None = None) -> Cell:
    """A column's name for people with its direction; a tooltip tells the rest."""
    label = metric_name(column)
    return Cell(f"{label.name} {arrow(higher_is_better)}", value=column, hint=label.hint(higher_is_better, limits))


def summary_table(
    lines: Sequence[Summary],
    *,
    key: str,
    title: str,
    columns: Sequence[str],
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """One row per output, one column per system, the best in bold unless all are equal.

    Args:
        lines: Values with intervals.
        key: Name of the table.
        title: Its caption.
        columns: Which outputs, in this order.
        limits: Column -> smallest and largest possible value.
    """
    limits = limits or {}
    systems = list(dict.fromkeys(line.system for line in lines))
    rows, records = [], []
    for column in columns:
        cells = {line.system: line for line in lines if line.column == column}
        some = next(iter(cells.values()))
        best = _best(list(cells.values())) if len(systems) > 1 else math.nan
        equal = len({number(line.value) for line in cells.values()}) == 1
        row: list[Value] = [named(column, some.higher_is_better, limits.get(column))]
        for system in systems:
            line = cells.get(system)
            if line is None:
                row.append(None)
                continue
            row.append(bounded(line, strong=line.value == best and not equal))
            records.append(_summary_record(line))
        marks = [
            (systems.index(line.system), line.value, line.low, line.high)
            for line in cells.values()
            if not math.isnan(line.value)
        ]
        picture = strip(marks, title=f"{column}: values of the systems with intervals").inline() if marks else ""
        judged = sorted({line.judged for line in cells.values()})
        row.append("–".join(str(n) for n in dict.fromkeys([judged[0], judged[-1]])))
        row.append(Cell("", plot=picture))
        rows.append(row)
    return table("metric", *systems, Column("n", right=True), "", key=key, title=title, rows=rows, records=records)


def _summary_record(line: Summary) -> dict[str, Any]:
    return {
        "metric": line.column,
        "higher_is_better": line.higher_is_better,
        "system": line.system,
        "value": line.value,
        "low": line.low,
        "high": line.high,
        "level": line.level,
        "judged": line.judged,
        "not_judged": line.not_judged,
        "signature": line.signature,
    }


def _best(lines: Sequence[Summary]) -> float:
    values = [line.value for line in lines if not math.isnan(line.value)]
    if not values:
        return math.nan
    return max(values) if lines[0].higher_is_better else min(values)


def summary_plots(lines: Sequence[Summary], columns: Sequence[str]) -> list[Plot]:
    """One plot with intervals per output, for files."""
    systems = list(dict.fromkeys(line.system for line in lines))
    plots = []
    for column in columns:
        rows = [
            (line.system, systems.index(line.system), line.value, line.low, line.high)
            for line in lines
            if line.column == column
        ]
        plots.append(forest(rows, key=f"summary-{column}", title=f"{column} with intervals"))
    return plots


def comparison_table(
    lines: Sequence[SystemComparison], *, key: str = "comparison", title: str = "", note: str = ""
) -> Table:
    """Every system against the baseline: difference, interval, p, effect, and how many studies are better."""
    rows, records = [], []
    systems = list(dict.fromkeys(name for line in lines for name in (line.baseline, line.system)))
    spans: dict[str, list[float]] = {}
    for line in lines:
        gap = line.result.difference
        spans.setdefault(line.column, []).extend([gap.low, gap.high, gap.value])
    before = ""
    for line in lines:
        test, effect = line.result, line.result.effect
        p = test.p_shown
        counts = [round(share * effect.n) for share in (effect.wins, effect.ties, effect.losses) if effect.n]
        gap = test.difference
        series = systems.index(line.system)
        mark = strip(
            [(series, gap.value, gap.low, gap.high)],
            title=f"{line.column}: {line.system} less {line.baseline}",
            among=spans[line.column],
            zero=True,
        ).inline()
        verdict = "no difference shown"
        if p < 0.05:
            verdict = "better" if test.better == "a" else "worse"
            if line.negligible:
                verdict = "negligible"
        rows.append(
            (
                replace(named(line.column, test.higher_is_better), again=before == line.column),
                line.system,
                bounded(gap, signed),
                Cell("", plot=mark),
                Cell(line.p_text, strong=p < 0.05 and not line.negligible, value=p),
                Cell(verdict, strong=p < 0.05),
                Cell(_two(effect.d_z), value=effect.d_z),
                " / ".join(map(str, counts)) or "–",
                test.n,
            )
        )
        before = line.column
        records.append(
            {
                "metric": line.column,
                "higher_is_better": test.higher_is_better,
                "system": line.system,
                "baseline": line.baseline,
                "value": test.value_a,
                "baseline_value": test.value_b,
                "difference": gap.value,
                "low": gap.low,
                "high": gap.high,
                "p": test.p,
                "p_adjusted": test.p_adjusted,
                "d_z": effect.d_z,
                "wins": effect.wins,
                "ties": effect.ties,
                "losses": effect.losses,
                "n": test.n,
            }
        )
    baseline = lines[0].baseline if lines else ""
    return table(
        *("metric", "system", "difference", "", P_COLUMN, "verdict"),
        *(Column("d", format=_two), Column("better / equal / worse", right=True), "n"),
        key=key,
        title=title or f"Every system against {baseline}: paired differences on the studies both have",
        rows=rows,
        records=records,
        note=note,
    )


def flip_table(releases: Releases, case_numbers: Mapping[Key, int], *, max_rows: int = 30) -> Table:
    """Cases that became wrong, then cases that became right, with a link into the browser."""
    rows: list[Row] = []
    records = []
    for flips, what in ((releases.worse, "became wrong"), (releases.better, "became right")):
        for flip in flips:
            if sum(1 for row in rows if row[2] == what) < max_rows:
                study, system = flip.key
                cell = Cell(study, case=case_numbers.get(flip.key, -1))
                rows.append((cell, system, what, int(flip.before), int(flip.after)))
            records.append(
                {
                    "id": flip.key[0],
                    "system": flip.key[1],
                    "before": flip.before,
                    "now": flip.after,
                    "change": what,
                }
            )
    return table(
        *("study", "system", "change", "before", "now"),
        key="flips",
        title=f"Clinically significant errors before and now, {releases.cases} cases in both",
        rows=rows,
        records=records,
    )


def distributions(results: Results) -> list[Plot]:
    """One plot per headline."""
    plots = []
    for scores in results.judges.values():
        groups = [(system, scores.of_system(system).headline) for system in scores.systems]
        plots.append(
            distribution(
                groups,
                key=f"distribution-{scores.columns[0]}",
                title=metric_name(scores.columns[0]).name,
                note="higher is better" if scores.higher_is_better else "lower is better",
            )
        )
    return plots


def correlation_section(results: Results) -> tuple[Table, Plot] | None:
    """Correlations between the metrics."""
    names = headlines(results)
    if len(names) < 2:
        return None
    values = metric_correlations(results)
    records = tuple(
        {"metric": names[i], "other": names[j], "kendall_b": float(values[i, j])}
        for i in range(len(names))
        for j in range(len(names))
    )
    title = "Agreement of the metrics with each other, Kendall τ-b over single cases"
    shown = [metric_name(name).name for name in names]
    heads = [Column(name, format=_two) for name in shown]
    rows: list[Row] = [(name, *map(float, values[i])) for i, name in enumerate(shown)]
    made = table("metric", *heads, key="correlations", title=title, rows=rows, records=records)
    return made, heat_map(shown, values, key="correlations", title=title)


def error_section(counts: Scores, *, key: str, who: str) -> tuple[Table, Plot] | None:
    """Mean errors per report by category and system, if these scores hold error counts."""
    end = next((end for end in JUDGES if f"errors_{CATEGORIES[0].key}{end}" in counts.columns), "")
    categories = [c for c in CATEGORIES if f"errors_{c.key}{end}" in counts.columns]
    categories = [c for c in categories if not np.isnan(counts.column(f"errors_{c.key}{end}")).all()]
    some = [c for c in categories if np.nanmax(counts.column(f"errors_{c.key}{end}")) > 0]
    none = len(categories) - len(some)
    categories = some
    if not categories:
        return None
    means = {}
    for system in counts.systems:
        own = counts.of_system(system)
        total = np.array([_mean(own.column(f"errors_{c.key}{end}")) for c in categories])
        serious = np.array(
            [
                _mean(own.column(name))
                if (name := f"errors_{c.key}_significant{end}") in own.columns
                else math.nan
                for c in categories
            ]
        )
        means[system] = (total, serious)
    systems = list(counts.systems)
    titles = [c.title for c in categories]
    rows, records = [], []
    for i, category in enumerate(categories):
        cells: list[Value] = [category.title]
        for system in systems:
            every, worst = (float(values[i]) for values in means[system])
            small = "" if math.isnan(worst) else f"({_two(worst)})"
            cells.append(Cell(_two(every), small, value=every))
            records.append({"category": category.key, "system": system, "mean": every, "significant": worst})
        rows.append(cells)
    title = f"Errors per report {who}"
    if none:
        title += f"; {none} {'kind' if none == 1 else 'kinds'} without any not shown"
    more = f"{title}, in parentheses the clinically significant ones"
    made = table("error", *systems, key=key, title=more, rows=rows, records=records)
    return made, category_bars(systems, titles, means=means, key=key, title=title)


def _mean(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else math.nan


def disagreement_table(disagreements: Sequence[Disagreement], case_numbers: Mapping[Key, int]) -> Table:
    """The cases that metrics judge most differently, with a link into the browser."""
    rows, records = [], []
    for disagreement in disagreements:
        study, system = disagreement.key
        what = f"{study}, {system}: percentile by every metric"
        picture = percentile_strip(disagreement.percentiles, title=what).inline()
        rows.append(
            (
                Cell(study, case=case_numbers.get(disagreement.key, -1)),
                system,
                Cell(metric_name(disagreement.high[0]).name, f"better than {disagreement.high[1]:.0f} %"),
                Cell(metric_name(disagreement.low[0]).name, f"better than {disagreement.low[1]:.0f} %"),
                Cell("", plot=picture),
                disagreement.gap,
            )
        )
        records.append(
            {
                "id": study,
                "system": system,
                "high_metric": disagreement.high[0],
                "high_percentile": disagreement.high[1],
                "low_metric": disagreement.low[0],
                "low_percentile": disagreement.low[1],
                "gap": disagreement.gap,
            }
        )
    return table(
        *("study", "system", "scores it highest", "scores it lowest", "", Column("gap", format="{:.0f}".format)),
        key="disagreement",
        title="Cases on which the metrics disagree most; percentile among all cases",
        rows=rows,
        records=records,
    )


def _two(value: float) -> str:
    return number(value, 2)
