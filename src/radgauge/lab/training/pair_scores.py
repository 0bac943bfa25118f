"""BLEU-2, RadGraph F1 and the preprint's RadCliQ of every pair of a block of reports, as matrix products.

What two reports share is a product of two sparse matrices once each is a row of ones and zeros: entities and
relations are such rows, and so are n-gram counts, because a clipped match min(a, b) is the number of levels
k = 1, 2, ... with k <= a and k <= b. A block of results is dense; nothing else is ever held.

Yu et al. (2022), Evaluating progress in automatic chest X-ray radiology report generation, medRxiv.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from radgauge.core.readings import Readings
from radgauge.metrics.radcliq import composite
from radgauge.metrics.radgraph import RadGraph
from radgauge.text.ngrams import NgramCounts, count_ngrams
from radgauge.text.tokenizers import TokenReader

Index = NDArray[np.intp]
Values = NDArray[np.float32]

TARGETS = {"radcliq": False, "radgraph_f1": True, "bleu2": True}
"""What a pair is scored with, and whether higher is better."""
BLOCK = 256
PAIRS_AT_ONCE = 1 << 16
CountShared = Callable[[Any, Index, Index], Values]


@dataclass(frozen=True, eq=False)
class PairValues:
    """Values of a block of pairs, each (references, candidates)."""

    radgraph_f1: Values
    bleu2: Values

    @property
    def radcliq(self) -> Values:
        """RadCliQ of the preprint: errors that radiologists would count, lower is better."""
        return radcliq_preprint(self.radgraph_f1, self.bleu2)

    def target(self, name: str) -> Values:
        """One of TARGETS."""
        values: Values = getattr(self, name)
        return values


def radcliq_preprint(radgraph_f1: Values, bleu2: Values) -> Values:
    """RadCliQ from its two terms.

    >>> radcliq_preprint(np.float32([1, 0]), np.float32([1, 0])).round(4)
    array([-0.1551,  3.4411], dtype=float32)
    """
    model = composite("preprint")
    weight = {term.part.partition(":")[0]: term for term in model.terms}
    total: Any = np.float32(model.intercept)
    for part, values in (("radgraph", radgraph_f1), ("bleu", bleu2)):
        term = weight[part]
        total = total + np.float32(term.coefficient / term.scale) * (values - np.float32(term.mean))
    return np.asarray(total, np.float32)


@dataclass(frozen=True, eq=False)
class PairScorer:
    """Reports, ready to be scored against each other."""

    lengths: NDArray[np.float32]  # Words of each report, as BLEU counts them
    grams: tuple[Any, ...]  # One sparse matrix of (n-gram, level) per order
    entities: Any  # Sparse (reports, distinct entities)
    relations: Any  # Sparse (reports, distinct relations)

    @classmethod
    def of(cls, texts: Sequence[str], *, reading: Readings, models: str = "embedded") -> PairScorer:
        """Read the reports.

        Args:
            texts: The reports.
            reading: Shared readings.
            models: Whose graphs: embedded, published (the RadGraph network), or a folder with the checkpoint. What
                the network cannot read has no entities, and so cannot be scored.

        >>> scorer = PairScorer.of(["No effusion.", "No effusion.", "Small effusion."], reading=Readings())
        >>> scorer.block(np.array([0]), np.array([1, 2])).bleu2.round(3)
        array([[1.   , 0.577]], dtype=float32)
        """
        counted = count_ngrams(reading.of(TokenReader("cxr"), texts), order=2)
        graphs = RadGraph(models=models).items(texts, reading=reading)
        return cls(
            lengths=counted.lengths[:-1].astype(np.float32),
            grams=tuple(_levels(counted, order) for order in range(2)),
            entities=membership([graph.entities for graph in graphs]),
            relations=membership([graph.relations for graph in graphs]),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def judgeable(self) -> NDArray[np.bool_]:
        """Reports that have words and entities; the others cannot be scored."""
        usable: NDArray[np.bool_] = (self.lengths > 0) & (_sizes(self.entities) > 0)
        return usable

    def block(self, references: Index, candidates: Index) -> PairValues:
        """Every reference against every candidate."""
        return self._values(references[:, None], candidates[None, :], shared)

    def paired(self, references: Index, candidates: Index) -> PairValues:
        """Each reference against the candidate at the same place."""
        return self._values(references, candidates, shared_each)

    def _values(self, references: Index, candidates: Index, count_shared: CountShared) -> PairValues:
        radgraph = np.float32(0)
        for matrix in (self.entities, self.relations):
            sizes = _sizes(matrix)
            both = sizes[references] + sizes[candidates]
            # 2PR / (P + R) is 2 |shared| / (|a| + |b|), halved for the mean; 0 where both are empty, as published
            radgraph = radgraph + count_shared(matrix, references, candidates) / np.maximum(both, 1)
        length, goal = self.lengths[candidates], self.lengths[references]
        ones, twos = (count_shared(matrix, references, candidates) for matrix in self.grams)
        # fast-bleu: 0.1 matches where there are none, at least one n-gram to divide by
        precision = ones / np.maximum(length, 1) * np.maximum(twos, np.float32(0.1)) / np.maximum(length - 1, 1)
        penalty = np.where(length > goal, np.float32(1), np.exp(1 - goal / np.maximum(length, 1)))
        return PairValues(np.asarray(radgraph, np.float32), (penalty * np.sqrt(precision)).astype(np.float32))


def shared_each(matrix: Any, rows: Index, columns: Index) -> Values:
    """Number of features that each of these rows shares with the one at the same index of those."""
    total = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        total[part] = matrix[rows[part]].multiply(matrix[columns[part]]).sum(axis=1)
    return total


def shared(matrix: Any, rows: Index, columns: Index) -> Values:
    """Number of features that each of these rows shares with each of those, dense (rows, columns)."""
    # sparse times dense: reports share so many words that a sparse result would be full anyway
    product: Values = matrix[rows.ravel()] @ np.ascontiguousarray(matrix[columns.ravel()].T.toarray())
    return product


def membership(sets: Sequence[Iterable[Hashable]]) -> Any:
    """Sets as sparse rows of ones.

    >>> membership([{"a"}, {"a", "b"}]).sum(axis=1).tolist()
    [1.0, 2.0]
    """
    number: dict[Hashable, int] = defaultdict(count().__next__)
    rows = [[number[item] for item in items] for items in sets]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    columns = np.fromiter((column for row in rows for column in row), dtype=np.int64, count=int(starts[-1]))
    ones = np.ones(len(columns), np.float32)
    return sparse.csr_array((ones, columns, starts), shape=(len(rows), max(len(number), 1)))


def _sizes(matrix: Any) -> Values:
    sizes: Values = np.diff(matrix.indptr).astype(np.float32)
    return sizes


def _levels(counted: NgramCounts, order: int) -> Any:
    """Counts of one order as ones: feature (n-gram, k) is there if the n-gram occurs at least k times."""
    matrix = counted.counts[:-1]
    text = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    chosen = counted.order_of[matrix.indices] == order
    gram, times, text = matrix.indices[chosen], matrix.data[chosen].astype(np.int64), text[chosen]
    level = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    feature = level * matrix.shape[1] + np.repeat(gram, times)
    _, column = np.unique(feature, return_inverse=True)
    ones = np.ones(len(column), np.float32)
    shape = (matrix.shape[0], int(column.max(initial=0)) + 1)
    return sparse.coo_array((ones, (np.repeat(text, times), column)), shape=shape).tocsr()
