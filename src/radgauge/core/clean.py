"""Clean text: markup, character entities and invisible characters that reports pick up on their way.

Web pages, word processors and PDF files leave tags, `&nbsp;`, soft hyphens, zero-width characters, ligatures and
twenty kinds of blanks in a report. What nobody sees is removed where a text enters (`decode`). What parts lines
and words is removed by the embedded reader alone (`clean`), with offsets into the text as it was: tokenizers of
published metrics count it, and so do the values that authors published, of references with <br> inside a word.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from radgauge.core.parsing import shipped_toml

_TAGS = shipped_toml(__file__, "markup.toml")
_BREAKING, _CELLS, _INLINE = (frozenset(_TAGS[kind]) for kind in ("breaking", "cells", "inline"))
_TOKENS = frozenset(_TAGS["tokens"])
_NAMES = "|".join(sorted(_BREAKING | _CELLS | _INLINE | _TOKENS, key=len, reverse=True))
_ENTITY = r"(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31}\d{0,2})"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
)
_ODD = re.compile(
    rf"(?P<comment><!--.{{0,2000}}?-->)"
    rf"|</?(?P<tag>{_NAMES})(?:\s[^<>]{{0,500}})?/?>"
    rf"|(?P<entity>&(?:amp;){{0,3}}{_ENTITY};|&nbsp(?![A-Za-z;]))"
    rf"|(?P<invisible>[{_INVISIBLE}]+)"
    r"|(?P<blank>[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000])"
    r"|(?P<line>[\x0b\x0c\x85\u2028\u2029]|\r(?!\n))"
    r"|(?P<hyphen>[\u2010\u2011\u2212\ufe63\uff0d])"
    r"|(?P<form>[\ufb00-\ufb06\uff01-\uff0c\uff0e-\uff5e]|[^\W\d_][\u0300-\u036f]++)",
    re.IGNORECASE | re.DOTALL,
)
_START = re.compile(
    r"[&<\r\x00-\x08\x0b-\x1f\x7f]|[^\x00-\x7f]|(?<=\S)(?P<blanks>  )(?=\S)"
    r"|(?<=\d\.)(?P<inside> )(?=\d{1,2} ?(?:[cm]m\b|x \d))"
)
"""Where something odd may begin; one class of characters is quick to look for."""
TYPOGRAPHY = str.maketrans(
    dict(zip("\u2013\u2018\u2019\u2032\u201c\u201d", ["-", "'", "'", "'", '"', '"'], strict=True))
)
"""Dashes and quotation marks of word processors, one character for one; tokenizers of other metrics keep them."""
_SPLIT = re.compile(
    r"\b(?:approximately|approx\.?|about|nearly|only|measur\w+|is|are|by|x|of|than|at least|to)\s\d{1,2}\.$",
    re.IGNORECASE,
)
"""What precedes a blank inside a number ("about 3. 5 cm"); elsewhere "3. 5 cm nodule" is item 3 of a list."""
_UNSEEN = frozenset({"comment", "entity", "invisible", "blank", "form"})
_PASSES = 3  # "&amp;lt;br&amp;gt;" is a tag behind two escapes
_ALONE = re.compile(rf"[{_INVISIBLE}]+")


@dataclass(frozen=True, slots=True)
class CleanText:
    """A clean text and where each of its characters came from."""

    text: str  # The text without markup
    starts: Sequence[int] = ()  # Per character, where it starts in the original; empty if nothing was changed
    ends: Sequence[int] = ()  # Per character, where it ends there

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original text of a span in the clean one.

        >>> clean("No ef&shy;fusion").original(3, 11)
        (3, 16)
        """
        if not self.starts:
            return start, end
        if start < end:
            return self.starts[start], self.ends[end - 1]
        at = self.starts[start] if start < len(self.starts) else self.ends[-1]
        return at, at


def clean(text: str) -> CleanText:
    """A text without tags, character entities and invisible characters, and with plain, single blanks and hyphens.

    Three blanks and more are the columns of a table, and stay.

    >>> clean("<p>Small&nbsp;effusion &lt; 5 mm.</p>").text
    '\\nSmall effusion < 5 mm.\\n'
    """
    return _repeated(text, unseen=False)


def decode(text: str) -> str:
    """A text without character entities, invisible characters and tags inside a line; lines and blanks stay.

    >>> decode("<p>Small&nbsp;ef&shy;fusion  <b>&lt; 5 mm</b>.</p>")
    '<p>Small effusion  < 5 mm.</p>'
    """
    return _repeated(text, unseen=True).text


def _repeated(text: str, *, unseen: bool) -> CleanText:
    """The text without odd characters, or without those alone that nobody sees."""
    cleaned = _once(text, unseen)
    for _ in range(_PASSES - 1):
        inner = _once(cleaned.text, unseen) if cleaned.starts else cleaned
        if not inner.starts or inner is cleaned:
            break
        cleaned = CleanText(
            inner.text,
            [cleaned.starts[at] for at in inner.starts],
            [cleaned.ends[at - 1] for at in inner.ends],
        )
    return cleaned


def _once(text: str, unseen: bool) -> CleanText:
    if text.isascii() and _is_printable(text) and _START.search(text) is None:
        return CleanText(text)  # most reports
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for candidate in _START.finditer(text):
        begin, end = candidate.span()
        new = " "
        if candidate["inside"] is not None:
            if begin < position or unseen or _SPLIT.search(text, max(begin - 30, 0), begin) is None:
                continue
            new = ""
        elif candidate["blanks"] is None:
            match = _ODD.match(text, begin)
            if match is None and unicodedata.combining(text[begin]) and begin > position:
                match = _ODD.match(text, begin - 1)
            if match is None or match.start() < position or (unseen and not _is_unseen(match)):
                continue
            begin, end = match.span()
            new = _instead(match)
        elif begin < position or unseen:
            continue
        elif _is_stop(text, begin):
            new = ". "
        pieces += (text[position:begin], new)
        starts += (*range(position, begin), *[begin] * len(new))
        ends += (*range(position + 1, begin + 1), *[end] * len(new))
        position = end
    if not pieces:
        return CleanText(text)
    pieces.append(text[position:])
    starts += range(position, len(text))
    ends += range(position + 1, len(text) + 1)
    return CleanText("".join(pieces), starts, ends)


def _is_stop(text: str, start: int) -> bool:
    """True if the two blanks at `start` stand for a stop, in a text where blanks are single elsewhere."""
    if _STATEMENT.match(text, start) is None or _SPACED.search(text) is not None:
        return False
    words = text[max(start - 80, 0) : start].split()
    return len(words) > 1 and words[-1] not in _JOINING


_STATEMENT = re.compile(
    r"(?<=[a-z)?])  (?=[A-Z][a-z])(?!(?:Normal|None|No|Yes|Absent|Present|Negative|Positive|Clear|Unremarkable)\b)"
)
_SPACED = re.compile(r"[a-z,] {2}[a-z]")
_JOINING = frozenset({"of", "the", "with", "and", "or", "for", "to", "a", "an", "in", "by", "versus"})


def _is_printable(text: str) -> bool:
    return text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()


def _is_unseen(match: re.Match[str]) -> bool:
    return match["tag"].lower() in _INLINE if match["tag"] else match.lastgroup in _UNSEEN


def _instead(match: re.Match[str]) -> str:
    """Replacement of a match."""
    kind = match.lastgroup
    if kind == "tag":
        name = match["tag"].lower()
        return "\n" if name in _BREAKING else "\t" if name in _CELLS else ""
    if kind == "entity":
        return _unescaped(match[0])
    if kind == "form":
        return unicodedata.normalize("NFC" if len(match[0]) > 1 else "NFKC", match[0])
    return {"blank": " ", "line": "\n", "hyphen": "-"}.get(kind or "", "")


def _unescaped(entity: str) -> str:
    """The character of an entity, escaped once or more often; an unknown entity stays."""
    for spelling in (entity, entity.lower()):
        character = spelling
        for _ in range(_PASSES):
            character = html.unescape(character)
        if character != spelling:
            return _ALONE.sub("", character)
    return entity
