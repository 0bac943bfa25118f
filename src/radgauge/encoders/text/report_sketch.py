"""A report as one vector of fixed length that keeps what reports share: hashed words, graph items and claims.

Up to five blocks: words, pairs of words, entities and relations of the report graph, and claims. Each item adds
+1 or -1 at a place that a hash of it chooses (a count sketch, Charikar et al. 2002), so the product of two vectors
estimates how many items two reports have in common. The first four blocks have a fixed length, so the product is a
cosine; claims count by how much they matter, so the distance of two vectors is the weight of what the reports tell
differently. The sizes of the sets follow. No table is needed, and a word never seen before works like any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.encoders.text.report_claims import claims
from radgauge.reader import ReportReader, ReportReading, load_lexicon
from radgauge.reader.graph_json import embedded_graph_items
from radgauge.text.tokenizers import TokenReader

Vectors = NDArray[np.float32]
VERSION = 1
BLOCKS = ("words", "pairs", "entities", "relations", "claims")
WORDS_AND_GRAPH = (512, 512, 256, 256)
CLAIMS = (0, 0, 0, 0, 1024)
"""Sizes of blocks that suit targets made of words and graphs, and targets made of findings."""
_TIERS = {"urgent": 1.5, "actionable": 1.0, "not_actionable": 0.5, "benign": 0.3, "": 0.3}
_DENIED = 0.6  # what a denial weighs of the claim that it denies
_CENTRE, _SPREAD = 3.0, 0.5  # of the logarithms of sizes, so that all parts of the vector have a like scale


@dataclass(frozen=True)
class ReportSketch:
    """Sizes of the blocks."""

    # Places for words, pairs of words, entities, relations and claims; blocks at the end may be left out, and one
    # of size 0 is
    sizes: tuple[int, ...] = WORDS_AND_GRAPH
    scale: float = 4.0  # Length of each of the first four blocks, and twice the weight of an actionable claim

    @property
    def signature(self) -> str:
        """Settings and the report reader's version."""
        sizes = "+".join(map(str, self.sizes))
        return f"report-sketch-{VERSION}:{sizes}:{self.scale:g}|{ReportReader().signature}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return sum(self.sizes) + sum(map(bool, self.sizes))

    def vectors(self, texts: Sequence[str], *, reading: Readings) -> Vectors:
        """One row per text; each distinct text is sketched once per `reading`.

        >>> both = ReportSketch().vectors(["No effusion.", "No effusion seen."], reading=Readings())
        >>> both.shape
        (2, 1540)
        """
        cached: dict[str, Vectors] = reading.once(("sketch", self.signature), dict)
        fresh = [text for text in dict.fromkeys(texts) if text not in cached]
        if fresh:
            cached.update(zip(fresh, self._sketch(fresh, reading), strict=True))
        rows = [cached[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def empty(self, vectors: Vectors) -> NDArray[np.bool_]:
        """True for rows that hold nothing: no block found anything in the text.

        >>> claims = ReportSketch(CLAIMS)
        >>> claims.empty(claims.vectors(["No effusion.", "Please see above."], reading=Readings())).tolist()
        [False, True]
        """
        return np.logical_not(vectors[:, : sum(self.sizes)].any(axis=1))

    def _sketch(self, texts: Sequence[str], reading: Readings) -> Vectors:
        matrix = np.zeros((len(texts), self.dimensions), np.float32)
        start, column = 0, sum(self.sizes)
        for block, (name, size) in enumerate(zip(BLOCKS, self.sizes, strict=False)):
            if not size:
                continue
            sets = _items(name, texts, reading)
            counts = np.array([len(items) for items in sets], dtype=np.int64)
            part = matrix[:, start : start + size]
            distinct = {item: _column(block, item, size) for item in set(chain.from_iterable(sets))}
            # a place and its sign as one number, so that one pass over all items collects both
            hashed = np.fromiter(
                map(distinct.__getitem__, chain.from_iterable(sets)), dtype=np.int64, count=int(counts.sum())
            )
            cells = np.repeat(np.arange(len(sets)), counts) * size + (hashed >> 1)
            signed = 1.0 - 2.0 * (hashed & 1)
            if name == "claims":
                signed *= np.fromiter((weight for items in sets for weight in items.values()), float, len(hashed))
            part += np.bincount(cells, weights=signed, minlength=len(sets) * size).reshape(part.shape)
            if name == "claims":
                part *= self.scale / 2
            else:
                lengths = np.linalg.norm(part, axis=1, keepdims=True)
                np.divide(part, lengths / self.scale, out=part, where=lengths > 0)
            matrix[:, column] = (np.log1p(counts.astype(np.float32)) - _CENTRE) / _SPREAD
            start, column = start + size, column + 1
        return matrix


def _items(name: str, texts: Sequence[str], reading: Readings) -> list[dict[Hashable, float]]:
    """Items of each text in a block, with their weights."""
    if name in ("words", "pairs"):
        tokens = reading.of(TokenReader("cxr"), texts)
        return [
            dict.fromkeys(_levels(text_tokens if name == "words" else pairwise(text_tokens)), 1.0)
            for text_tokens in tokens
        ]
    if name == "claims":
        return reading.derive(ReportReader(), texts, _weighed, key="weighed claims")
    graphs = embedded_graph_items(texts, reading=reading)
    return [dict.fromkeys(getattr(graph, name), 1.0) for graph in graphs]


def _weighed(report: ReportReading) -> dict[Hashable, float]:
    """Claims of a report with what they weigh: how sure they are, and how much the finding matters."""
    lexicon = load_lexicon()
    weights: dict[Hashable, float] = {}
    for name, strength in claims(report).items():
        concept = name[1:].partition("@")[0].partition(":")[0]
        weight = strength * _TIERS[lexicon[concept].tier if concept in lexicon else ""]
        weights[name] = weight if name[0] == "+" else _DENIED * weight
    return weights


def _levels(items: Iterable[Hashable]) -> list[Hashable]:
    """Items numbered by occurrence, so that repeated words are matched as often as both texts have them."""
    seen: dict[Hashable, int] = {}
    levels: list[Hashable] = []
    for item in items:
        seen[item] = seen.get(item, 0) + 1
        levels.append((item, seen[item]))
    return levels


def _column(block: int, item: Hashable, size: int) -> int:
    """Twice the place of an item, plus one if it counts negative."""
    # crc32 of the written form is the same on every machine and in every run, unlike hash()
    hashed = zlib.crc32(f"{block}{item!r}".encode())
    return 2 * (hashed % size) + (0 if (hashed >> 24) & 1 else 1)
