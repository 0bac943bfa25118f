"""Document frequencies of a whole run, for the parts of it: arrays on disk that workers map into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.files import replacing
from radgauge.core.metric import Metric, unaliased
from radgauge.core.readings import Readings
from radgauge.metrics.bertscore import BertScore
from radgauge.metrics.cider import Cider, Counts, Hashes
from radgauge.run.buckets import WORK


@dataclass(frozen=True)
class RunFrequencies:
    """Document frequencies in arrays on disk, sorted by hash."""

    documents: int
    hashes: Hashes
    counts: Counts

    def of(self, hashes: Hashes) -> Counts:
        """Number of documents with each n-gram; 0 for one that none has."""
        totals = np.zeros(len(hashes), dtype=np.int64)
        if not len(self.hashes):
            return totals
        position = np.searchsorted(self.hashes[:, 0], hashes[:, 0])
        for _ in range(4):  # neighbours share the first half of a hash once in a billion runs
            here = np.minimum(position, len(self.hashes) - 1)
            same = (self.hashes[here] == hashes).all(axis=1)
            totals[same] = self.counts[here[same]]
            position = position + 1
        return totals


def surveyed(metrics: Sequence[Metric]) -> dict[int, Cider | BertScore]:
    """The metrics that take two passes, by their place."""
    by_index = {at: unaliased(metric) for at, metric in enumerate(metrics)}
    return {
        at: metric
        for at, metric in by_index.items()
        if isinstance(metric, Cider) or (isinstance(metric, BertScore) and metric.idf)
    }


def give_frequencies(folder: Path, metrics: Sequence[Metric], reading: Readings) -> None:
    """Let the metrics of a part know the frequencies of the run."""
    for at, metric in surveyed(metrics).items():
        folder_of_metric = place_of(folder, at)
        frequencies = RunFrequencies(
            int(np.load(folder_of_metric / "documents.npy")),
            np.load(folder_of_metric / "hashes.npy", mmap_mode="r"),
            np.load(folder_of_metric / "counts.npy", mmap_mode="r"),
        )
        reading.give(metric.pass_key, frequencies)


def place_of(folder: Path, at: int) -> Path:
    """Path of the frequencies of a metric while a run is under way."""
    return folder / WORK / f"frequencies-{at}"


def save(path: Path, array: NDArray[Any]) -> None:
    """Write an array, whole or not at all."""
    with replacing(path) as beside:
        np.save(beside, array)
