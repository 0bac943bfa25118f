"""RaTE-Eval: the three tasks of the RaTEScore paper (section 3), from the files of its release.

Task 1 rates sentences: 1 - errors / possible errors. Task 2 rates reports from 0 to 5. Task 3 is triples: a
report, the same in other words, and its opposite. The names of the columns are not documented, so they are
settings; the defaults are what the file names suggest.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json
from radgauge.io.judgments.fields import number
from radgauge.io.judgments.judgments import Judgments, rating_scores
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.column_names import shown_names

TASKS = {
    "sentence": "Task1_sentence_rate",
    "paragraph": "Task2_paragraph_rate",
    "synthetic": "Task3_synthetic_rate",
}
FIELDS = "fields.json"
_HOW_TO_NAME = f'name yours in a file {FIELDS} beside the data, such as {{"rating": "stars", "id": "study"}}'


@dataclass(frozen=True)
class RateEvalFields:
    """Names of columns and keys; the first that is there is taken."""

    id: tuple[str, ...] = ("id", "report_id", "study_id", "index", "")
    # The radiologist's text
    reference: tuple[str, ...] = ("reference", "gt_report", "gt", "ground_truth", "report")
    # The text that was rated
    candidate: tuple[str, ...] = ("candidate", "similar_report", "pred", "prediction", "generated")
    # The rating, or the normalised score of task 1
    rating: tuple[str, ...] = ("rating", "rate", "score", "human_score")
    errors: tuple[str, ...] = ("errors", "error", "total_errors")  # Number of errors, where task 1 gives counts
    # Number of possible errors, where task 1 gives counts
    possible: tuple[str, ...] = ("possible", "potential", "potential_errors", "total")
    original: tuple[str, ...] = ("original", "gt", "reference", "report")  # Report of a triple
    rewrite: tuple[str, ...] = ("rewrite", "REWRITE", "synonym")  # The same in other words
    opposite: tuple[str, ...] = ("opposite", "OPPOSITE", "antonym")


class Triple(NamedTuple):
    """A report, the same in other words, and its opposite."""

    id: str
    original: str
    rewrite: str
    opposite: str


def read_rate_eval(
    folder: Path | str, *, task: str = "paragraph", split: str = "test", fields: RateEvalFields | None = None
) -> Judgments:
    """Ratings of task 1 (sentence) or 2 (paragraph).

    Args:
        folder: The data set's folder, or that of the task; task 2 may also be one table.
        task: sentence or paragraph.
        split: train or test, where the files are split.
        fields: Other names of columns; None = what a file fields.json beside the data says
            ({"rating": "column"}), or the defaults.
    """
    path = _task_folder(Path(folder), task)
    names = fields or _named_beside(path)
    rows = _joined(path, split, names) if path.is_dir() else _table_rows(path, names)
    cases: list[Case] = []
    ratings: dict[tuple[str, str], float] = {}
    seen: Counter[str] = Counter()
    for study, reference, candidate, rating in rows:
        seen[study] += 1
        case = Case(study, candidate, (reference,), f"candidate {seen[study]}")
        cases.append(case)
        ratings[case.key] = rating
    keys = tuple(case.key for case in cases)
    source = f"RaTE-Eval {task} {split}"
    return Judgments(source, tuple(cases), {}, rating_scores({"mean": ratings}, keys=keys, signature=source))


def read_triples(path: Path | str, *, fields: RateEvalFields | None = None) -> tuple[Triple, ...]:
    """Triples of task 3 from a table (CSV, TSV, JSON, JSON lines), or from the folder that holds it."""
    location = _task_folder(Path(path), "synthetic")
    names = fields or _named_beside(location)
    if location.is_dir():
        files = sorted(file for file in location.iterdir() if _is_table(file))
        if len(files) != 1:
            raise InputError(f"{location} must hold one table of triples, got {len(files)}; name the file")
        location = files[0]
    table = read_table(location)
    columns = [_column(table, names.original), _column(table, names.rewrite), _column(table, names.opposite)]
    study = next((name for name in names.id if name in table.columns), None)
    triples = []
    for row, record in enumerate(table.records, start=1):
        texts = [str(record.values.get(column) or "").strip() for column in columns]
        if not all(texts):
            raise InputError(f"{table.location(record)}: a triple must have {', '.join(columns)}; one is empty")
        triples.append(Triple(str(record.values[study]) if study else str(row), *texts))
    return tuple(triples)


def _task_folder(path: Path, task: str) -> Path:
    if task not in TASKS:
        raise InputError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    if not path.exists():
        raise InputError(f"no such file or folder: {path}")
    return path / TASKS[task] if (path / TASKS[task]).is_dir() else path


def _is_table(file: Path) -> bool:
    return file.suffix in (".json", ".jsonl", ".csv", ".tsv") and file.name != FIELDS


def _named_beside(location: Path) -> RateEvalFields:
    path = (location if location.is_dir() else location.parent) / FIELDS
    if not path.is_file():
        return RateEvalFields()
    field_names = {field.name for field in dataclasses.fields(RateEvalFields)}
    try:
        named = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(named, dict) or not named.keys() <= field_names:
        raise InputError(f"{path} must be an object with keys of {', '.join(sorted(field_names))}")
    return RateEvalFields(**{key: (str(column),) for key, column in named.items()})


def _column(table: InputTable, names: tuple[str, ...]) -> str:
    for name in names:
        if name in table.columns:
            return name
    raise InputError(
        f"{table.source.name}: none of the columns {', '.join(filter(None, names))} is there; it has "
        f"{shown_names(table.columns)}; {_HOW_TO_NAME}"
    )


def _rating(table: InputTable, record: Record, names: RateEvalFields) -> float:
    if any(name in table.columns for name in names.rating):
        return number(table, record, _column(table, names.rating))
    if not any(name in table.columns for name in names.errors):
        _column(table, (*names.rating, *names.errors))  # says that neither is there
    errors = number(table, record, _column(table, names.errors))
    possible = number(table, record, _column(table, names.possible))
    if possible <= 0:
        raise InputError(
            f"{table.location(record)}: the number of possible errors must be above 0, got {possible:g}"
        )
    return 1 - errors / possible


Row = tuple[str, str, str, float]


def _table_rows(path: Path, names: RateEvalFields) -> list[Row]:
    table = read_table(path)
    reference, candidate = _column(table, names.reference), _column(table, names.candidate)
    study = next((name for name in names.id if name in table.columns), None)
    return [
        (
            str(record.values[study]) if study is not None else str(row),
            str(record.values.get(reference) or ""),
            str(record.values.get(candidate) or ""),
            _rating(table, record, names),
        )
        for row, record in enumerate(table.records)
    ]


def _joined(folder: Path, split: str, names: RateEvalFields) -> list[Row]:
    """References and candidates in JSON files, ratings in a table: gt_report_, similar_report_, rate_."""
    files = [folder / f"{name}_{split}.json" for name in ("gt_report", "similar_report")]
    files.append(folder / f"rate_{split}.csv")
    for file in files:
        if not file.is_file():
            raise InputError(f"{folder} must hold {file.name}; it is not there (or name one table with all)")
    references = _texts(files[0], names.id, names.reference)
    candidates = _texts(files[1], names.id, names.candidate + names.reference)
    table = read_table(files[2])
    study = next((name for name in names.id if name in table.columns), None)
    rows: list[Row] = []
    used: dict[str, int] = {}
    for row, record in enumerate(table.records):
        key = str(record.values[study]) if study is not None else str(row)
        if key not in references or key not in candidates:
            raise InputError(f"{table.location(record)}: {key!r} has no text in the JSON files beside it")
        index = used.get(key, 0)
        used[key] = index + 1
        if index >= len(candidates[key]):
            raise InputError(f"{table.location(record)}: {key!r} has more ratings than candidates")
        rows.append((key, references[key][0], candidates[key][index], _rating(table, record, names)))
    return rows


def _texts(path: Path, ids: tuple[str, ...], fields: tuple[str, ...]) -> dict[str, list[str]]:
    """id -> texts, from a JSON object or list whose items are texts, lists of texts, or objects with a text."""
    try:
        content: Any = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(content, Mapping | list):
        raise InputError(f"{path}: must be a JSON object or list, got {type(content).__name__}")
    items = content.items() if isinstance(content, Mapping) else enumerate(content)
    by_name: dict[str, list[str]] = {}
    for key, item in items:
        name = str(key)
        if isinstance(item, Mapping):
            name = str(next((item[field] for field in ids if field in item), key))
            item = next((item[field] for field in fields if field in item), None)
            if item is None:
                expected = ", ".join(fields)
                raise InputError(f"{path}: {name!r} has none of the fields {expected}; {_HOW_TO_NAME}")
        texts = item if isinstance(item, list) else [item]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{path}: {name!r} must be a text or a list of texts")
        by_name.setdefault(name, []).extend(texts)
    return by_name
