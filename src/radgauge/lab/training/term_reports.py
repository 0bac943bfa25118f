"""Reports with indexing terms: what pairs are built from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from radgauge.core.errors import InputError, UsageError
from radgauge.io.corpora.recognise import is_corpus_table, read_studies
from radgauge.io.corpora.studies import Study, check_studies
from radgauge.io.tables import iter_records, read_table
from radgauge.io.tables.cells import as_text, cell, study_id
from radgauge.io.tables.column_names import FINDINGS, IMPRESSION, NAMES, REPORT, plain
from radgauge.io.tables.sources import inspect_file
from radgauge.lab.training.clusters import usable_terms

SECTION_COLUMNS = {"report": (*REPORT, "reference"), "findings": FINDINGS, "impression": IMPRESSION}
ROLES = {
    "id": sum(NAMES["id"], ()),
    "report": sum(SECTION_COLUMNS.values(), ()),
    "terms": ("terms", "term", "labels", "label", "mesh", "mesh_terms", "finding_labels"),
}
"""What a table must have, and the names that are understood, best first."""
NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class TermReport:
    """One report and its usable terms, major terms first."""

    id: str
    text: str
    terms: tuple[str, ...]

    @property
    def normal(self) -> bool:
        """True if the first term says so (the paper's mesh-0)."""
        return self.terms[0] == NORMAL


@dataclass(frozen=True)
class TermReports:
    """Reports that can be paired, and why the others cannot."""

    reports: tuple[TermReport, ...]  # In the order of the corpus
    dropped: dict[str, int]  # Reason -> number of reports
    section: str  # Which part of the reports was taken


def read_term_reports(
    path: Path | str,
    *,
    section: str = "findings",
    duplicates: bool = False,
    columns: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
) -> TermReports:
    """Reports with terms from Open-i XML, indiana_reports.csv, or any table with id, report and terms.

    Args:
        path: A corpus, or a table whose columns are id, report (or text, findings) and terms (or labels, MeSH): a
            list, or a text with semicolons between the terms.
        section: findings, impression, both or whole.
        duplicates: Keep reports whose text occurred before. They make pairs of equal texts, which teach nothing
            and let a text stand on both sides of a split.
        columns: Role (id, report, terms) -> column, where a table's names do not tell.
        encoding: Of a table, if not UTF-8.
    """
    studies = read_term_studies(path, columns=columns, encoding=encoding)
    return choose_reports(studies, section=section, duplicates=duplicates)


def choose_reports(studies: Sequence[Study], *, section: str, duplicates: bool = False) -> TermReports:
    """Studies with a text and with terms that say something."""
    chosen: list[TermReport] = []
    dropped = {"no text": 0, "no usable terms": 0, "text occurred before": 0}
    seen: set[str] = set()
    for study in studies:
        text, terms = study.text(section).strip(), usable_terms(study.labels)
        key = " ".join(text.lower().split())
        if not text:
            dropped["no text"] += 1
        elif not terms:
            dropped["no usable terms"] += 1
        elif key in seen and not duplicates:
            dropped["text occurred before"] += 1
        else:
            seen.add(key)
            chosen.append(TermReport(study.id, text, terms))
    if len(chosen) < 2:
        raise InputError(
            f"pairs need at least two reports with a text ({section}) and usable terms, got {len(chosen)}; "
            f"dropped: {', '.join(f'{number} {why}' for why, number in dropped.items())}"
        )
    return TermReports(tuple(chosen), dropped, section)


def read_term_studies(
    path: Path | str, *, columns: Mapping[str, Sequence[str]] | None = None, encoding: str | None = None
) -> list[Study]:
    """Studies with terms as labels, from a published corpus or from any table with id, report and terms.

    Args:
        path: The corpus.
        columns: Role (id, report, terms) -> column, where a table's names do not tell.
        encoding: Of a table, if not UTF-8.
    """
    file = Path(path)
    settled = {role: names[0] for role, names in (columns or {}).items()}
    if strange := sorted(settled.keys() - ROLES.keys()):
        raise UsageError(f"a table with terms has the columns {', '.join(ROLES)}; got {strange[0]!r}")
    if file.is_dir() or file.suffix.lower() == ".xml":
        return read_studies(file)
    first = next(iter_records(file, source=inspect_file(file, encoding=encoding)), None)
    names = tuple(first.values) if first else ()
    column_of = {role: settled.get(role) or _named(names, ROLES[role]) for role in ROLES}
    if (
        not settled
        and encoding is None
        and (is_corpus_table(names) or (_is_json(file) and not column_of["terms"]))
    ):
        return read_studies(file)
    absent = next((role for role, name in column_of.items() if name not in names), None)
    if absent is not None:
        raise InputError(
            f"{file.name}: no column {settled.get(absent) or f'with the {absent}'}; give Open-i XML, "
            "indiana_reports.csv, or a table with id, report (or findings) and terms (or labels, MeSH); "
            f"got columns {', '.join(names) or 'none'}; "
            "name yours with columns={'id': A, 'report': B, 'terms': C}"
        )
    return _table(file, {role: str(name) for role, name in column_of.items()}, encoding)


def _named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    by_name = {plain(column): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _is_json(file: Path) -> bool:
    return file.name.lower().removesuffix(".gz").endswith(".json")


def _table(file: Path, columns: Mapping[str, str], encoding: str | None) -> list[Study]:
    table = read_table(file, encoding=encoding)
    parts = {name: _named(table.columns, names) for name, names in SECTION_COLUMNS.items()}
    if columns["report"] not in parts.values():
        parts["report"] = columns["report"]
    studies = []
    for record in table.records:
        where = table.location(record)
        sections = {
            name: as_text(record.values.get(column), where=f"{where}: {column}")
            for name, column in parts.items()
            if column is not None
        }
        identifier = study_id(record.values[columns["id"]], where=where)
        studies.append(Study(identifier, sections, labels=_terms(record.values.get(columns["terms"]))))
    return check_studies(studies, name=file.name)


def _terms(value: object) -> tuple[str, ...]:
    """Terms of a cell: a list, or a text with semicolons or bars between them.

    >>> _terms("Cardiomegaly/mild; Aorta, Thoracic/tortuous"), _terms(["normal"])
    (('Cardiomegaly/mild', 'Aorta, Thoracic/tortuous'), ('normal',))
    """
    terms = [cell(item) for item in value] if isinstance(value, list) else re.split("[;|]", cell(value))
    return tuple(term.strip() for term in terms if term.strip())
