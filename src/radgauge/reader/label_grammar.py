"""Label, separator and value: statements of structured reports, found before sentences are split.

"Pleural effusion: none seen", "[ ] pneumothorax", "| Effusion | no |", "Edema? No.", "Heart: [x] normal [ ] big".
What stands behind a label would be read as a sentence of its own, or not at all, and the label as a finding. So
the labels come first; each becomes a statement: the words to be read, in their own places of the text, and the
status that its value gives them. What the words mean is the business of the reader.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, starmap

from radgauge.reader.label_layouts import boxes, rows
from radgauge.reader.label_values import (
    BEFORE,
    BLANKS,
    CHECKED,
    MAX_LABEL,
    QUOTES,
    SIGN,
    TABLE,
    UNCHECKED,
    VALUE,
    VERB,
    WORD,
    Span,
    Statement,
    any_of,
    label_before,
    line_below,
    status_of,
)

_SCALES = re.compile(rf"\b(?:{'|'.join(TABLE['scales']['words'])})s?\W*$", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;|\n]")
_SEPARATOR = (
    rf"(?:(?::{{1,2}},?|(?<!=)={{1,3}}>?|(?<!-)-{{1,3}}>|[→⇒⟶]){BLANKS}(?:\n{BLANKS})?"  # ": no", "-> no"
    rf"|(?<=[ \t])[-–—]{{1,2}}{BLANKS}|[–—]{BLANKS}"  # "effusion - no"
    rf"|\?{BLANKS}[:-]?\s{{0,3}}+"  # "effusion? No"
    rf"|(?<!\.)(?<!\. )(?:\.[ \t]?){{3,}}+{BLANKS}|(?<!…)…++{BLANKS}|(?<!_)_{{3,}}+{BLANKS}"  # dotted leaders
    rf"|(?<!\t)\t{{1,9}}+{BLANKS}|(?<!\s)[ ]{{3,}}+|\|{BLANKS}"  # columns
    rf"|[(\[{{]{BLANKS}"  # "effusion (no)"
    rf"|,[ \t]{{1,9}}+(?=(?:no|none|absent|negative|nil){BLANKS}(?:[.;\n]|$))"  # "effusion, none."
    r"|(?<!\s)[ \t]{1,9}+(?=\([-+ ]{1,3}\)|\[[-+]\]|[-+]ve\b)"  # "effusion (-)"
    rf"|(?<!\s)\n{BLANKS})"  # the value on a line of its own
)
_END = rf"(?={BLANKS}(?:[.;,|!\n)\]}}]|$)|[ \t]{{1,9}}+[A-Z][^.:=\n]{{1,60}}[:=]|[ \t]{{2}})"
_LABELLED = re.compile(
    rf"(?P<separator>{_SEPARATOR}){QUOTES}{{0,3}}{BLANKS}(?P<value>{VALUE}){QUOTES}{{0,3}}{BLANKS}[)\]}}]?{_END}",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    rf"[:=?]{BLANKS}"
    r"(?P<value>(?:[-–—]{1,9}|_{1,99}|\.{2,99}|…|\"\"|''|\(\s?\)|\{\s?\}|<[a-z ]{1,30}>)?)"
    rf"{BLANKS}(?P<end>(?=[;|])|(?=[.,](?:\s|$))|(?=\n)|$)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?<=\w)\?[ \t]{1,9}+(?P<value>[A-Za-z][\w, -]{1,40})(?=[.;\n]|$)")
_MIGHT = re.compile(
    rf"[:=?|\t→⇒⟶…–—]|\. ?\. ?\.|___|[ ]{{3}}|->|[ \t]-{{1,2}}[ \t]|{CHECKED}|{UNCHECKED}|{SIGN}"
    rf"|[(\[{{](?:{VALUE}){BLANKS}[)\]}}]|,[ \t](?:no|none|absent|negative|nil){BLANKS}(?:[.;\n]|$)"
    rf"|\n{BLANKS}(?:{VALUE}){BLANKS}(?:[.\n]|$)|[-+]ve\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Characters and words that any text with labels has."""
_FRONT = re.compile(
    rf"(?:^|(?<=[.;\n|])){BLANKS}(?:[-*•◦▪●·][ \t]{{1,9}}+)?{QUOTES}{{0,3}}"
    rf"(?P<value>{any_of(list(BEFORE))}){QUOTES}{{0,3}}{BLANKS}:"
    rf"{QUOTES}{{0,3}}{BLANKS}(?P<list>[^.\n|:=]{{3,300}})",
    re.IGNORECASE,
)
_SIGN_IN_FRONT = re.compile(
    rf"(?:^|(?<=[\n;,.|])){BLANKS}(?:[*•][ \t]{{1,9}}+)?(?P<value>[(\[][-+][)\]]){BLANKS}"
    r"(?P<list>[A-Za-z][^.\n;,|:]{2,80})"
)


def statements(text: str) -> list[Statement]:
    """The labelled statements of a text, in order; parts of the text that have none are left out.

    >>> report = "Lungs are clear. Pleural effusion: none seen. [x] Cardiomegaly"
    >>> [(report[slice(*each.words[0])], each.status) for each in statements(report)]
    [('Pleural effusion', 'absent'), ('Cardiomegaly', 'present')]
    """
    if _MIGHT.search(text) is None:
        return []
    taken: list[Statement] = []
    for find in (boxes, rows, _lists, _labelled, _questions, _empty):
        taken = [*taken, *(statement for statement in find(text) if not _overlaps(statement, taken))]
        taken.sort(key=lambda each: each.start)
    return [*starmap(partial(_cut, text), pairwise(taken)), *taken[-1:]]


def _cut(text: str, statement: Statement, following: Statement) -> Statement:
    """The statement, ended where the next label begins: "Edema: yes, effusion: no"."""
    if statement.end <= following.start:
        return statement
    end = statement.start + len(text[statement.start : following.start].rstrip(" \t,;"))
    words = tuple((start, min(stop, end)) for start, stop in statement.words if start < end)
    return statement._replace(end=end, words=words)


def _overlaps(statement: Statement, taken: Sequence[Statement]) -> bool:
    """True if a statement overlaps one of those taken, which are in order."""
    index = bisect_left(taken, statement.end, key=lambda each: each.start)
    return any(other.end > statement.start for other in taken[max(0, index - 2) : index])


def _labelled(text: str) -> Iterator[Statement]:
    """ "Pleural effusion: no", with any separator."""
    done = 0
    position = 0
    while (match := _LABELLED.search(text, position)) is not None:
        position = max(match.end("value"), match.start() + 1)
        label = label_before(
            text, match.start("separator"), done, after_comma="," in text[done : done + 2] and done > 0
        )
        if label is None:
            continue
        value = match.span("value")
        status = status_of(match["value"])
        separator = match["separator"]
        if not status or (match["value"].isdigit() and _SCALES.search(text[slice(*label)])):
            continue
        alone = "\n" in separator and not separator.strip()
        if alone and (text[match.start() - 1] in _STOPS or not _is_heading_line(text, label, value)):
            continue
        if _is_wrapped(text, match.end("value")):
            continue
        if status == "present" and text[match.end() : match.end() + 1] == "," and "(" not in separator:
            status, value = "", (value[0], _clause_end(text, match.end()))
            label = (label[0], value[1])
        yield Statement(label[0], max(value[1], match.end()), (label,), status, value)
        done = position


def _is_wrapped(text: str, end: int) -> bool:
    """True if a sentence runs on below a full line that ends at `end`: "size within limits, no\neffusion"."""
    line = text.rfind("\n", max(0, end - _FULL_LINE), end)
    if text[end : end + 1] != "\n" or line >= 0 or end < _FULL_LINE:
        return False
    below = line_below(text, end)
    return below[:1].islower() and _SEPARATED.search(re.split(r"[.;]", below, maxsplit=1)[0]) is None


_FULL_LINE = 40  # characters
_STOPS = frozenset(".!?")
_SEPARATED = re.compile(r"[:=|?\t]")


def _is_heading_line(text: str, label: Span, value: Span) -> bool:
    """True if label and value are lines of their own: wrapped sentences break anywhere."""
    begin = max(text.rfind("\n", max(0, label[0] - MAX_LABEL), label[0]) + 1, label[0] - MAX_LABEL, 0)
    end = text.find("\n", value[1], value[1] + MAX_LABEL)
    line = text[value[1] : end if end >= 0 else value[1] + MAX_LABEL]
    return (
        not WORD.search(text[begin : label[0]]) and not WORD.search(line) and len(text[slice(*label)].split()) <= 5
    )


def _clause_end(text: str, position: int) -> int:
    bound = min(len(text), position + MAX_LABEL)
    match = _CLAUSE_END.search(text, position, bound)
    return match.start() if match is not None else bound


def _questions(text: str) -> Iterator[Statement]:
    """ "Effusion? Small, on the left." """
    for match in _QUESTION.finditer(text):
        label = label_before(text, match.start(), 0)
        if label is not None and VERB.search(match["value"]) is None:
            yield Statement(label[0], match.end(), (label, match.span("value")), "", match.span("value"))


def _empty(text: str) -> Iterator[Statement]:
    """A label and nothing behind it: "Pneumothorax:", with another label, a blank line or nothing below."""
    for match in _EMPTY.finditer(text):
        label = label_before(text, match.start(), 0)
        if label is None or (text[match.start() :].lstrip()[:1] == "?" and not match["value"]):
            continue
        end = match.end()
        if text[end : end + 1] == "\n" and not match["value"] and not _is_over(text, label[0], end):
            continue
        yield Statement(label[0], match.end(), (label,), "unknown", match.span("value"))


def _is_over(text: str, label: int, end: int) -> bool:
    """True if the value of a label ends with its line: the next has a label of its own and is no part of it."""
    rest = line_below(text, end)
    if not rest.strip():
        return True
    begin = max(text.rfind("\n", max(0, label - MAX_LABEL), label) + 1, label - MAX_LABEL, 0)
    own, below = text[begin:label], rest[: len(rest) - len(rest.lstrip())]
    deeper = len(below) > len(own) - len(own.lstrip()) or (rest.lstrip()[:1] in "-*•" and not own.strip(" \t"))
    return not deeper and re.match(r"[^.\n]{2,60}[:=?|]", rest.strip()) is not None


def _lists(text: str) -> Iterator[Statement]:
    """A status in front of what it is said of: "Absent: effusion, pneumothorax", "(-) effusion"."""
    for match in _FRONT.finditer(text):
        status = BEFORE[" ".join(match["value"].lower().split())]
        yield Statement(
            match.start("value"), match.end("list"), (match.span("list"),), status, match.span("value")
        )
    for match in _SIGN_IN_FRONT.finditer(text):
        status = "absent" if "-" in match["value"] else "present"
        yield Statement(
            match.start("value"), match.end("list"), (match.span("list"),), status, match.span("value")
        )
