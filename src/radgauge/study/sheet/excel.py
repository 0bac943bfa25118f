"""A rater's sheet as an Excel workbook, through openpyxl: written, and read back.

Sheets: Instructions; Cases, Candidates and Sentences, one row each, with a column per question; Errors, a list for
marks and missing findings; and a hidden one that says whose workbook it is. The first row of each sheet is hidden
and names the columns for the way back. Texts are written as texts: none is ever run as a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from radgauge.errors import InputError, require
from radgauge.files import replacing
from radgauge.io.tables.excel import LONGEST_CELL
from radgauge.study.design import Field
from radgauge.study.sheet.content import cases_of_sheet, examples, sealed
from radgauge.study.state import ActionCheck, CaseState
from radgauge.study.state import labels as label_names
from radgauge.study.store import CaseView, Store

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


def read_workbook(store: Store, path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]], list[str]]:
    """Head, cases in the form that HTML forms save, and what could not be understood."""
    openpyxl = require("openpyxl", extra="excel")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, OSError, ValueError):
        raise InputError(f"{path.name} is damaged, cut off or no Excel workbook") from None
    try:
        if HEAD not in book.sheetnames or CASES not in book.sheetnames:
            raise InputError(f"{path.name} is no filled sheet of `radgauge study sheet`")
        head = {str(row[0]): row[1] for row in book[HEAD].iter_rows(values_only=True, max_col=2) if row and row[0]}
        sheets = {name: list(_rows(book[name])) for name in book.sheetnames if name not in (HEAD, "Instructions")}
    finally:
        book.close()
    return head, *_Filled(store, head, path.name).cases(sheets)


def _rows(sheet: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = sheet.iter_rows(values_only=True)
    keys = [str(key) if key is not None else "" for key in next(rows, ())]
    next(rows, None)  # titles
    for number, row in enumerate(rows, start=3):
        cells = {key: value for key, value in zip(keys, row, strict=False) if key and value not in (None, "")}
        if cells:
            yield number, cells


class _Filled:
    """The answers of a workbook, and what is wrong with them."""

    def __init__(self, store: Store, head: Mapping[str, Any], name: str) -> None:
        self.store, self.head, self.name = store, head, name
        self.problems: list[str] = []
        self.found: dict[str, dict[str, Any]] = {}

    def cases(self, sheets: Mapping[str, list[tuple[int, dict[str, Any]]]]) -> tuple[dict[str, Any], list[str]]:
        for name, rows in sheets.items():
            for number, cells in rows:
                case = self._case(cells.get("case"), name, number)
                if case is None:
                    continue
                if name == ERRORS:
                    self._entry(case, cells, f"{name}, row {number}")
                else:
                    self._answers(case, cells)
        return self.found, self.problems

    def _case(self, key: Any, sheet: str, row: int) -> dict[str, Any] | None:
        version = self.head.get(f"version {key}")
        if not isinstance(version, int):
            self.problems.append(f"{sheet}, row {row}: there is no such case on this sheet")
            return None
        seconds = self.head.get(f"seconds {key}", 0.0)
        new = {"key": key, "version": version, "answers": {}, "cannot_judge": {}, "seconds": seconds}
        return self.found.setdefault(str(key), new)

    def _answers(self, case: dict[str, Any], cells: Mapping[str, Any]) -> None:
        label = str(cells.get("candidate", ""))
        if str(cells.get("cannot_judge", "")).strip():
            case["cannot_judge"][label] = str(cells["cannot_judge"])
        if str(cells.get("done", "")).strip().lower() in ("yes", "y", "x", "true", "1"):
            case["submitted"] = True
        unit = cells.get("sentence")
        for key, value in cells.items():
            name, sign, part = key.partition("|")
            if not sign or name not in self.store.design.keys:
                continue
            field = self.store.design.field(name)
            path = [label, name]
            if field.per == "sentence":
                path.append(str(_number(unit, else_=0) - 1))
            if field.kind == "choice":
                path.append(part or "choice")
                value = str(value)
            elif field.kind == "counts":
                path.append(part)
            _into(case["answers"], path, value if field.kind == "choice" else _number(value, else_=value))

    def _entry(self, case: dict[str, Any], cells: Mapping[str, Any], where: str) -> None:
        name = str(cells.get("question", ""))
        kinds = {field.key: field for field in self.store.design.fields if field.kind in ("marks", "missing")}
        if name not in kinds:
            self.problems.append(f"{where}: the question must be one of {', '.join(kinds)}")
            return
        label = str(cells.get("candidate", ""))
        check = self._check(case["key"])
        if check is None or label not in {each.label for each in check.candidates}:
            self.problems.append(f"{where}: the case has no such candidate")
            return
        text = next(each.text for each in check.candidates if each.label == label)
        entry = {key: str(cells[key]) for key in ("category", "significance", "attribute", "note") if key in cells}
        entry |= self._place(check, text, kinds[name], cells, where)
        case["answers"].setdefault(label, {}).setdefault(name, []).append(entry)

    def _check(self, case: str) -> ActionCheck | None:
        person = str(self.head.get("person"))
        known = {place.key for place in self.store.places(person)}
        return self.store.action_check(person, case) if case in known else None

    def _place(
        self, check: ActionCheck, text: str, field: Field, cells: Mapping[str, Any], where: str
    ) -> dict[str, Any]:
        """Where an entry stands: a sentence by its number, or words that occur in the text."""
        words = str(cells.get("words", "")).strip()
        unit = _number(cells.get("sentence"))
        if unit is not None:
            spans = check.reference_sentences
            if field.kind == "marks":
                spans = next(each.sentences for each in check.candidates if each.text == text)
            at = int(unit) - 1
            found: dict[str, Any] = {"unit": at}
            if 0 <= at < len(spans):
                found |= {"start": spans[at][0], "end": spans[at][1]}
            source = text if field.kind == "marks" else check.reference
            own = source[found["start"] : found["end"]] if "start" in found else ""
            if field.kind == "missing" and words and words != own:
                found["text"] = words
            if field.kind == "marks" and field.on == "passage":
                found.pop("unit")
            return found
        source = text if field.kind == "marks" else check.reference
        start = source.find(words) if words else -1
        known = re.fullmatch(r"(\d{1,6})-(\d{1,6})", str(cells.get("place", "")))
        if known and source[int(known[1]) : int(known[2])].strip() == words:
            return {"start": int(known[1]), "end": int(known[2])}
        if start >= 0 and (field.kind == "missing" or field.on == "passage"):
            return {"start": start, "end": start + len(words)}
        if field.kind == "marks":
            self.problems.append(
                f"{where}: name a sentence by its number, or words as they stand in the candidate"
            )
            return {}
        return {"text": words}


def _number(value: Any, *, else_: Any = None) -> Any:
    """A number that a cell holds, whole if it can be; numbers kept as texts count too."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return else_
    if isinstance(value, bool) or number != number or abs(number) > 1e9:
        return else_
    return int(number) if number.is_integer() else number


def _into(answers: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *above, last = path
    for step in above:
        answers = answers.setdefault(step, {})
    answers[last] = value
