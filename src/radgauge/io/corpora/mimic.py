"""MIMIC-CXR (Johnson et al., Sci Data 2019): the folder of report files, and the table of their sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from radgauge.core.errors import InputError
from radgauge.io.corpora.studies import Study, check_studies, section_texts
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell, study_id
from radgauge.io.tables.column_names import shown_names
from radgauge.text.mimic_sections import mimic_sections

REPORT_FILE = re.compile(r"s(\d+)\.txt")
SPLITS = {"validate": "val", "valid": "val", "validation": "val", "dev": "val"}
"""Names of splits in MIMIC's tables -> ours."""
VIEWS = {"PA": 0, "AP": 1}
SECTIONS = ("impression", "findings", "last_paragraph", "comparison")


def read_mimic_reports(folder: Path | str) -> list[Study]:
    """Studies of a folder of report files (files/p10/p10000032/s50414267.txt at any depth), in order of path."""
    path = Path(folder)
    return check_studies(_completed(list(iter_mimic_reports(path)), beside=path), name=path.name)


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
    """Studies of mimic_cxr_sectioned.csv; the leading "s" of its study ids goes, as in every other MIMIC table.

    A column `split` counts; else mimic-cxr-2.0.0-split.csv beside it, as for a folder of reports.
    """
    table = read_table(path)
    if not {"study", "findings", "impression"} <= set(table.columns):
        raise InputError(
            f"{table.source.name} is not mimic_cxr_sectioned.csv; got columns {shown_names(table.columns)}"
        )
    columns = {name: name for name in SECTIONS if name in table.columns}
    studies = []
    for record in table.records:
        where = table.location(record)
        study = study_id(record.values["study"], where=where)
        sections = section_texts(record.values, columns, where=where)
        split = cell(record.values.get("split")).strip().lower()
        studies.append(
            Study(
                id=re.sub(r"^s(?=\d+$)", "", study),
                sections=sections,
                split=SPLITS.get(split, split),
                patient=cell(record.values.get("subject_id")).strip(),
            )
        )
    return check_studies(_completed(studies, beside=Path(path).parent), name=table.source.name)


class _Image(NamedTuple):
    """A picture of a study: MIMIC-CXR-JPG's path, and how it was taken."""

    view: str
    path: Path


def _completed(studies: list[Study], *, beside: Path) -> list[Study]:
    """The studies with split, patient and pictures of the tables that lie beside them, or one folder up."""
    splits: dict[str, str] = {}
    patients: dict[str, str] = {}
    images: dict[str, list[_Image]] = {}
    for file in _tables(beside, "split"):
        for study, values in _rows(file, ("dicom_id", "study_id", "subject_id", "split")):
            split = SPLITS.get(values["split"], values["split"])
            if splits.setdefault(study, split) != split:
                raise InputError(f"{file.name}: the study {study!r} is in two splits, {splits[study]} and {split}")
            patients[study] = values["subject_id"]
    for file in _tables(beside, "metadata"):
        for study, values in _rows(file, ("dicom_id", "study_id", "subject_id", "ViewPosition")):
            patient = values["subject_id"]
            image_path = Path(f"p{patient[:2]}", f"p{patient}", f"s{study}", f"{values['dicom_id']}.jpg")
            images.setdefault(study, []).append(_Image(values["ViewPosition"].upper(), image_path))
            patients[study] = patient
    completed = []
    for record in studies:
        # Frontal pictures first, PA before AP: who wants one picture of a study takes the first.
        taken = sorted(
            images.get(record.id, ()), key=lambda image: (VIEWS.get(image.view, len(VIEWS)), image.path)
        )
        views = {"views": "; ".join(image.view or "-" for image in taken)} if taken else {}
        completed.append(
            replace(
                record,
                split=record.split or splits.get(record.id, ""),
                patient=record.patient or patients.get(record.id, ""),
                images=tuple(image.path for image in taken) or record.images,
                meta={**record.meta, **views},
            )
        )
    return completed


def image_views(path: Path) -> dict[str, str]:
    """Image (dicom_id) -> view of the metadata table beside a file, in a folder, or one up; {} without one."""
    return {
        values["dicom_id"]: values["ViewPosition"]
        for file in _tables(path if path.is_dir() else path.parent, "metadata")
        for _, values in _rows(file, ("dicom_id", "study_id", "ViewPosition"))
    }


def _tables(beside: Path, kind: str) -> list[Path]:
    """mimic-cxr-2.0.0-split.csv and the like in this folder, else in the one above it."""
    for folder in (beside, beside.parent):
        if files := sorted(folder.glob(f"mimic-cxr-2.*-{kind}.csv*")):
            return files[:1]
    return []


def _rows(file: Path, needs: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    table = read_table(file)
    if missing := [name for name in needs if name not in table.columns]:
        raise InputError(f"{file.name} must have the column {missing[0]!r}; it has {shown_names(table.columns)}")
    for record in table.records:
        values = {name: cell(record.values.get(name)).strip() for name in needs}
        yield values["study_id"].removeprefix("s"), values
