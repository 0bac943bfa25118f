"""The records of a scores file: header and columns, how results become them and they become results.

`scores_file` has the form; files and the parts of folders are both written and read here.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radgauge
from radgauge.core.errors import InputError, RadgaugeError, require
from radgauge.core.metric import Alias, Metric, Rows, unaliased
from radgauge.core.registry import check_runs_no_file, load
from radgauge.core.scores import Results, Scores
from radgauge.io.checksums import CHECKSUM, checksum_of, verify
from radgauge.io.tables.sources import check_row_counts

FORMAT = "radgauge-scores-1"
FLAT = (".csv", ".xlsx")
"""Tables for spreadsheets: values only."""
_LARGEST = float(np.finfo(np.float64).max)


def read_records(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Header and columns of a scores file, the header checked."""
    if path.suffix in FLAT:
        raise InputError(f"{path.name} is a table of values, not a scores file; those end in .jsonl or .parquet")
    header, table = _read_parquet(path) if path.suffix == ".parquet" else _read_jsonl(path)
    _check_header(path, header)
    return header, table


def read_header(path: Path) -> dict[str, Any]:
    """The header of a scores file, checked; its records are not read."""
    if path.suffix == ".parquet":
        packed = (_parquet(path, "read_schema").metadata or {}).get(b"radgauge")
        header = _json(packed, f"{path}, header") if packed is not None else None
    else:
        with path.open("rb") as file:
            first = _json(file.readline(), f"{path}, line 1")
        header = first.get("_header") if isinstance(first, dict) else None
    if not isinstance(header, dict):
        raise InputError(f"{path}: not a scores file: it has no radgauge header")
    _check_header(path, header)
    return header


def results_of(path: Path, header: dict[str, Any], table: Mapping[str, list[Any]]) -> Results:
    """The results that header and columns of a scores file stand for."""
    if "id" not in table or "system" not in table:
        raise InputError(f"{path}: not a scores file: the columns id and system must be there")
    for name in ("id", "system"):
        odd = next((at for at, value in enumerate(table[name], start=1) if not isinstance(value, str)), None)
        if odd is not None:
            raise InputError(f"{path}, case {odd}: {name} must be a text, got {_kind(table[name][odd - 1])}")
    keys = tuple(zip(table["id"], table["system"], strict=True))
    if len(set(keys)) < len(keys):
        raise InputError(f"{path}: every (id, system) must occur once")
    judges: dict[str, Scores] = {}
    for name, about in header["judges"].items():
        columns = tuple(about["columns"])
        values = _matrix(path, table, columns)
        metric = _restore(about)
        if metric is not None and metric.columns != columns:
            metric = None  # written by a version with other outputs: means of the values will do
        rows = _matrix(path, table, _row_columns(name, about["rows"])) if about["rows"] else values
        if metric is not None and not _fits(metric, rows, values):
            raise InputError(f"{path}: the statistics of {name!r} are not those that its metric keeps")
        judges[name] = Scores(
            judge=name,
            signature=about["signature"],
            keys=keys,
            rows=rows if metric is not None else values,
            values=values,
            columns=columns,
            higher_is_better=about["higher_is_better"],
            reasons={(study, system): why for study, system, why in about.get("not_judged", [])},
            metric=metric,
            directions=tuple(about.get("directions", ())),
            truncated=frozenset(keys[at] for at in about.get("truncated", ()) if at < len(keys)),
        )
    taken = {"id", "system"} | {c for about in header["judges"].values() for c in about["columns"]}
    original = {written: name for name, written in header.get("renamed", {}).items()}
    meta = {
        original.get(name, name): ["" if value is None else str(value) for value in column]
        for name, column in table.items()
        if name not in taken and not name.startswith("_")
    }
    verify(path, header.get(CHECKSUM), checksum_of(header, table))
    return Results(judges, meta, header)


def header_of(results: Results, about: Mapping[str, Any]) -> dict[str, Any]:
    """Header of the file: judges with settings and signatures, versions, inputs."""
    judges: dict[str, dict[str, Any]] = {}
    for name, scores in results.judges.items():
        metric = scores.metric
        judges[name] = {
            "columns": list(scores.columns),
            "signature": scores.signature,
            "higher_is_better": scores.higher_is_better,
            "directions": list(scores.directions),
            "metric": None if metric is None else unaliased(metric).name,
            "alias": metric.alias if isinstance(metric, Alias) else "",
            "settings": None if metric is None else _settings(unaliased(metric)),
            "rows": 0 if _rows_are_values(scores) else scores.rows.shape[1],
            "judged": int((~np.isnan(scores.headline)).sum()),
            "not_judged": [[study, system, why] for (study, system), why in scores.reasons.items()],
        }
        if scores.truncated:
            judges[name]["truncated"] = [at for at, key in enumerate(scores.keys) if key in scores.truncated]
    return {
        "format": FORMAT,
        "radgauge": radgauge.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **about,
        "renamed": {name: written for name, written in _meta_columns(results).items() if name != written},
        "cases": len(results.keys_of_cases),
        "judges": judges,
    }


Column = Sequence[Any] | NDArray[np.float64]
"""One value per case; numbers as an array in which NaN is a value that is missing."""


def table_of(results: Results) -> dict[str, Column]:
    """Column -> one value per case: keys, values, the input's own columns, statistics."""
    keys = results.keys_of_cases
    table: dict[str, Column] = {"id": [study for study, _ in keys], "system": [system for _, system in keys]}
    for scores in results.judges.values():
        table.update(zip(scores.columns, scores.values.T, strict=True))
    for name, written in _meta_columns(results).items():
        table[written] = results.meta[name]
    for name, scores in results.judges.items():
        if not _rows_are_values(scores):
            table.update(zip(_row_columns(name, scores.rows.shape[1]), scores.rows.T, strict=True))
    return table


def iter_rows(columns: Collection[Column]) -> Iterator[tuple[Any, ...]]:
    """The rows of columns, numbers as Python's and None where one is missing, a block at a time."""
    length = len(next(iter(columns), ()))
    for start in range(0, length, 1000):
        yield from zip(*(cells(column[start : start + 1000]) for column in columns), strict=True)


def cells(column: Column) -> Sequence[Any]:
    """A column's values, None where a number is missing."""
    if isinstance(column, np.ndarray):
        return [None if math.isnan(value) else value for value in column.tolist()]
    return column


def _meta_columns(results: Results) -> dict[str, str]:
    """Names of the extra columns of the input in the file: `meta_...` where the name is taken.

    Taken are the columns of the scores, and names that begin with "_", which are those of the statistics.
    """
    columns = {"id", "system"} | {column for scores in results.judges.values() for column in scores.columns}
    clear = [name for name in results.meta if name not in columns and not name.startswith("_")]
    names = {name: name for name in clear}
    used = columns | set(clear)
    for name in results.meta:
        if name not in names:
            written = f"meta_{name}"
            while written in used:
                written = f"meta_{written}"
            used.add(written)
            names[name] = written
    return names


def _rows_are_values(scores: Scores) -> bool:
    return scores.rows is scores.values or (
        scores.rows.shape == scores.values.shape and np.array_equal(scores.rows, scores.values, equal_nan=True)
    )


def _row_columns(judge: str, width: int) -> tuple[str, ...]:
    return tuple(f"_{judge}_{number}" for number in range(width))


def _settings(metric: Metric) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in metric.settings().items()}


def _restore(about: Mapping[str, Any]) -> Metric | None:
    stored = about.get("settings")
    if not isinstance(about.get("metric"), str) or not isinstance(stored, dict):
        return None  # without its settings nobody knows how the metric computed
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    try:
        check_runs_no_file(about["metric"])
        metric = load(about["metric"], **settings)
        return Alias(metric, about["alias"]) if about.get("alias") else metric
    except (RadgaugeError, TypeError, ValueError):
        return None  # made by a metric or a setting that this installation does not have: means will do


def _fits(metric: Metric, rows: Rows, values: Rows) -> bool:
    """True if the metric can compute with these statistics."""
    try:
        return metric.case_scores(rows).shape == values.shape
    except (IndexError, ValueError):
        return False


def _check_header(path: Path, header: Mapping[str, Any]) -> None:
    """That a header is made of what `_header` puts there."""
    judges = header.get("judges")
    if not isinstance(judges, dict):
        raise InputError(f"{path}: not a scores file: the header must have 'judges'")
    renamed = header.get("renamed", {})
    if not isinstance(renamed, dict) or not all(isinstance(name, str) for name in renamed.values()):
        raise InputError(f"{path}: the header's 'renamed' must map names to names")
    for name, about in judges.items():
        if not isinstance(about, dict):
            raise InputError(f"{path}: the header's judge {name!r} must be an object")
        for key, (fits, what) in _JUDGE.items():
            if not fits(about.get(key)):
                raise InputError(f"{path}: {key!r} of judge {name!r} in the header must be {what}")


def _names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _reasons(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(_names(item) and len(item) == 3 for item in value))


_JUDGE: dict[str, tuple[Callable[[Any], bool], str]] = {
    "columns": (_names, "a list of column names"),
    "signature": (lambda value: isinstance(value, str), "a text"),
    "higher_is_better": (lambda value: isinstance(value, bool), "true or false"),
    "rows": (lambda value: type(value) is int and 0 <= value <= 10_000, "a number of columns"),
    "metric": (lambda value: value is None or isinstance(value, str), "a name or null"),
    "alias": (lambda value: value is None or isinstance(value, str), "a name or null"),
    "settings": (lambda value: value is None or isinstance(value, dict), "an object or null"),
    "not_judged": (_reasons, "a list of [id, system, reason]"),
    "truncated": (
        lambda value: (
            value is None or (isinstance(value, list) and all(type(at) is int and at >= 0 for at in value))
        ),
        "a list of row numbers",
    ),
    "directions": (
        lambda value: value is None or (isinstance(value, list) and all(isinstance(item, bool) for item in value)),
        "a list of true and false",
    ),
}


def _matrix(path: Path, table: Mapping[str, list[Any]], columns: tuple[str, ...]) -> Rows:
    """Columns of numbers; anything else is an error, as it would become a score."""
    for column in columns:
        if column not in table:
            raise InputError(f"{path}: the header promises column {column!r} and no record has it")
        for number, value in enumerate(table[column], start=1):
            if value is not None and not (type(value) in (int, float) and abs(value) <= _LARGEST):
                what = "an infinite or too large number" if type(value) in (int, float) else _kind(value)
                raise InputError(
                    f"{path}, case {number}: column {column!r} must be a finite number or null, got {what}"
                )
    cells = [[np.nan if value is None else float(value) for value in table[column]] for column in columns]
    return np.asarray(cells, dtype=np.float64).reshape(len(columns), -1).T


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def write_records(path: Path, header: Mapping[str, Any], table: Mapping[str, Column]) -> str:
    """Write header and columns as the file's name says; return the checksum of both, which the header gets."""
    checksum = checksum_of(header, table)
    write = _write_parquet if path.suffix == ".parquet" else _write_jsonl
    write(path, {**header, CHECKSUM: checksum}, table)
    return checksum


def _write_jsonl(path: Path, header: Mapping[str, Any], table: Mapping[str, Column]) -> None:
    names = list(table)
    with path.open("wb") as file:
        file.write(_line({"_header": header}))
        for row in iter_rows(table.values()):
            file.write(_line(dict(zip(names, row, strict=True))))


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half a character in a cell: JSON has an escape for it
        return f"{json.dumps(record, allow_nan=False)}\n".encode()


def _read_jsonl(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    records = _lines(path)
    _, first = next(records, (0, None))
    header = first.get("_header") if isinstance(first, dict) else None
    if not isinstance(header, dict):
        raise InputError(f'{path}: not a scores file: its first line must be {{"_header": {{...}}}}')
    table: dict[str, list[Any]] = {}
    for number, record in records:
        if not isinstance(record, dict) or (table and record.keys() != table.keys()):
            raise InputError(f"{path}, line {number}: every record must have the same columns")
        for name, value in record.items():
            table.setdefault(name, []).append(value)
    rows = len(next(iter(table.values()), []))
    if rows != header.get("cases"):
        raise InputError(
            f"{path}: the header promises {header.get('cases')} cases, the file has {rows}; it is incomplete"
        )
    return header, table


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, _json(line, f"{path}, line {number}")


def _json(line: bytes, where: str) -> Any:
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, _NoNumber) else "a number too long or nesting too deep"
        raise InputError(f"{where}: not JSON ({why})") from None


class _NoNumber(ValueError):
    pass


def _no_number(name: str) -> None:
    raise _NoNumber(f"{name} is no value; null means not judged")


def _write_parquet(path: Path, header: Mapping[str, Any], table: Mapping[str, Column]) -> None:
    pa = require("pyarrow", extra="parquet")
    pq = require("pyarrow.parquet", extra="parquet")
    arrow = pa.table({name: pa.array(column, from_pandas=True) for name, column in table.items()})
    metadata = {b"radgauge": json.dumps(header, ensure_ascii=False, allow_nan=False).encode()}
    pq.write_table(arrow.replace_schema_metadata(metadata), path)


def _read_parquet(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    arrow = _parquet(path, "read_table")
    check_row_counts(path, _parquet(path, "read_metadata"))
    packed = (arrow.schema.metadata or {}).get(b"radgauge")
    if packed is None:
        raise InputError(f"{path}: not a scores file: the schema has no radgauge header")
    header = _json(packed, f"{path}, header")
    if not isinstance(header, dict):
        raise InputError(f"{path}: not a scores file: its header must be an object")
    names = arrow.schema.names
    if len(set(names)) < len(names):
        raise InputError(f"{path}: every column must have a name of its own")
    if arrow.num_rows != header.get("cases"):
        raise InputError(f"{path}: the header states {header.get('cases')} cases, the file has {arrow.num_rows}")
    try:
        return header, arrow.to_pydict()
    except (ValueError, OverflowError) as error:  # a text that is no UTF-8, a date out of range
        raise InputError(f"{path}: a cell cannot be read ({type(error).__name__})") from None


def _parquet(path: Path, what: str) -> Any:
    pq = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        return getattr(pq, what)(path)
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InputError(f"{path} is damaged, cut off or no Parquet file") from None


def has_header(path: Path) -> bool:
    """True if a file begins as scores files do."""
    if path.suffix == ".parquet":
        return b"radgauge" in (_parquet(path, "read_schema").metadata or {})
    with path.open("rb") as file:
        return file.readline(64).lstrip().startswith(b'{"_header"')
