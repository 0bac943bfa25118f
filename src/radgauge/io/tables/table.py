"""Tables on disk as records: CSV, TSV, JSON lines, JSON and Parquet, plain or gzipped, with line numbers.

Written on the standard library so that the core needs no data frame package, and so that nothing is guessed:
no type inference (ids keep their leading zeros), no silent encoding fallback, no row that goes missing.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, require, shown
from radgauge.core.storage import local_copy
from radgauge.io.tables.grid import Record, records
from radgauge.io.tables.sources import Source, check_row_counts, inspect_file, read_lines

SPLITS = frozenset({"train", "val", "valid", "validate", "validation", "dev", "test"})
LARGEST_CELL = 2**31 - 1  # the most csv.field_size_limit takes on every platform
UNITS = {"csv": "line", "tsv": "line", "jsonl": "line", "txt": "line", "xlsx": "row"}


@dataclass(frozen=True)
class InputTable:
    """A whole table in memory."""

    source: Source  # File name, hash, format, encoding, number of rows, and what was decided while reading
    columns: tuple[str, ...]  # Column names in order of first appearance
    records: tuple[Record, ...]

    def location(self, record: Record) -> str:
        """Position of a record, for messages."""
        unit = UNITS.get(self.source.format, "record")
        return f"{self.source.name}, {unit} {record.line}"


def read_table(
    path: Path | str, *, encoding: str | None = None, sheet: str = "", header_row: int = 0
) -> InputTable:
    """Read a table; its name says the format: .csv .tsv .jsonl .json .parquet .xlsx, .txt with a report per line.

    Text formats may also end in .gz.

    Args:
        path: The file, or its URL (see `storage`).
        encoding: Of text formats. None: what the byte order mark says, else UTF-8 or an error.
        sheet: Name or number of the sheet of a workbook; "" = the one that holds reports.
        header_row: Row or line of the header in a sheet or delimited file; 0 = the first that can be one.

    Raises:
        InputError: The file is not there, empty, binary, wrongly encoded, ragged or malformed.
    """
    with local_copy(path) as file:
        source = inspect_file(file, encoding=encoding, sheet=sheet, header_row=header_row)
        notes: list[str] = []
        rows = tuple(iter_records(file, source=source, notes=notes))
    if not rows:
        raise InputError(f"{source.name} holds no rows (a header at most)")
    columns = tuple(dict.fromkeys(name for record in rows for name in record.values))
    return InputTable(replace(source, rows=len(rows), notes=(*source.notes, *notes)), columns, rows)


def iter_records(
    path: Path | str,
    *,
    encoding: str | None = None,
    source: Source | None = None,
    notes: list[str] | None = None,
) -> Iterator[Record]:
    """Yield the rows of a table one by one, without holding the file in memory (JSON documents excepted).

    `notes` receives, after the last row, a sentence for every kind of row that is no record.
    """
    file = Path(path)
    about = source or inspect_file(file, encoding=encoding)
    if about.format == "parquet":
        yield from _parquet(file)
    elif about.format == "xlsx":
        from radgauge.io.tables.excel import read_sheet

        yield from read_sheet(file, sheet=about.sheet, header_row=about.header_row, notes=notes)
    elif about.format == "txt":
        for number, line in enumerate(read_lines(file, about), start=1):
            yield Record(number, {"id": str(number), "report": line.rstrip("\r\n")})
    elif about.format == "json":
        yield from _json(file, about)
    elif about.format == "jsonl":
        yield from _json_lines(file, about)
    else:
        yield from _delimited(file, about, notes)


def _delimited(path: Path, source: Source, notes: list[str] | None) -> Iterator[Record]:
    lines = read_lines(path, source)
    first = next(lines, "")
    if source.format == "csv" and first.lstrip()[:1] in ("{", "["):
        raise InputError(f"{path.name} holds JSON, not CSV; name it .json or .jsonl")
    # strict: an unclosed quote must not swallow the rest of the file as one cell
    reader = csv.reader(_chain(first, lines), delimiter=source.delimiter, strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        while True:
            line = reader.line_num + 1
            row = _next_row(reader, path)
            if row is None:
                return
            yield line, row

    name, header = path.name, source.header_row
    yield from records(rows(), name=name, unit="line", header_row=header, ragged=False, notes=notes)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _next_row(reader: Any, path: Path) -> list[str] | None:
    # The limit on cell size is a setting of the whole process: raise it for the one call that needs it.
    usual = csv.field_size_limit(LARGEST_CELL)
    start = reader.line_num + 1
    try:
        row: list[str] | None = next(reader, None)
        return row
    except csv.Error as error:
        raise InputError(
            f"{path.name}, line {start}: {error}; a quote inside a quoted cell must be doubled, "
            "and every quote must be closed"
        ) from None
    finally:
        csv.field_size_limit(usual)


def _json_lines(path: Path, source: Source) -> Iterator[Record]:
    for number, line in enumerate(read_lines(path, source), start=1):
        if not line.strip():
            continue
        values = _parse(line, f"{path.name}, line {number}")
        if not isinstance(values, dict):
            raise InputError(f"{path.name}, line {number}: every line must be a JSON object, got {_kind(values)}")
        if "_header" in values:
            raise InputError(f"{path.name} is a scores file (it starts with a _header), not a table of reports")
        yield Record(number, values)


def _json(path: Path, source: Source) -> Iterator[Record]:
    text = "".join(read_lines(path, source))
    document = _parse(text, path.name)
    for number, values in enumerate(_records_of(document, path.name), start=1):
        if not isinstance(values, dict):
            raise InputError(f"{path.name}, record {number}: must be a JSON object, got {_kind(values)}")
        yield Record(number, values)


def _records_of(document: object, name: str) -> Iterable[object]:
    """Records of the shapes in use: list; splits of lists (R2Gen); id to record (ReXrank) or text; columns"""
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and document:
        values = list(document.values())
        if document.keys() <= SPLITS and all(isinstance(value, list) for value in values):
            return [
                {**record, "split": record.get("split", split)} if isinstance(record, dict) else record
                for split, records in document.items()
                for record in records
            ]
        if all(isinstance(value, dict) for value in values):
            return [_keyed(key, record, name) for key, record in document.items()]
        if all(value is None or isinstance(value, str) for value in values):
            return [{"id": key, "report": text} for key, text in document.items()]
        if all(isinstance(value, list) for value in values):
            return columns_to_records(document, name=name)
    if not document and isinstance(document, dict):
        return []
    raise InputError(
        f"{name}: the JSON must be a list of records, an object from id to record or text, "
        f"an object of columns, or splits (train, val, test) of records; got {_kind(document)}"
    )


def _keyed(key: str, record: dict[str, Any], name: str) -> dict[str, Any]:
    inner = record.get("id")
    if inner is not None and str(inner) != key:
        raise InputError(f"{name}: the record under {key!r} says its id is {inner!r}; they must agree")
    return {"id": key, **record}


def columns_to_records(columns: Mapping[str, Any], *, name: str = "columns") -> list[dict[str, Any]]:
    """A dict of equally long columns as records.

    >>> columns_to_records({"id": ["1", "2"], "candidate": ["a", "b"]})
    [{'id': '1', 'candidate': 'a'}, {'id': '2', 'candidate': 'b'}]
    """
    bare = next(
        (key for key, value in columns.items() if isinstance(value, str) or not hasattr(value, "__len__")),
        None,
    )
    if bare is not None:
        raise InputError(f"{name}: column {bare!r} must be a list of values, got {type(columns[bare]).__name__}")
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{name}: all columns must have the same length, got {lengths}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _parse(text: str, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):  # json would keep the last and lose a study
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise InputError(f"{where}: the key {shown(twice)} occurs more than once")
        return record

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        hint = "; one record per line? name it .jsonl" if error.msg == "Extra data" else ""
        line = f"line {error.lineno}, " if "\n" in text.strip() else ""
        raise InputError(f"{where}: not valid JSON ({error.msg}, {line}column {error.colno}){hint}") from None
    except RecursionError:
        raise InputError(f"{where}: the JSON is nested too deeply") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(f"{where}: not valid JSON (a number has too many digits)") from None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _parquet(path: Path) -> Iterator[Record]:
    parquet = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        with parquet.ParquetFile(path) as file:
            if twice := [name for name, count in Counter(file.schema_arrow.names).items() if count > 1]:
                raise InputError(f"{path.name}: the column name {shown(twice[0])} occurs more than once")
            number = 0
            for batch in file.iter_batches():
                for values in batch.to_pylist():
                    number += 1
                    yield Record(number, values)
            check_row_counts(path, file.metadata)
    except (arrow.ArrowException, OSError, ValueError):
        raise InputError(f"{path.name} is damaged, cut off or no Parquet file") from None
