"""De-duplicate sentences, by words and by meaning: the first step of building a sentence set.

Greedy, in the order given: a sentence is kept if its cosine with every sentence kept before it is at most the
threshold. Zhao et al., Layman's RRG (2024), section 3.1.1. The result is exactly that of comparing each sentence
with each kept one; it is only computed in blocks. Approximate search is not needed: benchmarks/layman_dedupe.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Progress
from radgauge.encoders.text.encoders import Encoder
from radgauge.run.executors import HERE, Engine, run_in_order

Vectors = NDArray[np.float32]
BLOCK = 1024  # sentences per matrix product
NEAR = 1e-4  # products of 32-bit numbers this close to the threshold are computed again in 64 bits
HEAD, ENOUGH = 128, 2048  # leading directions, and how many sentences show which they are
ROUNDING = np.float32(2e-5)  # what 32-bit sums of squares may be off
FEW = 0.02  # if more than this share of all pairs is left by the bound, the whole product is cheaper
CELLS, PAIRS = 1 << 25, 1 << 12  # numbers of a matrix product, pairs measured in full: what is held at a time
_EDGES = re.compile(r"""^[\s"'“”(\[*•.,;:]+|[\s"'“”)\].,;:!]+$""")  # not < or ?: they mean something


def normal_sentence(sentence: str) -> str:
    """Normalize a sentence for comparison: words in order, whatever the case, blanks and outer marks.

    >>> normal_sentence("No  pleural effusion.") == normal_sentence("no pleural effusion")
    True
    """
    return _EDGES.sub("", " ".join(sentence.split()).casefold())


def distinct_sentences(sentences: Iterable[str]) -> dict[str, str]:
    """Normal form -> the first sentence that has it, with single blanks, in order; wordless ones are left out."""
    distinct: dict[str, str] = {}
    for sentence in sentences:
        key = normal_sentence(sentence)
        if key not in distinct and any(character.isalnum() for character in key):
            distinct[key] = " ".join(sentence.split())
    return distinct


@dataclass(frozen=True)
class Deduplicated:
    """Sentences kept."""

    kept: NDArray[np.intp]  # Positions of the kept ones, rising
    # For each sentence the position of a kept one above the threshold; itself if it is kept; -1 if it has no
    # vector
    copy_of: NDArray[np.intp]


def deduplicate(
    sentences: Sequence[str],
    *,
    encoder: Encoder,
    threshold: float = 0.8,
    progress: Progress | None = None,
    engine: Engine = HERE,
) -> Deduplicated:
    """Keep a sentence only if its cosine with all kept ones is at most the threshold.

    Sentences are encoded block by block, so that memory holds the vectors of kept ones only. A sentence whose
    vector is zero (no word that the encoder knows) says nothing and is not kept.

    Args:
        sentences: Distinct sentences; the order decides which of two is kept.
        encoder: Vectors of length one or zero.
        threshold: Greatest cosine of two kept sentences.
        progress: Told after each block.
        engine: Where sentences are encoded, in the same blocks whoever does it; they are compared here.
    """
    copy_of = np.full(len(sentences), -1, dtype=np.intp)
    kept_indices: list[int] = []
    store: _VectorStore | None = None
    size = max(BLOCK, getattr(encoder, "batch_size", BLOCK) // BLOCK * BLOCK)
    starts = range(0, len(sentences), size)
    blocks = ((encoder, sentences[start : start + size]) for start in starts)
    for start, vectors in zip(starts, run_in_order(encode_block, blocks, engine=engine), strict=True):
        store = _VectorStore(vectors) if store is None else store
        for first in range(0, len(vectors), BLOCK):
            at = start + first
            chosen = _block(vectors[first : first + BLOCK], store, threshold)
            fresh = len(kept_indices)
            for offset, kept_index in enumerate(chosen.tolist()):
                if kept_index == len(kept_indices):
                    kept_indices.append(at + offset)
                if kept_index >= 0:
                    copy_of[at + offset] = kept_indices[kept_index]
            store.add(vectors[[index - start for index in kept_indices[fresh:]]])
        if progress is not None:
            progress("sentences", min(start + size, len(sentences)), len(sentences))
    return Deduplicated(np.array(kept_indices, dtype=np.intp), copy_of)


def encode_block(item: tuple[Encoder, Sequence[str]]) -> Vectors:
    """The vectors of some sentences."""
    encoder, sentences = item
    return np.ascontiguousarray(encoder.encode(sentences), dtype=np.float32)


class _VectorStore:
    """The vectors of kept sentences, and what bounds products with them from above.

    Vectors are turned so that a few leading directions hold most of their length. Split so into head and tail,
    q.k <= q_head.k_head + |q_tail| |k_tail| (Cauchy and Schwarz): one product over a sixth of the columns, after
    which few pairs are left to be measured in full.
    """

    def __init__(self, first: Vectors) -> None:
        """Learn the leading directions from the first vectors, if these are enough and so wide that it pays."""
        width = first.shape[1]
        self.count = 0
        self._rows: Vectors = np.empty((BLOCK, width), np.float32)
        self._turn: Vectors = np.empty((width, 0), np.float32)
        if len(first) >= ENOUGH and width > 2 * HEAD:
            _, axes = np.linalg.eigh((first.T @ first).astype(np.float64))
            self._turn = np.ascontiguousarray(axes[:, : -HEAD - 1 : -1].astype(np.float32))
        self._heads: Vectors = np.empty((BLOCK, self._turn.shape[1] + 1), np.float32)

    def add(self, vectors: Vectors) -> None:
        """Keep these too."""
        need = self.count + len(vectors)
        if need > len(self._rows):  # by doubling: all copying together is no more than the rows
            self._rows = _grown(self._rows, 2 * need)
            self._heads = _grown(self._heads, 2 * need)
        self._rows[self.count : need] = vectors
        self._heads[self.count : need] = self._cut(vectors)
        self.count = need

    def closest(self, vectors: Vectors, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """For each vector the greatest product and with which; -inf for some that are not above the threshold."""
        rows = self._rows[: self.count]
        if self._turn.size:
            bounds = self._cut(vectors) @ self._heads[: self.count].T
            queries, columns = np.nonzero(bounds > threshold - NEAR)
            if len(queries) <= FEW * bounds.size:
                return _best_pairs(vectors, rows, queries, columns)
        return _best(vectors, rows, threshold)

    def _cut(self, vectors: Vectors) -> Vectors:
        """Head and length of the tail, a little too long rather than too short."""
        head = vectors @ self._turn
        rest = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ij,ij->i", head, head)
        return np.hstack([head, np.sqrt(np.maximum(rest, 0) + ROUNDING)[:, None]], dtype=np.float32)


def _grown(rows: Vectors, size: int) -> Vectors:
    grown = np.empty((size, rows.shape[1]), np.float32)
    grown[: len(rows)] = rows
    return grown


def _block(vectors: Vectors, store: _VectorStore, threshold: float) -> NDArray[np.intp]:
    """For each vector the number of a kept one above the threshold, or its own as a newly kept one; -1 for zero.

    Numbers count kept sentences from the first; new ones follow those in store.
    """
    chosen = np.full(len(vectors), -1, dtype=np.intp)
    rows = np.flatnonzero(vectors.any(axis=1))
    if store.count:
        step = max(1, CELLS // store.count)
        parts = [store.closest(vectors[rows[at : at + step]], threshold) for at in range(0, len(rows), step)]
        best, closest = (np.concatenate(blocks) for blocks in zip(*parts, strict=True)) if parts else (rows, rows)
        chosen[rows[best > threshold]] = closest[best > threshold]
        rows = rows[best <= threshold]
    left = vectors[rows]
    products = left @ left.T
    number = store.count
    for index in range(len(rows)):
        if chosen[rows[index]] >= 0:
            continue
        chosen[rows[index]] = number
        row = products[index, index + 1 :].astype(np.float64)
        for near in np.flatnonzero(np.abs(row - threshold) <= NEAR):
            row[near] = _exact(left[index], left[index + 1 + near])
        copies = rows[index + 1 :][row > threshold]
        chosen[copies[chosen[copies] < 0]] = number
        number += 1
    return chosen


def _best(vectors: Vectors, rows: Vectors, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The greatest product with any row, and with which; near the threshold in 64 bits."""
    products = vectors @ rows.T
    chosen = products.argmax(axis=1)
    best = products[np.arange(len(vectors)), chosen].astype(np.float64)
    for row in np.flatnonzero(np.abs(best - threshold) <= NEAR):
        doubtful = np.flatnonzero(np.abs(products[row] - best[row]) <= 2 * NEAR)
        exact = [_exact(vectors[row], rows[column]) for column in doubtful]
        chosen[row], best[row] = doubtful[int(np.argmax(exact))], max(exact)
    return best, chosen


def _best_pairs(
    vectors: Vectors, rows: Vectors, queries: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The same for the pairs (query, row) given, in 64 bits; -inf where there are none."""
    best = np.full(len(vectors), -np.inf)
    chosen = np.zeros(len(vectors), dtype=np.intp)
    exact = np.empty(len(queries))
    for start in range(0, len(queries), PAIRS):
        part = slice(start, start + PAIRS)
        exact[part] = np.einsum("ij,ij->i", vectors[queries[part]], rows[columns[part]], dtype=np.float64)
    order = np.lexsort((columns, -exact, queries))  # of equals the first
    unique_queries, first = np.unique(queries[order], return_index=True)
    best[unique_queries], chosen[unique_queries] = exact[order[first]], columns[order[first]]
    return best, chosen


def _exact(a: Vectors, b: Vectors) -> float:
    return float(a.astype(np.float64) @ b.astype(np.float64))
