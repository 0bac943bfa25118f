"""A rater's sheet as an Excel workbook, through openpyxl.

Sheets: Instructions; Cases, Candidates and Sentences, one row each, with a column per question; Errors, a list for
marks and missing findings; and a hidden one that says whose workbook it is. The first row of each sheet is hidden
and names the columns for the way back. Texts are written as texts: none is ever run as a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from radgauge.errors import InputError, require
from radgauge.files import replacing
from radgauge.io.tables.excel import LONGEST_CELL
from radgauge.study.design import Field
from radgauge.study.sheet.content import cases_of_sheet, examples, sealed
from radgauge.study.state import CaseState
from radgauge.study.state import labels as label_names
from radgauge.study.store import Store
from radgauge.study.views import CaseView

HEAD, CASES, CANDIDATES, SENTENCES, ERRORS = "radgauge", "Cases", "Candidates", "Sentences", "Errors"
_ENTRY = (
    "case",
    "candidate",
    "question",
    "category",
    "significance",
    "attribute",
    "sentence",
    "words",
    "note",
    "place",
)
_ENTRY_TITLES = (
    *("Case", "Candidate", "Question", "Category", "Significance", "What is wrong"),
    *("Sentence (number)", "Words of the passage, or the missing finding", "Note", "Place (leave as it is)"),
)
_SPARE = 200  # empty rows with lists to choose from, for further errors
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write_workbook(store: Store, person_id: str, *, path: Path) -> None:
    """Write the workbook of a rater, with what is answered already."""
    openpyxl = require("openpyxl", extra="excel")
    cases = cases_of_sheet(store, person_id)
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Instructions"
    _instructions(store, page)
    fields = store.design.fields
    _sheet(
        book.create_sheet(CASES),
        [("case", "Case"), ("reference", "Reference"), ("context", "Context")],
        [field for field in fields if field.per == "case"],
        [("cannot_judge", "Cannot be judged: why?"), ("done", "Done (yes)")],
        [_case_row(number, view) for number, view in cases],
        max((len(view.candidates) for _, view in cases), default=0),
    )
    _sheet(
        book.create_sheet(CANDIDATES),
        [("case", "Case"), ("candidate", "Candidate"), ("reference", "Reference"), ("text", "Text")],
        [field for field in fields if field.per == "candidate" and field.kind not in ("marks", "missing")],
        [("cannot_judge", "Cannot be judged: why?")],
        [row for _, view in cases for row in _candidate_rows(view)],
        0,
    )
    per_sentence = [field for field in fields if field.per == "sentence"]
    if per_sentence:
        _sheet(
            book.create_sheet(SENTENCES),
            [("case", "Case"), ("candidate", "Candidate"), ("sentence", "Sentence"), ("text", "Text")],
            per_sentence,
            [],
            [row for _, view in cases for row in _sentence_rows(view)],
            0,
        )
    lists = [field for field in fields if field.kind in ("marks", "missing")]
    if lists:
        _errors(book.create_sheet(ERRORS), lists, cases)
    head = book.create_sheet(HEAD)
    head.sheet_state = "hidden"
    for key, value in sealed(store, person_id).items():
        head.append([key, value])
    for _, view in cases:
        head.append([f"version {view.key}", view.state.version])
        head.append([f"seconds {view.key}", view.state.seconds])
    with replacing(path) as beside:
        book.save(beside)


Row = tuple[Mapping[str, Any], CaseState, str, str | None]
"""(texts and present remarks, state, label, sentence)"""


def _case_row(number: int, view: CaseView) -> Row:
    context = "\n".join(f"{name}: {text}" for name, text in view.context.items())
    done = "yes" if view.state.submitted else None
    why = view.state.cannot_judge.get("")
    texts = {"case": view.key, "reference": view.reference, "context": context, "cannot_judge": why, "done": done}
    return texts, view.state, "", None


def _candidate_rows(view: CaseView) -> Iterator[Row]:
    for each in view.candidates:
        texts = {"case": view.key, "candidate": each.label, "reference": view.reference, "text": each.text}
        why = view.state.cannot_judge.get(each.label)
        yield {**texts, "cannot_judge": why}, view.state, each.label, None


def _sentence_rows(view: CaseView) -> Iterator[Row]:
    for each in view.candidates:
        for number, (start, end) in enumerate(each.sentences, start=1):
            texts = {"case": view.key, "candidate": each.label, "sentence": number, "text": each.text[start:end]}
            yield texts, view.state, each.label, str(number - 1)


def _columns(field: Field) -> list[tuple[str, str]]:
    """(key, title) of the columns of a field."""
    if field.kind == "counts":
        titles = {category.key: category.title for category in field.categories}
        found = []
        for part in field.parts():
            key, _, level = part.partition("/")
            said = next((each.title for each in field.levels(key) if each.key == level), "")
            found.append((f"{field.key}|{part}", f"{titles[key]}" + (f" ({said})" if said else "")))
        return found
    columns = [(f"{field.key}|", field.title)]
    if field.kind == "choice" and field.reason != "none":
        columns.append((f"{field.key}|reason", f"{field.title} Why?"))
    return columns


def _sheet(
    sheet: Any,
    left: Sequence[tuple[str, str]],
    fields: Sequence[Field],
    right: Sequence[tuple[str, str]],
    rows: Sequence[Row],
    labels: int,
) -> None:
    styles = require("openpyxl.styles", extra="excel")
    validation = require("openpyxl.worksheet.datavalidation", extra="excel")
    asked = [(field, key, title) for field in fields for key, title in _columns(field)]
    keys = [*(key for key, _ in left), *(key for _, key, _ in asked), *(key for key, _ in right)]
    titles = [*(title for _, title in left), *(title for *_, title in asked), *(title for _, title in right)]
    _put_row(sheet, 1, keys)
    _put_row(sheet, 2, titles)
    sheet.row_dimensions[1].hidden = True
    sheet.freeze_panes = "A3"
    for number, (texts, state, label, unit) in enumerate(rows, start=3):
        cells = [texts.get(key) for key, _ in left]
        cells += [_present(state, field, label, unit, key) for field, key, _ in asked]
        cells += [texts.get(key) for key, _ in right]
        _put_row(sheet, number, cells)
    last = max(len(rows) + 2, 3)
    wrap = styles.Alignment(wrap_text=True, vertical="top")
    bold = styles.Font(bold=True)
    for place, key in enumerate(keys, start=1):
        letter = sheet.cell(2, place).column_letter
        wide = key in ("reference", "text")
        sheet.column_dimensions[letter].width = 60 if wide else 24 if key in ("context", "cannot_judge") else 14
        for row in range(2, last + 1):
            cell = sheet.cell(row, place)
            cell.alignment = wrap
            if row > 2 and place > len(left):
                cell.protection = styles.Protection(locked=False)
        sheet.cell(2, place).font = bold
    for place, (field, key, _) in enumerate(asked, start=len(left) + 1):
        rule = _rule(validation, field, key, labels)
        if rule is not None:
            sheet.add_data_validation(rule)
            letter = sheet.cell(2, place).column_letter
            rule.add(f"{letter}3:{letter}{last}")
    if "done" in keys:
        rule = validation.DataValidation(type="list", formula1='"yes"', allow_blank=True)
        sheet.add_data_validation(rule)
        letter = sheet.cell(2, keys.index("done") + 1).column_letter
        rule.add(f"{letter}3:{letter}{last}")
    sheet.protection.sheet = True
    sheet.protection.formatColumns = False
    sheet.protection.formatRows = False


def _rule(validation: Any, field: Field, key: str, labels: int) -> Any:
    if key.endswith("|reason"):
        return None
    if field.kind == "choice":
        options = [*(label_names(labels) if field.candidates else ()), *(each.key for each in field.options)]
        return validation.DataValidation(type="list", formula1=f'"{",".join(options)}"', allow_blank=True)
    kind = "whole" if field.kind in ("counts", "number") else "decimal"
    limits = {"formula1": f"{field.minimum:g}", "formula2": f"{field.maximum:g}"}
    rule = validation.DataValidation(type=kind, operator="between", allow_blank=True, **limits)
    rule.promptTitle = field.title[:32]
    said = "; ".join(f"{value:g} = {text}" for value, text in field.anchors)
    rule.prompt = (said or f"{field.minimum:g} to {field.maximum:g}")[:255]
    rule.showInputMessage = True
    return rule


def _present(state: CaseState, field: Field, label: str, unit: str | None, key: str) -> Any:
    answer = state.answers.get(label, {}).get(field.key)
    if unit is not None:
        answer = (answer or {}).get(unit)
    if answer is None:
        return None
    part = key.partition("|")[2]
    if field.kind == "counts":
        return answer.get(part)
    if field.kind == "choice":
        return answer.get("reason") if part == "reason" else answer["choice"]
    return answer


def _errors(sheet: Any, fields: Sequence[Field], cases: Sequence[tuple[int, CaseView]]) -> None:
    validation = require("openpyxl.worksheet.datavalidation", extra="excel")
    _put_row(sheet, 1, _ENTRY)
    _put_row(sheet, 2, _ENTRY_TITLES)
    sheet.row_dimensions[1].hidden = True
    sheet.freeze_panes = "A3"
    row = 2
    for _, view in cases:
        for candidate in view.candidates:
            for field in fields:
                for entry in view.state.answers.get(candidate.label, {}).get(field.key, ()):
                    row += 1
                    _put_row(sheet, row, _entry_cells(view, candidate.label, candidate.text, field, entry))
    options = {
        "B": sorted({each.label for _, view in cases for each in view.candidates}),
        "C": [field.key for field in fields],
        "D": list(dict.fromkeys(each.key for field in fields for each in field.categories)),
        "E": list(dict.fromkeys(o.key for f in fields for key in _keys(f) for o in f.levels(key))),
        "F": list(dict.fromkeys(o.key for f in fields for each in f.categories for o in each.attributes)),
    }
    for letter, listed in options.items():
        joined = ",".join(listed)
        if listed and len(joined) <= 250:
            rule = validation.DataValidation(type="list", formula1=f'"{joined}"', allow_blank=True)
            sheet.add_data_validation(rule)
            rule.add(f"{letter}3:{letter}{row + _SPARE}")
    for letter, width in zip("ABCDEFGHIJ", (10, 10, 12, 20, 18, 18, 12, 60, 30, 12), strict=True):
        sheet.column_dimensions[letter].width = width


def _keys(field: Field) -> list[str]:
    return [each.key for each in field.categories] or [""]


def _entry_cells(view: CaseView, label: str, text: str, field: Field, entry: Mapping[str, Any]) -> list[Any]:
    source = text if field.kind == "marks" else view.reference
    words = entry.get("text") or (source[entry["start"] : entry["end"]] if "start" in entry else None)
    unit = entry["unit"] + 1 if "unit" in entry else None
    said = (entry.get("category"), entry.get("significance"), entry.get("attribute"))
    place = f"{entry['start']}-{entry['end']}" if "start" in entry and unit is None else None
    return [view.key, label, field.key, *said, unit, words, entry.get("note"), place]


def _instructions(store: Store, sheet: Any) -> None:
    styles = require("openpyxl.styles", extra="excel")
    lines = [
        str(store.about["title"]),
        "",
        *(" ".join(p.split()) for p in store.design.instructions.split("\n\n")),
    ]
    lines += ["", "Answer on the sheets that follow; each case is finished with yes in the column Done."]
    for number, example in enumerate(examples(store), start=1):
        lines += ["", f"Example {number}", f"Reference: {example['reference']}"]
        for each in example["candidates"]:
            lines += [f"Candidate: {each['text']}", *(f"    {line}" for line in each["answers"])]
        lines.append(example["feedback"])
    for number, line in enumerate(lines, start=1):
        _put_row(sheet, number, [line])
        sheet.cell(number, 1).alignment = styles.Alignment(wrap_text=True, vertical="top")
    sheet.cell(1, 1).font = styles.Font(bold=True, size=14)
    sheet.column_dimensions["A"].width = 110


def _put_row(sheet: Any, row: int, values: Sequence[Any]) -> None:
    for column, value in enumerate(values, start=1):
        if value is None:
            continue
        cell = sheet.cell(row, column)
        if isinstance(value, str):
            if len(value) > LONGEST_CELL:
                raise InputError("a text is longer than a cell of a workbook holds; use the HTML form")
            cell.value = _CONTROL.sub("\ufffd", value)
            cell.data_type = "s"
            cell.quotePrefix = value[:1] in ("=", "+", "-", "@")
        else:
            cell.value = value
