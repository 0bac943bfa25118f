"""Recognition of a corpus by what its files hold, not by their names."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError, shown
from radgauge.io.corpora.mimic import REPORT_FILE, read_mimic_reports, read_mimic_sectioned
from radgauge.io.corpora.studies import Study, check_studies, hash_files, section_texts
from radgauge.io.tables import InputTable, Record, iter_records, read_table
from radgauge.io.tables.cells import as_text, cell, study_id
from radgauge.io.tables.column_names import shown_names
from radgauge.io.tables.sources import Source, inspect_file

# ReXrank's JSON (Zhang et al. 2024): study id -> record, as ground truth and as results with `model_prediction`.
#
# Fields: image_path, key_image_path, context, frontal_lateral, section_findings, section_impression, report,
# split, subject_id. Early files say findings and impression instead; a missing section is NaN, and `report` then
# reads "Impression: None.", which is nobody's text and is taken out here.

_CONTEXT = re.compile(r"\b(Age|Gender|Indication|Comparison):\s*")


def read_rexrank(path: Path | str, *, split: str | None = None) -> list[Study]:
    """Studies of a ReXrank file, in file order.

    Args:
        path: Ground truth (ReXRank_IUXray_test.json) or a model's results.
        split: Keep only this split.
    """
    table = _table(path)
    studies = [
        _study_rexrank(table, record)
        for record in table.records
        if split is None or record.values.get("split") == split
    ]
    return check_studies(studies, name=table.source.name)


def _table(path: Path | str) -> InputTable:
    table = read_table(path)
    columns = set(table.columns)
    if "id" not in columns or not ({"section_findings", "findings", "report"} & columns):
        raise InputError(
            f"{table.source.name} must map study ids to records with section_findings, section_impression or "
            f"report; got columns {shown_names(table.columns)}"
        )
    return table


def _study_rexrank(table: InputTable, record: Record) -> Study:
    values = record.values
    where = table.location(record)
    new = "section_findings" in table.columns or "section_impression" in table.columns
    columns = {name: f"section_{name}" if new else name for name in ("findings", "impression")}
    sections = section_texts(values, columns, where=where)
    if report := _report(values, sections, where=where):
        sections["report"] = report
    sections.update(_context(cell(values.get("context"))))
    views = values.get("frontal_lateral")
    meta = {"views": "; ".join(map(str, views)) if isinstance(views, list) else cell(views)}
    return Study(
        id=study_id(values.get("id"), where=where),
        sections=sections,
        images=tuple(Path(name) for name in values.get("image_path") or ()),
        split=cell(values.get("split")),
        patient=cell(values.get("subject_id")),
        meta={name: text for name, text in meta.items() if text},
    )


def _report(values: Mapping[str, Any], sections: Mapping[str, str], *, where: str) -> str:
    report = as_text(values.get("report"), where=f"{where}: report")
    if "impression" not in sections:
        report = re.sub(r"\s*Impression:\s*(?:None|nan)\.?\s*$", "", report)
    if "findings" not in sections:
        report = re.sub(r"^Findings:\s*(?:None|nan)\.?\s*", "", report)
    return report


def _context(text: str) -> dict[str, str]:
    """Age, gender, indication and comparison out of "Age:50-60.Gender:M.Indication: ...".

    >>> _context("<context>Age:50-60.Gender:M.Indication: Cough.Comparison: None.</context>")
    {'age': '50-60', 'gender': 'M', 'indication': 'Cough.', 'comparison': 'None.'}
    """
    parts = _CONTEXT.split(re.sub(r"</?context>", "", text))
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    fields = {name.lower(): value.strip() for name, value in pairs}
    return {
        name: value.rstrip(".") if name in ("age", "gender") else value for name, value in fields.items() if value
    }


# R2Gen's annotation.json (Chen et al., EMNLP 2020): the splits of IU X-ray and MIMIC-CXR in common use.
#
# `clean_iu` and `clean_mimic` are the text preparation that its data loaders apply to references before scoring;
# numbers of that line of work are computed on texts cleaned so.

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
            id=study_id(record.values.get("id"), where=table.location(record)),
            sections={"report": as_text(record.values.get("report"), where=table.location(record))},
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


# PadChest (Bustos et al., MedIA 2020): one row per image, grouped here into one study per report.
#
# Reports are Spanish and stemmed, without accents and stop words: a corpus for labels and images, not for wording.

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
    return check_studies([_study_padchest(study, records, name) for study, records in groups.items()], name=name)


def _study_padchest(identifier: str, records: list[Record], name: str) -> Study:
    texts = {as_text(r.values["Report"], where=f"{name}, line {r.line}: Report").strip() for r in records}
    if len(texts) > 1:
        raise InputError(
            f"{name}, line {records[-1].line}: the report {identifier!r} has different texts on different images"
        )
    labels = [label for r in records for label in _listed(r.values["Labels"], f"{name}, line {r.line}: Labels")]
    locations = [
        location
        for r in records
        for location in _listed(r.values.get("Localizations"), f"{name}, line {r.line}: Localizations")
    ]
    first = records[0].values
    meta = {
        "locations": "; ".join(dict.fromkeys(locations)),
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
        parsed = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        parsed = None
    if not isinstance(parsed, list):
        raise InputError(f"{where} must be a list like ['normal'], got {shown(text)}")
    return [item.strip() for item in map(str, parsed) if item.strip()]


# Indiana University chest X-rays (Demner-Fushman et al., JAMIA 2016): Open-i's XML and Kaggle's CSV files.

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
        where = table.location(record)
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
            study = study_id(record.values["uid"], where=table.location(record))
            images.setdefault(study, []).append(Path(cell(record.values["filename"])))
            views.setdefault(study, []).append(cell(record.values["projection"]))
    return images, views


CORPORA = (
    "R2Gen annotation.json, ReXrank JSON, Open-i XML folder, indiana_reports.csv, mimic_cxr_sectioned.csv, "
    "MIMIC-CXR report folder, PadChest CSV"
)


def read_studies(path: Path | str) -> list[Study]:
    """Studies of a published corpus: R2Gen, ReXrank, Open-i, Indiana, MIMIC-CXR or PadChest, as released."""
    file = Path(path)
    if file.is_dir():
        return read_openi(file) if _folder_kind(file) == "openi" else read_mimic_reports(file)
    first = next(iter_records(file), None)
    columns = set(first.values) if first else set()
    if set(INDIANA) <= columns:
        return read_indiana(file)
    if {"study", "last_paragraph"} <= columns:
        return read_mimic_sectioned(file)
    if set(NEEDED) <= columns:
        return read_padchest(file)
    if file.name.lower().removesuffix(".gz").endswith(".json"):
        if {"id", "report", "split"} <= columns and "context" not in columns and "section_findings" not in columns:
            return read_r2gen(file)
        if "id" in columns:
            return read_rexrank(file)
    raise InputError(
        f"{file.name} is none of the corpora known: {CORPORA}; got columns {shown_names(sorted(columns))}"
    )


def is_corpus_table(columns: Collection[str]) -> bool:
    """True if these are the columns of indiana_reports.csv, mimic_cxr_sectioned.csv or the PadChest table."""
    return any(set(required) <= set(columns) for required in (INDIANA, ("study", "last_paragraph"), NEEDED))


def corpus_table(path: Path) -> InputTable | None:
    """A corpus that is no plain table of studies (a folder, a row per image, prefixed ids) as one, or None."""
    if path.is_dir():
        kind = _folder_kind(path)
        files = path.glob("*.xml") if kind == "openi" else path.rglob("s*.txt")
        source = Source(path.name, hash_files(files, folder=path), f"{kind} folder", "utf-8")
    else:
        source = inspect_file(path)
        first = next(iter_records(path, source=source), None) if source.format == "csv" else None
        header = set(first.values) if first else set()
        if set(INDIANA) <= header or not is_corpus_table(header):
            return None
    records = tuple(Record(number, study.as_record()) for number, study in enumerate(read_studies(path), start=1))
    columns = tuple(dict.fromkeys(name for record in records for name in record.values))
    return InputTable(
        Source(source.name, source.sha256, source.format, source.encoding, rows=len(records)), columns, records
    )


def _folder_kind(folder: Path) -> str:
    if next(folder.glob("*.xml"), None) is not None:
        return "openi"
    if any(REPORT_FILE.fullmatch(file.name) for file in folder.rglob("s*.txt")):
        return "mimic"
    raise InputError(
        f"{folder} is a folder without Open-i reports (*.xml) or MIMIC-CXR reports (s12345678.txt); give a file"
    )
