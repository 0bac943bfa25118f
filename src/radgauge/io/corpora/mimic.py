"""MIMIC-CXR (Johnson et al., Sci Data 2019): the folder of report files, and the table of their sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from radgauge.errors import InputError
from radgauge.io.corpora.studies import Study, check_studies, section_texts
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import study_id
from radgauge.io.tables.column_names import shown_names
from radgauge.text.mimic_sections import mimic_sections

REPORT_FILE = re.compile(r"s(\d+)\.txt")
SECTIONS = ("impression", "findings", "last_paragraph", "comparison")


def read_mimic_reports(folder: Path | str) -> list[Study]:
    """Studies of a folder of report files (files/p10/p10000032/s50414267.txt at any depth), in order of path."""
    path = Path(folder)
    return check_studies(list(iter_mimic_reports(path)), name=path.name)


def iter_mimic_reports(folder: Path | str) -> Iterator[Study]:
    """The same one by one; there are 227,835."""
    root = Path(folder)
    for file in sorted(root.rglob("s*.txt")):
        match = REPORT_FILE.fullmatch(file.name)
        if not match:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{file.relative_to(root)} is not UTF-8 text") from None
        patient = file.parent.name
        yield Study(
            id=match[1],
            sections={"report": text, **{name: body for name, body in mimic_sections(text).items() if body}},
            patient=patient[1:] if re.fullmatch(r"p\d+", patient) else "",
        )


def read_mimic_sectioned(path: Path | str) -> list[Study]:
    """Studies of mimic_cxr_sectioned.csv; the leading "s" of its study ids goes, as in every other MIMIC table."""
    table = read_table(path)
    if not {"study", "findings", "impression"} <= set(table.columns):
        raise InputError(
            f"{table.source.name} is not mimic_cxr_sectioned.csv; got columns {shown_names(table.columns)}"
        )
    columns = {name: name for name in SECTIONS if name in table.columns}
    studies = []
    for record in table.records:
        where = table.place(record)
        study = study_id(record.values["study"], where=where)
        sections = section_texts(record.values, columns, where=where)
        studies.append(Study(id=re.sub(r"^s(?=\d+$)", "", study), sections=sections))
    return check_studies(studies, name=table.source.name)
