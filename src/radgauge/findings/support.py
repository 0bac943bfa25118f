"""True if the other report states an unmatched finding in words that the matching of concepts missed.

The sentence of the finding is compared with the sentences of the other report that claim something or that were
not understood, by the cosine of their static embeddings; a sentence that only denies or calls normal supports no
finding. A sentence that repeats most words of the other and still tells another finding tells it on purpose: the
more words two sentences share, the less their cosine says. A diagnosis with a description set is also looked for
by what it looks like. How likely both mean the same was measured on labelled statements (docs/metrics/errors.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from radgauge.findings.edits import words_of
from radgauge.findings.numbers import numbers
from radgauge.text.static_embedding import StaticEncoder, Vectors

_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")

COPIED_FROM = 0.5
"""Share of its words from which a sentence begins to be a copy."""


COMPARED = 200
"""Claims of a report that a sentence of another is compared with at most; no real report has as many."""


class Scale(NamedTuple):
    """Evidence e as a probability, 1 / (1 + exp(-slope e)): e = cosine - half - copied c + described d.

    c is the share of its words, above one half, that a sentence has in common with the nearest; d the greatest
    cosine of the finding's description set with a sentence of the other report, less described_half. A sentence
    that is no copy and has the same numbers as one of the other report adds measured.
    """

    slope: float
    half: float
    copied: float
    described: float
    described_half: float
    measured: float


_MAX_CACHED = 1 << 15
"""Sentences whose vector is remembered, 1 kB each: reports repeat one another's."""


def _rows(texts: Sequence[str]) -> Vectors:
    """One row of length one per sentence."""
    cache = _table()
    new = [text for text in dict.fromkeys(texts) if text not in cache]
    if len(cache) + len(new) > _MAX_CACHED:
        cache.clear()
        new = list(dict.fromkeys(texts))
    if new:
        cache.update(zip(new, StaticEncoder().encode(new), strict=True))
    return np.stack([cache[text] for text in texts])


@lru_cache(maxsize=1)
def _table() -> dict[str, Vectors]:
    return {}


@lru_cache(maxsize=1 << 14)
def _words_of(sentence: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sentence.lower()))


class Sentences:
    """The sentences of a report; words and vectors are made when they are first asked for.

    Args:
        texts: The sentences.
        claiming: Positions of those that claim something or were not understood.
        spans: Where they stand in the report.
    """

    __slots__ = ("_claims", "_words", "claiming", "spans", "texts")

    def __init__(
        self,
        texts: tuple[str, ...] = (),
        claiming: tuple[int, ...] = (),
        spans: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.texts = texts
        self.spans = spans
        self.claiming = claiming
        self._claims: Vectors | None = None
        self._words: tuple[frozenset[str], ...] | None = None

    @property
    def words(self) -> tuple[frozenset[str], ...]:
        """The words of each sentence."""
        if self._words is None:
            self._words = tuple(map(_words_of, self.texts))
        return self._words

    def vectors(self, numbers: Iterable[int]) -> Vectors:
        """One row of length one for each of these sentences."""
        return _rows([self.texts[number] for number in numbers])

    @property
    def claims(self) -> Vectors:
        """The rows of the sentences that can support a finding."""
        if self._claims is None:
            self._claims = self.vectors(self.claiming)
        return self._claims


def supports(
    sentences: Iterable[int],
    own: Sentences,
    other: Sentences,
    pictures: Sequence[Vectors | None] = (),
) -> list[float]:
    """For each sentence of `own` how likely `other` says the same, 0 to 1.

    Args:
        sentences: Their numbers.
        own: The report that they stand in.
        other: The report that may say it in other words.
        pictures: For each the vector of what its finding looks like, None where that is not known.
    """
    requested = list(sentences)
    if not requested or not other.claiming:
        return [0.0] * len(requested)
    scale = _scale()
    vectors, claims = own.vectors(requested), other.claims
    table = vectors @ claims.T if len(other.claiming) <= COMPARED else None
    result = []
    for row, sentence in enumerate(requested):
        near = _near(sentence, len(own.texts), len(other.claiming))
        cosines = claims[near] @ vectors[row] if table is None else table[row]
        at = near.start + int(cosines.argmax())
        words = own.words[sentence]
        shared = len(words & other.words[other.claiming[at]]) / len(words) if words else 0.0
        evidence = float(cosines[at - near.start]) - scale.half - scale.copied * max(shared - COPIED_FROM, 0.0)
        if shared < COPIED_FROM and (sizes := frozenset(words_of(own.texts[sentence]).numbers)):
            common = (sizes.intersection(words_of(other.texts[number]).numbers) for number in other.claiming[near])
            evidence += scale.measured * max(map(len, common)) / len(sizes)
        picture = pictures[row] if pictures else None
        if picture is not None:
            evidence += scale.described * (float((claims[near] @ picture).max()) - scale.described_half)
        result.append(1.0 / (1.0 + math.exp(-scale.slope * evidence)))
    return result


def _near(sentence: int, sentences: int, claims: int) -> slice:
    """The claims that a sentence is compared with: all, or of a very long report those around the same part."""
    if claims <= COMPARED:
        return slice(0, claims)
    first = max(0, min(claims * sentence // max(1, sentences) - COMPARED // 2, claims - COMPARED))
    return slice(first, first + COMPARED)


@lru_cache(maxsize=1)
def _scale() -> Scale:
    table = numbers()["support"]
    return Scale(*(table[name] for name in Scale._fields))
