"""Results in Python and in notebooks: frames, a short `repr`, tables and marked texts."""

from __future__ import annotations

import functools
import html
import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

from radgauge.core.errors import UsageError

ROWS = 20
"""Rows that a `repr` shows at most."""

COLOURS = {
    "matched": "#d7f0dd",
    "missing": "#ffd9d6",
    "added": "#ffe3c2",
    "changed": "#fff3b8",
    "contradicted": "#ffc9e3",
    "present": "#ffd9d6",
    "absent": "#d7f0dd",
    "uncertain": "#fff3b8",
    "anatomy": "#d9ecff",
    "normality": "#e6f5e9",
    "unread": "",
}
"""Background of a marked text by what the mark means; dark letters are set with it, for dark notebooks."""


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def with_hints(
    names: Mapping[str, str],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a function answer other libraries' names of its parameters with its own.

    >>> with_hints({"refs": "references"})(lambda references: None)(refs=[])
    Traceback (most recent call last):
        ...
    radgauge.core.errors.UsageError: refs= is called references= here
    """

    def hinted(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            for name, meant in names.items():
                if name in kwargs:
                    raise UsageError(f"{name}= is called {meant}= here")
            return function(*args, **kwargs)

        return run

    return hinted


class Tabular:
    """Something with rows: subclasses give the columns, frames and notebooks follow."""

    __slots__ = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of equal length; None where there is no value."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas DataFrame (pandas must be installed)."""
        return _library("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars DataFrame (polars must be installed)."""
        return _library("polars").DataFrame(self.to_dict())


def none_if_nan(value: Any) -> Any:
    """A value for a column: NaN is None.

    >>> none_if_nan(float("nan")), none_if_nan(0.5), none_if_nan("a")
    (None, 0.5, 'a')
    """
    return None if isinstance(value, float) and math.isnan(value) else value


class Grid(NamedTuple):
    """Content of a `repr`: a sentence, a head, rows of text, and sentences to end with."""

    title: str
    headers: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    notes: tuple[str, ...] = ()


class Shown(Tabular):
    """Something with rows that shows itself as a grid; a base class with a `repr` of its own comes after it."""

    __slots__ = ()

    def grid(self) -> Grid:
        """Return the content to show."""
        raise NotImplementedError

    def table(self) -> Any:
        """Return a `radgauge.render.tables.Table`, which CSV, Markdown, LaTeX and HTML are written from."""
        grid = self.grid()
        return _tables().table(*grid.headers, rows=grid.rows, title=grid.title, note=" ".join(grid.notes))

    def to_latex(self) -> str:
        """Return a booktabs table."""
        return str(_tables().to_latex(self.table()))

    def to_markdown(self) -> str:
        """Return a pipe table."""
        return str(_tables().to_markdown(self.table()))

    def to_csv(self) -> str:
        """Return records with full precision."""
        return str(_tables().to_csv(self.table()))

    def __repr__(self) -> str:
        return as_plain_text(self.grid())

    def _repr_html_(self) -> str:
        return as_html(self.grid())


def _tables() -> Any:
    return importlib.import_module("radgauge.render.tables")  # a layer above, imported when somebody asks


def as_plain_text(grid: Grid) -> str:
    """A grid in letters: what the prompt shows.

    >>> print(as_plain_text(Grid("1 row", ("metric", "value"), [("bleu", "0.5")])))
    1 row
    metric  value
    bleu      0.5
    """
    rows = [list(map(str, row)) for row in grid.rows[:ROWS]]
    widths = [max(len(text) for text in column) for column in zip(grid.headers, *rows, strict=True)]
    lines = [grid.title] if grid.title else []
    if rows:
        lines += [_line(row, widths) for row in (grid.headers, *rows)]
    if len(grid.rows) > ROWS:
        lines.append(f"... and {len(grid.rows) - ROWS} rows more")
    return "\n".join([*lines, *grid.notes])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0].ljust(widths[0])
    return "  ".join(
        [first, *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
    ).rstrip()


def as_html(grid: Grid) -> str:
    """A grid for a notebook; whatever the cells hold is text, never markup."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in grid.headers)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(text))}</td>" for text in row) + "</tr>" for row in grid.rows
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in grid.notes)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if grid.rows else ""
    return f"<div><p>{html.escape(grid.title)}</p>{table}{notes}</div>"


class Mark(NamedTuple):
    """A part of a text and what it means."""

    start: int
    end: int
    kind: str
    title: str = ""


def marked_html(text: str, marks: Iterable[Mark]) -> str:
    """A text with its marks as HTML; of two marks at one place the first given counts.

    >>> marked_html("no <b>", [Mark(0, 2, "absent", "denied")])
    '<mark title="absent: denied" style="background:#d7f0dd;color:#111">no</mark> &lt;b&gt;'
    """
    owner = [-1] * len(text)
    listed = list(marks)
    for number, mark in enumerate(listed):
        for index in range(max(mark.start, 0), min(mark.end, len(text))):
            if owner[index] < 0:
                owner[index] = number
    parts, start = [], 0
    for index in range(1, len(text) + 1):
        if index == len(text) or owner[index] != owner[start]:
            parts.append(_marked(text[start:index], listed[owner[start]] if owner[start] >= 0 else None))
            start = index
    return "".join(parts).replace("\n", "<br>")


def _marked(text: str, mark: Mark | None) -> str:
    if mark is None:
        return html.escape(text)
    title = html.escape(": ".join(filter(None, (mark.kind, mark.title))), quote=True)
    colour = COLOURS.get(mark.kind, "#eeeeee")
    style = (
        f"background:{colour};color:#111" if colour else "background:none;color:inherit;text-decoration:underline"
    )
    return f'<mark title="{title}" style="{style}">{html.escape(text)}</mark>'


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed; run: pip install {name}") from None
