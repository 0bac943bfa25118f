"""Scores made elsewhere: any table of values per case joins as a judge, with the direction its user states."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from radgauge.core.cases import Key
from radgauge.core.errors import InputError, UsageError, shown
from radgauge.core.files import sha256_of
from radgauge.core.scores import Results, Scores
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell, is_missing
from radgauge.io.tables.column_names import NAMES, plain, shown_names

DIRECTIONS = {"higher": True, "lower": False}


def parse_scores(text: str) -> tuple[Path, bool, str]:
    """File, direction and column of `FILE:higher`, `FILE:lower` or `FILE:higher:COLUMN`.

    >>> parse_scores("runs/green.csv:higher"), parse_scores("crimson.csv:lower:total")
    ((PosixPath('runs/green.csv'), True, ''), (PosixPath('crimson.csv'), False, 'total'))
    """
    match = re.fullmatch(r"(.+?):(higher|lower)(?::(.+))?", text)
    if match is None:
        raise UsageError(
            f"scores of others must say which way is good: FILE:higher or FILE:lower (and :COLUMN), got {text!r}"
        )
    return Path(match[1]), DIRECTIONS[match[2]], match[3] or ""


def join_scores(results: Results, path: Path | str, *, higher_is_better: bool, column: str = "") -> Results:
    """The results with one judge more: the values of a table, joined by id and system.

    Args:
        results: What the judge stands beside; its cases are the cases.
        path: A table with an id, a system if there are several, and one column of numbers (or name it).
        higher_is_better: Its direction.
        column: Which column; needed if there are several columns of numbers.

    A case that the table lacks, or whose cell is empty, is not judged, with that reason.
    """
    path = Path(path)
    table = read_table(path)
    study = next((c for tier in NAMES["id"] for c in table.columns if plain(c) in tier), None)
    if study is None:
        raise InputError(f"{path.name}: no id column; got columns {shown_names(table.columns)}")
    system = next((c for tier in NAMES["system"] for c in table.columns if plain(c) in tier), None)
    rows = [record.values for record in table.records]
    chosen = _column(path, rows, [c for c in table.columns if c not in (study, system)], column)
    keys = results.keys_of_cases
    systems = {name for _, name in keys}
    if system is None and len(systems) > 1:
        raise InputError(f"{path.name}: no system column, and the scores are of {len(systems)} systems")
    only = next(iter(systems), "system")
    values: dict[Key, float] = {}
    for record, row in zip(table.records, rows, strict=True):
        key = (cell(row[study]).strip(), cell(row[system]).strip() if system else only)
        if key in values:
            raise InputError(f"{table.location(record)}: the case {key} occurs more than once")
        values[key] = _number(row[chosen], f"{table.location(record)}: {chosen}")
    shared = [key for key in keys if key in values]
    if not shared:
        raise InputError(f"{path.name} and the scores share no (id, system): {next(iter(values))} and {keys[0]}")
    judge = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    name = judge if not column else f"{judge}_{column}"
    if name in results or any(name in scores.columns for scores in results.judges.values()):
        raise UsageError(f"there is a judge or column {name!r} already; rename {path.name}")
    imported = np.array([[values.get(key, math.nan)] for key in keys], dtype=np.float64)
    reasons = {
        key: f"no row in {path.name}" if key not in values else f"no value in {path.name}"
        for key, value in zip(keys, imported[:, 0], strict=True)
        if math.isnan(value)
    }
    direction = "higher" if higher_is_better else "lower"
    signature = f"{name}|file:{path.name}|sha256:{sha256_of(path)[:12]}|column:{chosen}|better:{direction}"
    scores = Scores(name, signature, keys, imported, imported, (name,), higher_is_better, reasons)
    return replace(results, judges={**results.judges, name: scores})


def _column(path: Path, rows: list[dict[str, Any]], columns: list[str], requested: str) -> str:
    if requested:
        if requested not in columns:
            raise InputError(f"{path.name} has no column {requested!r}; its columns: {shown_names(columns)}")
        return requested
    numeric = [name for name in columns if _numeric([row.get(name) for row in rows])]
    if len(numeric) != 1:
        raise InputError(
            f"{path.name}: {len(numeric)} columns hold numbers ({shown_names(numeric) or 'none'}); "
            "name one behind the direction, FILE:higher:COLUMN"
        )
    return numeric[0]


def _numeric(values: list[Any]) -> bool:
    present = [value for value in values if not _empty(value)]
    try:
        return bool(present) and all(math.isfinite(float(value)) for value in present)
    except (TypeError, ValueError):
        return False


def _empty(value: object) -> bool:
    return is_missing(value) or (
        isinstance(value, str) and value.strip().lower() in ("", "nan", "na", "null", "none")
    )


def _number(value: Any, where: str) -> float:
    if _empty(value):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where} must be a number or empty, got {shown(value)}") from None
    if not math.isfinite(number):
        raise InputError(f"{where} must be a finite number or empty")
    return number
