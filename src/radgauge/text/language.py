"""Does a text look English? Everything that reads reports offline, and most published metrics, expect it to.

Made to be right when it says no: a short or telegraphic text ("Normal chest.") counts as English.
"""

from __future__ import annotations

import re
from functools import cache

from radgauge.parsing import shipped_toml

_WORDS = re.compile(r"[^\W\d_]+")
_LEAST_FOREIGN = 3
_LEAST_LETTERS = 8
_OTHER_SCRIPT = 0.3


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    table = shipped_toml(__file__, "function_words.toml")
    return frozenset(table["english"]), frozenset(table["other"])


def looks_english(text: str, *, least: int = _LEAST_FOREIGN) -> bool:
    """False if the text is in another script, or if its small words are mostly those of other languages.

    Args:
        text: A report or a sentence.
        least: Small words of another language that are needed to say no.

    >>> looks_english("No pleural effusion."), looks_english("Sin derrame ni neumotórax en la placa.")
    (True, False)
    """
    words = _WORDS.findall(text.lower())
    letters = sum(map(len, words))
    if letters >= _LEAST_LETTERS and not text.isascii():
        other_script = sum(letter > "\u024f" and letter.isalpha() for letter in text)
        if other_script > _OTHER_SCRIPT * letters:
            return False
    english, other = _function_words()
    foreign = sum(map(other.__contains__, words))
    return foreign < least or foreign <= sum(map(english.__contains__, words))
