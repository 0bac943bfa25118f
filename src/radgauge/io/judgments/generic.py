"""A long table of judgments: id, system, rater, then category, significant and count, or rating.

One row per count or rating, or one column per rater. `category` is a number 1 to 8 or a key such as omission.
Texts may stand in the columns reference and candidate, or come from a file of reports. Columns may go by other
names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from radgauge.core.cases import Case, Key
from radgauge.core.choices import NoRow
from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError, shown
from radgauge.io.judgments.fields import check_columns, number, truth, word
from radgauge.io.judgments.judgments import Count, Judgments, error_scores, rating_scores
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.cells import cell, unguarded
from radgauge.io.tables.column_names import NAMES, plain, shown_names

# Tables of judgments as people keep them: other names for the columns, and one column per rater.

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": tuple(name for names in NAMES["id"] for name in names),
    "system": tuple(name for names in NAMES["system"] for name in names),
    "rater": ("rater", "reader", "annotator", "radiologist", "reviewer", "rater_id", "reader_id", "rater_index"),
    "rating": ("rating", "likert"),
    "category": ("category", "error_category"),
    "significant": ("significant", "clinically_significant"),
    "count": ("count", "num_errors", "errors"),
    "reference": tuple(name for names in NAMES["reference"][:2] for name in names if name != "label"),
    "candidate": tuple(name for names in NAMES["candidate"][:2] for name in names),
}
"""Column of a table of judgments -> names that it also goes by, in any case, with blanks or dashes."""

_RATER = re.compile(r"(?:rater|reader|radiologist|annotator|reviewer|expert|doctor|rating)_(.+)|(r?\d+)")


def known_names(table: InputTable) -> InputTable:
    """The table with its columns under their own names; a column that has its name already is left alone."""
    names: dict[str, str] = {}
    taken = set(table.columns)
    for own, others in OTHER_NAMES.items():
        if own in taken:
            continue
        column = next((name for other in others for name in table.columns if plain(name) == other), None)
        if column is not None and column not in names:
            names[column] = own
            taken.add(own)
    if not names:
        return table
    records = tuple(
        Record(record.line, {names.get(name, name): value for name, value in record.values.items()})
        for record in table.records
    )
    columns = tuple(names.get(name, name) for name in table.columns)
    return replace(table, columns=columns, records=records)


def one_row_per_category(table: InputTable) -> tuple[InputTable, tuple[str, ...]]:
    """Return a survey (a row per rater and candidate, a column per category) as counts, and notes.

    A column is called like a category (`omission`), with `_significant` or `_insignificant` behind it where these
    are asked for apart; beside `omission_significant` the column `omission` holds all omissions. A row without any
    number is no judgment; in other rows a blank is 0. Other tables come back as they are.
    """
    by_part: dict[tuple[str, str], str] = {}
    for name in table.columns:
        key, significance = _category_of(plain(name))
        if key:
            by_part[key, significance] = name
    if not by_part or "category" in table.columns:
        return table, ()
    records = []
    for record in table.records:
        texts = {part: cell(record.values.get(name)).strip() for part, name in by_part.items()}
        if not any(texts.values()):
            values = {name: value for name, value in record.values.items() if name not in by_part.values()}
            records.append(Record(record.line, values))  # it may have a rating
            continue
        counts = {part: number(table, record, name, blank=0.0) for part, name in by_part.items()}
        rest = {name: value for name, value in record.values.items() if name not in by_part.values()}
        for (key, significance), count in counts.items():
            if not significance and (key, "significant") in counts:
                count -= counts[key, "significant"]
                if count < 0:
                    raise InputError(
                        f"{table.location(record)}: column {by_part[key, '']!r} must count all errors, "
                        f"got fewer than in {by_part[key, 'significant']!r}"
                    )
            values = {"category": key, "count": str(count), "significant": str(significance == "significant")}
            records.append(Record(record.line, {**rest, **values}))
            rest = {**rest, "rating": ""}  # a rating of the row is given once
    has_significance = any(significance for _, significance in by_part)
    names = ("category", "count", *(["significant"] if has_significance else []))
    columns = (*(name for name in table.columns if name not in by_part.values()), *names)
    blank = "blank counts are 0 in rows that have a number"
    return replace(table, columns=columns, records=tuple(records)), (f"one column per category; {blank}",)


def _category_of(name: str) -> tuple[str, str]:
    """Return category and significance that a column is named after, ("", "") if it is named otherwise."""
    key = name.removeprefix("errors_")
    for significance in ("insignificant", "significant", ""):
        stem = key.removesuffix(f"_{significance}") if significance else key
        if stem in BY_KEY and (stem != key or not significance):
            return stem, significance
    return "", ""


def one_row_per_rater(
    table: InputTable, *, raters: Sequence[str] | None = None, own: frozenset[str]
) -> tuple[InputTable, tuple[str, ...]]:
    """A wide table as a long one, and notes; a long table comes back as it is.

    Args:
        table: With columns under their own names.
        raters: Columns that hold one rater's values each; None = those that are called like a rater (rater_1,
            reader A, radiologist-smith, r2, 3), where there is no column `rater`.
        own: Columns with a meaning of their own.
    """
    if raters is None and "rater" in table.columns:
        return table, ()
    if raters is not None:
        absent = [name for name in raters if name not in table.columns]
        if absent:
            raise InputError(
                f"{table.source.name} has no column {absent[0]!r}; it has {shown_names(table.columns)}"
            )
        named = {name: name for name in raters}
    else:
        named = {}
        for name in table.columns:
            match = _RATER.fullmatch(plain(name))
            if match and name not in own:
                named[name] = match[1] or match[2]
        if len(set(named.values())) < len(named):
            named = {name: name for name in named}
    if not named:
        return table, ()
    value = "count" if "category" in table.columns else "rating"
    records = tuple(
        Record(record.line, {**shared, "rater": rater, value: record.values[name]})
        for record in table.records
        for shared in [{key: content for key, content in record.values.items() if key not in named}]
        for name, rater in named.items()
        if cell(record.values.get(name)).strip()
    )
    if not records:
        raise InputError(f"{table.source.name}: the columns of the raters are empty")
    columns = (*(name for name in table.columns if name not in named), "rater", value)
    meaning = "errors" if value == "count" else "ratings, larger is better (errors need a column category)"
    note = f"one column per rater: {', '.join(named.values())}; their numbers are taken for {meaning}"
    return replace(table, columns=columns, records=records), (note,)


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
    rated_categories: set[int] = set()
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
                raise InputError(f"{table.location(record)}: rater {rater!r} rates {key} twice")
            ratings[rater][key] = number(table, record, "rating")
        if cell(record.values.get("category")).strip():
            category = _category(table, record)
            rated_categories.add(category)
            counted.setdefault(rater, set()).add(key)
            significant = "significant" not in table.columns or truth(table, record, "significant")
            counts.append((key, rater, category, significant, number(table, record, "count")))
    if counts and no_row == "refuse" and all(count > 0 for *_, count in counts):
        raise InputError(
            f"{table.source.name}: none of its {len(counts)} counts is 0: cases without an error seem to have no "
            "row. Add rows with count 0, or say what a missing row means: no_row='zero' (no errors) or "
            "'unjudged' (--ratings no_row=)"
        )
    keys = tuple(cases)
    judged = None if no_row == "zero" else counted
    notes = () if "significant" in table.columns else ("every error counts as significant: no such column",)
    return Judgments(
        path.stem,
        tuple(cases.values()),
        error_scores(counts, keys=keys, signature=path.name, judged=judged, categories=rated_categories)
        if counts
        else {},
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
        f"{table.location(record)}: column 'category' must be 1 to 8 or one of {', '.join(BY_KEY)}, "
        f"got {shown(text)}"
    )
