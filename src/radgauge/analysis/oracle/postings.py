"""An inverted index: which texts have which features, and how many each shares with a query.

An inverted index in two parts. Features that many texts have are dense columns of ones and zeros, which add up
at the speed of memory; the others are lists of the texts that have them. Sparse matrix products would touch as
many entries one by one, and hold the results of many queries at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer]
Counts = NDArray[np.uint8] | NDArray[np.uint16]

COMMON = 16  # a feature of more than one text in this many is a dense column; measured, see benchmarks/oracle.py
_DIGIT = 1 << 16


@dataclass(frozen=True, eq=False)
class FeatureIndex:
    """Corpus texts by feature, and the features of the queries."""

    texts: int  # Number of texts in the corpus
    members: NDArray[np.int32]  # Corpus texts with feature f are members[starts[f] : starts[f + 1]]
    starts: NDArray[np.int64]  # One more than there are features
    dense: NDArray[np.uint8]  # One row of ones and zeros per common feature
    row_of: NDArray[np.int32]  # Row of each feature in `dense`, -1 if it is not common
    asked: NDArray[np.int64]  # Features of query q that the corpus has are asked[ends[q] : ends[q + 1]]
    ends: NDArray[np.int64]  # One more than there are queries

    @classmethod
    def of(cls, text: Integers, feature: Integers, *, texts: int, queries: int) -> FeatureIndex:
        """An index of pairs (text, feature), each of which occurs once.

        Args:
            text: Number of the text; the last `queries` of all texts are queries, the others the corpus.
            feature: Number of the feature, from 0.
            texts: Number of all texts.
            queries: Number of queries.

        >>> index = FeatureIndex.of(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]), texts=3, queries=1)
        >>> index.shared(0).tolist()
        [1, 1]
        """
        corpus = texts - queries
        inside = text < corpus
        features = int(feature.max(initial=-1)) + 1
        order = radix_order(feature[inside])
        members = text[inside][order].astype(np.int32)
        sizes = np.bincount(feature[inside], minlength=features)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        common = np.flatnonzero(sizes * COMMON > corpus)
        dense = np.zeros((len(common), corpus), np.uint8)
        for row, each in enumerate(common):
            dense[row, members[starts[each] : starts[each + 1]]] = 1
        row_of = np.full(features, -1, np.int32)
        row_of[common] = np.arange(len(common))
        outside = np.flatnonzero(~inside & (sizes[feature] > 0))
        outside = outside[np.argsort(text[outside], kind="stable")]
        ends = np.concatenate([[0], np.cumsum(np.bincount(text[outside] - corpus, minlength=queries))])
        return cls(corpus, members, starts, dense, row_of, feature[outside].astype(np.int64), ends)

    def shared(self, query: int) -> Counts:
        """Number of features of the query in each text of the corpus."""
        features = self.asked[self.ends[query] : self.ends[query + 1]]
        total: Counts = np.zeros(self.texts, np.uint8) if len(features) < 256 else np.zeros(self.texts, np.uint16)
        rows = self.row_of[features]
        for row in rows[rows >= 0].tolist():
            np.add(total, self.dense[row], out=total)
        for feature in features[rows < 0].tolist():
            # a text is listed once per feature, so that no increment is lost
            total[self.members[self.starts[feature] : self.starts[feature + 1]]] += 1
        return total


def radix_order(keys: Integers) -> NDArray[np.intp]:
    """The stable order of numbers from 0, by 16 bits at a time: numpy sorts only short integers in linear time.

    >>> radix_order(np.array([70_000, 3, 70_000, 0])).tolist()
    [3, 1, 0, 2]
    """
    order = np.argsort((keys % _DIGIT).astype(np.uint16), kind="stable")
    high = keys // _DIGIT
    while high.any():
        order = order[np.argsort((high[order] % _DIGIT).astype(np.uint16), kind="stable")]
        high //= _DIGIT
    return order
