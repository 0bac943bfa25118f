"""The files behind tables: which format, which encoding, which bytes; strict decoding, line by line."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from radgauge.core.errors import InputError, UsageError
from radgauge.core.files import sha256_of

MAX_UNPACKED, MAX_RATIO = 256 << 20, 50
"""Bytes from which the ratio of unpacked to packed size is looked at; reports pack to a third or a tenth."""

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".txt": "txt",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
}
BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MAGIC = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook; name it .xlsx, or save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; save it as CSV"),
    (b"PAR1", "Parquet; name it .parquet"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
)


@dataclass(frozen=True)
class Source:
    """Source of a table: enough to recognise the file again, nothing about the machine it lay on."""

    name: str
    sha256: str
    format: str
    encoding: str
    delimiter: str = ""
    rows: int = 0
    notes: tuple[str, ...] = ()
    sheet: str = ""
    header_row: int = 0


def inspect_file(path: Path, *, encoding: str | None = None, sheet: str = "", header_row: int = 0) -> Source:
    """Format, encoding and hash of a file, after checking that it can be a table at all."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the file to read")
    if not path.is_file():
        near = _similar_files(path)
        raise InputError(f"{path} does not exist" + (f"; did you mean {near}?" if near else ""))
    kind = format_of(path)
    try:
        digest = sha256_of(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    source = Source(path.name, digest, kind, "binary", sheet=sheet, header_row=header_row)
    if kind in ("parquet", "xlsx"):
        return source
    with _bytes(path) as binary:
        start = binary.read(4096)
    codec = _encoding(path, start, encoding)
    head = start.decode(codec, errors="ignore")
    return replace(
        source,
        encoding=codec,
        delimiter={"csv": _delimiter(head), "tsv": "\t"}.get(kind, ""),
        notes=_encoding_notes(path, encoding),
    )


def _delimiter(head: str) -> str:
    """The sign that gives most rows the same number of cells; of those that do as well, a comma.

    >>> _delimiter("Befunde, Januar\\nFall;Text\\n7;No effusion, no nodule.\\n"), _delimiter("id,text\\n1,a; b\\n")
    (';', ',')
    """

    def regular(sign: str) -> int:
        try:
            widths = Counter(len(row) for row in csv.reader(io.StringIO(head), delimiter=sign) if len(row) > 1)
        except csv.Error:  # a cell longer than the module reads
            return 0
        return max(widths.values(), default=0)

    first = head.split("\n", 1)[0]
    signs = [sign for sign in (",", ";", "\t") if sign in first] or [",", ";", "\t"]
    return signs[0] if len(signs) == 1 and signs[0] != "," else max((",", ";", "\t"), key=regular)


def format_of(path: Path) -> str:
    """The format a file's name stands for.

    >>> format_of(Path("reports.csv.gz"))
    'csv'
    """
    name = path.name.lower().removesuffix(".gz")
    kind = FORMATS.get(Path(name).suffix)
    if kind is None or (kind in ("parquet", "xlsx") and path.suffix.lower() == ".gz"):
        endings = ", ".join(FORMATS)
        raise InputError(f"{path.name}: the name must end in one of {endings} (text formats also with .gz)")
    return kind


def _similar_files(path: Path) -> str:
    names = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
    return ", ".join(difflib.get_close_matches(path.name, names, n=3))


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to the size that its packed size allows."""

    def __init__(self, unzipped: gzip.GzipFile, path: Path) -> None:
        super().__init__()
        self._unzipped, self._path = unzipped, path
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._unzipped.readinto(buffer)
        self._size += count
        check_unpacked(self._path, self._size)
        return count


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a packed file that unpacks to far more than reports do: a few megabytes would fill the memory."""
    if size > MAX_UNPACKED and size > MAX_RATIO * path.stat().st_size:
        raise InputError(
            f"{path.name} unpacks to more than {MAX_RATIO} times its size, as no table of reports does; "
            "unpack it yourself if it is right"
        )


@contextmanager
def _bytes(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unzipped where it is gzip (by content, whatever its name)."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            if zipped:
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield io.BufferedReader(_Unpacked(unzipped, path))
            else:
                yield raw
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path.name}: the gzip data is cut off or damaged ({error})") from None


def _encoding(path: Path, start: bytes, requested: str | None) -> str:
    if not start.strip():
        raise InputError(f"{path.name} is empty")
    for magic, what in MAGIC:
        if start.startswith(magic):
            raise InputError(f"{path.name} is not a text file: it looks like {what}")
    marked = next((name for bom, name in BOMS if start.startswith(bom)), None)
    if requested is not None:
        try:
            name = codecs.lookup(requested).name
        except LookupError:
            raise UsageError(f"unknown encoding {requested!r}; try utf-8, utf-16, latin-1 or cp1252") from None
        return "utf-8-sig" if name == "utf-8" else name
    if marked is None and b"\0" in start:
        zeros = start.count(b"\0")
        if 0.3 < zeros / len(start) < 0.7:  # ASCII written as UTF-16 has a zero in every other byte
            order = "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
            raise InputError(f"{path.name} looks like UTF-16 without a byte order mark; pass encoding={order!r}")
        raise InputError(f"{path.name} is not a text file: it holds NUL bytes")
    return marked or "utf-8"


def _encoding_notes(path: Path, requested: str | None) -> tuple[str, ...]:
    """A stated encoding that hides UTF-8 turns every accent into two signs; say so."""
    if requested is None or codecs.lookup(requested).name.startswith("utf"):
        return ()
    with _bytes(path) as binary:
        text = binary.read()
    if text.isascii():
        return ()
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return ()
    return (f"{path.name} was read as {requested} as asked, but its bytes are valid UTF-8",)


def check_row_counts(path: Path, metadata: Any) -> None:
    """Refuse a Parquet file whose footer contradicts itself: readers believe the row count of a row group.

    To be called when the file has been read: of a damaged column pyarrow's reader raises an exception, and its
    view of the footer ends the process.

    Raises:
        InputError: Row groups do not add up to the file, or a flat column holds another number of values.
    """
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    consistent = metadata.num_rows == sum(group.num_rows for group in groups) and all(
        group.column(index).num_values == group.num_rows
        for group in groups
        for index in range(group.num_columns)
        if metadata.schema.column(index).max_repetition_level == 0
    )
    if not consistent:
        raise InputError(f"{path.name} is damaged: its footer states different numbers of rows")


def read_lines(path: Path, source: Source) -> Iterator[str]:
    """Lines with their ends, decoded strictly; NUL characters are an error."""
    with _bytes(path) as binary:
        lines = io.TextIOWrapper(binary, encoding=source.encoding, errors="strict", newline="")
        number = 0
        while True:
            try:
                line = lines.readline()
            except UnicodeDecodeError:
                raise _undecodable(path, source) from None
            except UnicodeError as error:
                raise InputError(f"{path.name} cannot be read as {source.encoding}: {error}") from None
            if not line:
                return
            number += 1
            if "\0" in line:
                raise InputError(
                    f"{path.name}, line {number}: NUL character; the file is damaged or not {source.encoding}"
                )
            yield line


def _undecodable(path: Path, source: Source) -> InputError:
    """The message for bytes that are not in the encoding: which, where, what to do."""
    with _bytes(path) as binary:
        data = binary.read()
    try:
        data.decode(source.encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        # One character at most: a message may end up in a log, and the text is patient data.
        letter = data[error.start : error.start + 1].decode("cp1252", errors="replace")
        return InputError(
            f"{path.name}, line {line}: byte 0x{data[error.start]:02x} is not {source.encoding}. "
            f"If {letter!r} belongs there, pass encoding='cp1252'; otherwise name the right encoding"
        )
    return InputError(f"{path.name} cannot be read as {source.encoding}")
