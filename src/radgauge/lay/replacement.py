"""Lay replacement: every sentence becomes the lay text of its nearest entry of a sentence set (algorithm 2).

Zhao et al., Layman's RRG (2024), appendix, algorithm 2: the nearest entry by cosine, without a threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.plain_sentences import mixed_text, write_plain
from radgauge.lay.sentences import Pair
from radgauge.text.sentences import sentences_of

# Exact search for the nearest entry of a sentence set, without every product in full.
#
# A set of the size that ships is one matrix product. For larger sets an index library would be approximate, or
# one more dependency; this is a page of numpy. Vectors are turned so that a few leading directions hold most of
# the entries' length. For a sentence q and an entry e, split so into head and tail, q.e <= q_head.e_head +
# |q_tail| |e_tail| (Cauchy and Schwarz). This bound is one matrix product over the head's few columns. The entry
# with the greatest bound is measured in full; entries whose bound is below what it reaches cannot be nearer. The
# few others are measured in full as well. Entries that are alike stand side by side, so that whole groups drop
# out together.

Indices = NDArray[np.intp]

HEAD = 128  # leading directions
GROUP = 64  # entries whose greatest bound is looked at first
TRIED = 4  # groups whose best entry is measured to begin with
CELLS = 1 << 23  # numbers of a block of bounds: 32 MB
PAIRS = 1 << 13  # pairs measured in full at a time
FEW = 0.1  # a query that more than this share of the groups could serve is compared with all entries
WORTH_IT = 256  # queries, and
LARGE = 20_000  # entries, from which bounds cost less than comparing with all entries
CENTRES, ROUNDS, BLOCK = 400, 3, 4096  # of the k-means that orders the entries
SLACK = np.float32(2e-5)  # what 32-bit products of unit vectors may be off
TIE = 1e-6  # products closer than this are equal, and the first entry wins


def nearest(queries: Vectors, entries: Vectors) -> tuple[Indices, Vectors]:
    """For each query the entry with the greatest product, the first of equals, and that product.

    Args:
        queries: Rows of length one at most.
        entries: The same, at least one.

    >>> import numpy as np
    >>> nearest(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)[::-1])[0].tolist()
    [1, 0]
    """
    chosen = np.full(len(queries), -1, dtype=np.intp)
    products = np.empty(len(queries), dtype=np.float32)
    step = max(1, CELLS // len(entries))
    if entries.shape[1] > 2 * HEAD and len(entries) >= LARGE and len(queries) >= WORTH_IT:
        bounds = _Bounds(entries)
        for start in range(0, len(queries), step):
            block = queries[start : start + step]
            rows, columns = bounds.candidates(block)
            done = start + np.unique(rows)
            chosen[done], products[done] = _first_best(block, entries, rows, columns)
    left = np.flatnonzero(chosen < 0)
    for start in range(0, len(left), step):
        block = queries[left[start : start + step]]
        near = np.nonzero(
            (block_products := block @ entries.T) >= block_products.max(axis=1, keepdims=True) - SLACK
        )
        chosen[left[start : start + step]], products[left[start : start + step]] = _first_best(
            block, entries, *near
        )
    return chosen, products


class _Bounds:
    """Entries turned and cut, to bound products from above."""

    def __init__(self, entries: Vectors) -> None:
        _, axes = np.linalg.eigh((entries.T @ entries).astype(np.float64))
        self._turn = np.ascontiguousarray(axes[:, : -HEAD - 1 : -1].astype(np.float32))
        table = self._cut(entries)
        self._order = _alike_together(table[:, : HEAD // 4])
        self._entries = entries
        missing = -len(entries) % GROUP  # whole groups: rows that no query is near
        self._table = np.pad(table[self._order], ((0, missing), (0, 0)))
        self._table[len(entries) :, -1] = -2.0
        self._room = np.empty(0, dtype=np.float32)

    def candidates(self, queries: Vectors) -> tuple[Indices, Indices]:
        """Pairs (query, entry) that hold every nearest entry, by query; none of a query with too many."""
        size = len(self._table) * len(queries)
        if size > len(self._room):  # one piece of memory for all blocks
            self._room = np.empty(size, dtype=np.float32)
        table = self._room[:size].reshape(len(self._table), len(queries))
        np.matmul(self._table, np.ascontiguousarray(self._cut(queries).T), out=table)
        bounds: Vectors = table.reshape(-1, GROUP, len(queries))
        greatest = bounds.max(axis=1)
        reached = self._reached(queries, bounds, greatest)
        passing = greatest >= reached
        passing[:, passing.sum(axis=0) > FEW * len(passing)] = False
        groups, rows = np.nonzero(passing)
        pairs, offsets = np.nonzero(bounds[groups, :, rows] >= reached[rows, None])
        rows, columns = rows[pairs], self._order[groups[pairs] * GROUP + offsets]
        order = np.lexsort((columns, rows))
        return rows[order], columns[order]

    def _reached(self, queries: Vectors, bounds: Vectors, greatest: Vectors) -> Vectors:
        """A product that each query has with some entry, a little less: what bounds must not fall short of."""
        every = np.arange(len(queries))
        reached = np.full(len(queries), -2.0, dtype=np.float32)
        for group in np.argpartition(greatest, -TRIED, axis=0)[-TRIED:]:
            position = np.minimum(group * GROUP + bounds[group, :, every].argmax(axis=1), len(self._order) - 1)
            entry = self._entries[self._order[position]]
            np.maximum(reached, np.einsum("ij,ij->i", queries, entry), out=reached)
        return reached - SLACK

    def _cut(self, vectors: Vectors) -> Vectors:
        """Head and length of the tail, a little too long rather than too short."""
        head = vectors @ self._turn
        rest = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ij,ij->i", head, head)
        tail = np.sqrt(np.maximum(rest, 0.0) + SLACK)
        return np.concatenate([head, tail[:, None]], axis=1).astype(np.float32, copy=False)


def _alike_together(vectors: Vectors) -> Indices:
    """An order of the vectors in which those that are alike stand together: a few rounds of k-means."""
    centres = vectors[:: max(1, len(vectors) // CENTRES)]
    for _ in range(ROUNDS):
        half = np.einsum("ij,ij->i", centres, centres) / 2
        blocks = (vectors[start : start + BLOCK] for start in range(0, len(vectors), BLOCK))
        nearest_one = np.concatenate([(block @ centres.T - half).argmax(axis=1) for block in blocks])
        order = np.argsort(nearest_one, kind="stable")
        _, starts, sizes = np.unique(nearest_one[order], return_index=True, return_counts=True)
        centres = (np.add.reduceat(vectors[order], starts) / sizes[:, None]).astype(np.float32)
    return order


def _first_best(queries: Vectors, entries: Vectors, rows: Indices, columns: Indices) -> tuple[Indices, Vectors]:
    """Of the candidates of each query that has any the first with the greatest product, by query."""
    if not len(rows):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
    products = _products(queries, entries, rows, columns)
    close = products >= _greatest(products, rows) - SLACK
    rows, columns = rows[close], columns[close]
    # 64 bits for what 32 cannot tell apart
    products = _products(queries.astype(np.float64), entries, rows, columns)
    equal = np.flatnonzero(products >= _greatest(products, rows) - TIE)
    _, first = np.unique(rows[equal], return_index=True)
    return columns[equal[first]], products[equal[first]].astype(np.float32)


def _products(queries: NDArray[Any], entries: Vectors, rows: Indices, columns: Indices) -> NDArray[Any]:
    products = np.empty(len(rows), dtype=queries.dtype)
    for start in range(0, len(rows), PAIRS):
        part = slice(start, start + PAIRS)
        products[part] = np.einsum("ij,ij->i", queries[rows[part]], entries[columns[part]])
    return products


def _greatest(products: NDArray[Any], rows: Indices) -> NDArray[Any]:
    """For each candidate the greatest product of its query."""
    _, starts, owner = np.unique(rows, return_index=True, return_inverse=True)
    greatest: NDArray[Any] = np.maximum.reduceat(products, starts)[owner]
    return greatest


Vectors = NDArray[np.float32]
STRANGE, SAME, NEVER = 0.96, 0.8, -1.0
"""Cosines below which an entry may say something else than the sentence, below which it does, and below all."""


@dataclass(frozen=True)
class Replaced:
    """Texts with their sentences, the lay text of each, and vectors of both."""

    sentences: dict[str, tuple[str, ...]]  # Sentences of each text
    lay: dict[str, str]  # The lay text of each distinct sentence
    vectors: dict[str, Vectors]  # Vector of each distinct sentence, and of each lay text
    similarity: dict[str, float]  # Cosine of each distinct sentence with its entry

    def lay_text(self, text: str) -> str:
        """A text with every sentence replaced."""
        return " ".join(self.lay[sentence] for sentence in self.sentences[text])

    def matrix(self, text: str, *, lay: bool) -> Vectors:
        """Vectors of the sentences of a text, or of their lay texts."""
        return np.stack(
            [self.vectors[self.lay[sentence] if lay else sentence] for sentence in self.sentences[text]]
        )


def replace_sentences(
    texts: Sequence[str],
    pairs: Sequence[Pair],
    *,
    encoder: Encoder,
    reading: Readings,
    write_below: float = NEVER,
) -> Replaced:
    """Replace every sentence of the texts.

    Args:
        texts: Reports.
        pairs: The sentence set.
        encoder: What finds the nearest entry.
        reading: Hands out the encoder's vectors.
        write_below: A sentence whose nearest entry, or that entry's lay text, has a smaller cosine than this is
            also written in plain language, and the text that comes nearer to it counts; below `SAME` the entry
            means something else and the written text counts. What the writer keeps stands as it is. The published
            method always takes the nearest entry.
    """
    sentences = {text: sentences_of(text) for text in dict.fromkeys(texts)}
    distinct = list(dict.fromkeys(sentence for group in sentences.values() for sentence in group))
    entries = reading.once(
        ("layman entries", encoder.signature, hash(tuple(pairs))),
        lambda: np.stack(reading.of(encoder, [pair.professional for pair in pairs])),
    )
    if not distinct:
        return Replaced(sentences, {}, {}, {})
    queries = np.stack(reading.of(encoder, distinct))
    chosen, products = nearest(queries, entries)
    lay = {sentence: pairs[index].lay for sentence, index in zip(distinct, chosen, strict=True)}
    vectors = dict(zip(distinct, queries, strict=True))
    _add_vectors(vectors, lay.values(), encoder, reading)
    similarity = {
        sentence: min(float(product), float(vectors[sentence] @ vectors[lay[sentence]]))
        for sentence, product in zip(distinct, products, strict=True)
    }
    written = {
        sentence: mixed_text(write_plain(sentence)) or sentence
        for sentence in distinct
        if similarity[sentence] < write_below
    }
    _add_vectors(vectors, written.values(), encoder, reading)
    for sentence, text in written.items():  # whichever says more nearly what the sentence says
        if similarity[sentence] < SAME or vectors[sentence] @ vectors[text] >= similarity[sentence]:
            lay[sentence] = text
    return Replaced(sentences, lay, vectors, dict(zip(distinct, products.tolist(), strict=True)))


def _add_vectors(vectors: dict[str, Vectors], texts: Iterable[str], encoder: Encoder, reading: Readings) -> None:
    missing = [text for text in dict.fromkeys(texts) if text not in vectors]
    vectors.update(zip(missing, reading.of(encoder, missing), strict=True))
