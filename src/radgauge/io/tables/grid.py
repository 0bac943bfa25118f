"""Rows of a sheet or a delimited file as records: which row is the header, which are blank, titles or totals.

Files of hospitals have a title above the header, separator lines and a sum below the table. Nothing of that is
read as a study, and every row that is left out is named in a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from statistics import median
from typing import Any, NamedTuple

from radgauge.core.errors import InputError, shown
from radgauge.io.tables.column_names import ALIASES, looks_like_data, plain

LOOKAHEAD = 25
"""Rows in which the header is looked for."""

_TOTAL = re.compile(
    r"(?:gesamt\w*|summe\w*|anzahl|mittelwert|durchschnitt|total\w*|sub-?total|sum|count|average|mean|somme|nombre"
    r"|moyenne|suma|promedio|n)\b[^.;]{0,30}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?[\d.,'\s]+ ?%?")


class Record(NamedTuple):
    """One row: where it starts (line of the file, or number of the record) and its cells by column."""

    line: int
    values: dict[str, Any]


def is_blank(value: object) -> bool:
    """True for an empty cell."""
    return value is None or (isinstance(value, str) and not value.strip())


def records(
    rows: Iterable[tuple[int, Sequence[Any]]],
    *,
    name: str,
    unit: str = "row",
    header_row: int = 0,
    ragged: bool = True,
    notes: list[str] | None = None,
) -> Iterator[Record]:
    """Records of the rows below the header.

    Args:
        rows: Line number and cells.
        name: The file, for messages.
        unit: What a line number counts, "line" or "row".
        header_row: Number of the header; 0 = the first row that can be one.
        ragged: Rows may be shorter than the header; otherwise a short row is an error.
        notes: Receives a sentence for every kind of row that was left out, when all rows were read.

    Raises:
        InputError: No header, a name that occurs twice, or a row that does not fit the header.
    """
    filled = ((number, row) for number, row in rows if not all(map(is_blank, row)))
    start = list(islice(filled, LOOKAHEAD))
    index = _header_index(start, header_row, f"{name}: there is no {unit} {header_row} to be the header")
    if not start:
        return
    line, header = start[index]
    following = iter(chain(start[index + 1 :], filled))
    second = next(following, None)
    if second is not None and _continues(header, second[1]):
        header = [low if not is_blank(low) else top for top, low in zip(header, second[1], strict=False)]
    elif second is not None:
        following = chain([second], following)
    used = 0 if ragged else max((_width(row) for _, row in start[index + 1 :]), default=0)
    names = _names(header, f"{name}, {unit} {line}", used)
    left_out = _LeftOut(name, unit)
    if index:
        left_out.add(f"above the header ({unit} {line})", *(number for number, _ in start[:index]))
    width = len(header)
    held: list[tuple[int, Record]] = []
    for number, row in following:
        if total := _total(row):
            left_out.add("below the table or between its parts", number, quote=total)
            continue
        if list(row) == list(header):
            left_out.add("that repeat the header", number)
            continue
        too_long = any(not is_blank(value) for value in row[len(names) :])
        if too_long or (not ragged and len(row) != width):
            if not ragged and _is_remark(row, names):
                held.append((number, Record(number, {})))
                continue
            raise InputError(
                f"{name}, {unit} {number}: {len(row)} cells where the header has {width}; "
                + ("" if ragged else "texts with commas, quotes or line breaks must stand in quotes; ")
                + f"is {unit} {line} the header? pass header_row=NUMBER if not"
            )
        cells = [*row, *[None] * (len(names) - len(row))][: len(names)]
        record = Record(number, dict(zip(names, cells, strict=True)))
        if _is_remark(row, names):  # left out only if no study follows
            held.append((number, record))
            continue
        for earlier, remark in held:
            if not remark.values:
                raise InputError(f"{name}, {unit} {earlier}: 1 cell where the header has {width}")
            yield remark
        held = []
        yield record
    left_out.add("below the table", *(number for number, _ in held))
    if notes is not None:
        notes += left_out.notes()


def _header_index(start: Sequence[tuple[int, Sequence[Any]]], header_row: int, missing: str) -> int:
    if header_row:
        index = next((i for i, (number, _) in enumerate(start) if number == header_row), None)
        if index is None:
            raise InputError(missing)
        return index
    counts = [sum(not is_blank(value) for value in row) for _, row in start]
    if not counts or counts[0] >= 0.5 * max(counts) or _named(start[0][1]):
        return 0
    enough = 0.5 * median(counts)
    for index, (_, row) in enumerate(start):
        cells = [value for value in row if not is_blank(value)]
        if len(cells) > 1 and len(cells) >= enough and _is_header(cells):
            return index
    return 0


def _named(row: Sequence[Any]) -> bool:
    """True if a row holds the names of a role that the field uses, in more than one cell."""
    return sum(isinstance(value, str) and plain(value) in ALIASES for value in row) > 1


def _is_header(cells: Sequence[Any]) -> bool:
    return (
        all(isinstance(value, str) and not _NUMBER.fullmatch(value) for value in cells)
        and len(set(cells)) == len(cells)
        and not any(map(looks_like_data, cells))
    )


def _continues(header: Sequence[Any], row: Sequence[Any]) -> bool:
    """True if a row is the second half of a header: names merged over two rows are repeated in it."""
    same = sum(not is_blank(top) and top == low for top, low in zip(header, row, strict=False))
    cells = [value for value in row if not is_blank(value)]
    return 0 < same < len(cells) and len(row) == len(header) and _is_header(cells)


def _width(row: Sequence[Any]) -> int:
    return max((i for i, value in enumerate(row, start=1) if not is_blank(value)), default=0)


def _names(header: Sequence[Any], where: str, used: int) -> list[str]:
    """Names of the columns; those at the end that have no name and no cells are no columns."""
    cells = [" ".join(str(value).split()) if value is not None else "" for value in header]
    while len(cells) > used and not cells[-1]:
        cells.pop()
    names = [name or f"column_{number}" for number, name in enumerate(cells, start=1)]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(
            f"{where}: the column name {shown(repeated)} occurs more than once; if the header is elsewhere, "
            "pass header_row=NUMBER"
        )
    return names


def _total(row: Sequence[Any]) -> str:
    """The word of a row of totals: "Summe" with numbers and nothing else."""
    cells = [value for value in row if not is_blank(value)]
    word = cells[0].strip() if isinstance(cells[0], str) else ""
    numbers = all(isinstance(value, int | float) or _NUMBER.fullmatch(str(value).strip()) for value in cells[1:])
    return word if len(cells) > 1 and numbers and _TOTAL.fullmatch(word) else ""


def _is_remark(row: Sequence[Any], names: Sequence[str]) -> bool:
    """True for a row that holds one sentence and nothing else, as footnotes do."""
    cells = [value for value in row if not is_blank(value)]
    if len(names) < 3 or len(cells) != 1 or not isinstance(cells[0], str):
        return False
    return len(cells[0].split()) > 2 or cells[0].lstrip().startswith("*") or ": " in cells[0]


class _LeftOut:
    """Rows that are no studies, by the reason."""

    def __init__(self, name: str, unit: str) -> None:
        self.name, self.unit = name, unit
        self.lines: dict[str, list[int]] = {}
        self.quotes: dict[str, str] = {}

    def add(self, why: str, *lines: int, quote: str = "") -> None:
        if lines:
            self.lines.setdefault(why, []).extend(lines)
            self.quotes.setdefault(why, quote)

    def notes(self) -> list[str]:
        return [
            f"{self.name}: {len(lines)} {self.unit}{'s' if len(lines) > 1 else ''} {why} "
            f"{'are' if len(lines) > 1 else 'is'} no study and left out: {self.unit} "
            + ", ".join(map(str, lines[:5]))
            + (f" and {len(lines) - 5} more" if len(lines) > 5 else "")
            + (f" ({quote!r})" if (quote := self.quotes[why]) else "")
            for why, lines in self.lines.items()
        ]
