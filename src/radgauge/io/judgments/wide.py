"""Tables of judgments as people keep them: other names for the columns, and one column per rater."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from radgauge.core.error_categories import BY_KEY
from radgauge.core.errors import InputError
from radgauge.io.judgments.fields import number
from radgauge.io.tables import InputTable, Record
from radgauge.io.tables.cells import cell
from radgauge.io.tables.column_names import NAMES, plain, shown_names

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
        found = next((name for other in others for name in table.columns if plain(name) == other), None)
        if found is not None and found not in names:
            names[found] = own
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
    asked: dict[tuple[str, str], str] = {}
    for name in table.columns:
        key, significance = _category_of(plain(name))
        if key:
            asked[key, significance] = name
    if not asked or "category" in table.columns:
        return table, ()
    records = []
    for record in table.records:
        texts = {part: cell(record.values.get(name)).strip() for part, name in asked.items()}
        if not any(texts.values()):
            values = {name: value for name, value in record.values.items() if name not in asked.values()}
            records.append(Record(record.line, values))  # it may have a rating
            continue
        counts = {part: number(table, record, name, blank=0.0) for part, name in asked.items()}
        rest = {name: value for name, value in record.values.items() if name not in asked.values()}
        for (key, significance), count in counts.items():
            if not significance and (key, "significant") in counts:
                count -= counts[key, "significant"]
                if count < 0:
                    raise InputError(
                        f"{table.place(record)}: column {asked[key, '']!r} must count all errors, "
                        f"got fewer than in {asked[key, 'significant']!r}"
                    )
            values = {"category": key, "count": str(count), "significant": str(significance == "significant")}
            records.append(Record(record.line, {**rest, **values}))
            rest = {**rest, "rating": ""}  # a rating of the row is given once
    has_significance = any(significance for _, significance in asked)
    names = ("category", "count", *(["significant"] if has_significance else []))
    columns = (*(name for name in table.columns if name not in asked.values()), *names)
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
            found = _RATER.fullmatch(plain(name))
            if found and name not in own:
                named[name] = found[1] or found[2]
        if len(set(named.values())) < len(named):
            named = {name: name for name in named}
    if not named:
        return table, ()
    value = "count" if "category" in table.columns else "rating"
    records = tuple(
        Record(record.line, {**kept, "rater": rater, value: record.values[name]})
        for record in table.records
        for kept in [{key: each for key, each in record.values.items() if key not in named}]
        for name, rater in named.items()
        if cell(record.values.get(name)).strip()
    )
    if not records:
        raise InputError(f"{table.source.name}: the columns of the raters are empty")
    columns = (*(name for name in table.columns if name not in named), "rater", value)
    meaning = "errors" if value == "count" else "ratings, larger is better (errors need a column category)"
    note = f"one column per rater: {', '.join(named.values())}; their numbers are taken for {meaning}"
    return replace(table, columns=columns, records=records), (note,)
