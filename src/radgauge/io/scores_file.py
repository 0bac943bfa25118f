"""Scores on disk: JSONL or Parquet, one flat record per case, behind a header that says how they came about.

JSONL: the first record is {"_header": {...}}; every further one is {"id", "system", "<column>": value, ...}
with null for "could not be judged". Columns that begin with "_" are sufficient statistics: they let
`compare` and `report` compute corpus values, intervals and tests without reading a report again. Parquet
holds the same columns, with the header under the schema's metadata key "radgauge".
"""

from __future__ import annotations

import csv
import logging
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from radgauge.core.cache import default_cache_dir
from radgauge.core.errors import RadgaugeError, UsageError, require
from radgauge.core.files import NoFolder, check_folder, replacing
from radgauge.core.scores import Results
from radgauge.core.storage import StorageError, local_copy, plain
from radgauge.core.wording import spreadsheet_cell
from radgauge.io.checksums import trusting
from radgauge.io.score_folder import is_score_folder, read_score_folder
from radgauge.io.scores_records import (
    FLAT,
    Column,
    has_header,
    header_of,
    iter_rows,
    read_records,
    results_of,
    table_of,
    write_records,
)
from radgauge.io.tables.excel import write_sheet

log = logging.getLogger(__name__)


def write_scores(path: Path | str, results: Results, *, about: Mapping[str, Any] | None = None) -> None:
    """Write results to `path` (.jsonl or .parquet); the file appears whole or not at all.

    .csv and .xlsx hold the values alone, for spreadsheets: no settings, no reasons, nothing to compare from.

    Args:
        path: Where to; the suffix decides the format.
        results: What `score` returned.
        about: More for the header: inputs with their hashes, seed, command.

    Raises:
        RadgaugeError: The file cannot be written; the message names the file in which the scores are kept.
    """
    path = plain(path)
    _check_suffix(path)
    origin = {name: results.header[name] for name in ("input", "references") if name in results.header}
    header = header_of(results, {**origin, **(about or {})})
    for name, written in header["renamed"].items():
        log.warning("the input's column %r is written as %r: its name is one that scores files use", name, written)
    table = table_of(results)
    try:
        check_folder(path)
        with replacing(path) as beside:
            if path.suffix in FLAT:
                _write_flat(beside, path.suffix, table)
            else:
                write_records(beside, header, table)
    except Exception as error:  # hours of computing must not be lost to a full disk or an odd cell
        fallback = _keep(path.stem, header, table)
        if fallback is None:
            raise
        if isinstance(error, NoFolder):
            raise NoFolder(f"{error}; the scores are kept in {fallback}") from error
        if isinstance(error, StorageError):
            raise StorageError(f"{error}; the scores are kept in {fallback}") from error
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise RadgaugeError(f"{path} cannot be written ({why}); the scores are kept in {fallback}") from error


def check_scores_path(path: Path) -> None:
    """Check that scores can be written there: before the work, not after it."""
    _check_suffix(path)
    check_folder(path)


def _check_suffix(path: Path) -> None:
    if path.suffix not in (".jsonl", ".ndjson", ".parquet", *FLAT):
        raise UsageError(
            f"a scores file must end in .jsonl or .parquet (or .csv, .xlsx: values only), got {path.name!r}"
        )
    if path.suffix == ".xlsx":
        require("openpyxl", extra="excel")
    if path.suffix == ".parquet":
        require("pyarrow", extra="parquet")


def read_scores(path: Path | str, *, trust: bool = False) -> Results:
    """The results in a scores file, with the file's header as `header`.

    A folder of parts (`radgauge score -o FOLDER`) is read as a whole, in the order of its input.
    Corpus values are exact where the metric that made the file is installed; otherwise they are means of
    the case values, and the judge has no `metric`.

    Args:
        path: The file or folder.
        trust: Read a file that was changed since it was written, with a warning.

    Raises:
        InputError: It is no scores file, or not as radgauge wrote it: its checksum is verified.
    """
    with trusting(trust), local_copy(path) as here:
        if here.is_dir():
            return read_score_folder(here)
        return results_of(here, *read_records(here))


def is_scores_file(path: Path) -> bool:
    """True if a file, or a folder of parts, looks like one of ours (cheap: reads its beginning only)."""
    if path.is_dir():
        return is_score_folder(path)
    return has_header(path)


def _write_flat(path: Path, suffix: str, table: Mapping[str, Column]) -> None:
    """Write the columns for display: ids, values and the input's own."""
    shown = {name: column for name, column in table.items() if not name.startswith("_")}
    rows = iter_rows(shown.values())
    if suffix == ".xlsx":
        write_sheet(path, list(shown), list(rows))
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in ([*shown], *rows):
            writer.writerow(["" if value is None else spreadsheet_cell(value) for value in row])


def _keep(name: str, header: Mapping[str, Any], table: Mapping[str, Column]) -> Path | None:
    """Write scores that could not be written where they belong to a place that takes them."""
    for folder in (default_cache_dir() / "unsaved", Path(tempfile.gettempdir())):
        path = folder / f"{name[:100]}-{secrets.token_hex(4)}.jsonl"
        try:
            with replacing(path) as beside:
                write_records(beside, header, table)
        except OSError:
            continue
        return path
    return None
