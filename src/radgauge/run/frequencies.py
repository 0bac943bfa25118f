"""Document frequencies of a run in parts: counted bucket by bucket, merged on disk, looked up by every part.

CIDEr weighs an n-gram by how many studies of the run have it, BERTScore with idf a token by how many references.
The first pass counts those of every bucket; the counts are merged, a range of hashes at a time, into sorted arrays
(`run_frequencies`). N-grams and tokens are known by hashes of 128 bits, so values are those of a run in one pass,
to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.readings import Readings
from radgauge.run.engines import Engine
from radgauge.run.executors import run
from radgauge.run.run_frequencies import place_of, save, surveyed
from radgauge.run.screening import Screen
from radgauge.run.work import Job, Plan, cases_of

RANGES = 64
"""Ranges of hashes that are merged one after the other."""


def survey(
    plan: Plan, numbers: Sequence[int], *, engine: Engine, progress: Callable[[str, int, int], None]
) -> None:
    """Count and merge, for every metric that needs it and has it not yet."""
    for at in surveyed(plan.metrics):
        if (place_of(plan.folder, at) / "documents.npy").is_file():
            continue
        documents = 0
        jobs = ((plan.job(number), at) for number in numbers)
        for done, (_, n_documents) in enumerate(run(count_part, jobs, engine=engine)):
            documents += n_documents
            progress("counting words", done + 1, len(numbers))
        _merge(place_of(plan.folder, at), numbers, documents)


def count_part(item: tuple[Job, int]) -> int:
    """Count the n-grams or tokens of one bucket, keep them on disk, and say how many documents it has."""
    job, at = item
    metric = surveyed(job.plan.metrics)[at]
    reading = Readings()
    screen = Screen(job.plan.longest, job.plan.any_language)
    _, cases, _ = screen.usable(metric, cases_of(job).cases, reading=reading)
    documents, hashes, counts = metric.count_documents(cases, reading=reading)
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    folder = place_of(job.plan.folder, at)
    save(folder / f"{job.number}-hashes.npy", hashes[order])
    save(folder / f"{job.number}-counts.npy", counts[order])
    return documents


def _merge(folder: Path, numbers: Sequence[int], documents: int) -> None:
    parts = [
        (np.load(folder / f"{number}-hashes.npy", mmap_mode="r"), np.load(folder / f"{number}-counts.npy"))
        for number in numbers
    ]
    edges = [np.uint64((at << 64) // RANGES) for at in range(RANGES)]
    merged: list[NDArray[Any]] = []
    sums: list[NDArray[Any]] = []
    for at, low in enumerate(edges):
        hashes, counts = [], []
        for part_hashes, number in parts:
            start = np.searchsorted(part_hashes[:, 0], low)
            stop = np.searchsorted(part_hashes[:, 0], edges[at + 1]) if at + 1 < RANGES else len(part_hashes)
            hashes.append(part_hashes[start:stop])
            counts.append(number[start:stop])
        if not any(map(len, hashes)):
            continue
        unique, inverse = np.unique(np.concatenate(hashes), axis=0, return_inverse=True)
        merged.append(unique)
        sums.append(np.bincount(inverse.ravel(), weights=np.concatenate(counts)).astype(np.int64))
    save(folder / "hashes.npy", np.concatenate(merged) if merged else np.empty((0, 2), dtype=np.uint64))
    save(folder / "counts.npy", np.concatenate(sums) if sums else np.empty(0, dtype=np.int64))
    save(folder / "documents.npy", np.array(documents))
    for number in numbers:
        (folder / f"{number}-hashes.npy").unlink()
        (folder / f"{number}-counts.npy").unlink()
