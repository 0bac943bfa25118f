"""Texts of a corpus that score best: ties are ties in spite of rounding, and the lower index wins them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]
Values = NDArray[np.float64]
Keys = NDArray[np.float32]

DECIMALS = 12  # scores that agree this far differ by rounding only
SLACK = 1e-5  # far above the rounding errors of a few operations in single precision


@dataclass(frozen=True, eq=False)
class Found:
    """The best texts for one query, best first."""

    indices: Index  # Where in the corpus; empty if the query cannot be judged
    scores: Values
    why_not: str = ""  # Why the query cannot be judged, "" if it can


def not_judged(reason: str) -> Found:
    """No text, and why."""
    return Found(np.empty(0, np.intp), np.empty(0), reason)


def best(indices: Index, scores: Values, *, top: int, decimals: int = DECIMALS) -> Found:
    """The `top` best of these texts by score, ties in the order of the corpus; NaN is never found.

    Args:
        indices: Places in the corpus.
        scores: The metric's values.
        top: How many are wanted.
        decimals: Scores that agree this far are ties.

    >>> best(np.array([4, 7, 9]), np.array([0.3, 0.1 + 0.2, 0.1]), top=2).indices.tolist()
    [4, 7]
    """
    defined = ~np.isnan(scores)
    indices, scores = indices[defined], scores[defined]
    order = np.lexsort((indices, -np.round(scores, decimals)))[:top]
    return Found(indices[order], scores[order])


def contenders(keys: Keys, *, top: int) -> Index:
    """Texts that can be among the `top` best, judged by keys in single precision that grow with the score.

    The true scores of what is returned decide; what is left out is worse than all of the best beyond doubt.

    Args:
        keys: 0 or more, one per text, within a relative error far below `SLACK` of a growing function of the
            score; negative = cannot be judged.
        top: How many are wanted.
    """
    if top == 1:
        bound = keys.max(initial=0.0)
    elif len(keys) <= top:
        bound = np.float32(0.0)
    else:
        bound = max(np.partition(keys, -top)[-top], np.float32(0.0))
    return np.flatnonzero(keys >= bound * (1 - SLACK))
