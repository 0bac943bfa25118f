"""Results as tables: the one place that knows the columns of a summary, a comparison and an agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from radgauge.core.wording import arrow, interval, number, p_value, share, signed
from radgauge.render.tables import P_COLUMN, Cell, Column, Row, Table, Value, bounded, table
from radgauge.run.score import truncation_text

if TYPE_CHECKING:
    from radgauge.analysis.agreement import Alignment
    from radgauge.analysis.compare import SystemComparison
    from radgauge.analysis.failure_modes import FailureModes
    from radgauge.analysis.summary import Summary

ALPHA = 0.05
REASONS_SHOWN = 4
"""Reasons that a note lists; file names make many of them."""
SHOWN = 4
"""Outputs of one metric in a table, unless all are requested."""
SHOWN_OF = {"errors": 6, "llm_errors": 6}
"""Quality, counts, and what keeps a normal template from looking best."""
ALSO_HEADLINES = ("errors_f1", "errors_self_agreement")
"""Outputs in a table of several systems besides the first of each metric: systems are ordered by F1."""


def main_outputs(lines: Sequence[Summary]) -> list[Summary]:
    """Return the first outputs of every judge: what a table of one system shows."""
    first: dict[str, list[str]] = {}
    for line in lines:
        columns = first.setdefault(line.judge, [])
        if line.column not in columns:
            columns.append(line.column)
    return [
        line
        for line in lines
        if line.column in first[line.judge][: SHOWN_OF.get(line.judge, SHOWN)] or "self_agreement" in line.column
    ]


def headline_outputs(lines: Sequence[Summary]) -> list[Summary]:
    """Return the headline of every judge: what a table of several systems shows."""
    first: dict[str, str] = {}
    for line in lines:
        first.setdefault(line.judge, line.column)
    return [line for line in lines if line.column == first[line.judge] or line.column.startswith(ALSO_HEADLINES)]


def summary_tables(lines: Sequence[Summary]) -> tuple[Table, ...]:
    """Return the same table for less and less wide terminals: of one system, a row per output."""
    if len({line.system for line in lines}) < 2:
        return (summary_rows(lines),)
    return system_rows(lines), summary_columns(lines), summary_columns(lines, intervals=False)


def system_rows(lines: Sequence[Summary]) -> Table:
    """Return a row per system and a column per output, the best value of each column in bold."""
    best = _best(lines)
    by_place = {(line.system, line.column): line for line in lines}
    directions = {line.column: line.higher_is_better for line in lines}
    rows: list[list[Value]] = []
    for system in dict.fromkeys(line.system for line in lines):
        row: list[Value] = [system]
        for column in directions:
            line = by_place.get((system, column))
            row.append(None if line is None else bounded(line, strong=line.value == best[column]))
        rows.append(row)
    heads = (Column(column, higher_is_better=better) for column, better in directions.items())
    return table("system", *heads, rows=rows, key="summary", title="Scores by system", records=_records(lines))


def _records(lines: Sequence[Summary]) -> list[dict[str, str | float]]:
    """Return what CSV holds: a record per system and output."""
    return [
        {
            "system": line.system,
            "metric": line.column,
            "value": line.value,
            "low": line.low,
            "high": line.high,
            "judged": line.judged,
            "not_judged": line.not_judged,
        }
        for line in lines
    ]


def summary_rows(lines: Sequence[Summary]) -> Table:
    """Return a row per output and system."""
    several = len({line.system for line in lines}) > 1
    level = f"{100 * lines[0].level:.3g} %" if lines else ""
    best = _best(lines)
    rows: list[list[Value]] = []
    for column in dict.fromkeys(line.column for line in lines):
        for index, line in enumerate(line for line in lines if line.column == column):
            shown = bounded(line)
            rows.append(
                [
                    *((column, arrow(line.higher_is_better)) if not index else ("", "")),
                    *([line.system] if several else []),
                    Cell(shown.text, strong=not several or line.value == best[column]),
                    shown.small,
                    line.judged,
                    str(line.not_judged or "–"),
                ]
            )
    return table(
        *("metric", "", *(["system"] if several else [])),
        Column("value", right=True),
        *(f"{level} interval", "n", Column("not judged", right=True)),
        rows=rows,
        key="summary",
        title="Scores",
        records=_records(lines),
    )


def summary_columns(lines: Sequence[Summary], *, intervals: bool = True) -> Table:
    """Return a column per system, the best value of each row in bold."""
    systems = list(dict.fromkeys(line.system for line in lines))
    best = _best(lines)
    rows: list[list[Value]] = []
    for column in dict.fromkeys(line.column for line in lines):
        cells = {line.system: line for line in lines if line.column == column}
        row: list[Value] = [column, arrow(next(iter(cells.values())).higher_is_better)]
        for system in systems:
            line = cells.get(system)
            shown = None if line is None else bounded(line)
            row.append(shown and Cell(shown.text, shown.small * intervals, strong=shown.value == best[column]))
        rows.append(row)
    return table("metric", "", *systems, rows=rows, key="summary", records=_records(lines))


def _best(lines: Sequence[Summary]) -> dict[str, float]:
    best: dict[str, float] = {}
    for line in lines:
        rival = best.get(line.column, math.nan)
        if math.isnan(rival) or (line.value > rival if line.higher_is_better else line.value < rival):
            best[line.column] = line.value
    return best


def not_judged_notes(lines: Sequence[Summary]) -> list[str]:
    """Return a sentence per system and reason, naming the metrics that could not judge everything."""
    headlines: dict[tuple[str, str], Summary] = {}
    for line in lines:
        headlines.setdefault((line.judge, line.system), line)
    judges = list(dict.fromkeys(line.judge for line in lines))
    gaps: dict[tuple[str, int, int, str], list[str]] = {}
    for (judge, system), line in headlines.items():
        if line.not_judged:
            shown = [f"{count} {reason}" for reason, count in line.reasons[:REASONS_SHOWN]]
            if others := sum(count for _, count in line.reasons[REASONS_SHOWN:]):
                shown.append(f"{others} more (every reason is in the file of --output)")
            why = ", ".join(shown) or "undefined for them"
            gaps.setdefault((system, line.not_judged, line.judged + line.not_judged, why), []).append(judge)
    return [
        f"{system}: {missing} of {cases} not judged ({why})"
        + ("" if names == judges else f" by {', '.join(names)}")
        for (system, missing, cases, why), names in gaps.items()
    ]


def truncation_notes(lines: Sequence[Summary]) -> list[str]:
    """Return a sentence per judge and system whose reports an encoder did not read to their end."""
    counts = {
        (line.judge, line.system): (line.truncated, line.judged + line.not_judged + line.not_applicable)
        for line in lines
        if line.truncated
    }
    return [truncation_text(f"{system}, {judge}", *count) for (judge, system), count in counts.items()]


def comparison_records(lines: Sequence[SystemComparison]) -> list[dict[str, str | float]]:
    """Return what CSV holds: a record per output and pair of systems."""
    return [
        {
            "metric": line.column,
            "system": line.system,
            "baseline": line.baseline,
            "value": line.result.value_a,
            "other": line.result.value_b,
            "difference": line.result.difference.value,
            "low": line.result.difference.low,
            "high": line.result.difference.high,
            "p": line.result.p_shown,
            "d": line.result.effect.d_z,
            "n": line.result.n,
        }
        for line in lines
    ]


def comparison_tables(lines: Sequence[SystemComparison]) -> Iterator[tuple[Table, Table]]:
    """Return a table per pair of systems, and the same without what a narrow terminal has no room for."""
    for system, baseline in dict.fromkeys((line.system, line.baseline) for line in lines):
        chosen = [line for line in lines if (line.system, line.baseline) == (system, baseline)]
        yield comparison_table(chosen), comparison_table(chosen, short=True)


def comparison_table(lines: Sequence[SystemComparison], *, short: bool = False) -> Table:
    """Return a row per output of one pair of systems."""
    rows: list[Row] = []
    for line in lines:
        found, effect = line.result, line.result.effect
        shares = (effect.wins, effect.ties, effect.losses) if effect.n else ()
        counts = [round(share * effect.n) for share in shares]
        row: list[Value] = [
            *(line.column, arrow(found.higher_is_better), found.value_a, found.value_b, found.difference.value),
            interval(found.difference.low, found.difference.high),
            Cell(line.p_text, strong=found.p_shown < ALPHA and not line.negligible, value=found.p_shown),
        ]
        rows.append(row if short else [*row, number(effect.d_z, 2), "/".join(map(str, counts)) or "–", found.n])
    level = f"{100 * lines[0].result.difference.level:.3g} %"
    return table(
        *("metric", "", "value", "other", Column("difference", format=signed), f"{level} interval"),
        P_COLUMN,
        *([] if short else [Column(name, right=True) for name in ("d", "better/equal/worse", "n")]),
        rows=rows,
        key="comparison",
        title=f"{lines[0].system} against {lines[0].baseline}",
        records=() if short else comparison_records(lines),
    )


def agreement_tables(found: Alignment, kind: str) -> Iterator[Table]:
    """Return a table per target and rater, the radiologists' own agreement at its end."""
    for target, rater in dict.fromkeys((line.target, line.rater) for line in found.lines):
        lines = [line for line in found.lines if (line.target, line.rater) == (target, rater)]
        lines.sort(key=lambda line: -line.correlation.interval.value)
        mean = rater == "mean"
        compares = mean and target == found.lines[0].target and bool(found.preferences)
        rows: list[Row | None] = []
        for line in lines:
            value = line.correlation.interval
            bounds = interval(value.low, value.high)
            row: list[Value] = [line.column, value.value, bounds, line.correlation.p, value.n]
            if found.copies:
                row.append(line.without_copies)
            if compares:
                preferred, calibrated = found.preferences[line.column], found.calibrated[line.column]
                gain = found.best_of[line.column].gain
                row += [share(each.value, 0) for each in (preferred.interval, calibrated.interval, gain)]
            rows.append(tuple(row))
        for ceiling in found.ceilings:
            if ceiling.target == target and mean:
                among = ceiling.leave_one_out.mean
                bounds = interval(among.low, among.high)
                blank: list[Value] = [*([None] if found.copies else []), *([""] * 3 if compares else [])]
                rows += [None, ("one radiologist against the others", among.value, bounds, None, among.n, *blank)]
        who = "the mean rater" if mean else f"rater {rater}"
        columns: list[Column | str] = [kind, "interval", Column("p", format=p_value), "n"]
        columns += ["without copies"] if found.copies else []
        if compares:
            columns += [Column(name, right=True) for name in ("preferred", "calibrated", "best of N")]
        yield table(
            f"{target} of {who}", *columns, rows=rows, key="agreement", title=f"Agreement with {who} ({target})"
        )


def pairs_table(found: Alignment, test: str) -> Table:
    """Return one row per two metrics: difference with interval and p, then the test of the literature."""
    grouped = any(each.group for pair in found.pairs for each in pair.tests)
    rows: list[list[Value]] = []
    for pair in found.pairs:
        gap = pair.difference.interval
        left = (pair.first, pair.second, gap.value, interval(gap.low, gap.high), pair.p_adjusted)
        for index, each in enumerate(pair.tests):
            rows.append(
                [
                    *(left if not index else [None] * 5),
                    *([str(each.group)] if grouped else []),
                    *(each.r_first, each.r_second, each.r_between),
                    float("nan") if each.test is None else each.p_adjusted,
                ]
            )
    return table(
        *("metric", "against", Column("difference", format=signed), "interval"),
        Column("p", format=p_value, significant=0.05),
        *([Column("group", right=True)] if grouped else []),
        *("r", "r", "r between", Column(f"p {test}", format=p_value, significant=0.05)),
        rows=rows,
        key="pairs",
        title=f"Agreement with raters ({found.lines[0].target}): one metric against another, {found.cases} cases",
    )


def failure_table(found: FailureModes) -> Table:
    """Return the pairs that differ, by either test, on the errors of one target."""
    rows: list[Row] = [
        (
            *(mode.category, mode.first, mode.second, mode.mean_first, mode.mean_second),
            *(Cell(p_value(each.p), strong=each.significant) for each in (mode.two_sample, mode.paired)),
        )
        for mode in found.modes
        if mode.two_sample.significant or mode.paired.significant
    ]
    tests = (Column(name, right=True, significant=0.01) for name in ("p (t test)", "p (paired)"))
    return table("category", "more errors", "than", "mean", "mean", *tests, rows=rows)
