"""Blocks of pairs, scored here or by several processes: the same blocks in the same order, so the same bits.

Workers load the matrices once, from a temporary folder; what goes to them are the positions of a block, and what
comes back are its values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from radgauge.core.files import make_folder
from radgauge.core.storage import passing_folder
from radgauge.lab.training.pair_scores import BLOCK, Index, PairScorer, PairValues, shared
from radgauge.run.executors import HERE, Engine, run_in_order

Counts = NDArray[np.float64]


class Block(NamedTuple):
    """Some references against all members of a group; `once` counts two reports once."""

    references: Index
    members: Index
    once: bool


def scored_blocks(
    scorer: PairScorer, words: Any, groups: Sequence[Index], *, once: bool, engine: Engine = HERE
) -> Iterator[tuple[Block, PairValues, Counts]]:
    """Every pair inside each group, block by block: values, and how many pairs share 0, 1 or more words."""
    blocks = [
        Block(members[start : start + BLOCK], members, once)
        for members in groups
        if len(members) > 1
        for start in range(0, len(members), BLOCK)
    ]
    if engine.name == "process" or len(blocks) < 2:
        yield from ((block, *_scored(scorer, words, block)) for block in blocks)
        return
    with passing_folder() as place:
        _keep(place, scorer, words)
        found = run_in_order(score_block, ((place, block) for block in blocks), engine=engine)
        yield from ((block, *each) for block, each in zip(blocks, found, strict=True))


def score_block(item: tuple[Path, Block]) -> tuple[PairValues, Counts]:
    """The values of one block, in a worker."""
    place, block = item
    scorer, words = _kept(place)
    return _scored(scorer, words, block)


def _scored(scorer: PairScorer, words: Any, block: Block) -> tuple[PairValues, Counts]:
    common = np.minimum(shared(words, block.references, block.members), 2).astype(np.int64)
    left, right = block.references[:, None], block.members[None, :]
    common = common[left < right if block.once else left != right]
    counts = np.bincount(common, minlength=3).astype(np.float64)
    return scorer.block(block.references, block.members), counts


def _keep(place: Path, scorer: PairScorer, words: Any) -> None:
    make_folder(place)
    np.save(place / "lengths.npy", scorer.lengths)
    for name, matrix in zip(_NAMES, (*scorer.grams, scorer.entities, scorer.relations, words), strict=True):
        sparse.save_npz(place / f"{name}.npz", matrix, compressed=False)


@functools.lru_cache(maxsize=1)
def _kept(place: Path) -> tuple[PairScorer, Any]:
    ones, twos, entities, relations, words = (sparse.load_npz(place / f"{name}.npz") for name in _NAMES)
    return PairScorer(np.load(place / "lengths.npy"), (ones, twos), entities, relations), words


_NAMES = ("ones", "twos", "entities", "relations", "words")
