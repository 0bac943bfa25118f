"""The perturbation control files that VLScore's authors publish: what to change in which study of MIMIC-CXR.

Six CSV files of instructions without report text: `location.csv`, `severity.csv` and `noninformative.csv`
replace one word, `Insignificant.csv` and `pathology.csv` remove one sentence, `constantdata.csv` gives studies
one fixed report. The findings come from MIMIC-CXR's `mimic_cxr_sectioned.csv` (credentialed). The files
themselves were not at hand when this was written: columns are told by their names, any of those listed here, and
a file with others is refused with the names that it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.cells import cell
from radgauge.io.tables.column_names import shown_names
from radgauge.text.sentences import split_sentences

FILES = {
    "pathology": "remove_pathology",
    "Insignificant": "remove_insignificant",
    "location": "change_location",
    "severity": "change_severity",
    "noninformative": "unknown_word",
    "constantdata": "normal_report",
}
"""Name of a control file -> our name of its kind."""
PUBLISHED = {"pathology": 238, "Insignificant": 119, "location": 187, "severity": 95, "noninformative": 133}
PUBLISHED["constantdata"] = 207
"""Triplets per file that the paper counts (979 in all)."""

_STUDY = ("study", "study_id", "id", "studyid")
_OLD = ("original", "original_word", "orig", "orig_word", "old", "old_word", "from", "word", "source")
_NEW = ("new", "new_word", "replacement", "replace", "to", "modified", "modified_word", "target")
_SENTENCE = (
    "sentence",
    "sentence_index",
    "sentence_idx",
    "sentence_number",
    "sent_idx",
    "index",
    "idx",
    "removed",
)
_REPORT = ("output", "report", "text", "constant", "candidate")


@dataclass(frozen=True)
class Controlled:
    """What the control files make of the findings.

    Attributes:
        cases: The findings as references, the changed findings as candidates, the kind as system.
        skipped: File -> instructions that could not be followed: no findings, or no such word or sentence.
    """

    cases: tuple[Case, ...]
    skipped: Mapping[str, int]


def read_controls(
    folder: Path | str, reports: Path | str, *, images: Mapping[str, Sequence[Path]] | None = None
) -> Controlled:
    """Follow the instructions of all control files in a folder.

    Args:
        folder: With the control files; those that are not there are left out.
        reports: `mimic_cxr_sectioned.csv`, or any table with a study and its findings.
        images: Study (its number) -> images.

    Raises:
        InputError: There is no control file, or a column cannot be told.
    """
    folder = Path(folder)
    findings = _findings(Path(reports))
    present = {path.stem.lower(): path for path in sorted(folder.glob("*.csv"))}
    files = {name: present[name.lower()] for name in FILES if name.lower() in present}
    if not files:
        raise InputError(
            f"{folder} holds no control file; they are named {', '.join(f'{name}.csv' for name in FILES)}"
        )
    cases: list[Case] = []
    skipped: dict[str, int] = {}
    for name, path in files.items():
        table = read_table(path)
        study_column = _column(table, _STUDY, "the study")
        for number, record in enumerate(table.records):
            study = _number(cell(record.values.get(study_column)))
            before = findings.get(study, "")
            after = _changed(name, table, record, before) if before else ""
            if not after or after == before:
                skipped[name] = skipped.get(name, 0) + 1
                continue
            shown = tuple((images or {}).get(study, ()))
            cases.append(Case(f"{study}:{number}", after, (before,), FILES[name], images=shown))
    return Controlled(tuple(cases), skipped)


def _changed(name: str, table: InputTable, record: Record, before: str) -> str:
    if name == "constantdata":
        return cell(record.values.get(_column(table, _REPORT, "the fixed report"))).strip()
    if name in ("Insignificant", "pathology"):
        return _without(before, cell(record.values.get(_column(table, _SENTENCE, "the sentence"))).strip())
    old = cell(record.values.get(_column(table, _OLD, "the word"))).strip()
    new = (
        "[UNK]"
        if name == "noninformative"
        else cell(record.values.get(_column(table, _NEW, "the new word"))).strip()
    )
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: new, before, count=1) if old else ""


def _without(text: str, which: str) -> str:
    """The text without its n-th sentence (from 0), or without the sentence that is spelled out."""
    spans = split_sentences(text)
    for at, (start, end) in enumerate(spans):
        if (which.isdigit() and int(which) == at) or " ".join(text[start:end].split()) == " ".join(which.split()):
            return (text[:start].rstrip() + " " + text[end:].lstrip()).strip()
    return ""


def _findings(path: Path) -> dict[str, str]:
    table = read_table(path)
    study, text = _column(table, _STUDY, "the study"), _column(table, ("findings",), "the findings")
    return {
        _number(cell(record.values.get(study))): " ".join(cell(record.values.get(text)).split())
        for record in table.records
    }


def _column(table: InputTable, known: Sequence[str], what: str) -> str:
    by_name = {name.lower().strip(): name for name in table.columns}
    found = next((by_name[name] for name in known if name in by_name), None)
    if found is None:
        raise InputError(
            f"{table.source.name}: {what} must be in a column named {', '.join(known)}; it has "
            f"{shown_names(table.columns)}"
        )
    return found


def _number(study: str) -> str:
    return study.strip().removeprefix("s").removesuffix(".txt")
