"""Cells of judgment files, with errors that name file, column and row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from radgauge.core.errors import InputError, shown
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.cells import cell
from radgauge.io.tables.column_names import shown_names

TRUE = {"true", "1", "1.0", "yes", "y", "significant"}
FALSE = {"false", "0", "0.0", "no", "n", "insignificant", "negligible"}


def judgment_table(path: Path, *, needs: Sequence[str], what: str) -> InputTable:
    """A table that has the columns it must have."""
    table = read_table(path)
    check_columns(table, needs=needs, what=what)
    return table


def check_columns(table: InputTable, *, needs: Sequence[str], what: str) -> None:
    """That a table has the columns it must have."""
    missing = [name for name in needs if name not in table.columns]
    if missing:
        raise InputError(
            f"{table.source.name}: {what} must have the column {missing[0]!r}; it has {shown_names(table.columns)}"
        )


def number(table: InputTable, record: Record, column: str, *, blank: float | None = None) -> float:
    """A number of a record; `blank` is what an empty cell means, None = an empty cell is an error."""
    text = cell(record.values.get(column)).strip()
    if not text and blank is not None:
        return blank
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{table.location(record)}: column {column!r} must be a number, got {shown(text)}")
    return value


def truth(table: InputTable, record: Record, column: str) -> bool:
    """A yes or no of a record."""
    text = cell(record.values.get(column)).strip().lower()
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise InputError(f"{table.location(record)}: column {column!r} must be True or False, got {shown(text)}")


def word(table: InputTable, record: Record, column: str) -> str:
    """A non-empty text of a record."""
    text = cell(record.values.get(column)).strip()
    if not text:
        raise InputError(f"{table.location(record)}: column {column!r} must not be empty")
    return text
