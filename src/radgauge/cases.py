"""Case: what is judged. One study, one system's candidate, its references, images and context."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from radgauge.errors import InputError

Key = tuple[str, str]
"""(study id, system)"""

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Case:
    """One study as one system reported it.

    Attributes:
        id: Study id; (id, system) is unique in a run.
        candidate: The text under judgment.
        references: What radiologists wrote; several are alternatives.
        system: Who wrote the candidate.
        images: Files of the study.
        meta: Everything else the input had: section, split, patient, modality, age, indication.
    """

    id: str
    candidate: str
    references: tuple[str, ...] = ()
    system: str = "system"
    images: tuple[Path, ...] = ()
    meta: Mapping[str, str] = field(default_factory=lambda: EMPTY)

    @property
    def key(self) -> Key:
        """(id, system)"""
        return (self.id, self.system)

    def with_real_references(self) -> Case:
        """The same case without references that are empty."""
        kept = tuple(text for text in self.references if text.strip())
        return self if len(kept) == len(self.references) else replace(self, references=kept)


def as_cases(given: object) -> list[Case]:
    """Cases from whatever Python users hold: Case objects, dicts, a pandas or polars frame.

    >>> as_cases([{"id": "1", "candidate": "clear", "reference": "lungs clear"}])[0].references
    ('lungs clear',)
    """
    records: Iterable[Any]
    if hasattr(given, "to_dicts"):  # polars
        records = given.to_dicts()
    elif hasattr(given, "to_dict") and hasattr(given, "columns"):  # pandas
        records = given.to_dict("records")
    elif isinstance(given, Mapping) and not isinstance(given.get("id"), str):  # a dict of columns
        records = columns_to_records(given)
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        records = given
    else:
        raise InputError(
            "cases must be a sequence of Case or of dicts with id, candidate and reference, "
            f"a dict of columns, or a frame; got {type(given).__name__}"
        )
    cases = [
        item if isinstance(item, Case) else case_from_record(item, where=f"record {number}")
        for number, item in enumerate(records, start=1)
    ]
    check_unique(cases)
    return cases


def columns_to_records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A dict of equally long columns as records."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"all columns must have the same length, got {lengths}")
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def case_from_record(record: object, *, where: str) -> Case:
    """A Case from a dict with id, candidate, reference(s), optional system, image(s) and anything else."""
    if not isinstance(record, Mapping):
        raise InputError(f"{where}: a case must be a dict or a Case, got {type(record).__name__}")
    fields = dict(record)
    study = cell(fields.pop("id", None))
    if not study:
        raise InputError(
            f"{where}: every case needs a non-empty id; columns there: {', '.join(map(str, record))}"
        )
    if "candidate" not in fields:
        raise InputError(
            f"{where} (id {study!r}): no candidate; columns there: {', '.join(map(str, record))}"
        )
    candidate = cell(fields.pop("candidate"))
    references = _several(fields.pop("references", None)) or _several(fields.pop("reference", None))
    images = _several(fields.pop("images", None)) or _several(fields.pop("image", None))
    system = cell(fields.pop("system", None)) or "system"
    return Case(
        id=study,
        candidate=candidate,
        references=tuple(references),
        system=system,
        images=tuple(Path(image) for image in images),
        meta=MappingProxyType({str(name): cell(value) for name, value in fields.items()}),
    )


def cell(value: object) -> str:
    """A table cell as text; missing values of every library (None, NaN, pandas.NA) are empty.

    >>> cell(None), cell(float("nan")), cell(12.0), cell("a")
    ('', '', '12', 'a')
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        if value.is_integer():  # ids that a spreadsheet or pandas turned into floats
            return str(int(value))
    return str(value)


def check_unique(cases: Sequence[Case]) -> None:
    """Every (id, system) once."""
    seen: set[Key] = set()
    twice = [case.key for case in cases if case.key in seen or seen.add(case.key)]  # type: ignore[func-returns-value]
    if twice:
        study, system = twice[0]
        raise InputError(
            f"{len(twice)} of {len(cases)} cases repeat an id: first {study!r} (system {system!r}); "
            "every (id, system) must occur once"
        )


def _several(value: object) -> list[str]:
    if isinstance(value, str | Path) or not isinstance(value, Iterable):
        text = cell(value)
        return [text] if value is not None else []
    return [cell(item) for item in value]
