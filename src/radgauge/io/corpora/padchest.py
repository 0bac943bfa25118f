"""PadChest (Bustos et al., MedIA 2020): one row per image, grouped here into one study per report.

Reports are Spanish and stemmed, without accents and stop words: a corpus for labels and images, not for wording.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, shown
from radgauge.io.corpora.studies import Study, check_studies
from radgauge.io.tables import Record, iter_records
from radgauge.io.tables.cells import as_text, cell, study_id

NEEDED = ("ImageID", "ReportID", "Report", "Labels")


def read_padchest(path: Path | str) -> list[Study]:
    """Studies of PADCHEST_chest_x_ray_images_labels_160K_01.02.19.csv, in order of first appearance."""
    name = Path(path).name
    groups: dict[str, list[Record]] = {}
    for record in iter_records(path):
        absent = [column for column in NEEDED if column not in record.values]
        if absent:
            raise InputError(f"{name} is not the PadChest table: no column {', '.join(absent)}")
        study = study_id(record.values["ReportID"], where=f"{name}, line {record.line}: ReportID")
        groups.setdefault(study, []).append(record)
    return check_studies([_study(study, records, name) for study, records in groups.items()], name=name)


def _study(identifier: str, records: list[Record], name: str) -> Study:
    texts = {as_text(r.values["Report"], where=f"{name}, line {r.line}: Report").strip() for r in records}
    if len(texts) > 1:
        raise InputError(
            f"{name}, line {records[-1].line}: the report {identifier!r} has different texts on different images"
        )
    labels = [label for r in records for label in _listed(r.values["Labels"], f"{name}, line {r.line}: Labels")]
    places = [
        place
        for r in records
        for place in _listed(r.values.get("Localizations"), f"{name}, line {r.line}: Localizations")
    ]
    first = records[0].values
    meta = {
        "locations": "; ".join(dict.fromkeys(places)),
        "views": "; ".join(cell(r.values.get("Projection")) for r in records).strip("; "),
        "labelled_by": cell(first.get("MethodLabel")),
        "sex": cell(first.get("PatientSex_DICOM")),
        "study": cell(first.get("StudyID")),
        "language": "es",
    }
    return Study(
        id=identifier,
        sections={"report": text} if (text := texts.pop()) else {},
        images=tuple(Path(cell(r.values.get("ImageDir")), cell(r.values["ImageID"])) for r in records),
        labels=tuple(dict.fromkeys(labels)),
        patient=cell(first.get("PatientID")),
        meta={key: value for key, value in meta.items() if value},
    )


def _listed(value: Any, where: str) -> list[str]:
    """A cell that holds a Python list of texts."""
    text = cell(value).strip()
    if not text or text == "nan":
        return []
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        found = None
    if not isinstance(found, list):
        raise InputError(f"{where} must be a list like ['normal'], got {shown(text)}")
    return [item.strip() for item in map(str, found) if item.strip()]
