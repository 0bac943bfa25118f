"""What a metric can be held against: the targets that judgments offer, and how often one group fails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from radgauge.error_categories import BY_KEY, BY_NUMBER, CATEGORIES
from radgauge.errors import InputError, UsageError
from radgauge.io.judgments.judgments import Judgments
from radgauge.stats import FailureMode, find_failure_modes

Array = NDArray[np.float64]


def default_targets(judgments: Judgments) -> list[str]:
    """Whatever the judgments have of rating, total and significant."""
    found = (["rating"] if judgments.ratings else []) + (["total", "significant"] if judgments.errors else [])
    if not found:
        raise InputError(f"{judgments.name}: there is neither a rating nor an error count")
    return found


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


def mean_of_known(by_rater: Array) -> Array:
    """The mean over the raters (columns) who judged; NaN where nobody did."""
    known = ~np.isnan(by_rater)
    counts = known.sum(axis=1)
    mean: Array = np.full(len(by_rater), np.nan)
    np.divide(np.where(known, by_rater, 0.0).sum(axis=1), counts, out=mean, where=counts > 0)
    return mean


def group_failure_modes(judgments: Judgments, *, significant: bool = False) -> tuple[FailureMode, ...]:
    """Which candidate group makes more errors than another, by category (supplementary tables 2, 3 of Yu et al.).

    Args:
        judgments: Error counts of two candidate groups or more, every study with every group. Studies that not
            every rater judged in full are left out.
        significant: Only clinically significant errors.
    """
    groups = list(dict.fromkeys(case.system for case in judgments.cases))
    studies = list(dict.fromkeys(case.id for case in judgments.cases))
    if len(groups) < 2 or not judgments.errors:
        raise InputError(f"{judgments.name}: failure modes need error counts of two candidate groups or more")
    place = {case.key: number for number, case in enumerate(judgments.cases)}
    absent = [(study, group) for study in studies for group in groups if (study, group) not in place]
    if absent:
        raise InputError(f"{judgments.name}: every study needs a candidate of every group; {absent[0]} is missing")
    order = [place[study, group] for study in studies for group in groups]
    suffix = "_significant" if significant else ""
    mean = judgments.mean_errors()
    asked = [c.key for c in CATEGORIES if not np.isnan(mean.column(f"errors_{c.key}")).all()]
    counts = np.stack(
        [
            np.stack([rater.column(f"errors_{key}{suffix}")[order] for key in asked], axis=-1)
            for rater in judgments.errors.values()
        ],
        axis=1,
    )
    shape = (len(studies), len(groups), len(judgments.errors), len(asked))
    table = counts.reshape(shape)
    judged = ~np.isnan(table).any(axis=(1, 2, 3))
    if judged.sum() < 2:
        raise InputError(f"{judgments.name}: {judged.sum()} studies were judged in full; failure modes need two")
    return find_failure_modes(table[judged], groups=groups, categories=asked, total=True)
