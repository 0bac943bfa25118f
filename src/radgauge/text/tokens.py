"""Tokens of a report with their character positions.

Hyphens inside words are dropped ("air-space" is "air", "space"), because reports write every compound with a
hyphen, with a blank or in one word; letters and digits are parted ("L4-L5" is four tokens).
De-identification marks (`XXXX`, `___`, `[**...**]`) are one token each, `MASK`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from radgauge.text.words import normal_form

MASK = "\x00"  # what a de-identified word is called: equal to nothing a lexicon can hold

TOKEN = re.compile(
    r"[^\W\d_]+(?:'[^\W\d_]{1,2}\b)?"
    r"|\d+(?i:st|nd|rd|th)\b|\d+(?:[.,]\d+)*"
    r"|_{2,}|\[\*\*.{0,200}?\*\*\]"  # de-identified, as XXXX is among the words
    r"|[^\s-]|-(?!\w)|(?<!\w)-"
)
"""Masks, numbers, words, and every other character by itself; a hyphen inside a word is no token."""

_KNOWN: dict[str, str] = {}
_MAX_CACHED = 1 << 16
_LONGEST_KEPT = 64  # characters of a word whose form is kept


class Tokens(NamedTuple):
    """Tokens as parallel tuples: the form the lexicon knows, the form in the text, where each starts and ends."""

    norms: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def _norm(word: str) -> str:
    first = word[0]
    if first.isalpha():
        masked = first in "Xx" and len(word) >= 4 and not word.strip("Xx")
        norm = MASK if masked else normal_form(word)
    else:
        norm = MASK if first == "_" or word.startswith("[**") else word
    if len(word) <= _LONGEST_KEPT:
        if len(_KNOWN) >= _MAX_CACHED:
            _KNOWN.clear()
        _KNOWN[word] = norm
    return norm


def tokenize(text: str) -> Tokens:
    """Tokens of a text, in order.

    >>> tokenize("Bi-basilar opacities, 2.5 cm. XXXX").norms
    ('bi', 'basilar', 'opacity', ',', '2.5', 'cm', '.', '\\x00')
    """
    texts = TOKEN.findall(text)
    starts = []
    position = 0
    find = text.find
    for word in texts:  # cheaper than asking every match for its place
        position = find(word, position)
        starts.append(position)
        position += len(word)
    entry = _KNOWN
    norms = tuple([entry[word] if word in entry else _norm(word) for word in texts])
    ends = [start + len(word) for start, word in zip(starts, texts, strict=True)]
    return Tokens(norms, tuple(texts), tuple(starts), tuple(ends))


def phrase_key(phrase: str) -> tuple[str, ...]:
    """Normal forms of the words of a lexicon term: its key in the dictionary of terms.

    >>> phrase_key("Ground-glass opacities")
    ('ground', 'glass', 'opacity')
    """
    return tokenize(phrase).norms
