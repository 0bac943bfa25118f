"""Whether the other report states an unmatched finding in words that the matching of concepts missed.

The sentence of the finding is compared with the sentences of the other report that claim something or that were
not understood, by the cosine of their static embeddings; a sentence that only denies or calls normal supports no
finding. How likely a cosine means the same was measured on labelled statements (docs/metrics/errors.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from radgauge.findings.numbers import numbers
from radgauge.models.text.static_embedding import StaticEncoder, Vectors


class Scale(NamedTuple):
    """A cosine as a probability: 1 / (1 + exp(-slope (cosine - half)))."""

    slope: float
    half: float


class Sentences:
    """The sentences of a report as vectors, made when they are first asked for.

    Args:
        texts: The sentences.
        claiming: Positions of those that claim something or were not understood.
    """

    __slots__ = ("_claims", "_vectors", "claiming", "texts")

    def __init__(self, texts: tuple[str, ...] = (), claiming: tuple[int, ...] = ()) -> None:
        self.texts = texts
        self.claiming = claiming
        self._vectors: Vectors | None = None
        self._claims: Vectors | None = None

    @property
    def vectors(self) -> Vectors:
        """One row of length one per sentence."""
        if self._vectors is None:
            self._vectors = StaticEncoder().encode(self.texts)
        return self._vectors

    @property
    def claims(self) -> Vectors:
        """The rows of the sentences that can support a finding."""
        if self._claims is None:
            self._claims = self.vectors[list(self.claiming)]
        return self._claims


def supports(sentences: Iterable[int], own: Sentences, other: Sentences) -> list[float]:
    """For each sentence of `own` how likely `other` says the same, 0 to 1."""
    wanted = list(sentences)
    if not wanted or not other.claiming:
        return [0.0] * len(wanted)
    best = np.max(own.vectors[wanted] @ other.claims.T, axis=1).tolist()
    scale = _scale()
    return [1.0 / (1.0 + math.exp(-scale.slope * (cosine - scale.half))) for cosine in best]


@lru_cache(maxsize=1)
def _scale() -> Scale:
    table = numbers()["support"]
    return Scale(table["slope"], table["half"])
