"""Counts of word n-grams of many texts at once, as one sparse matrix.

Python loops over n-grams are what makes the usual implementations slow. Here words become numbers once, an
n-gram is (its first n-1 words, its last word), both numbers, so that counting, clipping and summing over all
pairs of texts are a handful of array operations.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Index = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairing:
    """Distinct texts, and which of them each case's candidate and references are."""

    texts: list[str]  # Every distinct text once
    candidate: Index  # Index of the candidate, one per case
    # One array per reference slot, each with one index per case; -1 where a case has fewer
    references: tuple[Index, ...]


def pair_up(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Pairing:
    """Number the distinct texts of cases.

    >>> pairing = pair_up(["clear", "effusion"], [["clear"], ["effusion", "fluid"]])
    >>> pairing.texts, pairing.references
    (['clear', 'effusion', 'fluid'], (array([0, 1]), array([-1,  2])))
    """
    number: dict[str, int] = defaultdict(count().__next__)
    candidate = np.array([number[text] for text in candidates], dtype=np.intp)
    slots = max((len(texts) for texts in references), default=0)
    table = np.full((slots, len(references)), -1, dtype=np.intp)
    for case, texts in enumerate(references):
        for slot, text in enumerate(texts):
            table[slot, case] = number[text]
    return Pairing(list(number), candidate, tuple(table))


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of each n-gram in each text."""

    counts: Any  # Sparse (texts + 1, n-grams of all orders); the last row is empty, so index -1 means no text
    order_of: NDArray[np.int64]  # Order minus 1 of each n-gram
    lengths: NDArray[np.int64]  # Words of each text, 0 for the last row
    order: int  # The longest n-gram counted
    # (n-grams, 2), the same for the same words in any set of texts; only if they were asked for
    hashes: NDArray[np.uint64] | None = None

    def totals(self, texts: Index) -> Floats:
        """Number of n-grams of each order, (texts, order)."""
        lengths: Floats = self.lengths[texts, None] - np.arange(self.order, dtype=np.float64)
        return np.maximum(lengths, 0.0)

    def by_order(self, matrix: Any, weights: Floats | None = None) -> Floats:
        """Row sums of a matrix over the same n-grams, separately for each order.

        Args:
            matrix: Sparse (n, n-grams).
            weights: A factor for each n-gram.
        """
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        data = matrix.data if weights is None else matrix.data * weights[matrix.indices]
        cells = rows * self.order + self.order_of[matrix.indices]
        flat = np.bincount(cells, weights=data, minlength=matrix.shape[0] * self.order)
        return flat.reshape(matrix.shape[0], self.order).astype(np.float64, copy=False)

    def most(self, slots: Sequence[Index]) -> Any:
        """For each case the largest count of every n-gram in any of its texts, to clip with."""
        highest = self.counts[slots[0]]
        for slot in slots[1:]:
            highest = highest.maximum(self.counts[slot])
        return highest


def count_ngrams(texts: Sequence[Sequence[str]], *, order: int, hashed: bool = False) -> NgramCounts:
    """Count the n-grams of order 1 to `order` of texts given as words.

    With `hashed`, n-grams have hashes by which those of different sets are known to be the same, and stand in an
    order that does not depend on the other texts, so that sums over them are equal to the last bit.

    >>> counted = count_ngrams([["no", "effusion", "no", "effusion"], ["no"]], order=2)
    >>> counted.by_order(counted.counts)
    array([[4., 3.],
           [1., 0.],
           [0., 0.]])
    """
    lengths = np.array([*(len(words) for words in texts), 0], dtype=np.int64)
    vocabulary: dict[str, int] = defaultdict(count().__next__)
    if hashed:
        vocabulary.update(
            (word, position) for position, word in enumerate(sorted(set(chain.from_iterable(texts))))
        )
    words = _word_hashes(vocabulary) if hashed else None
    tokens = np.fromiter(
        map(vocabulary.__getitem__, chain.from_iterable(texts)), dtype=np.int64, count=int(lengths.sum())
    )
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    # remaining[i]: words from i to the end of its text, so n-grams never cross into the next text
    remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))

    start = np.arange(len(tokens))
    grams = tokens
    entry = len(vocabulary)
    rows, columns, orders = [text_of], [tokens], [np.zeros(entry, dtype=np.int64)]
    hashes = [] if words is None else [words]
    for size in range(2, order + 1):
        fits = remaining[start] >= size
        start, grams = start[fits], grams[fits]
        codes, grams = np.unique(grams * len(vocabulary) + tokens[start + size - 1], return_inverse=True)
        rows.append(text_of[start])
        columns.append(grams + entry)
        orders.append(np.full(len(codes), size - 1, dtype=np.int64))
        entry += len(codes)
        if words is not None:
            hashes.append(_extended(hashes[-1][codes // len(vocabulary)], words[codes % len(vocabulary)]))
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = sparse.coo_array((np.ones(len(row)), (row, column)), shape=(len(lengths), entry)).tocsr()
    return NgramCounts(
        counts, np.concatenate(orders), lengths, order, np.concatenate(hashes) if words is not None else None
    )


def _word_hashes(vocabulary: Iterable[str]) -> NDArray[np.uint64]:
    packed = b"".join(
        hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16).digest() for word in vocabulary
    )
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 2).astype(np.uint64)


def _extended(prefix: NDArray[np.uint64], last: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes of n-grams from those of all but their last word and of that word."""
    hashes = prefix * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64) + last
    hashes ^= hashes >> np.uint64(31)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(29)
    return hashes
