"""Readings as bytes that hold no word of the report.

A reading is full of the words of its report: names of entities, tokens of a graph, cues. Whoever unpacks a reading
has the report at hand, because the report is what a reading is looked up by. So each string that stands in the
report is written as its place there (as it stands, in small letters, or in small letters without accents), word by
word, or part by part of a word, if need be. What is left in clear is what the report does not say in these
letters: names of fields, ids of the lexicon, labels, numbers.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MARKED = re.compile(r'"[@~^=](?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_PARTS = re.compile(r"\w+|\W+")
_PLACE = re.compile(r"([@~^])(\d+)\+(\d+)")


def pack_without_words(value: Any, text: str) -> bytes:
    """A JSON value as bytes, with places in the text instead of its words.

    >>> pack_without_words(["Effusion", "pleural effusion", "absent"], "No Pleural Effusion.")
    b'["@11+8","~3+16","absent"]'
    """
    forms = _forms(text)
    written = {'""': '""'}

    def place(match: re.Match[str]) -> str:
        literal = match[0]
        found = written.get(literal)
        if found is None:
            string = _string(literal)
            pieces = _pieces(string, forms)
            clear = literal[1] not in "@~^=" and "\\" not in literal and all(piece[0] == "=" for piece in pieces)
            found = written[literal] = literal if clear else _literal(" ".join(pieces))
        return found

    return _STRING.sub(place, json.dumps(value, separators=(",", ":"))).encode()


def unpack_with_words(packed: bytes, text: str) -> Any:
    """The value that `pack_without_words` made bytes of, given the same text.

    >>> unpack_with_words(b'["@11+8","~3+16","absent"]', "No Pleural Effusion.")
    ['Effusion', 'pleural effusion', 'absent']

    Raises:
        ValueError: The bytes were not made by `pack_without_words` from this text.
    """
    forms = _forms(text)
    read: dict[str, str] = {}

    def words(match: re.Match[str]) -> str:
        marked = match[0]
        found = read.get(marked)
        if found is None:
            pieces = _string(marked).split(" ")
            found = "".join(
                [_word(piece[1:], forms) if piece[:1] == "&" else f" {_word(piece, forms)}" for piece in pieces]
            )[1:]
            found = read[marked] = _literal(found)
        return found

    # A string in clear has no escapes, so a quotation mark with a mark behind it always begins a string.
    return json.loads(_MARKED.sub(words, packed.decode("ascii")))


def _forms(text: str) -> dict[str, str]:
    small = text.lower()
    plain = small
    if not small.isascii():
        apart = unicodedata.normalize("NFKD", small)
        plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return {"@": text, "~": small, "^": plain}


def _string(literal: str) -> str:
    """What a JSON literal says; most have no escapes, and a parser would take ten times as long."""
    return str(json.loads(literal)) if "\\" in literal else literal[1:-1]


def _literal(string: str) -> str:
    return f'"{string}"' if _PLAIN.fullmatch(string) else json.dumps(string)


def _pieces(string: str, forms: dict[str, str]) -> list[str]:
    """The string as one place in the text, or word by word as places and what is not in the text."""
    for mark, form in forms.items():
        if (start := form.find(string)) >= 0:
            return [f"{mark}{start}+{len(string)}"]
    if " " not in string:
        return _glued(string, forms)
    return [piece for word in string.split(" ") for piece in (_pieces(word, forms) if word else "=")]


def _glued(word: str, forms: dict[str, str]) -> list[str]:
    """A word that the text does not have: what it is glued together from, where the text has a part of it.

    A network's vocabulary makes such words: "left![UNK]" of "left!" and a sign that it does not know.
    """
    parts = _PARTS.findall(word)
    found = [_pieces(part, forms)[0] for part in parts] if len(parts) > 1 else []
    if all(piece[0] == "=" for piece in found):
        return [f"={word}"]
    return [found[0], *(f"&{piece}" for piece in found[1:])]


def _word(piece: str, forms: dict[str, str]) -> str:
    if piece.startswith("="):
        return piece[1:]
    place = _PLACE.fullmatch(piece)
    if place is None:
        raise ValueError("a packed string must be a place in the text or begin with '='")
    start, length = int(place[2]), int(place[3])
    word = forms[place[1]][start : start + length]
    if len(word) != length:
        raise ValueError("a packed string must lie within its text")
    return word
