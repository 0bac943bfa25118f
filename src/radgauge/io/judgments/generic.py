"""A long table of judgments: id, system, rater, then category, significant and count, or rating.

One row per count or rating, or one column per rater. `category` is a number 1 to 8 or a key such as omission.
Texts may stand in the columns reference and candidate, or come from a file of reports. Columns may go by other
names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from radgauge.core.cases import Case, Key
from radgauge.core.choices import NoRow
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError, shown
from radgauge.io.judgments.fields import check_columns, number, truth, word
from radgauge.io.judgments.judgments import Count, Judgments, error_scores, rating_scores
from radgauge.io.judgments.wide import known_names, one_row_per_category, one_row_per_rater
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.cells import cell, unguarded
from radgauge.io.tables.column_names import shown_names

OWN = frozenset({"id", "system", "rater", "rating", "category", "significant", "count", "reference", "candidate"})
"""Columns with a meaning of their own; all others are kept with the cases."""


def _unguarded(record: Record) -> Record:
    """A row without what keeps spreadsheets from running its texts."""
    values = {name: unguarded(value) if isinstance(value, str) else value for name, value in record.values.items()}
    return record._replace(values=values)


def read_long_table(path: Path, *, raters: Sequence[str] | None = None, no_row: NoRow = "refuse") -> Judgments:
    """Judgments from one table.

    Args:
        path: The file.
        raters: Columns that hold one rater's values each, where their names do not tell.
        no_row: What it means that a case has no row of counts. "refuse" refuses a table without a single 0: its
            authors may have left out the cases without errors.
    """
    survey, asked_apart = one_row_per_category(known_names(read_table(path)))
    table, wide = one_row_per_rater(survey, raters=raters, own=OWN)
    check_columns(table, needs=("id", "rater"), what="a table of judgments")
    if "rating" not in table.columns and not {"category", "count"} <= set(table.columns):
        raise InputError(
            f"{table.source.name}: a table of judgments must have the column rating, or category and count; "
            f"it has {shown_names(table.columns)}"
        )
    cases: dict[Key, Case] = {}
    counts: list[Count] = []
    counted: dict[str, set[Key]] = {}
    ratings: dict[str, dict[Key, float]] = {}
    asked: set[int] = set()
    for guarded_record in table.records:
        record = _unguarded(guarded_record)
        system = cell(record.values.get("system")).strip() or "system"
        key = (word(table, record, "id"), system)
        rater = word(table, record, "rater")
        references = tuple(filter(None, [cell(record.values.get("reference"))]))
        if key not in cases:
            meta = {name: cell(value) for name, value in record.values.items() if name not in OWN}
            cases[key] = Case(key[0], cell(record.values.get("candidate")), references, system, meta=meta)
        if cell(record.values.get("rating")).strip():
            if key in ratings.setdefault(rater, {}):
                raise InputError(f"{table.place(record)}: rater {rater!r} rates {key} twice")
            ratings[rater][key] = number(table, record, "rating")
        if cell(record.values.get("category")).strip():
            category = _category(table, record)
            asked.add(category)
            counted.setdefault(rater, set()).add(key)
            significant = "significant" not in table.columns or truth(table, record, "significant")
            counts.append((key, rater, category, significant, number(table, record, "count")))
    if counts and no_row == "refuse" and all(count > 0 for *_, count in counts):
        raise InputError(
            f"{table.source.name}: none of its {len(counts)} counts is 0: cases without an error seem to have no "
            "row. Add rows with count 0, or say what a missing row means: no_row='zero' (no errors) or "
            "'unjudged' (--no-row)"
        )
    keys = tuple(cases)
    judged = None if no_row == "zero" else counted
    notes = () if "significant" in table.columns else ("every error counts as significant: no such column",)
    return Judgments(
        path.stem,
        tuple(cases.values()),
        error_scores(counts, keys=keys, signature=path.name, judged=judged, categories=asked) if counts else {},
        rating_scores(ratings, keys=keys, signature=path.name),
        notes=(*asked_apart, *wide, *(notes if counts else ())),
        no_row=no_row if counts else "unjudged",
    )


def _category(table: InputTable, record: Record) -> int:
    text = word(table, record, "category")
    if text in BY_KEY:
        return BY_KEY[text].number
    if text.removesuffix(".0").isdecimal() and 1 <= float(text) <= 8:
        return int(float(text))
    raise InputError(
        f"{table.place(record)}: column 'category' must be 1 to 8 or one of {', '.join(BY_KEY)}, got {shown(text)}"
    )
