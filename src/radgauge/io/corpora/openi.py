"""Indiana University chest X-rays (Demner-Fushman et al., JAMIA 2016): Open-i's XML and Kaggle's CSV files."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from radgauge.core.errors import InputError
from radgauge.io.corpora.studies import Study, check_studies, section_texts
from radgauge.io.tables import read_table
from radgauge.io.tables.cells import cell, study_id
from radgauge.io.tables.column_names import shown_names

SECTIONS = ("comparison", "indication", "findings", "impression")
INDIANA = ("uid", "MeSH", "findings", "impression")
"""Columns that tell indiana_reports.csv."""


def read_openi(folder: Path | str) -> list[Study]:
    """Studies of a folder of Open-i XML reports (ecgen-radiology), by number; labels are its major MeSH."""
    path = Path(folder)
    files = sorted(path.glob("*.xml") if path.is_dir() else [path], key=_number)
    return check_studies([_study(file) for file in files], name=path.name)


def _number(file: Path) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, file.stem))
    return (int(digits) if digits else 0, file.name)


def _study(file: Path) -> Study:
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise InputError(f"{file.name}: not valid XML ({error})") from None
    identifier = root.find(".//uId")
    if identifier is None or not identifier.get("id"):
        raise InputError(f"{file.name}: no uId; this is not an Open-i report")
    sections = {
        label: text
        for element in root.iter("AbstractText")
        if (label := (element.get("Label") or "").lower()) in SECTIONS and (text := _inner(element))
    }
    return Study(
        id=str(identifier.get("id")),
        sections=sections,
        images=tuple(Path(f"{image.get('id')}.png") for image in root.iter("parentImage") if image.get("id")),
        labels=tuple(_texts(root, "MeSH/major")),
        meta={"automatic": "; ".join(_texts(root, "MeSH/automatic"))},
    )


def _texts(root: ElementTree.Element, tags: str) -> Iterator[str]:
    return (text for element in root.iterfind(f".//{tags}") if (text := _inner(element)))


def _inner(element: ElementTree.Element) -> str:
    return "".join(element.itertext()).strip()


def read_indiana(path: Path | str, *, projections: Path | str | None = None) -> list[Study]:
    """Studies of Kaggle's indiana_reports.csv; labels are its MeSH headings.

    Args:
        path: indiana_reports.csv.
        projections: indiana_projections.csv, for the images; None = the file of that name beside it, if any.
    """
    table = read_table(path)
    if not set(INDIANA) <= set(table.columns):
        raise InputError(
            f"{table.source.name} is not indiana_reports.csv; got columns {shown_names(table.columns)}"
        )
    beside = Path(path).with_name("indiana_projections.csv")
    images, views = _projections(Path(projections) if projections else beside if beside.is_file() else None)
    studies = []
    for record in table.records:
        where = table.place(record)
        study = study_id(record.values["uid"], where=where)
        labels = [label.strip() for label in cell(record.values["MeSH"]).split(";")]
        meta = {
            "problems": cell(record.values.get("Problems")).replace(";", "; "),
            "description": cell(record.values.get("image")),
            "views": "; ".join(views.get(study, ())),
        }
        studies.append(
            Study(
                id=study,
                sections=section_texts(record.values, {name: name for name in SECTIONS}, where=where),
                images=tuple(images.get(study, ())),
                labels=tuple(filter(None, labels)),
                meta={name: text for name, text in meta.items() if text},
            )
        )
    return check_studies(studies, name=table.source.name)


def _projections(path: Path | None) -> tuple[dict[str, list[Path]], dict[str, list[str]]]:
    images: dict[str, list[Path]] = {}
    views: dict[str, list[str]] = {}
    if path is not None:
        table = read_table(path)
        if not {"uid", "filename", "projection"} <= set(table.columns):
            raise InputError(f"{table.source.name} must have the columns uid, filename and projection")
        for record in table.records:
            study = study_id(record.values["uid"], where=table.place(record))
            images.setdefault(study, []).append(Path(cell(record.values["filename"])))
            views.setdefault(study, []).append(cell(record.values["projection"]))
    return images, views
