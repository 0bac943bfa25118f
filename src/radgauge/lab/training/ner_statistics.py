"""Statistics of an entity set, by modality and body region: table 1 of the RaTEScore paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, UsageError
from radgauge.encoders.text.span_ner import CLASSES
from radgauge.lab.training.ner_files import NerSentence, ner_records, sentences_of_record

REPORT_FIELDS = ("report_id", "note_id", "study_id", "doc_key", "id")
ALL = "all"


@dataclass(frozen=True, slots=True)
class EntityStatistics:
    """Counts of a part of a set."""

    part: str  # Value of the field that the set was parted by; "all" for the whole
    sentences: int
    reports: int | None  # How many source reports, where the records name them; None where not
    entities: tuple[int, int]  # Entities, and how many of them are distinct (name without case, and type)
    types: dict[str, tuple[int, int]]  # Type -> the same two


def describe_ner(path: Path | str, *, by: str | None = None) -> list[EntityStatistics]:
    """Counts of a RaTE-NER file: the whole, then every value of a field of its records.

    Args:
        path: The file.
        by: A field of the records, such as modality or anatomy; None = the whole only.
    """
    file = Path(path)
    parts: dict[str, list[tuple[str, NerSentence]]] = {ALL: []}
    named = True
    for number, record in enumerate(ner_records(file), start=1):
        where = f"{file.name}, record {number}"
        report, has_report = _report(record)
        named &= has_report
        parsed = [(report, sentence) for sentence in sentences_of_record(record, where)]
        parts[ALL] += parsed
        if by is not None:
            if not isinstance(record, dict) or by not in record:
                there = ", ".join(record) if isinstance(record, dict) else "none"
                raise UsageError(f"{where} has no field {by!r}; it has: {there}")
            parts.setdefault(str(record[by]) or "not stated", []).extend(parsed)
    if not parts[ALL]:
        raise InputError(f"{file} holds no sentence")
    return [_counts(part, parsed, named=named) for part, parsed in parts.items()]


def _report(record: Any) -> tuple[str, bool]:
    name = next(
        (field_name for field_name in REPORT_FIELDS if isinstance(record, dict) and field_name in record), None
    )
    return ("", False) if name is None else (str(record[name]), True)


def _counts(part: str, sentences: Sequence[tuple[str, NerSentence]], *, named: bool) -> EntityStatistics:
    entities = [
        (" ".join(sentence.words[first : last + 1]).lower(), kind)
        for _, sentence in sentences
        for first, last, kind in sentence.spans
    ]
    types = {}
    for kind in CLASSES[1:]:
        own = [name for name, entity_type in entities if entity_type == kind]
        types[kind] = (len(own), len(set(own)))
    return EntityStatistics(
        part,
        len(sentences),
        len({report for report, _ in sentences}) if named else None,
        (len(entities), len(set(entities))),
        types,
    )
