"""Tables and sentences in a terminal, a pipe or a log file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from radgauge.core.wording import visible

if TYPE_CHECKING:
    from radgauge.render.tables import Cell, Column, Table

FOLDED = 12
"""Width to which a column that may break over lines can shrink."""


class Terminal(Console):
    """A console that leaves text alone: no markup or emoji found in reports, no colours in pipes."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a table that is too wide overflows its lines: rich would cut 0.939 down to 0."""
        usual = self.width
        self.width = max([usual, *(least_width(self, item) for item in objects if isinstance(item, RichTable))])
        try:
            super().print(*objects, **options)
        finally:
            self.width = usual

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Nothing that a text holds steers the terminal; what rich itself adds is left alone."""
        for segment in super().render(*args, **options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def say(self, *sentences: str) -> None:
        """Sentences, each on a line of its own, however long."""
        for sentence in sentences:
            self.print(sentence, soft_wrap=True)

    def show(self, *tables: Table) -> None:
        """The first of these tables that fits the width; the last one if none does."""
        drawn = [_drawn(table) for table in tables]
        wide = self.options.update(max_width=10_000)
        for drawing in drawn[:-1]:
            if Measurement.get(self, wide, drawing).maximum <= self.width:
                self.print(drawing)
                return
        self.print(drawn[-1])

    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which does not call a reader who has seen enough a failure."""
        raise BrokenPipeError(errno.EPIPE, "closed")


def console(*, stderr: bool = False) -> Terminal:
    """The terminal behind stdout or stderr."""
    stream = sys.stderr if stderr else sys.stdout
    # A pipe or a file has no width: nothing is gained by folding there.
    width = None if stream.isatty() or os.environ.get("COLUMNS") else 200
    return Terminal(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False, width=width)


def least_width(out: Console, table: RichTable) -> int:
    """Minimum width of a table without cuts: full cells, but for columns that may break over lines."""
    wide = out.options.update(max_width=10_000)
    widths = [
        max(Measurement.get(out, wide, cell).maximum for cell in (column.header, *column.cells))
        for column in table.columns
    ]
    spared = sum(
        max(0, size - FOLDED) for size, column in zip(widths, table.columns, strict=True) if not column.no_wrap
    )
    return Measurement.get(out, wide, table).maximum - spared


def _drawn(table: Table) -> RichTable:
    """The one table style; plots have no place in a terminal."""
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    indices = [i for i in range(len(table.columns)) if not any(row[i].plot for row in table.rows)]
    for i in indices:
        column = table.columns[i]
        drawn.add_column(
            column.head,
            justify="right" if column.right else "left",
            overflow="fold",
            no_wrap=not column.fold,
        )
    for index, row in enumerate(table.rows):
        if index in table.rules:
            drawn.add_section()
        drawn.add_row(*(_text(row[i], table.columns[i]) for i in indices))
    return drawn


def _text(cell: Cell, column: Column) -> Text:
    words = cell.text
    if column.significant > 0:
        return Text(words + ("*" if cell.strong else " ") if words else "")
    shown = Text(words, style="bold" if cell.strong else cell.style)
    if cell.small:
        shown.append(f" {cell.small}", style="dim")
    return shown
