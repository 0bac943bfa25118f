"""Check boxes and tables: labels whose value is told by where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from radgauge.reader.label_values import (
    BOX,
    MAX_LABEL,
    TABLE,
    WORD,
    Span,
    Statement,
    label_before,
    line_below,
    status_of,
)

_STOP = re.compile(r"[.;](?=\s)")
_SIDES = frozenset(TABLE["columns"]["sides"])


def _lines(text: str) -> Iterator[Span]:
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _clauses(text: str) -> Iterator[Span]:
    """Lines, parted at stops: boxes belong to the label of their own clause, "Dose: [ ] mGy. Brain: ..."."""
    for start, end in _lines(text):
        for stop in _STOP.finditer(text, start, end):
            yield start, stop.end()
            start = stop.end()
        yield start, end


def boxes(text: str) -> Iterator[Statement]:
    """Check boxes: "[x] Effusion", "Effusion: [ ] yes [x] no", "Effusion: yes [ ] no [x]"."""
    if BOX.search(text) is None:
        return
    before: Span = (0, 0)
    for start, end in _clauses(text):
        marks = list(BOX.finditer(text, start, end))
        if marks:
            yield from _boxes_of_line(text, start, end, marks, before)
        elif text[start:end].strip():
            before = (start, end)


def _boxes_of_line(
    text: str, start: int, end: int, marks: Sequence[re.Match[str]], before: Span
) -> Iterator[Statement]:
    front = text[start : marks[0].start()].rstrip()
    label = label_before(text, marks[0].start(), start) if WORD.search(front) and front[-1] not in ".;,|" else None
    bounds = [*(mark.start() for mark in marks[1:]), end]
    options = [_stripped(text, mark.end(), bound) for mark, bound in zip(marks, bounds, strict=True)]
    checked = [mark.lastgroup == "checked" for mark in marks]
    if label is None and options[0] is not None and status_of(text[slice(*options[0])]) and before[1] > before[0]:
        label = label_before(text, before[1], before[0])
    elif (
        label is not None
        and options[-1] is None
        and (fronted := _options_in_front(text, label, marks)) is not None
    ):
        label, options = fronted
    if label is None:
        for mark, option, on in zip(marks, options, checked, strict=True):
            if option is not None and WORD.search(text, *option):
                value = status_of(text[slice(*option)])
                if not value:
                    yield Statement(mark.start(), option[1], (option,), "present" if on else "absent", mark.span())
        return
    if options == [None]:
        yield Statement(label[0], marks[0].end(), (label,), "present" if checked[0] else "absent", marks[0].span())
        return
    chosen = [option for option, on in zip(options, checked, strict=True) if on and option is not None]
    begin, stop = min(label[0], start if label[0] >= start else label[0]), _clause_bound(options, marks)
    if not chosen:
        yield Statement(begin, stop, (label,), "unknown", marks[0].span())
        return
    status = status_of(text[slice(*chosen[0])])
    if status in ("normal", ""):
        yield Statement(begin, stop, (label, *chosen), "", chosen[0])
    else:
        yield Statement(begin, stop, (label, *chosen[1:]), status, chosen[0])


def _clause_bound(options: Sequence[Span | None], marks: Sequence[re.Match[str]]) -> int:
    return max(marks[-1].end(), *(option[1] for option in options if option is not None), 0)


def _options_in_front(
    text: str, label: Span, marks: Sequence[re.Match[str]]
) -> tuple[Span, list[Span | None]] | None:
    """Label and options where boxes stand behind them: "Effusion: yes [ ] no [x]"."""
    colon = max(text.rfind(mark, *label) for mark in ":?|\t")
    begins = [colon + 1, *(mark.end() for mark in marks[:-1])]
    options = [_stripped(text, begin, mark.start()) for begin, mark in zip(begins, marks, strict=True)]
    if colon < 0 or options[0] is None:
        return None
    name = _stripped(text, label[0], colon)
    return (name, options) if name is not None else None


def _stripped(text: str, start: int, end: int) -> Span | None:
    """The span without what surrounds its words; None if it has none."""
    while start < end and (text[start].isspace() or text[start] in ":;,.|*_\"'`"):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in ":;,.|*_\"'`"):
        end -= 1
    return (start, end) if start < end else None


_RULE = re.compile(r"[|\s:+=-]*$")


def rows(text: str) -> Iterator[Statement]:
    """Rows of a table: "| Pleural effusion | no | |"."""
    if "|" not in text and "\t" not in text:
        return
    head: list[str] = []
    inside = False
    for start, end in _lines(text):
        line = text[start:end]
        mark = "|" if "|" in line else "\t" if "\t" in line.strip() else ""
        if not mark:
            head, inside = [], False
            continue
        if _RULE.match(line):
            continue
        cells = _cells(text, start, end, mark)
        if not inside:
            inside = True
            head = [text[begin:stop].strip(" *_\t").lower() for begin, stop in cells]
            if _is_head(head) or _rule_follows(text, end):
                continue
        yield from _row(text, cells, head)


def _rule_follows(text: str, end: int) -> bool:
    below = line_below(text, end)
    return "-" in below and _RULE.match(below) is not None


def _is_head(names: Sequence[str]) -> bool:
    """True if these are the heads of columns: at least two statuses or sides, or a word for such a column."""
    marks = [name for name in names[1:] if (name and status_of(name)) or name in _SIDES]
    return len(marks) > 1 or any(name in TABLE["columns"]["heads"] for name in names)


def _cells(text: str, start: int, end: int, mark: str) -> list[Span]:
    cells = []
    begin = start
    while begin <= end:
        stop = text.find(mark, begin, end)
        stop = end if stop < 0 else stop
        cells.append((begin, stop))
        begin = stop + 1
    if mark == "|" and cells and not text[slice(*cells[0])].strip():
        cells = cells[1:]
    if mark == "|" and len(cells) > 1 and not text[slice(*cells[-1])].strip() and text[end - 1 : end] == "|":
        cells = cells[:-1]
    return cells


def _row(text: str, cells: Sequence[Span], head: Sequence[str]) -> Iterator[Statement]:
    if len(cells) > 1 and not WORD.search(text, *cells[0]):
        cells, head = cells[1:], head[1:]  # numbers of rows
    if len(cells) < 2 or any(":" in text[slice(*cell)] for cell in cells):
        return
    label = _stripped(text, *cells[0])
    if label is None or not WORD.search(text, *label) or label[1] - label[0] > MAX_LABEL:
        return
    values = [_stripped(text, *cell) for cell in cells[1:]]
    names = [*head[1:], *[""] * len(values)][: len(values)]
    end = cells[-1][1]
    if any(name in _SIDES for name in names):
        return  # one statement per side would need words that the row does not have
    for value, name in zip(values, names, strict=True):  # a cross below "absent"
        if value is not None and status_of(name) not in ("", "unknown") and name:
            cell = text[slice(*value)].lower()
            if cell in ("x", "✓", "✔", "yes", "*", "[x]", "☑", "☒"):
                yield Statement(label[0], end, (label,), status_of(name), value)
                return
    filled = [value for value in values if value is not None]
    if not filled:
        yield Statement(label[0], end, (label,), "unknown", (end, end))
        return
    status = status_of(text[slice(*filled[0])])
    if status == "" or status == "normal":
        yield Statement(label[0], end, (label, *filled), "", filled[0])
    elif status == "present":
        yield Statement(label[0], end, (label, *filled[1:]), "present" if len(filled) == 1 else "", filled[0])
    else:
        yield Statement(label[0], end, (label,), status, filled[0])
