"""One table for all outputs: terminal, CSV, Markdown, LaTeX, HTML and JSON.

A table is columns and rows of cells. `table` makes the cells from plain values: each column knows how its
values read. CSV and JSON hold records with full precision, one value per column; everything else shows what the
cells say. What comes from data is made harmless by the one who renders it: signs that
steer a terminal, formulas of spreadsheets, marks of HTML, LaTeX and Markdown.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Protocol

from radgauge.core.errors import UsageError
from radgauge.core.files import make_folder, write_file
from radgauge.core.wording import arrow, interval, number, p_value, spreadsheet_cell


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    label: str  # Its head; one that is "" holds plots and is left out of files
    higher_is_better: bool | None = None  # Which way is good, shown as an arrow behind the label
    format: Callable[[float], str] = number  # How a number reads
    right: bool | None = None  # True if it stands at the right; None: if all its values are numbers
    fold: bool = False  # True if a terminal may break it over lines
    significant: float = -math.inf  # Values below this are marked: bold, or with a star in a terminal

    @property
    def head(self) -> str:
        """The label with its arrow."""
        return self.label if self.higher_is_better is None else f"{self.label} {arrow(self.higher_is_better)}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    text: str
    small: str = ""  # What stands beside it in smaller type: an interval
    strong: bool = False  # True if it is the best of its row, or significant
    plot: str = ""  # Inline SVG for the page; files leave it out
    case: int = -1  # Number of a case in the browser that the cell links to; -1 for none
    again: bool = False  # True if it repeats the cell above, so that the page need not show it
    style: str = ""  # Colour in a terminal
    value: Any = None  # The value behind the text, for records that nobody gave
    hint: str = ""  # What a tooltip in the page says


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; `table` makes one."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]  # Cells; the first column names the row
    key: str = ""  # Its name in file names and on the command line
    title: str = ""  # Caption
    records: tuple[Mapping[str, Any], ...] = ()  # The same as values, for CSV and JSON
    rules: tuple[int, ...] = ()  # Rows above which a line is drawn in a terminal
    note: str = ""  # A sentence below it
    wide: bool = False  # True if LaTeX sets it over both columns of a page

    @property
    def written(self) -> tuple[int, ...]:
        """Columns that files have."""
        return tuple(index for index, column in enumerate(self.columns) if column.label)


class Bounded(Protocol):
    """Anything with a value and its interval."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


Value = Cell | str | float | None
"""What a cell can be made from; None leaves it empty."""

Row = Sequence[Value]


def table(
    *columns: Column | str,
    rows: Iterable[Row | None],
    key: str = "",
    title: str = "",
    records: Iterable[Mapping[str, Any]] = (),
    note: str = "",
) -> Table:
    """A table from values; a row that is None draws a line.

    >>> from radgauge.core.wording import p_value
    >>> p = Column("p", format=p_value, significant=0.05)
    >>> made = table("metric", p, rows=[("bleu", 0.012), ("rouge", 0.4)])
    >>> print(to_markdown(made), end="")
    | metric | p |
    | --- | ---: |
    | bleu | **0.012** |
    | rouge | 0.400 |
    """
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    cells: list[tuple[Cell, ...]] = []
    rules: list[int] = []
    numbers = [column.right is None for column in heads]
    for row in rows:
        if row is None:
            rules.append(len(cells))
            continue
        for index, value in enumerate(row):
            meant = value if not isinstance(value, Cell) else value.text if value.value is None else value.value
            numbers[index] &= meant is None or meant == "" or isinstance(meant, int | float)
        cells.append(tuple(_cell(value, column) for value, column in zip(row, heads, strict=True)))
    numbers = [numeric and any(row[index].text for row in cells) for index, numeric in enumerate(numbers)]
    placed = tuple(
        column if column.right is not None else replace(column, right=right)
        for column, right in zip(heads, numbers, strict=True)
    )
    return Table(placed, tuple(cells), key, title, tuple(records), tuple(rules), note)


def bounded(estimate: Bounded, form: Callable[[float], str] = number, *, strong: bool = False) -> Cell:
    """A cell for anything with `value`, `low` and `high`: the value, and its interval in small type."""
    return Cell(form(estimate.value), interval(estimate.low, estimate.high), strong, value=estimate.value)


P_COLUMN = Column("p", format=p_value, right=True, significant=0.05)
"""The column of p values."""


def p_cell(p: float, *, bound: bool) -> Cell:
    """A p value for `P_COLUMN`; with `bound` no permutation was as extreme, so it is at most this."""
    return Cell(p_value(p, bound=bound), strong=p < P_COLUMN.significant, value=p)


def _cell(value: Value, column: Column) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None or isinstance(value, str):
        return Cell(value or "", value=value)
    if isinstance(value, bool):
        return Cell("yes" if value else "no", value=value)
    text = str(value) if isinstance(value, int) else column.format(value)
    return Cell(text, strong=value < column.significant, value=value)


def to_records(table: Table) -> list[Mapping[str, Any]]:
    """Values with full precision by name: the records it was given, or else what stands behind its cells."""
    if table.records:
        return list(table.records)
    names = [column.label for column in table.columns]
    return [
        {name: cell.text if cell.value is None else cell.value for name, cell in zip(names, row, strict=True)}
        for row in table.rows
    ]


def to_csv(table: Table) -> str:
    """Records, full precision; an empty cell where there is no value."""
    return records_to_csv(to_records(table))


def records_to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV, full precision."""
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writerow({name: spreadsheet_cell(name) for name in names})
    for record in records:
        writer.writerow({name: spreadsheet_cell(_blank_if_nan(record.get(name))) for name in names})
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table, the best of each row in bold."""
    keep = table.written
    lines = [
        _pipe([_bar(table.columns[i].head) for i in keep]),
        _pipe(["---:" if table.columns[i].right else "---" for i in keep]),
    ]
    for row in table.rows:
        cells = []
        for i in keep:
            text = _bar(row[i].text)
            text = f"**{text}**" if row[i].strong and text else text
            cells.append(f"{text} {_bar(row[i].small)}".strip())
        lines.append(_pipe(cells))
    return "\n".join(lines) + "\n" + (f"\n{table.note}\n" if table.note else "")


TEXT_WIDTH, PAGE_WIDTH = 347.0, 516.0
"""Points: a column of Springer's LNCS, which MICCAI uses, and a page of two columns (IEEE)."""
_LETTER, _SMALL_LETTER, _GAP = 4.7, 3.7, 12.0
"""Points of a letter in \\small and \\scriptsize, and between two columns."""


def to_latex(table: Table) -> str:
    """A booktabs table with caption and label, readable at its own size: one that is too wide is split.

    The parts stand above one another in one float, each with the first column; intervals stand below their values.
    """
    floating = "table*" if table.wide else "table"
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        f"\\begin{{{floating}}}",
        "\\centering\\small",
        f"\\caption{{{_tex(table.title)}}}",
        f"\\label{{tab:{table.key}}}",
    ]
    for part_index, part in enumerate(_fitting(table, PAGE_WIDTH if table.wide else TEXT_WIDTH)):
        form = "".join("r" if table.columns[i].right else "l" for i in part)
        lines += ["\\par\\medskip"] if part_index else []
        lines += ["\\sbox0{%", f"\\begin{{tabular}}{{@{{}}{form}@{{}}}}", "\\toprule"]
        lines += [" & ".join(_tex_head(table.columns[i]) for i in part) + " \\\\", "\\midrule"]
        lines += [" & ".join(_tex_cell(row[i]) for i in part) + " \\\\" for row in table.rows]
        lines += ["\\bottomrule", "\\end{tabular}}%"]
        # where columns are narrower than LNCS's, a part shrinks rather than run into its neighbour
        lines.append("\\ifdim\\wd0>\\linewidth\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi")
    if table.note:
        lines.append(f"\\par\\smallskip{{\\footnotesize {_tex(table.note)}}}")
    lines.append(f"\\end{{{floating}}}")
    return "\n".join(lines) + "\n"


def _fitting(table: Table, width: float) -> list[list[int]]:
    """Columns in parts that are no wider than the text; the first column begins each."""
    first, *others = table.written
    parts: list[list[int]] = []
    used = math.inf
    for i in others:
        wide = _width(table, i) + _GAP
        if used + wide > width:
            parts.append([first])
            used = _width(table, first)
        parts[-1].append(i)
        used += wide
    return parts or [[first]]


def _width(table: Table, column: int) -> float:
    """About how wide a column is in points: its heading breaks at blanks."""
    head = max((len(word) for word in _tex_words(table.columns[column])), default=0)
    cells = [row[column] for row in table.rows]
    text = max((len(cell.text) for cell in cells), default=0)
    small = max((len(cell.small) for cell in cells), default=0)
    return max(_LETTER * max(head, text), _SMALL_LETTER * small)


def _tex_words(column: Column) -> list[str]:
    return column.head.replace(" ↑", "~↑").replace(" ↓", "~↓").split()


def _tex_head(column: Column) -> str:
    words = [_tex(word.replace("~", "\u00a0")).replace("\u00a0", "~") for word in _tex_words(column)]
    align = "r" if column.right else "l"
    return _stack(words, align) if words else ""


def _stack(lines: Sequence[str], align: str) -> str:
    return lines[0] if len(lines) == 1 else f"\\shortstack[{align}]{{" + "\\\\".join(lines) + "}"


def _tex_cell(cell: Cell) -> str:
    text = _tex(cell.text)
    text = f"\\textbf{{{text}}}" if cell.strong and text else text
    return _stack([text, f"{{\\scriptsize {_tex(cell.small)}}}"], "r") if cell.small else text


def to_html(table: Table) -> str:
    """A table element for a page with the style sheet of the report; all that comes from data is escaped."""
    head = "".join(
        f'<th scope="col"{_class("num" if column.right else "")}>{_breakable(column.head)}</th>'
        for column in table.columns
    )
    body = "".join(
        f"<tr>{''.join(_html_cell(cell, table.columns[i], first=not i) for i, cell in enumerate(row))}</tr>\n"
        for row in table.rows
    )
    caption = f'<p class="cap" id="cap-{escape(table.key)}">{escape(table.title)}</p>' if table.title else ""
    named = f' aria-labelledby="cap-{escape(table.key)}"' if caption else ""
    return (
        f'<div class="card">{caption}<div class="scroll"><table{named}>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div></div>"
        + (f'<p class="note">{escape(table.note)}</p>' if table.note else "")
    )


def _html_cell(cell: Cell, column: Column, *, first: bool) -> str:
    text = _breakable(cell.text)
    if cell.hint:
        text = f'<span class="hint" tabindex="0" title="{escape(cell.hint)}">{text}</span>'
    if cell.case >= 0:
        text = f'<a href="#cases" data-case="{cell.case}">{text}</a>'
    small = f' <span class="small">{escape(cell.small)}</span>' if cell.small else ""
    if first:
        return f'<th scope="row"{_class("again" if cell.again else "")}>{text}{small}{cell.plot}</th>'
    classes = ("num" if column.right else "", "best" if cell.strong else "", "plot" if cell.plot else "")
    return f"<td{_class(*classes)}>{text}{small}{cell.plot}</td>"


def _class(*names: str) -> str:
    chosen = " ".join(filter(None, names))
    return f' class="{chosen}"' if chosen else ""


def _breakable(text: str) -> str:
    """Escaped; long names of metrics may break, an arrow stays with its name."""
    return escape(text).replace("_", "_<wbr>").replace(" ↑", "\u00a0↑").replace(" ↓", "\u00a0↓")


FORMATS = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}


def write_tables(tables: Mapping[str, Table], target: str) -> list[Path]:
    """Write what `--table` asks for.

    Args:
        tables: By key.
        target: A file (the summary, in the format of its suffix), KEY=FILE, or a folder (every table, every
            format).
    """
    key, sign, destination = target.partition("=") if not Path(target).suffix or "=" in target else ("", "", "")
    path = Path(destination if sign else target)
    if not sign and path.suffix not in FORMATS:
        if path.suffix:
            raise UsageError(f"a table must end in .csv, .tex or .md, got {path.name!r}")
        make_folder(path)
        return [
            _write(path / f"{name}{suffix}", make(table))
            for name, table in tables.items()
            for suffix, make in FORMATS.items()
        ]
    name = key if sign else "summary"
    if name not in tables:
        raise UsageError(f"there is no table {name!r} in this report; there are: {', '.join(tables)}")
    if path.suffix not in FORMATS:
        raise UsageError(f"a table must end in .csv, .tex or .md, got {path.name!r}")
    return [_write(path, FORMATS[path.suffix](tables[name]))]


def _write(path: Path, text: str) -> Path:
    write_file(path, text)
    return path


def _blank_if_nan(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and value != value) else value


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _bar(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "χ": "chi",
}
_TEX = {
    "\\": "\\textbackslash{}",
    "&": "\\&",
    "%": "\\%",
    "$": "\\$",
    "#": "\\#",
    "_": "\\_",
    "{": "\\{",
    "}": "\\}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "↑": "$\\uparrow$",
    "↓": "$\\downarrow$",
    "→": "$\\rightarrow$",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "×": "$\\times$",
    "±": "$\\pm$",
    "·": "$\\cdot$",
    "≤": "$\\leq$",
    "≥": "$\\geq$",
    "∞": "$\\infty$",
    "…": "\\ldots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "\u00a0": "~",
    "<": "$<$",
    ">": "$>$",
    "†": "$^{\\dagger}$",
    **{letter: f"$\\{name}$" for letter, name in _GREEK.items()},
}


def _tex(text: str) -> str:
    """Text as LaTeX shows it; a sign that pdflatex does not know is written as its code point.

    >>> _tex("bleu_4 ↑ 5 %"), _tex("Kendall τ-b"), _tex("模")
    ('bleu\\\\_4 $\\\\uparrow$ 5 \\\\%', 'Kendall $\\\\tau$-b', '[U+6A21]')
    """
    return "".join(
        _TEX.get(letter, letter if ord(letter) < 0x180 else f"[U+{ord(letter):04X}]") for letter in text
    )
