"""Values to tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from radgauge.summary import Summary


def console(*, stderr: bool = False) -> Console:
    """A console that leaves text alone: no markup or emoji found in reports, no colours in pipes."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)


def plain_table(*headers: str, right: Sequence[int] = ()) -> Table:
    """The one table style."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number in right else "left", overflow="fold")
    return table


def number(value: float, digits: int = 3) -> str:
    """A value for people; NaN is a dash, never a number.

    >>> number(0.12345), number(float("nan")), number(-0.0001), number(1234.5)
    ('0.123', '–', '0.000', '1234.5')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:.1f}"
    return shown[1:] if float(shown) == 0 and shown.startswith("-") else shown


def interval(low: float, high: float) -> str:
    """An interval for people."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{number(low)}, {number(high)}]"


def arrow(higher_is_better: bool) -> str:
    """Which way is good."""
    return "↑" if higher_is_better else "↓"


def summary_table(lines: Sequence[Summary]) -> Table:
    """One system: a row per output. Several: a column per system, the best value of a row in bold."""
    from rich.text import Text

    systems = list(dict.fromkeys(line.system for line in lines))
    level = f"{100 * lines[0].level:.3g} %" if lines else ""
    if len(systems) == 1:
        table = plain_table("metric", "", "value", f"{level} interval", "n", "not judged", right=(2, 4, 5))
        for line in lines:
            table.add_row(
                line.column,
                arrow(line.higher_is_better),
                Text(number(line.value), style="bold"),
                interval(line.low, line.high),
                str(line.judged),
                str(line.not_judged),
            )
        return table
    table = plain_table("metric", "", *systems)
    for column in dict.fromkeys(line.column for line in lines):
        cells = {line.system: line for line in lines if line.column == column}
        first = next(iter(cells.values()))
        values = [line.value for line in cells.values() if not math.isnan(line.value)]
        best = (max if first.higher_is_better else min)(values) if values else math.nan
        row: list[Text | str] = [column, arrow(first.higher_is_better)]
        for system in systems:
            shown = cells.get(system)
            if shown is None:
                row.append("")
                continue
            text = Text(number(shown.value), style="bold" if shown.value == best else "")
            text.append(f" {interval(shown.low, shown.high)}", style="dim")
            row.append(text)
        table.add_row(*row)
    return table


def not_judged_notes(lines: Sequence[Summary]) -> list[str]:
    """One sentence per system and judge that could not judge everything."""
    notes: dict[str, None] = {}
    for line in lines:
        if line.not_judged:
            why = ", ".join(f"{count} {reason}" for reason, count in line.reasons) or "undefined for them"
            notes[
                f"{line.judge} on {line.system}: {line.not_judged} of "
                f"{line.judged + line.not_judged} not judged ({why})"
            ] = None
    return list(notes)
