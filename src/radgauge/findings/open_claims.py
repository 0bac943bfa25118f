"""Claims in words that the lexicon lacks: how alike two of them are, by their words and by a static embedding."""

from __future__ import annotations

from functools import lru_cache

from radgauge.findings.numbers import numbers
from radgauge.text.static_embedding import StaticEncoder, Vectors, words_of

OPEN = "open:"
"""Prefix of the concept of an open claim; its words follow."""

SHARED = numbers()["open"]["shared"]  # similarity when all words of the shorter claim are in the longer one
CLOSE = numbers()["open"]["close"]  # cosine from which other words may mean the same


@lru_cache(maxsize=1 << 15)
def likeness(a: str, b: str) -> float:
    """Similarity of two phrases, 0 to 1.

    >>> likeness("tree in bud", "tree in bud nodularity"), likeness("tree in bud", "hip prosthesis")
    (0.9, 0.0)
    """
    words, others = _words(a), _words(b)
    if not words or not others:
        return 0.0
    if words == others:
        return 1.0
    shared = len(words & others) / min(len(words), len(others))
    if shared == 1.0 and min(len(words), len(others)) > 1:
        return SHARED
    cosine = float(_vector(a) @ _vector(b))
    return min(cosine, SHARED) if cosine >= CLOSE else 0.0


@lru_cache(maxsize=1 << 12)
def _words(phrase: str) -> frozenset[str]:
    return frozenset(words_of(phrase))


@lru_cache(maxsize=1 << 12)
def _vector(phrase: str) -> Vectors:
    """A phrase is compared with many others, and encoded once."""
    vector: Vectors = StaticEncoder().encode([phrase])[0]
    return vector
