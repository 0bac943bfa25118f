"""Targets to correlate metrics with: error totals, significant errors, ratings, single categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from radgauge.core.error_categories import BY_KEY, BY_NUMBER
from radgauge.core.errors import InputError, UsageError
from radgauge.io.judgments.judgments import Judgments

Array = NDArray[np.float64]


def default_targets(judgments: Judgments) -> list[str]:
    """Whatever the judgments have of rating, total and significant; the last only where raters were asked."""
    targets = (["rating"] if judgments.ratings else []) + (["total"] if judgments.errors else [])
    if any(not np.isnan(scores.column("errors_significant")).all() for scores in judgments.errors.values()):
        targets.append("significant")
    if not targets:
        raise InputError(f"{judgments.name}: there is neither a rating nor an error count")
    return targets


def target_name(name: str) -> str:
    """A target as it was asked for, by its own name: category 2 is omission."""
    if name.isdecimal() and int(name) in BY_NUMBER:
        return BY_NUMBER[int(name)].key
    plain = name.removesuffix("_significant")
    if name in ("total", "significant", "rating") or plain in BY_KEY:
        return name
    raise UsageError(
        f"there is no target {name!r}; targets are total, significant, rating, a category 1 to 8 or "
        f"{', '.join(BY_KEY)}, each also with _significant"
    )


def raters_on(judgments: Judgments, target: str) -> dict[str, Array]:
    """Rater -> what they said on a target, turned so that larger means better."""
    source = judgments.ratings if target == "rating" else judgments.errors
    if not source:
        what = "ratings" if target == "rating" else "error counts"
        raise InputError(f"{judgments.name} has no {what}, so {target!r} cannot be a target")
    column = "rating" if target == "rating" else f"errors_{target}"
    return {rater: scores.oriented(column) for rater, scores in source.items()}


def mean_of_present(by_rater: Array) -> Array:
    """The mean over the raters (columns) who judged; NaN where nobody did."""
    present = ~np.isnan(by_rater)
    counts = present.sum(axis=1)
    mean: Array = np.full(len(by_rater), np.nan)
    np.divide(np.where(present, by_rater, 0.0).sum(axis=1), counts, out=mean, where=counts > 0)
    return mean
