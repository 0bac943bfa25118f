"""Cosine of label vectors or embeddings of every corpus text with a query's; equal vectors are compared once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.oracle.ranking import Found, best, contenders, not_judged
from radgauge.core.metric import Rows
from radgauge.core.readings import Readings
from radgauge.metrics.chexbert_similarity import ChexbertSimilarity, cosines
from radgauge.text.words import has_words

BLOCK = 4096  # texts read before their readings are forgotten


def search_vectors(
    metric: ChexbertSimilarity, corpus: Sequence[str], *, queries: Sequence[str], top: int, reading: Readings
) -> Iterator[Found]:
    """The best corpus texts for each query.

    Thousands of reports share a few hundred label vectors, so that searching is done among those.

    Args:
        metric: CheXbert similarity of labels or embeddings.
        corpus: Distinct texts that are not blank.
        queries: Texts that are not blank.
        top: How many are wanted.
        reading: Asked block by block; only its disk cache keeps what was read.
    """
    able = np.array([metric.empty == "read" or has_words(text) for text in corpus], bool)
    groups = _Groups.of(_vectors(metric, corpus, reading), np.flatnonzero(able))
    query_vectors = _vectors(metric, queries, reading)
    unit = _unit(groups.vectors)
    cached: dict[bytes, Found] = {}
    for text, vector in zip(queries, query_vectors, strict=True):
        if metric.empty == "nan" and not has_words(text):
            yield not_judged("reference has no words")
            continue
        key = vector.tobytes()
        if key not in cached:
            near = contenders(unit @ _unit(vector[None])[0] + np.float32(1), top=top)
            scores = cosines(groups.vectors[near], np.broadcast_to(vector, (len(near), len(vector))))
            cached[key] = groups.members(near, scores, top=top)
        match = cached[key]
        yield match if len(match.indices) else not_judged(metric.nothing)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Texts by vector."""

    vectors: Rows
    texts: NDArray[np.intp]  # Texts of group g, in order, are texts[starts[g] : starts[g + 1]]
    starts: NDArray[np.intp]  # One more than there are groups

    @classmethod
    def of(cls, vectors: Rows, texts: NDArray[np.intp]) -> _Groups:
        numbers: dict[bytes, int] = {}
        group = np.fromiter(
            (numbers.setdefault(vectors[text].tobytes(), len(numbers)) for text in texts), np.intp, len(texts)
        )
        order = np.argsort(group, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(numbers)))])
        members = texts[order]
        return cls(vectors[members[starts[:-1]]], members, starts)

    def members(self, groups: NDArray[np.intp], scores: Rows, *, top: int) -> Found:
        """The best texts of some groups."""
        ends = np.minimum(self.starts[groups] + top, self.starts[groups + 1])
        places = [np.arange(a, b) for a, b in zip(self.starts[groups], ends, strict=True)]
        texts = self.texts[np.concatenate(places)] if places else np.empty(0, np.intp)
        return best(texts, np.repeat(scores, ends - self.starts[groups]), top=top)


def _vectors(metric: ChexbertSimilarity, texts: Sequence[str], reading: Readings) -> Rows:
    blocks = [
        metric.vectors(texts[start : start + BLOCK], reading=reading.fork())
        for start in range(0, len(texts), BLOCK)
    ]
    return np.concatenate(blocks)


def _unit(vectors: Rows) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return scaled
