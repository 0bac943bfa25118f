"""The table of a run: values of metrics with intervals, by system; and what could not be judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from radgauge.core.wording import arrow
from radgauge.render.tables import Cell, Column, Table, bounded, table

if TYPE_CHECKING:
    from radgauge.analysis.summary import Summary
    from radgauge.render.tables import Value
    from radgauge.render.terminal import Terminal

REASONS_SHOWN = 4
"""Reasons that a note lists; file names make many of them."""
SHOWN = 4
"""Outputs of one metric in a table, unless all are asked for."""
SHOWN_OF = {"errors": 6, "llm_errors": 6}
"""Quality, counts, and what keeps a normal template from looking best."""


def main_outputs(lines: Sequence[Summary]) -> list[Summary]:
    """The first outputs of every judge: what a table shows before anyone asks for more."""
    first: dict[str, list[str]] = {}
    for line in lines:
        known = first.setdefault(line.judge, [])
        if line.column not in known:
            known.append(line.column)
    return [
        line
        for line in lines
        if line.column in first[line.judge][: SHOWN_OF.get(line.judge, SHOWN)] or "self_agreement" in line.column
    ]


def print_summary(out: Terminal, lines: Sequence[Summary]) -> None:
    """The table of a run: one column per system where that fits, one row per system otherwise."""
    several = len({line.system for line in lines}) > 1
    out.show(*([summary_columns(lines)] if several else []), summary_rows(lines))


def summary_rows(lines: Sequence[Summary]) -> Table:
    """A row per output and system."""
    several = len({line.system for line in lines}) > 1
    level = f"{100 * lines[0].level:.3g} %" if lines else ""
    best = _best(lines)
    rows: list[list[Value]] = []
    for column in dict.fromkeys(line.column for line in lines):
        for place, line in enumerate(line for line in lines if line.column == column):
            shown = bounded(line)
            rows.append(
                [
                    *((column, arrow(line.higher_is_better)) if not place else ("", "")),
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
    )


def summary_columns(lines: Sequence[Summary]) -> Table:
    """A column per system, the best value of each row in bold."""
    systems = list(dict.fromkeys(line.system for line in lines))
    best = _best(lines)
    rows: list[list[Value]] = []
    for column in dict.fromkeys(line.column for line in lines):
        cells = {line.system: line for line in lines if line.column == column}
        row: list[Value] = [column, arrow(next(iter(cells.values())).higher_is_better)]
        for system in systems:
            line = cells.get(system)
            shown = None if line is None else bounded(line)
            row.append(shown and Cell(shown.text, shown.small, strong=shown.value == best[column]))
        rows.append(row)
    return table("metric", "", *systems, rows=rows)


def _best(lines: Sequence[Summary]) -> dict[str, float]:
    best: dict[str, float] = {}
    for line in lines:
        rival = best.get(line.column, math.nan)
        if math.isnan(rival) or (line.value > rival if line.higher_is_better else line.value < rival):
            best[line.column] = line.value
    return best


def not_judged_notes(lines: Sequence[Summary]) -> list[str]:
    """One sentence per system and reason, naming the metrics that could not judge everything."""
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
    """One sentence per judge and system whose reports an encoder did not read to their end."""
    from radgauge.run.score import truncation_text

    counts = {
        (line.judge, line.system): (line.truncated, line.judged + line.not_judged + line.not_applicable)
        for line in lines
        if line.truncated
    }
    return [truncation_text(f"{system}, {judge}", *count) for (judge, system), count in counts.items()]
