"""Tables for people and for papers: one table, shown in the page and written as CSV, LaTeX or Markdown.

CSV holds records with full precision, one value per column; LaTeX and Markdown hold what the page shows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radgauge.errors import UsageError
from radgauge.files import make_folder, write_file
from radgauge.show.wording import spreadsheet_cell


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: What it says.
        small: What stands beside it in smaller type: an interval.
        strong: Whether it is the best of its row.
        plot: Inline SVG for the page; files leave it out.
        case: Number of a case in the browser that the cell links to; -1 for none.
        again: Whether it repeats the cell above, so that the page need not show it.
    """

    text: str
    small: str = ""
    strong: bool = False
    plot: str = ""
    case: int = -1
    again: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption.

    Attributes:
        key: Its name in file names and on the command line.
        title: Caption.
        headers: Head of each column; one that is "" holds plots and is left out of files.
        rows: Cells; the first column names the row.
        records: The same as values, for CSV.
        right: Columns of numbers.
    """

    key: str
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[Mapping[str, Any], ...]
    right: tuple[int, ...] = ()

    @property
    def written(self) -> tuple[int, ...]:
        """Columns that files have."""
        return tuple(place for place, header in enumerate(self.headers) if header)


def to_csv(table: Table) -> str:
    """Records, full precision; an empty cell where there is no value."""
    names = list(dict.fromkeys(name for record in table.records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writerow({name: spreadsheet_cell(name) for name in names})
    for record in table.records:
        writer.writerow({name: spreadsheet_cell(_value(record.get(name))) for name in names})
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table, the best of each row in bold."""
    keep = table.written
    lines = [
        _pipe([_bar(table.headers[i]) for i in keep]),
        _pipe(["---:" if i in table.right else "---" for i in keep]),
    ]
    for row in table.rows:
        cells = []
        for i in keep:
            text = _bar(row[i].text)
            text = f"**{text}**" if row[i].strong and text else text
            cells.append(f"{text} {_bar(row[i].small)}".strip())
        lines.append(_pipe(cells))
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """A booktabs table with caption and label."""
    keep = table.written
    form = "".join("r" if i in table.right else "l" for i in keep)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_tex(table.title)}}}",
        f"\\label{{tab:{table.key}}}",
        f"\\begin{{tabular}}{{{form}}}",
        "\\toprule",
        " & ".join(_tex(table.headers[i]) for i in keep) + " \\\\",
        "\\midrule",
    ]
    for row in table.rows:
        cells = []
        for i in keep:
            text = _tex(row[i].text)
            text = f"\\textbf{{{text}}}" if row[i].strong and text else text
            small = f"{{\\footnotesize {_tex(row[i].small)}}}" if row[i].small else ""
            cells.append(f"{text} {small}".strip())
        lines.append(" & ".join(cells) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}"]
    return "\n".join(lines) + "\n"


FORMATS = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}


def write_tables(tables: Mapping[str, Table], wanted: str) -> list[Path]:
    """Write what `--table` asks for.

    Args:
        tables: By key.
        wanted: A file (the summary, in the format of its suffix), KEY=FILE, or a folder (every table, every
            format).
    """
    key, sign, place = wanted.partition("=") if not Path(wanted).suffix or "=" in wanted else ("", "", "")
    path = Path(place if sign else wanted)
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


def _value(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and value != value) else value


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _bar(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
    "–": "--",
    "−": "$-$",
    "×": "$\\times$",
    "<": "$<$",
    ">": "$>$",
}


def _tex(text: str) -> str:
    """Text as LaTeX shows it.

    >>> _tex("bleu_4 ↑ 5 %")
    'bleu\\\\_4 $\\\\uparrow$ 5 \\\\%'
    """
    return "".join(_TEX.get(letter, letter) for letter in text)
