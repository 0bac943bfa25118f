"""Ten readability indices, with the counts and formulas of textstat 0.7.13.

Written here because textstat cannot count English syllables without a download, and because the port that
needs none counts the syllables of words like "ring-enhancing" differently (up to 6.5 points of reading ease
on our sample reports). Syllables: CMU dictionary, else hyphenation points plus one (package pyphen).
"""

from __future__ import annotations

import lzma
import math
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from radgauge.core.errors import require

_QUOTE = re.compile(r"'(?!(?:[tsd]|ve|ll|re))")
_NOT_WORD = re.compile(r"[^\w\s']")
_NOT_LETTER = re.compile(r"[^\w\s]")
_SPACE = re.compile(r"\s")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
LINSEAR_WORDS = 100


class Readability(NamedTuple):
    """Ten indices of one text. Reading ease: higher is easier; the others: lower is easier."""

    flesch_reading_ease: float
    flesch_kincaid_grade: float
    gunning_fog: float
    smog_index: float
    automated_readability_index: float
    coleman_liau_index: float
    linsear_write_formula: float
    dale_chall_score: float
    spache_score: float
    mcalpine_eflaw: float


def readability(text: str) -> Readability:
    """The ten indices of a text that has at least one word.

    Raises:
        ValueError: The text has no word, so that nothing can be counted.
    """
    words = _words(text)
    if not words:
        raise ValueError("a text without a word has no readability")
    syllables = [_syllables(word.lower()) for word in words]
    sentences = _sentences(text)
    count = len(words)
    per_sentence = count / sentences
    per_word = sum(syllables) / count
    solid = _SPACE.sub("", text)
    letters = len(_NOT_LETTER.sub("", solid))
    easy = _easy_words()
    hard = [number for word, number in zip(words, syllables, strict=True) if word.lower() not in easy]
    difficult = 100 * len(hard) / count
    score = 0.1579 * difficult + 0.0496 * per_sentence
    return Readability(
        flesch_reading_ease=206.835 - 1.015 * per_sentence - 84.6 * per_word if per_word else 0.0,
        flesch_kincaid_grade=0.39 * per_sentence + 11.8 * per_word - 15.59 if per_word else 0.0,
        gunning_fog=0.4 * (per_sentence + 100 * sum(number >= 3 for number in hard) / count),
        smog_index=1.043 * math.sqrt(30 * sum(number >= 3 for number in syllables) / sentences) + 3.1291,
        automated_readability_index=4.71 * len(_SPACE.sub("", text)) / len(text.split())
        + 0.5 * per_sentence
        - 21.43,
        coleman_liau_index=0.058 * 100 * letters / count - 0.296 * 100 * sentences / count - 15.8
        if letters
        else 0.0,
        linsear_write_formula=_linsear(text, words, syllables),
        dale_chall_score=score + 3.6365 if difficult > 5 else score,
        spache_score=0.141 * per_sentence + 0.086 * 100 * sum(number >= 2 for number in hard) / count + 0.839,
        mcalpine_eflaw=(count + sum(len(word) <= 3 for word in _NOT_LETTER.sub("", text).split())) / sentences,
    )


def _words(text: str) -> list[str]:
    return _NOT_WORD.sub("", _QUOTE.sub("", text)).split()


def _sentences(text: str) -> int:
    result = _SENTENCE.findall(text)
    return max(1, sum(len(_words(sentence)) > 2 for sentence in result))


def _linsear(text: str, words: list[str], syllables: list[int]) -> float:
    pieces = text.split()
    if len(pieces) > LINSEAR_WORDS:
        taken = 0
        remaining: list[str] = []
        while taken < len(pieces) and len(remaining) < LINSEAR_WORDS:
            remaining += _words(pieces[taken])
            taken += 1
        pieces, syllables = pieces[:taken], [_syllables(word.lower()) for word in remaining]
    total = sum(3 if number >= 3 else 1 for number in syllables if number)
    value = total / _sentences(" ".join(pieces))
    return (value - 2 if value <= 20 else value) / 2


@lru_cache(maxsize=1 << 16)
def _syllables(word: str) -> int:
    cached = _dictionary().get(word)
    return cached if cached is not None else _hyphenation_points()(word) + 1


@cache
def _dictionary() -> dict[str, int]:
    packed = resources.files("radgauge.text").joinpath("data/syllables.txt.xz").read_bytes()
    table: dict[str, int] = {}
    for line in lzma.decompress(packed).decode("utf-8").splitlines():
        count, *words = line.split(" ")
        table.update(dict.fromkeys(words, int(count)))
    return table


@cache
def _easy_words() -> frozenset[str]:
    return frozenset(resources.files("radgauge.text").joinpath("data/easy_words.txt").read_text("utf-8").split())


@cache
def _hyphenation_points() -> Callable[[str], int]:
    hyphenator = require("pyphen", extra="lay").Pyphen(lang="en_US")
    return lambda word: len(hyphenator.positions(word))
