"""Matching of images and reports: retrieval and the separation of own from other reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Matching:
    """Figures of n studies, each with one picture vector and one report vector."""

    studies: int
    # Chance that a study's own report is nearer to its pictures than another study's report is (all pairs of one
    # own and one other, ties count half)
    auroc: float
    recall_1: float  # Share of pictures whose own report is the nearest of all; 5, 10: among the nearest five, ten
    recall_5: float
    recall_10: float
    median_rank: float  # Of the own report among all; 1 is best
    text_recall_1: float  # The same, from reports to pictures
    text_recall_5: float
    text_recall_10: float
    text_median_rank: float


def matching(pictures: Vectors, reports: Vectors) -> Matching:
    """Figures for vectors of length one, row by row of the same study.

    >>> matching(np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)).auroc
    1.0
    """
    near = pictures.astype(np.float64) @ reports.astype(np.float64).T
    own = np.diag(near)
    other = near[~np.eye(len(near), dtype=bool)]
    to_text, to_picture = ranks(near), ranks(near.T)

    def recall(positions: NDArray[np.float64], limit: int) -> float:
        return float((positions <= limit).mean())

    return Matching(
        studies=len(near),
        auroc=auroc(own, other),
        recall_1=recall(to_text, 1),
        recall_5=recall(to_text, 5),
        recall_10=recall(to_text, 10),
        median_rank=float(np.median(to_text)),
        text_recall_1=recall(to_picture, 1),
        text_recall_5=recall(to_picture, 5),
        text_recall_10=recall(to_picture, 10),
        text_median_rank=float(np.median(to_picture)),
    )


def ranks(near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place of the own column in each row, 1 = best; of equals, the middle place."""
    own = np.diag(near)[:, None]
    better = (near > own).sum(axis=1)
    equal = (near == own).sum(axis=1) - 1
    ranked: NDArray[np.float64] = 1 + better + equal / 2
    return ranked


def auroc(higher: NDArray[np.float64], lower: NDArray[np.float64]) -> float:
    """Chance that a value of the first kind exceeds one of the second; NaN if either is empty.

    >>> auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    if not len(higher) or not len(lower):
        return float("nan")
    positions = rankdata(np.concatenate([higher, lower]))[: len(higher)]
    return float((positions.sum() - len(higher) * (len(higher) + 1) / 2) / (len(higher) * len(lower)))


def mean_by_study(vectors: Vectors, owners: NDArray[np.intp], *, studies: int) -> Vectors:
    """One vector per study: the mean of its pictures' vectors."""
    total = np.zeros((studies, vectors.shape[1]), np.float64)
    np.add.at(total, owners, vectors)
    means: Vectors = (total / np.bincount(owners, minlength=studies)[:, None]).astype(np.float32)
    return means


def largest_area(pictures: Vectors, reports: Vectors, *, others: int, seed: int) -> float:
    """VLScore's constant: the largest triangle of a picture, its own report and another study's report.

    Args:
        pictures: One row per study.
        reports: One row per study.
        others: How many other reports are tried with each study.
        seed: Chooses them.
    """
    rng = np.random.default_rng(seed)
    image, own = pictures.astype(np.float64), reports.astype(np.float64)
    largest = 0.0
    for _ in range(others):
        step = int(rng.integers(1, len(own)))
        a, b = image - own, image - np.roll(own, step, axis=0)
        squares = (a * a).sum(1) * (b * b).sum(1) - (a * b).sum(1) ** 2
        largest = max(largest, float(0.5 * np.sqrt(squares.max().clip(0))))
    return largest
