"""What an entity set holds, by modality and body region: table 1 of the RaTEScore paper."""

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
        report, known = _report(record)
        named &= known
        found = [(report, sentence) for sentence in sentences_of_record(record, where)]
        parts[ALL] += found
        if by is not None:
            if not isinstance(record, dict) or by not in record:
                there = ", ".join(record) if isinstance(record, dict) else "none"
                raise UsageError(f"{where} has no field {by!r}; it has: {there}")
            parts.setdefault(str(record[by]) or "not stated", []).extend(found)
    if not parts[ALL]:
        raise InputError(f"{file} holds no sentence")
    return [_counts(part, found, named=named) for part, found in parts.items()]


def _report(record: Any) -> tuple[str, bool]:
    name = next((each for each in REPORT_FIELDS if isinstance(record, dict) and each in record), None)
    return ("", False) if name is None else (str(record[name]), True)


def _counts(part: str, found: Sequence[tuple[str, NerSentence]], *, named: bool) -> EntityStatistics:
    entities = [
        (" ".join(sentence.words[first : last + 1]).lower(), kind)
        for _, sentence in found
        for first, last, kind in sentence.spans
    ]
    types = {}
    for kind in CLASSES[1:]:
        own = [name for name, each in entities if each == kind]
        types[kind] = (len(own), len(set(own)))
    return EntityStatistics(
        part,
        len(found),
        len({report for report, _ in found}) if named else None,
        (len(entities), len(set(entities))),
        types,
    )
