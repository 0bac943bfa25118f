"""ReXrank's JSON (Zhang et al. 2024): study id -> record, as ground truth and as results with `model_prediction`.

Fields: image_path, key_image_path, context, frontal_lateral, section_findings, section_impression, report, split,
subject_id. Early files say findings and impression instead; a missing section is NaN, and `report` then reads
"Impression: None.", which is nobody's text and is taken out here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.io.corpora.studies import Study, check_studies, section_texts
from radgauge.io.tables import InputTable, Record, read_table
from radgauge.io.tables.cells import as_text, cell, study_id
from radgauge.io.tables.column_names import shown_names

_CONTEXT = re.compile(r"\b(Age|Gender|Indication|Comparison):\s*")


def read_rexrank(path: Path | str, *, split: str | None = None) -> list[Study]:
    """Studies of a ReXrank file, in file order.

    Args:
        path: Ground truth (ReXRank_IUXray_test.json) or a model's results.
        split: Keep only this split.
    """
    table = _table(path)
    studies = [
        _study(table, record) for record in table.records if split is None or record.values.get("split") == split
    ]
    return check_studies(studies, name=table.source.name)


def read_rexrank_results(path: Path | str, *, section: str = "whole", system: str | None = None) -> list[Case]:
    """Cases of a results file: every study's `model_prediction` against its own sections.

    Args:
        path: The file.
        section: Of the reference. The prediction is kept whole; `read_cases` cuts both.
        system: Name of the system; None = the file's name.
    """
    table = _table(path)
    if "model_prediction" not in table.columns:
        raise InputError(f"{table.source.name} has no model_prediction: it is ground truth, not a model's results")
    name = system or Path(path).name.split(".")[0]
    cases = []
    for record in table.records:
        study = _study(table, record)
        where = f"{table.place(record)} (id {study.id!r}): model_prediction"
        text = as_text(record.values.get("model_prediction"), where=where)
        cases.append(study.as_case(text, section=section, system=name))
    return cases


def _table(path: Path | str) -> InputTable:
    table = read_table(path)
    columns = set(table.columns)
    if "id" not in columns or not ({"section_findings", "findings", "report"} & columns):
        raise InputError(
            f"{table.source.name} must map study ids to records with section_findings, section_impression or "
            f"report; got columns {shown_names(table.columns)}"
        )
    return table


def _study(table: InputTable, record: Record) -> Study:
    values = record.values
    where = table.place(record)
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
    found = {name.lower(): value.strip() for name, value in pairs}
    return {
        name: value.rstrip(".") if name in ("age", "gender") else value for name, value in found.items() if value
    }
