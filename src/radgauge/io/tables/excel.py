"""Excel workbooks in and out, through openpyxl: the first sheet, its first row the names of the columns.

Texts are written as texts: one that begins with "=" stays a text and is never run as a formula.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, RadgaugeError, require
from radgauge.io.tables.sources import check_unpacked

LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold."""


def read_sheet(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row number and cells by column; rows without any cell are no rows."""
    openpyxl = require("openpyxl", extra="excel")
    try:
        with path.open("rb") as file:  # openpyxl leaves a file open that it cannot read
            with zipfile.ZipFile(file) as packed:  # which reads no more of a part than it states
                check_unpacked(path, sum(part.file_size for part in packed.infolist()))
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            yield from _records(book.worksheets[0], path)
    except RadgaugeError:
        raise
    except Exception:  # of a damaged workbook openpyxl raises whatever its classes and two parsers of XML do
        raise InputError(f"{path.name} is damaged, cut off or no Excel workbook") from None


def _records(sheet: Any, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = all_rows(sheet)
    header = [str(name).strip() if name is not None else "" for name in next(rows, ())]
    while header and not header[-1]:
        header.pop()
    names = [name or f"column_{number}" for number, name in enumerate(header, start=1)]
    if len(set(names)) < len(names):
        raise InputError(f"{path.name}, row 1: a column name occurs more than once")
    for number, row in enumerate(rows, start=2):
        if all(value is None for value in row):
            continue
        if any(value is not None for value in row[len(names) :]):
            raise InputError(f"{path.name}, row {number}: more cells than the first row has names")
        cells = [*row, *[None] * (len(names) - len(row))]
        yield number, dict(zip(names, cells[: len(names)], strict=True))


def all_rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Every row of a sheet; its own statement of its size, which openpyxl would believe, is ignored."""
    sheet.reset_dimensions()
    rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
    return rows


def write_sheet(path: Path, names: Sequence[str], rows: Iterator[Sequence[Any]] | Sequence[Sequence[Any]]) -> None:
    """One sheet; None is an empty cell."""
    openpyxl = require("openpyxl", extra="excel")
    cells = require("openpyxl.cell", extra="excel")
    errors = require("openpyxl.utils.exceptions", extra="excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("radgauge")
    for number, row in enumerate([names, *rows], start=1):
        made = []
        for value in row:
            if isinstance(value, str) and len(value) > LONGEST_CELL:
                raise InputError(f"row {number}: a text is longer than a cell of a workbook holds; write .jsonl")
            try:
                cell = cells.WriteOnlyCell(sheet, value)
            except errors.IllegalCharacterError:
                raise InputError(f"row {number}: a text holds a control character; write .jsonl") from None
            if isinstance(value, str):
                cell.data_type = "s"
            made.append(cell)
        sheet.append(made)
    book.save(path)


def as_rows(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Names and rows of flat records; lists become JSON."""
    import json

    names = list(dict.fromkeys(name for record in records for name in record))
    return names, [
        [json.dumps(v, ensure_ascii=False) if isinstance(v := record.get(name), list) else v for name in names]
        for record in records
    ]
