"""A filled workbook as answers: in the form that HTML forms save, with what could not be understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from radgauge.errors import InputError, require
from radgauge.io.tables.excel import all_rows
from radgauge.study.actions import ActionCheck
from radgauge.study.design import Field
from radgauge.study.sheet.excel import CASES, ERRORS, HEAD
from radgauge.study.store import Store


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
        head = {str(row[0]): row[1] for row in all_rows(book[HEAD]) if len(row) > 1 and row[0]}
        sheets = {name: list(_rows(book[name])) for name in book.sheetnames if name not in (HEAD, "Instructions")}
    finally:
        book.close()
    return head, *_Filled(store, head, path.name).cases(sheets)


def _rows(sheet: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = all_rows(sheet)
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
