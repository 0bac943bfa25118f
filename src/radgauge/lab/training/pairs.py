"""Pairs of similar reports from a corpus, to train a metric on: Best Match and Top 10 %.

Calamida et al. (2023), arXiv 2311.16764, sections 3 and 4: every report is scored against every other of its
cluster with the RadCliQ of the preprint; kept are either the best partner of each report or the best tenth of
all pairs. All pairs are scored, block by block, and only those that are kept are ever held.

The paper splits pairs at random, so that a report of a test pair also stands in training pairs: a model can then
score well by remembering reports. `split="report"` deals reports to the splits first and pairs within each.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from radgauge.core.errors import UsageError
from radgauge.core.files import make_folder
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.storage import passing_folder
from radgauge.lab.training.clusters import Clusters
from radgauge.lab.training.pair_scores import (
    BLOCK,
    Index,
    PairScorer,
    PairValues,
    Values,
    membership,
    shared,
    shared_each,
)
from radgauge.lab.training.term_reports import TermReport
from radgauge.run.executors import HERE, Engine, run_in_order

# Blocks of pairs, scored here or by several processes: the same blocks in the same order, so the same bits.
#
# Workers load the matrices once, from a temporary folder; what goes to them are the positions of a block, and what
# comes back are its values.

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
    with passing_folder() as folder:
        _keep(folder, scorer, words)
        scored = run_in_order(score_block, ((folder, block) for block in blocks), engine=engine)
        yield from ((block, *result) for block, result in zip(blocks, scored, strict=True))


def score_block(item: tuple[Path, Block]) -> tuple[PairValues, Counts]:
    """The values of one block, in a worker."""
    folder, block = item
    scorer, words = _load(folder)
    return _scored(scorer, words, block)


def _scored(scorer: PairScorer, words: Any, block: Block) -> tuple[PairValues, Counts]:
    common = np.minimum(shared(words, block.references, block.members), 2).astype(np.int64)
    left, right = block.references[:, None], block.members[None, :]
    common = common[left < right if block.once else left != right]
    counts = np.bincount(common, minlength=3).astype(np.float64)
    return scorer.block(block.references, block.members), counts


def _keep(folder: Path, scorer: PairScorer, words: Any) -> None:
    make_folder(folder)
    np.save(folder / "lengths.npy", scorer.lengths)
    for name, matrix in zip(_NAMES, (*scorer.grams, scorer.entities, scorer.relations, words), strict=True):
        sparse.save_npz(folder / f"{name}.npz", matrix, compressed=False)


@functools.lru_cache(maxsize=1)
def _load(folder: Path) -> tuple[PairScorer, Any]:
    ones, twos, entities, relations, words = (sparse.load_npz(folder / f"{name}.npz") for name in _NAMES)
    return PairScorer(np.load(folder / "lengths.npy"), (ones, twos), entities, relations), words


_NAMES = ("ones", "twos", "entities", "relations", "words")


CORPORA = ("top", "best")
SPLIT_RULES = ("report", "pairs")
SPLITS = ("train", "val", "test")
SHARES = (0.64, 0.16, 0.20)  # 80/20, and 80/20 again


class Pairs(NamedTuple):
    """Parallel arrays: positions of the two reports, and the values of the pair."""

    reference: Index
    candidate: Index
    radcliq: Values
    radgraph_f1: Values
    bleu2: Values

    def take(self, where: NDArray[np.generic]) -> Pairs:
        """The pairs at these positions."""
        return Pairs(*(column[where] for column in self))


class Overlap(NamedTuple):
    """Share of pairs whose reports have none, one, or more words of their terms in common (section 4)."""

    none: float
    one: float
    more: float


@dataclass(frozen=True, eq=False)
class PairCorpus:
    """Pairs in splits, and the figures that describe them."""

    splits: dict[str, Pairs]
    scored: int  # How many pairs were scored to find them
    kept: int  # How many were found; the splits hold more if there is background
    report_split: NDArray[np.int8] | None  # Split of each report if reports were dealt, else None
    abnormal: dict[str, float]  # Split -> share of pairs whose reference is abnormal (table 6), without background
    overlap: dict[str, Overlap]  # Split, "kept" or "all" -> overlap of terms; "all" is every pair that was scored
    seen: dict[str, float]  # Split -> share of its pairs with at least one report that a training pair has too
    lonely: int  # Reports without a partner in their cluster and split


@working("building pairs")
def build_pairs(
    reports: Sequence[TermReport],
    clusters: Clusters,
    *,
    corpus: str = "top",
    share: float = 0.1,
    split: str = "report",
    background: float = 0.0,
    unordered: bool = False,
    models: str = "embedded",
    seed: int = 0,
    reading: Readings | None = None,
    engine: Engine = HERE,
) -> PairCorpus:
    """Score every pair inside each cluster and keep the best.

    Args:
        reports: The reports.
        clusters: Their clusters.
        corpus: "top": the best `share` of all pairs; "best": the best partner of each report.
        share: Of the corpus "top".
        split: "report": no report stands in two splits; "pairs": pairs at random, as in the paper.
        background: Pairs of any two reports of a split, per kept pair, added to the training split only; and as
            many as there are reports of a report with itself. A model that never saw a bad pair or a perfect one
            does not know them.
        unordered: Count two reports once, the earlier one as reference, as the paper counts them (737,014 pairs of
            IU X-ray, of which the best tenth are 73,691); else each of them is the reference once.
        models: Who reads the graphs: embedded, published (RadGraph), or a folder with the checkpoint.
        seed: Of the splits and of the background.
        reading: Shared readings.
        engine: Where pairs are scored; the same pairs and values, whoever does it.
    """
    _check(corpus=corpus, share=share, split=split, background=background)
    rng = np.random.default_rng(seed)
    scorer = PairScorer.of([report.text for report in reports], reading=reading or Readings(), models=models)
    words = membership([{word for term in report.terms for word in term.split("/")} for report in reports])
    dealt = _deal(reports, clusters, rng) if split == "report" else None
    usable = scorer.judgeable
    parts = range(len(SPLITS)) if dealt is not None else (None,)
    splits_found: dict[str, Pairs] = {}
    counts = np.zeros(3)
    scored = lonely = 0
    for part in parts:
        in_split = usable if part is None or dealt is None else usable & (dealt == part)
        groups = [np.flatnonzero(in_split & (clusters.labels == cluster)) for cluster in range(clusters.k)]
        lonely += sum(len(group) == 1 for group in groups)
        total = sum(len(group) * (len(group) - 1) for group in groups) // (2 if unordered else 1)
        scored += total
        pool = _Pool(round(total * share) if corpus == "top" else None)
        once = unordered and corpus == "top"
        for block, values, common in scored_blocks(scorer, words, groups, once=unordered, engine=engine):
            counts += common
            pool.add(block.references, block.members, values, once=once)
        pairs = pool.result()
        splits_found["" if part is None else SPLITS[part]] = _mutual_once(pairs) if unordered else pairs
    splits = splits_found if dealt is not None else _split_pairs(splits_found[""], rng)
    overlaps = {name: _overlap(words, pairs) for name, pairs in splits.items()}
    overlaps["kept"] = _overlap(words, _joined(list(splits.values())))
    overlaps["all"] = Overlap(*(counts / max(counts.sum(), 1)).tolist())
    normal = np.array([report.normal for report in reports])
    abnormal = {name: float((~normal[pairs.reference]).mean()) for name, pairs in splits.items() if len(pairs[0])}
    found_in_all = sum(len(pairs.reference) for pairs in splits.values())
    if background:
        among = np.flatnonzero(usable if dealt is None else usable & (dealt == 0))
        splits["train"] = _joined([splits["train"], *_background(scorer, among, splits["train"], background, rng)])
    return PairCorpus(
        splits=splits,
        scored=scored,
        kept=found_in_all,
        report_split=dealt,
        abnormal=abnormal,
        overlap=overlaps,
        seen=_seen(splits),
        lonely=lonely,
    )


def _check(*, corpus: str, share: float, split: str, background: float) -> None:
    if corpus not in CORPORA:
        raise UsageError(f"the kind of corpus must be one of {', '.join(CORPORA)}, got {corpus!r}")
    if split not in SPLIT_RULES:
        raise UsageError(f"split must be one of {', '.join(SPLIT_RULES)}, got {split!r}")
    if not 0 < share <= 1:
        raise UsageError(f"share must be above 0 and at most 1, got {share}")
    if background < 0:
        raise UsageError(f"background must be 0 or more, got {background}")


def _deal(reports: Sequence[TermReport], clusters: Clusters, rng: np.random.Generator) -> NDArray[np.int8]:
    """Deal reports to splits, cluster by cluster; equal texts go the same way."""
    dealt = np.full(len(reports), -1, dtype=np.int8)
    taken: dict[str, np.int8] = {}
    for cluster in range(clusters.k):
        members = rng.permutation(np.flatnonzero(clusters.labels == cluster))
        borders = np.round(np.cumsum(SHARES) * len(members)).astype(int)
        for position, at in enumerate(members):
            part = np.int8(np.searchsorted(borders, position, side="right"))
            dealt[at] = taken.setdefault(reports[at].text, part)
    return dealt


class _Pool:
    """The best pairs so far: the best `size` of all, or the best of each reference if `size` is None."""

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._kept: list[Pairs] = []
        self._count = 0
        self._bound = np.float32(np.inf)

    def add(self, references: Index, members: Index, values: PairValues, *, once: bool = False) -> None:
        scores = values.radcliq
        own = references[:, None] >= members[None, :] if once else references[:, None] == members[None, :]
        scores = np.where(own, np.float32(np.inf), scores)
        if self._size is None:
            rows, columns = np.arange(len(references)), scores.argmin(axis=1)
        else:
            rows, columns = np.nonzero(scores < self._bound)
        self._kept.append(
            Pairs(
                references[rows],
                members[columns],
                scores[rows, columns],
                values.radgraph_f1[rows, columns],
                values.bleu2[rows, columns],
            )
        )
        self._count += len(rows)
        if self._size is not None and self._count > 2 * self._size:
            self._shrink()

    def _shrink(self) -> None:
        pairs = _joined(self._kept)
        if self._size is not None and len(pairs.radcliq) > self._size:
            order = np.lexsort((pairs.candidate, pairs.reference, pairs.radcliq))[: self._size]
            pairs = pairs.take(order)
            self._bound = pairs.radcliq[-1] if self._size else np.float32(-np.inf)
        self._kept, self._count = [pairs], len(pairs.radcliq)

    def result(self) -> Pairs:
        self._shrink()
        pairs = self._kept[0]
        return pairs.take(np.isfinite(pairs.radcliq))


def _mutual_once(pairs: Pairs) -> Pairs:
    """Without the second of two pairs of the same two reports."""
    low, high = np.minimum(pairs.reference, pairs.candidate), np.maximum(pairs.reference, pairs.candidate)
    _, first = np.unique(np.stack([low, high]), axis=1, return_index=True)
    return pairs.take(np.sort(first))


def _joined(parts: Sequence[Pairs]) -> Pairs:
    kinds = (np.intp, np.intp, np.float32, np.float32, np.float32)
    columns = zip(*parts, strict=True) if parts else ((),) * len(kinds)
    return Pairs(
        *(
            np.concatenate([np.empty(0, kind), *column]).astype(kind)
            for kind, column in zip(kinds, columns, strict=True)
        )
    )


def _split_pairs(pairs: Pairs, rng: np.random.Generator) -> dict[str, Pairs]:
    order = rng.permutation(len(pairs.reference))
    borders = np.round(np.cumsum(SHARES)[:-1] * len(order)).astype(int)
    return {name: pairs.take(part) for name, part in zip(SPLITS, np.split(order, borders), strict=True)}


def _background(
    scorer: PairScorer, among: Index, selected: Pairs, per_pair: float, rng: np.random.Generator
) -> list[Pairs]:
    number = round(per_pair * len(selected.reference))
    references, candidates = rng.choice(among, number), rng.choice(among, number)
    copies = among[: min(number, len(among))]
    return [scored_pairs(scorer, references, candidates), scored_pairs(scorer, copies, copies)]


def scored_pairs(scorer: PairScorer, references: Index, candidates: Index) -> Pairs:
    """Pairs of the reports at these positions, one by one."""
    values = scorer.paired(references, candidates)
    return Pairs(references, candidates, values.radcliq, values.radgraph_f1, values.bleu2)


def _overlap(words: object, pairs: Pairs) -> Overlap:
    if not len(pairs.reference):
        return Overlap(float("nan"), float("nan"), float("nan"))
    common = np.minimum(shared_each(words, pairs.reference, pairs.candidate), 2).astype(np.int64)
    return Overlap(*(np.bincount(common, minlength=3) / len(common)).tolist())


def _seen(splits: dict[str, Pairs]) -> dict[str, float]:
    training = np.union1d(splits["train"].reference, splits["train"].candidate)
    return {
        name: float((np.isin(pairs.reference, training) | np.isin(pairs.candidate, training)).mean())
        for name, pairs in splits.items()
        if name != "train" and len(pairs.reference)
    }
