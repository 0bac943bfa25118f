"""R2Gen's annotation.json (Chen et al., EMNLP 2020): the splits of IU X-ray and MIMIC-CXR in common use.

`clean_iu` and `clean_mimic` are the text preparation that its data loaders apply to references before scoring;
numbers of that line of work are computed on texts cleaned so.
"""

from __future__ import annotations

import re
from pathlib import Path

from radgauge.core.errors import InputError
from radgauge.io.corpora.studies import Study, check_studies
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import as_text, cell, study_id
from radgauge.io.tables.column_names import shown_names

# The published character class contains the range ":-[": colon to bracket goes (digits' upper neighbours and all
# capitals, of which none are left after lower-casing), the hyphen stays.
_DELETED = re.compile(r"[.,?;*!%^&_+():-\[\]{}]")
_LIST_MARKS = (
    *[("..", ".")] * 3,
    ("1. ", ""),  # wherever it stands, "11. " included: part of the definition
    *[(f". {number}. ", ". ") for number in range(2, 6)],
    *[(f" {number}. ", ". ") for number in range(2, 6)],
)
_QUOTES = str.maketrans("", "", "\"'\\/")


def read_r2gen(path: Path | str, *, split: str | None = None) -> list[Study]:
    """Studies of an annotation.json, in file order.

    Args:
        path: The file.
        split: train, val or test; None = all.
    """
    table = read_table(path)
    if not {"id", "report", "split"} <= set(table.columns):
        raise InputError(
            f"{table.source.name} must be splits (train, val, test) of records with id, report and image_path; "
            f"got columns {shown_names(table.columns)}"
        )
    studies = [
        Study(
            id=study_id(record.values.get("id"), where=table.place(record)),
            sections={"report": as_text(record.values.get("report"), where=table.place(record))},
            images=tuple(Path(name) for name in record.values.get("image_path") or ()),
            split=cell(record.values.get("split")),
            patient=cell(record.values.get("subject_id")),
        )
        for record in table.records
        if split is None or record.values.get("split") == split
    ]
    return check_studies(studies, name=f"{table.source.name} (split {split})" if split else table.source.name)


def clean_iu(report: str) -> str:
    """R2Gen's preparation of IU X-ray reports.

    >>> clean_iu("1. Heart size is normal. 2. No effusion; lungs clear.")
    'heart size is normal . no effusion lungs clear .'
    """
    text = report
    for old, new in _LIST_MARKS:
        text = text.replace(old, new)
    return " . ".join(_clean(sentence) for sentence in text.strip().lower().split(". ")) + " ."


def clean_mimic(report: str) -> str:
    """R2Gen's preparation of MIMIC-CXR reports: the same, after joining lines and runs of blanks and underscores.

    >>> clean_mimic("Heart\\n size: ___ normal.")
    'heart size  normal .'
    """
    text = re.sub(r"_{2,}", "_", report.replace("\n", " "))
    text = re.sub(r" {2,}", " ", text)
    return clean_iu(text)


def _clean(sentence: str) -> str:
    return _DELETED.sub("", sentence.translate(_QUOTES).strip())
