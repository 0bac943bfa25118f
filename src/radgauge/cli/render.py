"""Values to tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from radgauge.show.wording import arrow as arrow
from radgauge.show.wording import interval as interval
from radgauge.show.wording import number as number
from radgauge.show.wording import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from rich.table import Table

    from radgauge.studies.summary import Summary

FOLDED = 12
"""Width to which a column that may break over lines can shrink."""
REASONS_SHOWN = 4
"""Reasons that a note lists; file names make many of them."""


def console(*, stderr: bool = False) -> Console:
    """A console that leaves text alone: no markup or emoji found in reports, no colours in pipes."""
    import errno
    import os
    import sys

    from rich.console import Console
    from rich.segment import Segment
    from rich.table import Table

    class Honest(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            """Where a table does not fit, its lines run over: rich would cut 0.939 down to 0."""
            usual = self.width
            self.width = max([usual, *(least_width(self, each) for each in objects if isinstance(each, Table))])
            try:
                super().print(*objects, **options)
            finally:
                self.width = usual

        def render(self, *given: Any, **options: Any) -> Iterable[Segment]:
            """Nothing that a text holds steers the terminal; what rich itself adds is left alone."""
            for each in super().render(*given, **options):
                yield each if each.control else Segment(visible(each.text), each.style)

        def on_broken_pipe(self) -> None:
            """Leave it to the command line, which does not call a reader who has seen enough a failure."""
            raise BrokenPipeError(errno.EPIPE, "closed")

    stream = sys.stderr if stderr else sys.stdout
    # A pipe or a file has no width: nothing is gained by folding there.
    width = None if stream.isatty() or os.environ.get("COLUMNS") else 200
    return Honest(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width)


def least_width(out: Console, table: Table) -> int:
    """What a table needs so that nothing is cut: whole cells, but for columns that may break over lines."""
    from rich.measure import Measurement

    wide = out.options.update(max_width=10_000)
    whole = [
        max(Measurement.get(out, wide, cell).maximum for cell in (column.header, *column.cells))
        for column in table.columns
    ]
    spared = sum(
        max(0, size - FOLDED) for size, column in zip(whole, table.columns, strict=True) if not column.no_wrap
    )
    return Measurement.get(out, wide, table).maximum - spared


def print_fitting(out: Console, *tables: Table) -> None:
    """The first table that fits the width; the last one if none does."""
    from rich.measure import Measurement

    for table in tables[:-1]:
        if Measurement.get(out, out.options.update(max_width=10_000), table).maximum <= out.width:
            out.print(table)
            return
    out.print(tables[-1])


def plain_table(*headers: str, right: Sequence[int] = (), fold: Sequence[int] = ()) -> Table:
    """The one table style; only the columns in `fold` may break over lines."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, header in enumerate(headers):
        table.add_column(
            header, justify="right" if place in right else "left", overflow="fold", no_wrap=place not in fold
        )
    return table


SHOWN = 4  # outputs of one metric in a table, unless all are asked for
SHOWN_OF = {"errors": 6}  # quality, counts, and what keeps a normal template from looking best


def main_outputs(lines: Sequence[Summary]) -> list[Summary]:
    """The first outputs of every judge: what a table shows before anyone asks for more."""
    first: dict[str, list[str]] = {}
    for line in lines:
        known = first.setdefault(line.judge, [])
        if line.column not in known:
            known.append(line.column)
    return [line for line in lines if line.column in first[line.judge][: SHOWN_OF.get(line.judge, SHOWN)]]


def print_summary(out: Console, lines: Sequence[Summary]) -> None:
    """The table of a run: one column per system where that fits, one row per system otherwise."""
    if len({line.system for line in lines}) == 1:
        out.print(summary_rows(lines))
    else:
        print_fitting(out, summary_columns(lines), summary_rows(lines))


def summary_rows(lines: Sequence[Summary]) -> Table:
    """A row per output and system."""
    from rich.text import Text

    several = len({line.system for line in lines}) > 1
    level = f"{100 * lines[0].level:.3g} %" if lines else ""
    headers = ["metric", "", *(["system"] if several else []), "value", f"{level} interval", "n", "not judged"]
    first = 3 if several else 2
    table = plain_table(*headers, right=(first, first + 2, first + 3))
    best = _best(lines)
    for column in dict.fromkeys(line.column for line in lines):
        for number_, line in enumerate(line for line in lines if line.column == column):
            bold = several and line.value == best[column]
            table.add_row(
                column if not number_ else "",
                arrow(line.higher_is_better) if not number_ else "",
                *([line.system] if several else []),
                Text(number(line.value), style="bold" if bold or not several else ""),
                interval(line.low, line.high),
                str(line.judged),
                str(line.not_judged) if line.not_judged else "–",
            )
    return table


def summary_columns(lines: Sequence[Summary]) -> Table:
    """A column per system, the best value of each row in bold."""
    from rich.text import Text

    systems = list(dict.fromkeys(line.system for line in lines))
    table = plain_table("metric", "", *systems)
    best = _best(lines)
    for column in dict.fromkeys(line.column for line in lines):
        cells = {line.system: line for line in lines if line.column == column}
        row: list[Text | str] = [column, arrow(next(iter(cells.values())).higher_is_better)]
        for system in systems:
            shown = cells.get(system)
            if shown is None:
                row.append("")
                continue
            text = Text(number(shown.value), style="bold" if shown.value == best[column] else "")
            text.append(f" {interval(shown.low, shown.high)}", style="dim")
            row.append(text)
        table.add_row(*row)
    return table


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
                shown.append(f"{others} for other reasons (all of them are in the file of --output)")
            why = ", ".join(shown) or "undefined for them"
            gaps.setdefault((system, line.not_judged, line.judged + line.not_judged, why), []).append(judge)
    return [
        f"{system}: {missing} of {cases} not judged ({why})"
        + ("" if names == judges else f" by {', '.join(names)}")
        for (system, missing, cases, why), names in gaps.items()
    ]
