"""Cases to a file that `read_cases` reads back as the same cases."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError, require
from radgauge.core.files import replacing
from radgauge.io.records import check_unique
from radgauge.io.tables.column_names import NAMES, plain
from radgauge.io.tables.excel import as_rows, write_sheet
from radgauge.io.tables.sources import format_of


def write_cases(path: Path | str, cases: Iterable[Case]) -> None:
    """Write cases as CSV, TSV, JSON lines (each also .gz), Parquet or an Excel workbook, after the file's name.

    The file appears complete or not at all. Columns: id, system, reference (a list `references` where any
    case has none or several), candidate, images if there are any, and one per meta key.
    """
    file = Path(path)
    listed = list(cases)
    check_unique(listed)
    kind = format_of(file)
    records = case_records(listed)
    if kind == "json":
        raise UsageError(f"{file.name}: cases are written as .csv, .tsv, .jsonl or .parquet")
    if kind == "txt":
        raise UsageError(f"{file.name}: a text file has no place for ids; write .csv, .jsonl or .xlsx")
    with replacing(file) as beside:
        if kind == "xlsx":
            write_sheet(beside, *as_rows(records))
            return
        if kind == "parquet":
            _write_parquet(beside, records)
            return
        with _text(beside, zipped=file.suffix.lower() == ".gz") as stream:
            if kind == "jsonl":
                stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            else:
                _write_delimited(stream, records, delimiter="\t" if kind == "tsv" else ",", name=file.name)


def case_records(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Cases as flat records, all with the same columns.

    >>> case_records([Case("1", "clear", ("lungs clear",))])
    [{'id': '1', 'system': 'system', 'reference': 'lungs clear', 'candidate': 'clear'}]
    """
    single = all(len(case.references) == 1 for case in cases)
    any_image = any(case.images for case in cases)
    meta = {name: _meta_column(name) for case in cases for name in case.meta}
    if len(set(meta.values())) < len(meta):
        raise InputError(f"meta keys must have different names, got {', '.join(meta)}")
    return [
        {
            "id": case.id,
            "system": case.system,
            **({"reference": case.references[0]} if single else {"references": list(case.references)}),
            "candidate": case.candidate,
            **({"images": [image.as_posix() for image in case.images]} if any_image else {}),
            **{column: case.meta.get(name, "") for name, column in meta.items()},
        }
        for case in cases
    ]


def _meta_column(name: str) -> str:
    """A meta key as a column name; a key that would be taken for something else gets a prefix."""
    reserved = "|".join([*NAMES["reference"][0], *NAMES["image"][0], *NAMES["image"][1], *NAMES["image"][2]])
    clash = re.fullmatch(rf"id|system|candidate|(?:{reserved})_?\d*", plain(name)) or not name.strip()
    return f"meta_{name}" if clash else name.strip()


def _write_delimited(stream: IO[str], records: Sequence[dict[str, Any]], *, delimiter: str, name: str) -> None:
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    # csv quotes a carriage return only if the line end has one, yet every reader takes it for a line end
    careful = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(records[0] if records else ("id", "system", "reference", "candidate"))
    for record in records:
        row = [json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in record.values()]
        if any("\0" in value for value in row):
            raise InputError(f"{name}: id {record['id']!r} holds a NUL character; write .jsonl instead")
        (careful if any("\r" in value for value in row) else writer).writerow(row)


def _write_parquet(path: Path, records: Sequence[dict[str, Any]]) -> None:
    arrow = require("pyarrow", extra="parquet")
    parquet = require("pyarrow.parquet", extra="parquet")
    lists = ("references", "images")
    names = list(records[0]) if records else ["id", "system", "reference", "candidate"]
    fields = [(name, arrow.list_(arrow.string()) if name in lists else arrow.string()) for name in names]
    parquet.write_table(arrow.Table.from_pylist(list(records), schema=arrow.schema(fields)), path)


@contextmanager
def _text(path: Path, *, zipped: bool) -> Iterator[IO[str]]:
    if not zipped:
        with path.open("w", encoding="utf-8", newline="") as plain_stream:
            yield plain_stream
        return
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as binary,  # same cases, same bytes
        io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream,
    ):
        yield stream
