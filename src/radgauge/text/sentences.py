"""Sentences of a report, as character spans.

Reports break the rules general splitters rely on: numbered lists, decimals, "Dr.", lines that wrap inside a
sentence, lower-cased text whose only mark is " . ", sentences glued together ("Clear.Heart normal"),
transcriptions that write ".," and headings that end in a colon.
"""

from __future__ import annotations

import re

from radgauge.core.parsing import shipped_toml
from radgauge.text.sections import SPOKEN_AS

_ABBREVIATED = frozenset(shipped_toml(__file__, "words.toml")["abbreviations"])

# Runs of marks and of blanks are taken whole and only from their first character: time stays linear in them.
_BREAK = re.compile(
    r"(?<![.!?])[.!?]++(?:[\"')\]]++)?(?=\s|$|[A-Z][a-z]|[0-9]++[.)]\s)"  # marks
    r"|(?<![.!?])[.!?]++,(?=\s*+(?:[A-Z0-9]|$)|[a-z])"  # ".," of transcriptions
    r"|;(?=\s++[A-Z0-9])"  # semicolons for stops
    r"|(?<=\s)\.(?=[a-z])"  # " .heart"
    r"|\n\s*"  # lines, where they end a sentence
)
_NEW_LINE = re.compile(r"[A-Z][A-Z /&]{2,40}:|(?:Left|Right)(?: side)?\s*:|\(?\d{1,2}[.)]\s|[-*\u2022]\s")
_LISTED = re.compile(r"(?<!\s)\s++(?=\(?(?P<number>[1-9]\d?)[.)]\s++(?:[A-Z]|(?P<small>[a-z])))")
_NUMBERING = re.compile(r"(?:\(?\d{1,2}[.)]|[-*\u2022,])(?:\s+|$)")
_ITEM = re.compile(r"(?:^|\s)\(?(\d{1,2})$")
_UNFINISHED = frozenset(shipped_toml(__file__, "words.toml")["unfinished"])
_NUMBERED = frozenset(shipped_toml(__file__, "words.toml")["numbered"])
_CONTINUES = re.compile(r"\s?(?:[a-z]|\d+(?:st|nd|rd|th)\b)")
_BRACKETED = 200  # characters in brackets, at most
_LIST_REACH = 2000  # characters in front of a number in which the one before it is looked for
_LAST_WORD = re.compile(r"([^\W\d_](?:[^\W\d_]|\.(?=[^\W\d_]))*)$")


def _is_end(text: str, begin: int, start: int, end: int) -> bool:
    """True if the full stop at [start, end) ends the sentence that began at `begin`."""
    if text[start] == "?" and text[end - 1] == ")" and _CONTINUES.match(text, end):
        return False  # "lesion (cyst?) of the liver"
    if text[start] != "." or end - start > 1:
        return text[start] != "?" or not _is_inside_brackets(text, begin, start, end)
    before = text[max(begin, start - 12) : start]
    if before[-1:].isdigit() and text[end : end + 1].isspace() and (item := _ITEM.search(before)) is not None:
        # "1." is a number in a list, it belongs to what follows; "rib 7." is not
        return text[begin:start].strip(" \n\t(") != item[1] and not _counts_on(text, begin, start, int(item[1]))
    word = _LAST_WORD.search(before)
    if word is None:
        return True
    name = word[1].lower()
    if name == "no":
        return not text[end : end + 3].strip()[:1].isdigit()
    following = text[end : end + 2].strip()[:1]
    if name in _UNFINISHED and _CONTINUES.match(text, end):
        return False  # "no lesion to suggest. active tuberculosis": the stop is a slip
    if len(name) == 1 and name.isalpha() and word[1].isupper():
        return not (following.isupper() and text[end : end + 1] != " ") and before[-3:-2] != "."
    return name not in _ABBREVIATED or not following


def _is_wrapped(text: str, begin: int, heading: re.Match[str]) -> bool:
    """True if a heading begins on the line above: "POSTOPERATIVE\nDIAGNOSIS:"."""
    above = text[begin : heading.start()].strip(" ,\n")
    if above.isupper() and above.count(" ") < 2 and text[:begin].rstrip(" ")[-1:] not in ("", "\n"):
        return True  # words in capitals at the end of a line
    last = above.rpartition(",")[2]  # "ULTRASOUND,REASON FOR\nEXAM:"
    return " ".join(f"{last} {heading[0]}".lower().strip(" ,:").split()) in SPOKEN_AS


def _is_inside_brackets(text: str, begin: int, start: int, end: int) -> bool:
    """True if a question mark stands inside brackets: "lesion (cyst? abscess?) of the liver"."""
    opening = text.rfind("(", max(begin, start - _BRACKETED), start)
    if opening < 0 or ")" in text[opening:end]:
        return False
    return 0 <= text.find(")", end, end + _BRACKETED) < (text.find("(", end) % (len(text) + 1))


def _counts_on(text: str, begin: int, start: int, number: int) -> bool:
    """True if the number that ends at `start` inside a sentence is the next of a list."""
    words = text[max(begin, start - 40) : start].split()
    if len(words) > 1 and words[-2].lower() in _NUMBERED:
        return False
    earlier = text[max(0, start - _LIST_REACH) : start]
    return number == 1 or re.search(rf"(?<!\d){number - 1}[.)]\s", earlier) is not None


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a report, without surrounding blanks and list numbers.

    >>> text = "1. Heart size 2.5 cm, per Dr. Smith. 2. No effusion.Lungs clear"
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Heart size 2.5 cm, per Dr. Smith.', 'No effusion.', 'Lungs clear']
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for match in _BREAK.finditer(text):
        start, end = match.span()
        if text[start] == "\n":
            heading = _NEW_LINE.match(text, end)
            if "\n" not in text[start + 1 : end] and (heading is None or _is_wrapped(text, begin, heading)):
                continue
            _add(text, begin, start, spans)
        elif _is_end(text, begin, start, end):
            _add(text, begin, end, spans)
        else:
            continue
        begin = end
    _add(text, begin, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Keep a span without blanks around it; lists in a line are parted."""
    piece = text[start:end]
    end = start + len(piece.rstrip())
    start += len(piece) - len(piece.lstrip())
    position = start + 1
    while (listed := _LISTED.search(text, position, end)) is not None:
        position = listed.end()
        number = int(listed["number"])
        if listed["small"] and (number == 1 or not _counts_on(text, start, listed.start(), number)):
            continue
        _keep(text, start, listed.start(), spans)
        start = listed.end()
    _keep(text, start, end, spans)


def _keep(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Keep a span without its numbering, if a letter or digit is left in it."""
    if end - start < 2:
        if start < end and text[start].isalnum():
            spans.append((start, end))
        return
    if not text[start].isalpha():
        while (number := _NUMBERING.match(text, start, end)) is not None and number.end() > start:
            start = number.end()
        if not any(character.isalnum() or character == "_" for character in text[start:end]):
            return
    spans.append((start, end))


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text that hold a letter or digit."""
    result = (text[start:end].strip() for start, end in split_sentences(text))
    return tuple(sentence for sentence in result if any(character.isalnum() for character in sentence))
