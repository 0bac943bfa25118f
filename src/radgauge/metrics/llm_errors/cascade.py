"""Selection of cases for a language model when not all can be judged: those in doubt, most doubtful first.

A case is in doubt if the embedded judge understood little of its texts, or if systems differ on its study, so
that the verdict decides which of them is better. Where every word was understood and all systems do equally
well, nothing is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from radgauge.findings.numbers import coverage_threshold

Array = NDArray[np.float64]

WIDTH = 2.0
"""Of the range of the quality value: what the difference of two systems is measured by."""


def doubts(quality: Array, coverage: Array, studies: Sequence[str]) -> Array:
    """Doubt about the embedded judge's verdict on each case; 0 = none, infinite where there is no verdict.

    Coverage below the threshold counts by how far it lies below 1, a difference of systems by the spread of their
    quality over its range; both are added.

    Args:
        quality: Of each case, by the embedded judge; NaN = not judged.
        coverage: Share of the words that it understood.
        studies: Study of each case.

    >>> import numpy as np
    >>> doubts(np.array([0.5, -0.5, 1.0]), np.array([1.0, 1.0, 0.8]), ["a", "a", "b"])
    array([0.5, 0.5, 0.2])
    """
    valid: dict[str, list[float]] = {}
    for study, value in zip(studies, quality.tolist(), strict=True):
        valid.setdefault(study, []).extend([] if math.isnan(value) else [value])
    spread = {study: max(values) - min(values) if values else 0.0 for study, values in valid.items()}
    low = np.where(coverage < coverage_threshold(), 1.0 - coverage, 0.0)
    differ = np.array([spread[study] for study in studies]) / WIDTH
    doubt: Array = np.where(np.isnan(quality), math.inf, low + differ)
    return np.round(doubt, 12)


def most_doubtful(doubt: Array, share: float) -> list[int]:
    """Positions of the cases to ask about: those in doubt, most doubtful first, at most this share of all.

    >>> import numpy as np
    >>> most_doubtful(np.array([0.1, 0.0, 0.7, 0.2]), 0.5)
    [2, 3]
    """
    limit = math.ceil(share * len(doubt) - 1e-9)
    order = np.argsort(-doubt, kind="stable")
    return [int(at) for at in order[:limit] if doubt[at] > 0]
