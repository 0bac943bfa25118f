"""Leave out sentences that say what another one says: the first step of building a sentence set.

Greedy, in the order given: a sentence is kept if its cosine with every sentence kept before it is at most the
threshold. Zhao et al., Layman's RRG (2024), section 3.1.1. The result is exactly that of comparing each sentence
with each kept one; it is only computed in blocks. Approximate search is not needed: benchmarks/layman_dedupe.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.models.encoders import Encoder

Vectors = NDArray[np.float32]
BLOCK = 1024  # sentences per matrix product
NEAR = 1e-4  # products of 32-bit numbers this close to the threshold are computed again in 64 bits
_EDGES = re.compile(r"^\W+|\W+$")


def normal_sentence(sentence: str) -> str:
    """What two sentences must share to be the same: words in order, whatever the case, blanks and final marks.

    >>> normal_sentence("No  pleural effusion.") == normal_sentence("no pleural effusion")
    True
    """
    return _EDGES.sub("", " ".join(sentence.split()).casefold())


def distinct_sentences(sentences: Iterable[str]) -> dict[str, str]:
    """Normal form -> the first sentence that has it, with single blanks, in order; wordless ones are left out."""
    found: dict[str, str] = {}
    for sentence in sentences:
        key = normal_sentence(sentence)
        if key and key not in found:
            found[key] = " ".join(sentence.split())
    return found


@dataclass(frozen=True)
class Deduplicated:
    """Which sentences are kept.

    Attributes:
        kept: Positions of the kept ones, rising.
        copy_of: For each sentence the position of a kept one above the threshold; itself if it is kept; -1 if it
            has no vector.
    """

    kept: NDArray[np.intp]
    copy_of: NDArray[np.intp]


def deduplicate(
    sentences: Sequence[str],
    *,
    encoder: Encoder,
    threshold: float = 0.8,
    progress: Callable[[str, int, int], None] | None = None,
) -> Deduplicated:
    """Keep a sentence only if its cosine with all kept ones is at most the threshold.

    Sentences are encoded block by block, so that memory holds the vectors of kept ones only. A sentence whose
    vector is zero (no word that the encoder knows) says nothing and is not kept.

    Args:
        sentences: Distinct sentences; the order decides which of two is kept.
        encoder: Vectors of length one or zero.
        threshold: Greatest cosine of two kept sentences.
        progress: Told after each block.
    """
    copy_of = np.full(len(sentences), -1, dtype=np.intp)
    kept: list[int] = []
    store = _Kept()
    size = max(BLOCK, getattr(encoder, "batch_size", BLOCK) // BLOCK * BLOCK)
    for start in range(0, len(sentences), size):
        vectors = np.ascontiguousarray(encoder.encode(sentences[start : start + size]), dtype=np.float32)
        for first in range(0, len(vectors), BLOCK):
            at = start + first
            chosen = _block(vectors[first : first + BLOCK], store, threshold)
            fresh = len(kept)
            for offset, place in enumerate(chosen.tolist()):
                if place == len(kept):
                    kept.append(at + offset)
                if place >= 0:
                    copy_of[at + offset] = kept[place]
            store.add(vectors[[each - start for each in kept[fresh:]]])
        if progress is not None:
            progress("sentences", min(start + size, len(sentences)), len(sentences))
    return Deduplicated(np.array(kept, dtype=np.intp), copy_of)


class _Kept:
    """The vectors of kept sentences, in a buffer that grows by doubling."""

    def __init__(self) -> None:
        self.count = 0
        self._rows: Vectors = np.empty((0, 0), np.float32)

    @property
    def rows(self) -> Vectors:
        return self._rows[: self.count]

    def add(self, vectors: Vectors) -> None:
        if not len(vectors):
            return
        need = self.count + len(vectors)
        if need > len(self._rows):
            grown = np.empty((max(need, 2 * len(self._rows)), vectors.shape[1]), np.float32)
            if self.count:
                grown[: self.count] = self.rows
            self._rows = grown
        self._rows[self.count : need] = vectors
        self.count = need


def _block(vectors: Vectors, store: _Kept, threshold: float) -> NDArray[np.intp]:
    """For each vector the number of a kept one above the threshold, or its own as a newly kept one; -1 for zero.

    Numbers count kept sentences from the first; new ones follow those in store.
    """
    chosen = np.full(len(vectors), -1, dtype=np.intp)
    rows = np.flatnonzero(vectors.any(axis=1))
    if store.count:
        best, closest = _closest(vectors[rows], store.rows, threshold)
        chosen[rows[best > threshold]] = closest[best > threshold]
        rows = rows[best <= threshold]
    left = vectors[rows]
    products = left @ left.T
    number = store.count
    for place in range(len(rows)):
        if chosen[rows[place]] >= 0:
            continue
        chosen[rows[place]] = number
        row = products[place, place + 1 :].astype(np.float64)
        for near in np.flatnonzero(np.abs(row - threshold) <= NEAR):
            row[near] = _exact(left[place], left[place + 1 + near])
        copies = rows[place + 1 :][row > threshold]
        chosen[copies[chosen[copies] < 0]] = number
        number += 1
    return chosen


def _closest(vectors: Vectors, rows: Vectors, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The greatest product with any row, and with which; near the threshold in 64 bits."""
    products = vectors @ rows.T
    chosen = products.argmax(axis=1)
    best = products[np.arange(len(vectors)), chosen].astype(np.float64)
    for row in np.flatnonzero(np.abs(best - threshold) <= NEAR):
        doubtful = np.flatnonzero(np.abs(products[row] - best[row]) <= 2 * NEAR)
        exact = [_exact(vectors[row], rows[each]) for each in doubtful]
        chosen[row], best[row] = doubtful[int(np.argmax(exact))], max(exact)
    return best, chosen


def _exact(a: Vectors, b: Vectors) -> float:
    return float(a.astype(np.float64) @ b.astype(np.float64))
