"""Cases from what Python users hold, and every check of input that they and files have in common."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from radgauge.core.cases import EMPTY, Case, Key
from radgauge.core.choices import Duplicates
from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json
from radgauge.io.tables import columns_to_records
from radgauge.io.tables.cells import as_text, cell, check_characters, study_id
from radgauge.io.tables.columns import Columns, Parts, check_roles, resolve
from radgauge.text.language import looks_english

SAMPLE = 50  # values of a column that are looked at to tell reports from other text


def as_cases(
    data: object,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    candidate_columns: Sequence[str] | None = None,
) -> list[Case]:
    """Cases from what Python users hold: Case objects, dicts, a dict of columns, a pandas or polars frame.

    Args:
        data: The cases; columns may have any of the names that files may have.
        columns: Role -> column name, where the names do not speak for themselves.
        candidate_columns: Columns that hold one system's candidates each.

    >>> as_cases([{"id": "1", "candidate": "clear", "reference": "lungs clear"}])[0].references
    ('lungs clear',)
    >>> as_cases({"study_id": [7.0], "prediction": ["clear"], "ground_truth": [None]})[0]
    Case(id='7', candidate='clear', references=('',), system='system', images=(), meta=mappingproxy({}))
    """
    items = list(_items(data))
    for number, item in enumerate(items, start=1):
        if not isinstance(item, Case | Mapping):
            raise InputError(f"record {number}: a case must be a dict or a Case, got {type(item).__name__}")
    records = [item for item in items if not isinstance(item, Case)]
    roles = None
    if records:
        names = dict.fromkeys(name for record in records for name in record)
        sample = {name: [record.get(name) for record in records[:SAMPLE]] for name in names}
        roles = resolve(sample, name="cases", user_roles=check_roles(columns), candidate_columns=candidate_columns)
    cases: list[Case] = []
    locations: list[str] = []
    for number, item in enumerate(items, start=1):
        where = f"record {number}"
        new = (
            [_writable(item, where)]
            if isinstance(item, Case)
            else build_cases(item, roles=_roles_or_error(roles), where=where, number=number)
        )
        cases += new
        locations += [where] * len(new)
    check_unique(cases, locations=locations)
    return cases


def _writable(case: Case, where: str) -> Case:
    """The case, if all that it says can be written to a file."""
    check_characters(case.id, f"{where}: id")
    location = f"{where} (id {case.id!r})"
    check_characters(case.system, f"{location}: system")
    check_characters(case.candidate, f"{location}: candidate")
    for text in case.references:
        check_characters(text, f"{location}: reference")
    for name, value in case.meta.items():
        check_characters(str(name), f"{location}: the name of a column")
        check_characters(str(value), f"{location}: {name}")
    return case


def _roles_or_error(roles: Columns | None) -> Columns:
    if roles is None:
        raise InputError("no columns")  # cannot happen: there is a record, so there are columns
    return roles


def _items(data: object) -> Iterable[Any]:
    if hasattr(data, "to_dicts"):  # polars
        return list(data.to_dicts())
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas
        return list(data.to_dict("records"))
    if isinstance(data, Mapping) and data and all(hasattr(value, "column_names") for value in data.values()):
        splits = ", ".join(map(repr, data))
        raise InputError(f"this is a dictionary of data sets; choose a split of {splits}: cases=data[NAME]")
    if isinstance(data, Mapping):
        if any(isinstance(value, str) for value in data.values()):  # one record
            raise InputError("cases must be a sequence; to judge one case pass a list with it")
        return columns_to_records(data)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return data
    raise InputError(
        "cases must be a sequence of Case or of dicts with id, candidate and reference, "
        f"a dict of columns, or a frame; got {type(data).__name__}"
    )


def build_cases(
    record: Mapping[str, Any], *, roles: Columns, where: str, number: int, system: str = "system"
) -> list[Case]:
    """The cases of one record: one, or one per system in a wide table.

    Args:
        record: Cells by column.
        roles: What each column is.
        where: File and line, for messages.
        number: Of the row, from 1: the id where the table has none.
        system: The system's name if the record does not say.
    """
    study = study_id(record.get(roles.id), where=f"{where}: {roles.id}") if roles.id else str(number)
    location = f"{where} (id {study!r})"
    references = tuple(text for parts in roles.references for text in _texts(record, parts, where=location))
    images = tuple(Path(name) for column in roles.images for name in _listed(record.get(column)))
    used = roles.used
    meta = {
        check_characters(str(name), f"{where}: a column name"): check_characters(
            cell(value), f"{location}: {name}"
        )
        for name, value in record.items()
        if name not in used
    }
    named = check_characters(cell(record.get(roles.system)).strip(), f"{location}: system") if roles.system else ""
    return [
        Case(
            id=study,
            candidate="\n".join(_texts(record, parts, where=location, one=True)),
            references=references,
            system=parts[0] if roles.wide else named or system,
            images=images,
            meta=MappingProxyType(meta) if meta else EMPTY,
        )
        for parts in roles.candidates or ((),)
    ]


def _texts(record: Mapping[str, Any], parts: Parts, *, where: str, one: bool = False) -> list[str]:
    """The text in one column (several if the cell is a list), or of several columns put together."""
    texts: list[str] = []
    for column in parts:
        value = record.get(column)
        if isinstance(value, str) and column.lower() == "references":
            value = _json_list(value)
        if one and isinstance(value, list | tuple):
            value = _written(value)
        several = list(value) if isinstance(value, list | tuple) and not one else [value]
        texts += [as_text(item, where=f"{where}: {column}") for item in several]
    if len(parts) > 1:
        return ["\n".join(text.strip() for text in texts if text.strip())]
    return texts


def _written(value: Sequence[Any]) -> object:
    """The text that a system wrote: the last turn of the assistant in a conversation; the only one of a list.

    >>> _written([{"role": "user", "content": "Report?"}, {"role": "assistant", "content": "Clear."}])
    'Clear.'
    >>> _written([["Clear."]])
    'Clear.'
    """
    if value and all(isinstance(turn, Mapping) and "role" in turn for turn in value):
        answers = [turn.get("content") for turn in value if turn["role"] == "assistant"]
        text = answers[-1] if answers else None
        if isinstance(text, list | tuple):  # parts of a turn: text and images
            text = "".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
        return text
    return (_written(value[0]) if isinstance(value[0], list | tuple) else value[0]) if len(value) == 1 else value


def _json_list(text: str) -> object:
    """The list in a cell of the column `references`; any other text is one reference."""
    if not text.lstrip().startswith("["):
        return text
    try:
        parsed = parse_json(text)
    except json.JSONDecodeError:
        return text
    return parsed if all(isinstance(item, str) for item in parsed) else text


def _listed(value: object) -> list[str]:
    """Names of files in a cell: one, a list, a JSON list as text, or several with ; | or , between them.

    >>> _listed("a.png; b.dcm"), _listed("one; two.png")
    (['a.png', 'b.dcm'], ['one; two.png'])
    """
    if isinstance(value, str):
        value = _json_list(value)
    if isinstance(value, str):
        parts = [part.strip() for part in re.split(r"[;|,\n]", value)]
        value = parts if all(re.search(r"\.\w{2,5}$", part) for part in parts) else value
    items = value if isinstance(value, list | tuple) else [value]
    return [text for item in items if (text := cell(item).strip())]


def _repeats(cases: Sequence[Case]) -> tuple[list[tuple[int, int]], int]:
    """(first row, repeating row) of every repeated id, and how many repeat it with the same texts."""
    first: dict[Key, int] = {}
    repeats = [
        (earlier, index)
        for index, case in enumerate(cases)
        if (earlier := first.setdefault(case.key, index)) != index
    ]
    return repeats, sum(_texts_of(cases[one]) == _texts_of(cases[two]) for one, two in repeats)


def _texts_of(case: Case) -> tuple[str, tuple[str, ...]]:
    return case.candidate, case.references


def settle_duplicates(
    cases: list[Case], *, locations: list[str], how: Duplicates
) -> tuple[list[Case], list[str], list[str]]:
    """Cases and locations without rows that repeat an id, and a note; "error" leaves them as they are."""
    repeats, copies = _repeats(cases) if how in ("first", "last") else ([], 0)
    if not repeats:
        return cases, locations, []
    chosen = {case.key: index for index, case in enumerate(cases)}
    if how == "first":
        chosen = {case.key: index for index, case in reversed(list(enumerate(cases)))}
    rows = sorted(chosen.values())
    one, two = repeats[0]
    note = (
        f"{len(repeats)} of {len(cases)} rows repeat an id and are left out, the {how} of each id stays: "
        f"{copies} are exact copies, {len(repeats) - copies} differ; first: {locations[one]} and {locations[two]}"
    )
    return [cases[i] for i in rows], [locations[i] for i in rows], [note]


def check_unique(cases: Sequence[Case], *, locations: Sequence[str] | None = None, of_file: bool = False) -> None:
    """Refuse cases of which two have the same id and system.

    Args:
        cases: The cases.
        locations: Where each came from, for the message.
        of_file: True if a setting of the reading can choose among them.
    """
    repeats, copies = _repeats(cases)
    if not repeats:
        return
    same = {pair: _texts_of(cases[pair[0]]) == _texts_of(cases[pair[1]]) for pair in repeats}
    different = [pair for pair in repeats if not same[pair]]
    column = _system_column(cases) if different else ""
    lines = [f"{len(repeats)} of {len(cases)} cases repeat an id; every (id, system) must occur once"]
    for count, what, pairs in (
        (copies, "exact copies, with the same texts", [pair for pair in repeats if same[pair]]),
        (len(different), "with different texts", different),
    ):
        if count:
            one, two = pairs[0]
            where = f" ({locations[one]} and {locations[two]})" if locations is not None else ""
            lines.append(f"{count} {what}: first {cases[one].id!r} of system {cases[one].system!r}{where}")
    if column:
        lines.append(f"if {column!r} tells the systems apart, pass columns={{'system': {column!r}}}")
    else:
        remedy = "keep one of each with duplicates='first' or 'last'" if of_file else "remove the copies"
        lines.append(f"{remedy}, or name the systems in a `system` column")
    raise InputError("\n  ".join(lines))


def _system_column(cases: Sequence[Case]) -> str:
    """A column that tells systems apart: few values, each with most of the studies, and no key twice."""
    studies = len({case.id for case in cases})
    for name in dict.fromkeys(name for case in cases for name in case.meta):
        values = [case.meta.get(name, "") for case in cases]
        counts = Counter(values)
        if (
            len({(case.key, value) for case, value in zip(cases, values, strict=True)}) == len(cases)
            and 1 < len(counts) <= 50
            and min(counts.values()) >= studies / 2
            and max(map(len, values)) < 50
        ):
            return name
    return ""


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that a person should know of some of the cases: `{before}{count} of {total} {what}{after}`.

    `after` names the first of them, which stands at `first`; notes on parts of an input add up.
    """

    count: int
    total: int
    what: str
    after: str = ""
    before: str = ""
    first: int = 0

    def __str__(self) -> str:
        return f"{self.before}{self.count} of {self.total} {self.what}{self.after}"

    def __add__(self, other: Counted) -> Counted:
        earlier = min((note for note in (self, other) if note.count), key=lambda note: note.first, default=self)
        return replace(earlier, count=self.count + other.count, total=self.total + other.total)


def text_notes(cases: Sequence[Case], *, locations: Sequence[str]) -> list[str]:
    """List warnings about texts that are allowed but odd: how many, and the first."""
    return [str(note) for note in odd_texts(cases, locations=locations) if note.count]


def odd_texts(cases: Sequence[Case], *, locations: Sequence[str]) -> list[Counted]:
    """The same as counts, in the order in which they were met; of all of the cases."""
    english = functools.cache(looks_english)  # the systems of a study share its references
    kinds: dict[str, list[int]] = {}
    for index, case in enumerate(cases):
        if case.missing:
            continue
        if not case.candidate.strip():
            kinds.setdefault("candidates are empty", []).append(index)
        if case.references and not any(text.strip() for text in case.references):
            kinds.setdefault("references are empty", []).append(index)
        if "\ufffd" in case.candidate or any("\ufffd" in text for text in case.references):
            kinds.setdefault(
                "cases hold the replacement sign U+FFFD: the text was decoded wrongly before it came here", []
            ).append(index)
        if case.markup:
            kinds.setdefault(
                "cases came with markup: tags, character entities (&nbsp;), zero-width characters or soft hyphens",
                [],
            ).append(index)
        texts = (case.candidate, *case.references)
        if not all(map(english, (*texts, " ".join(texts)))):
            kinds.setdefault(
                "cases hold a text that does not look English; metrics without a network do not judge them "
                "(--any-language judges them all the same)",
                [],
            ).append(index)
        if SPREADSHEET_NUMBER.fullmatch(case.id):
            kinds.setdefault("ids look like numbers that a spreadsheet has rounded", []).append(index)
    return [
        Counted(
            len(rows),
            len(cases),
            what,
            f"; first: id {cases[rows[0]].id!r} ({locations[rows[0]]})",
            first=rows[0],
        )
        for what, rows in kinds.items()
    ]


SPREADSHEET_NUMBER = re.compile(r"\d(?:\.\d+)?[eE]\+\d+")
