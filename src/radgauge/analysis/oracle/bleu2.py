"""BLEU-2 as CXR-Report-Metric defines it, of every corpus text against a query, by an inverted index.

A clipped match min(a, b) is the number of levels k = 1, 2, ... with k <= a and k <= b. So the k-th time that a
text says an n-gram is a feature of its own, and matches become the number of features that two texts share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.oracle.postings import FeatureIndex, radix_order
from radgauge.analysis.oracle.ranking import Found, best, contenders
from radgauge.core.readings import Readings
from radgauge.metrics.bleu import Bleu, brevity_penalty, cxr_bleu2
from radgauge.text.tokenizers import TokenReader

Numbers = NDArray[np.int64]


def search_bleu2(
    metric: Bleu, corpus: Sequence[str], *, queries: Sequence[str], top: int, reading: Readings
) -> Iterator[Found]:
    """The best corpus texts for each query, as candidates with the query as reference.

    Args:
        metric: BLEU of the variant "cxr".
        corpus: Distinct texts that are not blank.
        queries: Texts that are not blank.
        top: How many are wanted.
        reading: Not asked: splitting at blanks is cheaper than remembering.
    """
    lengths, orders = _index([*corpus, *queries], queries=len(queries))
    goals, lengths = lengths[len(corpus) :], lengths[: len(corpus)]
    each_length = np.arange(int(lengths.max()) + 1, dtype=np.float64)
    grams = np.maximum(each_length, 1) * np.maximum(each_length - 1, 1)
    for number, goal in enumerate(goals):
        ones, twos = (order.shared(number) for order in orders)
        # The square of the score up to rounding: no roots, and the penalty once per length.
        factor = (brevity_penalty(each_length, goal) ** 2 / grams).astype(np.float32)
        keys = np.maximum(twos, np.float32(0.1), dtype=np.float32)
        keys *= ones
        keys *= factor[lengths]
        able = contenders(keys, top=top)
        matches = np.stack([ones[able], twos[able]], axis=1).astype(np.float64)
        yield best(able, cxr_bleu2(matches, lengths[able], goal), top=top)


def _index(texts: Sequence[str], *, queries: int) -> tuple[Numbers, list[FeatureIndex]]:
    """Words of each text, and the features of words and of pairs of words."""
    words = TokenReader("cxr").read(texts)
    lengths = np.array([len(each) for each in words], dtype=np.int64)
    vocabulary: dict[str, int] = defaultdict(count().__next__)
    tokens = np.fromiter(
        map(vocabulary.__getitem__, chain.from_iterable(words)), dtype=np.int64, count=int(lengths.sum())
    )
    del words
    text = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    pair = np.flatnonzero(text[1:] == text[:-1])
    pairs = tokens[pair] * len(vocabulary) + tokens[pair + 1]
    return lengths, [
        _occurrences(tokens, text, texts=len(texts), queries=queries),
        _occurrences(pairs, text[pair], texts=len(texts), queries=queries),
    ]


def _occurrences(grams: Numbers, text: NDArray[np.int32], *, texts: int, queries: int) -> FeatureIndex:
    """The features (n-gram, how often the text has said it so far)."""
    order = radix_order(grams)
    grams, text = grams[order], text[order]
    new_gram, same_text = np.ones(len(grams), bool), np.zeros(len(grams), bool)
    new_gram[1:] = grams[1:] != grams[:-1]
    same_text[1:] = ~new_gram[1:] & (text[1:] == text[:-1])
    positions = np.arange(len(grams))
    level = positions - np.maximum.accumulate(np.where(same_text, 0, positions))
    begins = np.flatnonzero(new_gram)
    levels = np.maximum.reduceat(level, begins) + 1 if len(begins) else np.empty(0, np.int64)
    first = np.cumsum(levels) - levels
    return FeatureIndex.of(text, first[np.cumsum(new_gram) - 1] + level, texts=texts, queries=queries)
