"""Scores on disk: JSONL or Parquet, one flat record per case, behind a header that says how they came about.

JSONL: the first record is {"_header": {...}}; every further one is {"id", "system", "<column>": value, ...}
with null for "could not be judged". Columns that begin with "_" are sufficient statistics: they let
`compare` and `report` compute corpus values, intervals and tests without reading a report again. Parquet
holds the same columns, with the header under the schema's metadata key "radgauge".
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import radgauge
from radgauge.errors import InputError, RadgaugeError, UsageError, require
from radgauge.metric import Alias, Metric, Rows, unaliased
from radgauge.registry import load
from radgauge.scores import Results, Scores

FORMAT = "radgauge-scores-1"


def write_scores(path: Path, results: Results, *, about: Mapping[str, Any] | None = None) -> None:
    """Write results to `path` (.jsonl or .parquet); the file appears whole or not at all.

    Args:
        path: Where to; the suffix decides the format.
        results: What `score` returned.
        about: More for the header: inputs with their hashes, seed, command.
    """
    check_scores_path(path)
    header = _header(results, about or {})
    table = _table(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    part = Path(name)
    try:
        if path.suffix == ".parquet":
            _write_parquet(part, header, table)
        else:
            _write_jsonl(part, header, table)
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def check_scores_path(path: Path) -> None:
    """Whether scores can be written there: asked before the work, not after it."""
    if path.suffix not in (".jsonl", ".ndjson", ".parquet"):
        raise UsageError(f"a scores file must end in .jsonl or .parquet, got {path.name!r}")
    if path.suffix == ".parquet":
        require("pyarrow", extra="parquet")


def read_scores(path: Path) -> tuple[Results, dict[str, Any]]:
    """Results and header of a scores file.

    Corpus values are exact where the metric that made the file is installed; otherwise they are means of
    the case values, and the judge has no `metric`.
    """
    header, table = _read_parquet(path) if path.suffix == ".parquet" else _read_jsonl(path)
    ids, systems = table.get("id"), table.get("system")
    if ids is None or systems is None:
        raise InputError(f"{path}: not a scores file: the columns id and system must be there")
    keys = tuple(zip(map(str, ids), map(str, systems), strict=True))
    judges: dict[str, Scores] = {}
    for name, about in header["judges"].items():
        columns = tuple(about["columns"])
        missing = [column for column in columns if column not in table]
        if missing:
            raise InputError(f"{path}: the header promises column {missing[0]!r} and no record has it")
        values = _matrix(table, columns)
        metric = _restore(about)
        rows = _matrix(table, _row_columns(name, about["rows"])) if about["rows"] else values
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
        )
    taken = {"id", "system"} | {c for about in header["judges"].values() for c in about["columns"]}
    meta = {
        name: ["" if value is None else str(value) for value in column]
        for name, column in table.items()
        if name not in taken and not name.startswith("_")
    }
    return Results(judges, meta), header


def is_scores_file(path: Path) -> bool:
    """Whether a file looks like one of ours (cheap: reads its beginning only)."""
    if path.suffix == ".parquet":
        pq = require("pyarrow.parquet", extra="parquet")
        return b"radgauge" in (pq.read_schema(path).metadata or {})
    with path.open("rb") as file:
        return file.readline(64).lstrip().startswith(b'{"_header"')


def _header(results: Results, about: Mapping[str, Any]) -> dict[str, Any]:
    judges = {}
    for name, scores in results.items():
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
    return {
        "format": FORMAT,
        "radgauge": radgauge.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **about,
        "cases": len(results.keys_of_cases),
        "judges": judges,
    }


def _table(results: Results) -> dict[str, list[Any]]:
    table = results.to_dict()
    for name, column in results.meta.items():
        if name not in table and not name.startswith("_"):
            table[name] = list(column)
    for name, scores in results.items():
        if not _rows_are_values(scores):
            for column, values in zip(
                _row_columns(name, scores.rows.shape[1]), scores.rows.T.tolist(), strict=True
            ):
                table[column] = [None if math.isnan(value) else value for value in values]
    return table


def _rows_are_values(scores: Scores) -> bool:
    return scores.rows is scores.values or (
        scores.rows.shape == scores.values.shape and np.array_equal(scores.rows, scores.values, equal_nan=True)
    )


def _row_columns(judge: str, width: int) -> tuple[str, ...]:
    return tuple(f"_{judge}_{number}" for number in range(width))


def _settings(metric: Metric) -> dict[str, Any]:
    chosen = {f.name: getattr(metric, f.name) for f in dataclasses.fields(metric) if f.init}  # type: ignore[arg-type]
    return {name: str(value) if isinstance(value, Path) else value for name, value in chosen.items()}


def _restore(about: Mapping[str, Any]) -> Metric | None:
    if about.get("metric") is None:
        return None
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in (about["settings"] or {}).items()
    }
    try:
        metric = load(about["metric"], **settings)
        return Alias(metric, about["alias"]) if about.get("alias") else metric
    except (RadgaugeError, TypeError):
        return None  # made by a metric or a setting that this installation does not have: means will do


def _matrix(table: Mapping[str, list[Any]], columns: tuple[str, ...]) -> Rows:
    cells = [[np.nan if value is None else float(value) for value in table[column]] for column in columns]
    return np.asarray(cells, dtype=np.float64).reshape(len(columns), -1).T


def _write_jsonl(path: Path, header: Mapping[str, Any], table: Mapping[str, list[Any]]) -> None:
    names = list(table)
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"_header": header}, ensure_ascii=False, allow_nan=False) + "\n")
        for row in zip(*table.values(), strict=True):
            record = dict(zip(names, row, strict=True))
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def _read_jsonl(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    records = _lines(path)
    _, first = next(records, (0, None))
    header = first.get("_header") if isinstance(first, dict) else None
    if not isinstance(header, dict) or "judges" not in header:
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
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except json.JSONDecodeError as error:
                    raise InputError(f"{path}, line {number}: not JSON ({error.msg})") from None


def _write_parquet(path: Path, header: Mapping[str, Any], table: Mapping[str, list[Any]]) -> None:
    pa = require("pyarrow", extra="parquet")
    pq = require("pyarrow.parquet", extra="parquet")
    arrow = pa.table(dict(table))
    metadata = {b"radgauge": json.dumps(header, ensure_ascii=False, allow_nan=False).encode()}
    pq.write_table(arrow.replace_schema_metadata(metadata), path)


def _read_parquet(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    pq = require("pyarrow.parquet", extra="parquet")
    arrow = pq.read_table(path)
    packed = (arrow.schema.metadata or {}).get(b"radgauge")
    if packed is None:
        raise InputError(f"{path}: not a scores file: the schema has no radgauge header")
    return json.loads(packed), arrow.to_pydict()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
