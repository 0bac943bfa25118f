"""A report as one vector of fixed length that keeps what reports share: hashed words and graph items.

Four blocks: words, pairs of words, entities, and relations of the report graph. Each item adds +1 or -1 at a place
that a hash of it chooses (a count sketch, Charikar et al. 2002), so the product of two vectors estimates how many
items two reports have in common; each block has length one, so the product is a cosine. The sizes of the four
sets follow. No table of words is needed, and a word never seen before works like any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from radgauge.reading import Readings
from radgauge.report_reader import ReportReader, ReportReading, radgraph_graph
from radgauge.report_reader.graph_json import graph_items
from radgauge.text.tokenizers import TokenReader

Vectors = NDArray[np.float32]
VERSION = 1
BLOCKS = ("words", "pairs", "entities", "relations")
_CENTRE, _SPREAD = 3.0, 0.5  # of the logarithms of sizes, so that all parts of the vector have a like scale


@dataclass(frozen=True)
class ReportSketch:
    """How long the blocks are.

    Attributes:
        sizes: Places for words, pairs of words, entities and relations.
        scale: Length of each block.
    """

    sizes: tuple[int, int, int, int] = (512, 512, 256, 256)
    scale: float = 4.0

    @property
    def signature(self) -> str:
        """Settings and the report reader's version."""
        sizes = "+".join(map(str, self.sizes))
        return f"report-sketch-{VERSION}:{sizes}:{self.scale:g}|{ReportReader().signature}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return sum(self.sizes) + len(self.sizes)

    def vectors(self, texts: Sequence[str], *, reading: Readings) -> Vectors:
        """One row per text; each distinct text is sketched once per `reading`.

        >>> both = ReportSketch().vectors(["No effusion.", "No effusion seen."], reading=Readings())
        >>> both.shape
        (2, 1540)
        """
        known: dict[str, Vectors] = reading.once(("sketch", self.signature), dict)
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            words = reading.of(TokenReader("cxr"), fresh)
            reports = reading.of(ReportReader(), fresh)
            known.update(zip(fresh, self._sketch(words, reports), strict=True))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def _sketch(self, words: Sequence[tuple[str, ...]], reports: Sequence[ReportReading]) -> Vectors:
        graphs = [graph_items(radgraph_graph(report)) for report in reports]
        items: list[list[list[Hashable]]] = [
            [_levels(each) for each in words],
            [_levels(pairwise(each)) for each in words],
            [list(graph.entities) for graph in graphs],
            [list(graph.relations) for graph in graphs],
        ]
        found = np.zeros((len(words), self.dimensions), np.float32)
        start = 0
        for block, (size, sets) in enumerate(zip(self.sizes, items, strict=True)):
            part = found[:, start : start + size]
            counts = np.array([len(each) for each in sets], dtype=np.int64)
            distinct = {item: _place(block, item, size) for item in set(chain.from_iterable(sets))}
            # a place and its sign as one number, so that one pass over all items collects both
            hashed = np.fromiter(
                map(distinct.__getitem__, chain.from_iterable(sets)), dtype=np.int64, count=int(counts.sum())
            )
            cells = np.repeat(np.arange(len(sets)), counts) * size + (hashed >> 1)
            signs = 1.0 - 2.0 * (hashed & 1)
            part += np.bincount(cells, weights=signs, minlength=len(sets) * size).reshape(part.shape)
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            np.divide(part, lengths / self.scale, out=part, where=lengths > 0)
            found[:, sum(self.sizes) + block] = (np.log1p(counts.astype(np.float32)) - _CENTRE) / _SPREAD
            start += size
        return found


def _levels(items: Iterable[Hashable]) -> list[Hashable]:
    """Items numbered by occurrence, so that repeated words are matched as often as both texts have them."""
    seen: dict[Hashable, int] = {}
    found: list[Hashable] = []
    for item in items:
        seen[item] = seen.get(item, 0) + 1
        found.append((item, seen[item]))
    return found


def _place(block: int, item: Hashable, size: int) -> int:
    """Twice the place of an item, plus one if it counts negative."""
    # crc32 of the written form is the same on every machine and in every run, unlike hash()
    hashed = zlib.crc32(f"{block}{item!r}".encode())
    return 2 * (hashed % size) + (0 if (hashed >> 24) & 1 else 1)
