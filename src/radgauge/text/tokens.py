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
NUMBER = "#"  # every number, so that patterns can name one

TOKEN = re.compile(
    r"\[\*\*.{0,200}?\*\*\]|_{2,}|\b[Xx]{4,}\b"  # de-identified
    r"|\d+(?:st|nd|rd|th)\b|\d+(?:[.,]\d+)*"
    r"|[^\W\d_]+(?:'[^\W\d_]{1,2}\b)?"
    r"|[^\s-]|-(?!\w)|(?<!\w)-",
    re.UNICODE,
)
"""Masks, numbers, words, and every other character by itself; a hyphen inside a word is no token."""


class Token(NamedTuple):
    """One token: what it is called in the lexicon, how it is written, where it stands."""

    norm: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Tokens of a text, in order.

    >>> [token.norm for token in tokenize("Bi-basilar opacities, 2.5 cm. XXXX")]
    ['bi', 'basilar', 'opacity', ',', '2.5', 'cm', '.', '\\x00']
    """
    tokens = []
    for match in TOKEN.finditer(text):
        word = match[0]
        first = word[0]
        if first.isalpha():
            norm = MASK if first in "Xx" and len(word) >= 4 and not word.strip("Xx") else normal_form(word)
        elif first == "_" or word.startswith("[**"):
            norm = MASK
        else:
            norm = word
        tokens.append(Token(norm, word, match.start(), match.end()))
    return tokens


def phrase_key(phrase: str) -> tuple[str, ...]:
    """Normal forms of the words of a lexicon term: its key in the dictionary of terms.

    >>> phrase_key("Ground-glass opacities")
    ('ground', 'glass', 'opacity')
    """
    return tuple(token.norm for token in tokenize(phrase))
