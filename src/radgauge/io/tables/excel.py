"""Excel workbooks in and out, through openpyxl: the sheet with the reports, whatever stands around its table.

Texts are written as texts: one that begins with "=" stays a text and is never run as a formula.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, RadgaugeError, require
from radgauge.io.tables.grid import LOOKAHEAD, Record, records
from radgauge.io.tables.sources import check_unpacked

LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold."""


def read_sheet(
    path: Path, *, sheet: str = "", header_row: int = 0, notes: list[str] | None = None
) -> Iterator[Record]:
    """Records of a sheet: the named one, or the one that holds reports.

    Raises:
        InputError: No workbook, no such sheet, or reports on several sheets of which none is named.
    """
    openpyxl = require("openpyxl", extra="excel")
    try:
        with path.open("rb") as file:  # openpyxl leaves a file open that it cannot read
            with zipfile.ZipFile(file) as packed:  # which reads no more of a part than it states
                check_unpacked(path, sum(part.file_size for part in packed.infolist()))
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            chosen = _choose_sheet(book, sheet, path, notes)
            yield from records(_rows(chosen), name=path.name, header_row=header_row, notes=notes)
    except RadgaugeError:
        raise
    except Exception:  # of a damaged workbook openpyxl raises whatever its classes and two parsers of XML do
        raise InputError(f"{path.name} is damaged, cut off or no Excel workbook") from None


def _choose_sheet(book: Any, sheet: str, path: Path, notes: list[str] | None) -> Any:
    sheets = list(book.worksheets)
    names = [str(worksheet.title) for worksheet in sheets]
    listed = ", ".join(map(repr, names))
    if sheet:
        if sheet not in names and not (sheet.isdigit() and 0 < int(sheet) <= len(names)):
            raise InputError(f"{path.name} has no sheet {sheet!r}; its sheets: {listed}")
        return sheets[names.index(sheet) if sheet in names else int(sheet) - 1]
    if len(sheets) == 1:
        return sheets[0]
    with_reports = [
        worksheet for worksheet in sheets if worksheet.sheet_state == "visible" and _holds_reports(worksheet)
    ]
    if len(with_reports) > 1:
        choices = " or ".join(f"sheet={str(worksheet.title)!r}" for worksheet in with_reports)
        raise InputError(f"{path.name} has reports on {len(with_reports)} of its sheets; choose {choices}")
    chosen = with_reports[0] if with_reports else sheets[0]
    if notes is not None:
        notes.append(f"{path.name} has {len(names)} sheets ({listed}); {str(chosen.title)!r} was read")
    return chosen


def _holds_reports(sheet: Any) -> bool:
    """True if two of the first rows hold a text of several words in the same column."""
    seen: Counter[int] = Counter()
    for row in islice(all_rows(sheet), 2 * LOOKAHEAD):
        seen.update(i for i, value in enumerate(row) if isinstance(value, str) and value.count(" ") >= 4)
    return max(seen.values(), default=0) > 1


def _rows(sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Row numbers and cells; what was merged over several rows stands in each of them."""
    spans = _merged_down(sheet)
    held: dict[int, tuple[int, Any]] = {}
    for number, row in enumerate(all_rows(sheet), start=1):
        if spans or held:
            cells = list(row)
            for column in [*held]:
                last, value = held[column]
                if number > last:
                    del held[column]
                elif column < len(cells) and cells[column] is None:
                    cells[column] = value
            for column, last in spans.pop(number, ()):
                if column < len(cells):
                    held[column] = (last, cells[column])
            row = tuple(cells)
        yield number, row


_MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)(\d+):[A-Z]+(\d+)"')


def _merged_down(sheet: Any) -> dict[int, list[tuple[int, int]]]:
    """First row -> (column, last row) of the cells that are merged over rows.

    openpyxl knows them only when it holds the whole workbook in memory.
    """
    utils = require("openpyxl.utils", extra="excel")
    with sheet._get_source() as part:
        ranges = _MERGED.findall(part.read())
    spans: dict[int, list[tuple[int, int]]] = {}
    for letters, first, last in ranges:
        if int(last) > int(first):
            column = utils.column_index_from_string(letters.decode()) - 1
            spans.setdefault(int(first), []).append((column, int(last)))
    return spans


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


def write_marked_sheet(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write one sheet to read and filter; in a cell of (text, marked) pieces the marked words are red."""
    openpyxl = require("openpyxl", extra="excel")
    rich = require("openpyxl.cell.rich_text", extra="excel")
    fonts = require("openpyxl.cell.text", extra="excel")
    styles = require("openpyxl.styles", extra="excel")
    red = fonts.InlineFont(b=True, color="00B00020")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "cases"
    sheet.append(list(names))
    for number, row in enumerate(rows, start=2):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            if isinstance(value, list):
                parts = [rich.TextBlock(red, text) if mark else text for text, mark in value]
                value = (
                    rich.CellRichText(*parts) if any(mark for _, mark in value) else "".join(t for t, _ in value)
                )
            cell.value = value
            if isinstance(value, str) and not isinstance(value, rich.CellRichText):
                cell.data_type = "s"  # a text that begins with "=" is no formula
            cell.alignment = styles.Alignment(wrap_text=True, vertical="top")
    for column, name in enumerate(names):
        width = (
            60
            if any(isinstance(row[column], list) or len(str(row[column])) > 40 for row in rows)
            else len(name) + 6
        )
        sheet.column_dimensions[openpyxl.utils.get_column_letter(column + 1)].width = width
    for cell in sheet[1]:
        cell.font = styles.Font(bold=True)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    book.save(path)


def as_rows(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Names and rows of flat records; lists become JSON."""
    import json

    names = list(dict.fromkeys(name for record in records for name in record))
    return names, [
        [json.dumps(v, ensure_ascii=False) if isinstance(v := record.get(name), list) else v for name in names]
        for record in records
    ]
