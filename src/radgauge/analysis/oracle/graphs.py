"""RadGraph F1 of every corpus text against a query, from the items their graphs share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.oracle.postings import FeatureIndex
from radgauge.analysis.oracle.ranking import Found, best, contenders, not_judged
from radgauge.core.readings import Readings
from radgauge.metrics.radgraph import RadGraph, f1_of_counts
from radgauge.reader.graph_json import GraphItems

BLOCK = 4096  # texts read before their graphs are forgotten: graphs take more memory than the index
PARTS = {"yu": ("entities", "relations")}
"""Definitions that are the mean of several F1; the others count one set, which has their name."""


def search_graphs(
    metric: RadGraph, corpus: Sequence[str], *, queries: Sequence[str], top: int, reading: Readings
) -> Iterator[Found]:
    """The best corpus texts for each query by the metric's own definition.

    Args:
        metric: RadGraph F1, any definition.
        corpus: Distinct texts that are not blank.
        queries: Texts that are not blank.
        top: How many are wanted.
        reading: Asked block by block; only its disk cache keeps what was read.
    """
    names = PARTS.get(metric.variant, (metric.variant,))
    parts = [_Items() for _ in names]
    texts = [*corpus, *queries]
    filled = np.zeros(len(texts), bool)
    unread: dict[str, str] = {}
    for start in range(0, len(texts), BLOCK):
        block, fork = texts[start : start + BLOCK], reading.fork()
        for number, items in enumerate(metric.items(block, reading=fork), start=start):
            filled[number] = bool(items.entities)
            for name, part in zip(names, parts, strict=True):
                part.add(_set(items, name))
        unread.update(metric.unread(block, reading=fork))
    indexes = [part.index(queries=len(queries)) for part in parts]
    sizes = np.stack([np.array(part.sizes, np.float64) for part in parts], axis=1)
    corpus_sizes, query_sizes = sizes[: len(corpus)], sizes[len(corpus) :]
    singles = corpus_sizes.astype(np.float32).T.copy()
    unable = ~filled[: len(corpus)] if metric.empty == "nan" else np.array([text in unread for text in corpus])
    for number, size in enumerate(query_sizes):
        if queries[number] in unread:
            yield not_judged(f"reference: {unread[queries[number]]}")
            continue
        if metric.empty == "nan" and not filled[len(corpus) + number]:
            yield not_judged("no entities found in the reference")
            continue
        shared = [index.shared(number) for index in indexes]
        keys = np.zeros(len(corpus), np.float32)
        for matches, own, theirs in zip(shared, singles, size, strict=True):
            keys += matches / np.maximum(own + np.float32(theirs), np.float32(1))
        keys[unable] = -1
        able = contenders(keys, top=top)
        chosen = np.stack([counts[able] for counts in shared], axis=1).astype(np.float64)
        f1 = f1_of_counts(chosen, corpus_sizes[able], np.broadcast_to(size, chosen.shape))
        yield best(able, f1.mean(axis=1), top=top)


class _Items:
    """Numbers for the items of one set per text, in order of the texts."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.items: list[NDArray[np.int32]] = []
        self.sizes: list[int] = []

    def add(self, items: frozenset[tuple[object, ...]]) -> None:
        """The items of the next text."""
        known = self.numbers
        indices = [known.setdefault(item, len(known)) for item in items]
        self.items.append(np.array(indices, np.int32))
        self.sizes.append(len(indices))

    def index(self, *, queries: int) -> FeatureIndex:
        """The index of all texts, the last of which are queries."""
        text = np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)
        return FeatureIndex.of(text, np.concatenate(self.items), texts=len(self.sizes), queries=queries)


def _set(items: GraphItems, name: str) -> frozenset[tuple[object, ...]]:
    members: frozenset[tuple[object, ...]] = getattr(items, name)
    return members
