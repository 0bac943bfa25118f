"""Reports with indexing terms: what pairs are built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from radgauge.corpora.recognise import read_studies
from radgauge.corpora.studies import Study, check_studies
from radgauge.errors import InputError
from radgauge.tables import iter_records, read_table
from radgauge.tables.cells import as_text, cell, study_id
from radgauge.training.clusters import usable_terms

TEXT_COLUMNS = ("report", "text", "findings", "reference")
TERM_COLUMNS = ("terms", "labels", "MeSH", "mesh")
NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class TermReport:
    """One report and its usable terms, major terms first."""

    id: str
    text: str
    terms: tuple[str, ...]

    @property
    def normal(self) -> bool:
        """Whether the first term says so (the paper's mesh-0)."""
        return self.terms[0] == NORMAL


@dataclass(frozen=True)
class TermReports:
    """Reports that can be paired, and why the others cannot.

    Attributes:
        reports: In the order of the corpus.
        dropped: Reason -> number of reports.
        section: Which part of the reports was taken.
    """

    reports: tuple[TermReport, ...]
    dropped: dict[str, int]
    section: str


def read_term_reports(path: Path | str, *, section: str = "findings", duplicates: bool = False) -> TermReports:
    """Reports with terms from Open-i XML, indiana_reports.csv, or any table with id, report and terms.

    Args:
        path: A corpus, or a table whose columns are id (or uid), report (or text, findings) and terms (or
            labels, MeSH), the terms separated by semicolons.
        section: findings, impression, both or whole.
        duplicates: Keep reports whose text occurred before. They make pairs of equal texts, which teach nothing
            and let a text stand on both sides of a split.
    """
    file = Path(path)
    studies = _table(file) if _is_plain_table(file) else read_studies(file)
    return choose_reports(studies, section=section, duplicates=duplicates)


def choose_reports(studies: Sequence[Study], *, section: str, duplicates: bool = False) -> TermReports:
    """Studies with a text and with terms that say something."""
    kept: list[TermReport] = []
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
            kept.append(TermReport(study.id, text, terms))
    if len(kept) < 2:
        raise InputError(
            f"pairs need at least two reports with a text ({section}) and usable terms, got {len(kept)}; "
            f"dropped: {', '.join(f'{number} {why}' for why, number in dropped.items())}"
        )
    return TermReports(tuple(kept), dropped, section)


def _is_plain_table(file: Path) -> bool:
    if file.is_dir() or file.suffix == ".xml":
        return False
    first = next(iter_records(file), None)
    columns = set(first.values) if first else set()
    return bool({"id"} & columns and columns & set(TERM_COLUMNS) and columns & set(TEXT_COLUMNS))


def _table(file: Path) -> list[Study]:
    table = read_table(file)
    text = next(name for name in TEXT_COLUMNS if name in table.columns)
    terms = next(name for name in TERM_COLUMNS if name in table.columns)
    studies = []
    for record in table.records:
        where = table.place(record)
        sections = {"report": as_text(record.values.get(text), where=f"{where}: {text}")}
        for name in ("findings", "impression"):
            if name in table.columns:
                sections[name] = as_text(record.values.get(name), where=f"{where}: {name}")
        labels = tuple(label.strip() for label in cell(record.values.get(terms)).split(";") if label.strip())
        studies.append(Study(study_id(record.values["id"], where=where), sections, labels=labels))
    return check_studies(studies, name=file.name)
