"""Detection of texts that are not in English: everything that reads reports offline expects English.

Made to be right when it says no: abbreviations and telegraphic texts ("Normal chest.") count as English.
"""

from __future__ import annotations

import re
from functools import cache

from radgauge.core.parsing import shipped_toml

_WORDS = re.compile(r"[^\W\d_]+")
_MIN_LETTERS = 8
_OTHER_SCRIPT = 0.3
_SHORT = 4
_SHARED_WEIGHT = 0.5
_MIN_WEIGHT = 1.5
_ENDINGS = re.compile(
    r"\w{3,}(?:"
    r"ción|ciones|ções|ção|zione|zioni|mento|mente|mentos|[lnrstvc]ado|[lnrstvc]ados|[lnrstvc]adas|"  # Romance
    r"heit|keit|lich|liche|lichen|ierung|tionen|igkeit|ungen|schatten|"  # German
    r"heden|elijk|elijke|[ai]tie|aties|"  # Dutch
    r"ości|owego|owych|nych|nego|"  # Polish
    r"miştir|mıştır|mektedir|maktadır|ları|leri|larda|lerde|ında|sında|"  # Turkish
    r"ningar|ninger|heten"  # Nordic
    r")"
)
"""Endings that English words and Latin terms do not have."""


@cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words of English, words that English shares with others, and words of other languages alone."""
    table = shipped_toml(__file__, "function_words.toml")
    english, shared = frozenset(table["english"]), frozenset(table["shared"])
    listed = {word for words in table["languages"].values() for word in words.split()}
    return english, shared, frozenset(listed - english - shared)


def looks_english(text: str) -> bool:
    """False if the text is in another script, or if its words are mostly those of other languages.

    >>> looks_english("No pleural effusion."), looks_english("Sin derrame ni neumotórax en la placa.")
    (True, False)
    """
    words = _WORDS.findall(text)
    letters = sum(map(len, words))
    if letters >= _MIN_LETTERS and not text.isascii():
        other_script = sum(letter > "\u024f" and letter.isalpha() for letter in text)
        if other_script > _OTHER_SCRIPT * letters:
            return False
    english, shared, foreign = _vocabulary()
    n_foreign = weight = n_english = 0.0
    for word in words:
        lower = word.lower()
        if lower in english:
            n_english += 1
        elif lower in shared:
            weight += _SHARED_WEIGHT
        elif lower in foreign or _ENDINGS.fullmatch(lower) or (word == lower and _has_accent(word)):
            n_foreign += 1
    weight += n_foreign
    enough = _MIN_WEIGHT if len(words) > _SHORT else 1.0
    return not (n_foreign and weight >= enough and weight > n_english)


def _has_accent(word: str) -> bool:
    """True for letters with signs that English does not use; Greek letters and micro signs are none."""
    return any("\u00df" <= letter <= "\u024f" for letter in word)
