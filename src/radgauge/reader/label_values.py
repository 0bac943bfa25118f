"""Values behind labels, and the extent of a label: the parts that the layouts of structured reports share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml
from radgauge.text.sections import SPOKEN_AS

TABLE = shipped_toml(__file__, "label_values.toml")
STATUS: dict[str, str] = {
    phrase: status
    for status in ("absent", "present", "uncertain", "unknown", "normal")
    for phrase in TABLE[status]
}
"""Phrase -> what it says of the finding in front of it."""
BEFORE: dict[str, str] = {phrase: status for status, phrases in TABLE["before"].items() for phrase in phrases}
MAX_LABEL = 100  # characters
_MAX_WORDS = 12

Span = tuple[int, int]


class Statement(NamedTuple):
    """A label with its value."""

    start: int  # Where it starts in the text
    end: int  # Where it ends
    words: tuple[Span, ...]  # Spans of the words to be read, the label first
    # What the value says of them: absent, present, uncertain, unknown or normal; "" if the value is among the
    # words
    status: str
    value: Span


def any_of(phrases: Sequence[str]) -> str:
    ordered = sorted(phrases, key=len, reverse=True)
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s{1,3}+") for phrase in ordered)


# Runs of blanks and marks are bounded, or taken whole and only from their first character: time stays linear.
BLANKS = r"[ \t]{0,40}+"
FILL = rf"(?:{any_of(TABLE['fillers'])})"
CHECKED = r"\[\s?[xX*✓✔]\s?\]|\(\s?[xX✓✔]\s?\)|[☑☒✅✓✔🗹]"
UNCHECKED = r"\[[ _]{0,3}\]|\([ ]{1,3}\)|[☐□✗✘❌]"
BOX = re.compile(rf"(?P<checked>{CHECKED})|(?P<unchecked>{UNCHECKED})")
_SIGNS = {"(-)": "absent", "[-]": "absent", "(+)": "present", "[+]": "present"}
SIGN = r"\(\s?-\s?\)|\[\s?-\s?\]|\(\s?\+{1,3}\s?\)|\[\s?\+{1,3}\s?\]|(?<!\+)\+{1,4}(?![+/\w])"
_NONE = r"0(?:\.0)?(?:\s?(?:mm|cm|ml|%))?(?![\w.,/]{0,20}\d)"
_PHRASE = rf"(?:{FILL}\s{{1,3}}+){{0,2}}(?:{any_of(list(STATUS))})(?![\w/-])(?:,?\s{{1,3}}+{FILL}(?![\w-])){{0,3}}"
VALUE = rf"(?:{_PHRASE}|{SIGN}|{_NONE})"
QUOTES = r"[\"'“”*_`]"
_BULLET = re.compile(r"[\s>#*•◦▪●·–—\"'“”`,{(|&-]*(?:\(?\d{1,2}[.)]\s+)?[\s*_\"'“”`]*")
_TRAILING = " \t\n*_\"'“”`:,-–—=?([{|."
_CLAUSE = re.compile(r"[.!?;|](?=[\s,])|\t|\n")
VERB = re.compile(r"\b(?:is|are|was|were|has|have|shows?|there|but|with)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{2,}")
_HEADING = re.compile(r"\s*([A-Za-z][A-Za-z /&()-]{2,40}?)\s*:\s*")


def status_of(value: str) -> str:
    """Status that a complete value gives its label; "" if it is no status.

    >>> status_of("Not seen at this time"), status_of("small"), status_of("")
    ('absent', '', 'unknown')
    """
    words = " ".join(value.strip(" \t\n.,;:*_\"'“”`").lower().split())
    if not words or not any(character.isalnum() for character in words):
        return _SIGNS.get(value.strip(), "present" if value.strip().startswith("+") else "unknown")
    if words in STATUS:
        return STATUS[words]
    if re.fullmatch(_NONE, words):
        return "absent"
    match = re.fullmatch(
        rf"(?:{FILL}\s+){{0,2}}(?P<status>{any_of(list(STATUS))})(?:,?\s+{FILL}){{0,3}}", words, re.IGNORECASE
    )
    return STATUS[" ".join(match["status"].split())] if match is not None else ""


def label_before(text: str, end: int, done: int, *, after_comma: bool = False) -> Span | None:
    """The label that ends at `end`; None if there is none."""
    begin = max(done, end - 3 * MAX_LABEL, 0)
    while end > begin and text[end - 1] in _TRAILING:
        end -= 1
    line = text.rfind("\n", begin, end) + 1
    if line > begin and text[line : line + 1].islower() and text[line - 2 : line - 1] not in ".;:|":
        line = text.rfind("\n", begin, line - 1) + 1  # a label that is wrapped
    begin = max(begin, line)
    for match in _CLAUSE.finditer(text, begin, end):
        begin = match.end() if match[0] != "\n" else begin
    while (heading := _HEADING.match(text, begin, end)) is not None and SPOKEN_AS.get(heading[1].lower().strip()):
        begin = heading.end()
    comma = text.rfind(",", begin, end)
    if comma >= 0 and (after_comma or VERB.search(text, begin, comma) is not None or end - begin > MAX_LABEL):
        begin = comma + 1
    bracket = text.rfind("(", begin, end)
    if bracket > text.rfind(")", begin, end):
        begin = bracket + 1
    bullet = _BULLET.match(text, begin, end)
    begin = bullet.end() if bullet is not None else begin
    label = text[begin:end]
    if not WORD.search(label) or len(label) > MAX_LABEL or len(label.split()) > _MAX_WORDS:
        return None
    return None if label.lower().strip(" :") in SPOKEN_AS else (begin, end)


def line_below(text: str, end: int) -> str:
    """The line behind the one that ends at `end`."""
    stop = text.find("\n", end + 1)
    return text[end + 1 : stop if stop >= 0 else len(text)]
