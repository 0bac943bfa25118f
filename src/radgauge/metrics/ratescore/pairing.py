"""Each entity of one report and its closest in the other, for many pairs of reports at once.

Which entity is closest depends on neither weights nor penalty, so a pair of reports is summed up by 25 counts and
25 sums of cosines (one per pair of types) in each direction; any weights are then two products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.metrics.ratescore.weights import TYPES

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

CELLS = len(TYPES) ** 2
TIE = 1e-6
"""Floats closer than this are equal: vectors in single precision are not exact."""

_NUMBERS_AT_ONCE = 1 << 21  # of one padded block of vectors: stays in the processor's cache
_NOTHING = -2.0  # less than any cosine


@dataclass(frozen=True, eq=False)
class EntityTable:
    """The entities of all texts of a run as arrays."""

    vectors: Floats  # One row of length one per distinct entity name
    names: Sequence[Index]  # For each text the rows of its entities' names
    types: Sequence[Index]  # For each text the types of its entities, as indices into TYPES


@dataclass(frozen=True, eq=False)
class TypeSums:
    """Sums that weights are applied to: for each direction, pair of texts, and pair of types."""

    counts: Floats  # (2, pairs, 25), how many anchor entities were matched
    cosines: Floats  # (2, pairs, 25), the sum of their cosines

    def scores(self, weights: Floats, factors: Floats) -> Floats:
        """D(left -> right) and D(right -> left) of every pair, shape (2, pairs).

        D is the mean over anchor entities of factor times cosine, weighted by the weight of the two types; 0 where
        all weights are 0.

        Args:
            weights: (5, 5), row = anchor.
            factors: (5, 5), what the cosine is multiplied with.
        """
        total = self.counts @ weights.ravel()
        value: Floats = np.zeros(total.shape)
        np.divide(self.cosines @ (weights * factors).ravel(), total, out=value, where=total > 0)
        return value

    def f1(self, weights: Floats, factors: Floats) -> Floats:
        """Harmonic mean of both directions of every pair; 0 where they sum to 0."""
        forward, backward = self.scores(weights, factors)
        total = forward + backward
        value: Floats = np.zeros(total.shape)
        np.divide(2 * forward * backward, total, out=value, where=total != 0)
        return value


def closest(table: EntityTable, anchor: int, target: int) -> tuple[Index, Floats]:
    """For each entity of one text the closest of the other, and the cosine."""
    rows, columns = table.names[anchor], table.names[target]
    cosines = (table.vectors[rows] @ table.vectors[columns].T)[None]
    partner, cosine = _best(cosines, table.types[anchor][None], table.types[target][None])
    return partner[0], cosine[0]


def type_sums(table: EntityTable, left: Index, right: Index) -> TypeSums:
    """Match the entities of every pair of texts, both ways.

    Many may choose the same partner, and types do not matter for the choice, as published. Of equally close
    entities the first of the anchor's own type is taken; the authors' code leaves it to rounding.

    Args:
        table: The entities.
        left: One text per pair, with at least one entity.
        right: The other text of each pair, with at least one entity.
    """
    counts, sums = np.zeros((2, len(left), CELLS)), np.zeros((2, len(left), CELLS))
    distinct = _distinct(table)
    sizes = np.array([len(names) for names in distinct.names], dtype=np.intp)
    for block in _blocks(sizes[left], sizes[right], table.vectors.shape[1]):
        if len(block) == 1 and sizes[left[block[0]]] * sizes[right[block[0]]] > _NUMBERS_AT_ONCE:
            pair = int(block[0])
            for way, (anchor, target) in enumerate(((left[pair], right[pair]), (right[pair], left[pair]))):
                _add_up_long(distinct, int(anchor), int(target), counts[way, pair], sums[way, pair])
            continue
        a, a_types, a_often = _padded(distinct, left[block])
        b, b_types, b_often = _padded(distinct, right[block])
        cosines = np.matmul(table.vectors[a], table.vectors[b].transpose(0, 2, 1))
        cosines[~((a_often > 0)[:, :, None] & (b_often > 0)[:, None, :])] = _NOTHING
        _add_up(cosines, a_types, b_types, a_often, counts[0], sums[0], block)
        _add_up(cosines.transpose(0, 2, 1), b_types, a_types, b_often, counts[1], sums[1], block)
    return TypeSums(counts, sums)


@dataclass(frozen=True, eq=False)
class _Distinct:
    """The table with every (name, type) of a text once, in order of first appearance, and how often it occurs."""

    vectors: Floats
    names: Sequence[Index]
    types: Sequence[Index]
    often: Sequence[Index]


def _distinct(table: EntityTable) -> _Distinct:
    names, types, often = [], [], []
    for own_names, kinds in zip(table.names, table.types, strict=True):
        _, first, number = np.unique(own_names * len(TYPES) + kinds, return_index=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        names.append(own_names[first[order]])
        types.append(kinds[first[order]])
        often.append(number[order])
    return _Distinct(table.vectors, names, types, often)


def _add_up_long(table: _Distinct, anchor: int, target: int, counts: Floats, sums: Floats) -> None:
    """One direction of one pair of very long texts, some anchors at a time: memory stays bounded."""
    columns, kinds = table.vectors[table.names[target]], table.types[target][None]
    step = max(1, _NUMBERS_AT_ONCE // len(columns))
    for start in range(0, len(table.names[anchor]), step):
        part = slice(start, start + step)
        anchors, often = table.types[anchor][part][None], table.often[anchor][part][None]
        cosines = (table.vectors[table.names[anchor][part]] @ columns.T)[None]
        totals, cosine = np.zeros((1, CELLS)), np.zeros((1, CELLS))
        _add_up(cosines, anchors, kinds, often, totals, cosine, np.zeros(1, dtype=np.intp))
        counts += totals[0]
        sums += cosine[0]


def _blocks(rows: Index, columns: Index, dimensions: int) -> Iterator[Index]:
    """Pairs of like size together, so that padding wastes little."""
    order = np.lexsort((columns, rows))
    heights, widths = rows[order].tolist(), columns[order].tolist()
    start = 0
    while start < len(order):
        stop, height, width = start, 0, 0
        while stop < len(order):
            height, width = max(height, heights[stop]), max(width, widths[stop])
            numbers = (stop + 1 - start) * ((height + width) * dimensions + height * width)
            if stop > start and numbers > _NUMBERS_AT_ONCE:
                break
            stop += 1
        yield order[start:stop]
        start = stop


def _padded(table: _Distinct, texts: Index) -> tuple[Index, Index, Index]:
    """Rows of names, types, and how often each occurs; 0 times is padding."""
    sizes = np.array([len(table.names[text]) for text in texts])
    real = np.arange(sizes.max())[None, :] < sizes[:, None]
    names, types, often = (np.zeros(real.shape, dtype=np.intp) for _ in range(3))
    names[real] = np.concatenate([table.names[text] for text in texts])
    types[real] = np.concatenate([table.types[text] for text in texts])
    often[real] = np.concatenate([table.often[text] for text in texts])
    return names, types, often


def _best(cosines: Floats, anchors: Index, targets: Index) -> tuple[Index, Floats]:
    top = cosines.max(axis=2)
    near = cosines >= (top - TIE)[:, :, None]
    same = anchors[:, :, None] == targets[:, None, :]
    partner = np.argmax(near * (1 + same.astype(np.int8)), axis=2)
    return partner, np.take_along_axis(cosines, partner[:, :, None], axis=2)[:, :, 0]


def _add_up(
    cosines: Floats,
    anchors: Index,
    targets: Index,
    often: Index,
    counts: Floats,
    sums: Floats,
    block: Index,
) -> None:
    partner, cosine = _best(cosines, anchors, targets)
    cell = anchors * len(TYPES) + np.take_along_axis(targets, partner, axis=1)
    flat = (np.arange(len(block))[:, None] * CELLS + cell).ravel()
    size, times = len(block) * CELLS, often.ravel().astype(np.float64)
    counts[block] = np.bincount(flat, weights=times, minlength=size).reshape(-1, CELLS)
    # rows of length one have a cosine of at most 1, but for rounding: 1.0000001 is no score
    clipped = np.clip(cosine.ravel(), -1.0, 1.0)
    sums[block] = np.bincount(flat, weights=times * clipped, minlength=size).reshape(-1, CELLS)
