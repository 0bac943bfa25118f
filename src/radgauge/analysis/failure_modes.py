"""Comparison of candidate groups by kind of error: supplementary tables 2 and 3 of Yu et al."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.core.error_categories import BY_KEY, CATEGORIES
from radgauge.core.errors import InputError, UsageError
from radgauge.core.progress import working
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.targets import target_name
from radgauge.stats import FailureMode, find_failure_modes


@dataclass(frozen=True, slots=True)
class FailureModes:
    """Every ordered pair of candidate groups on the errors of one target."""

    target: str  # total, significant, or one category
    modes: tuple[FailureMode, ...]  # One per category and ordered pair of groups
    studies: int  # Studies that are compared
    not_judged: int  # Studies left out because not all candidates were judged by the same raters


@working("testing failure modes")
def failure_modes(judgments: Judgments, *, targets: Sequence[str] | None = None) -> tuple[FailureModes, ...]:
    """Compare the error counts of candidate groups, by category.

    Args:
        judgments: Error counts of two candidate groups or more, every study with every group. Where studies were
            divided among raters, the means of a study's raters are compared; studies whose candidates were not all
            judged by the same raters are left out and counted.
        targets: total (all errors), significant, a category (omission, or 2) or a category's significant errors
            (omission_significant); None = total and significant.
    """
    names = list(dict.fromkeys(target_name(name) for name in (targets or ("total", "significant"))))
    if "rating" in names:
        raise UsageError(
            "failure modes are about counted errors, not ratings: use total, significant or a category"
        )
    groups = list(dict.fromkeys(case.system for case in judgments.cases))
    studies = list(dict.fromkeys(case.id for case in judgments.cases))
    if len(groups) < 2 or not judgments.errors:
        raise InputError(f"{judgments.name}: failure modes need error counts of two candidate groups or more")
    index = {case.key: number for number, case in enumerate(judgments.cases)}
    absent = [(study, group) for study in studies for group in groups if (study, group) not in index]
    if absent:
        raise InputError(f"{judgments.name}: every study needs a candidate of every group; {absent[0]} is missing")
    order = [index[study, group] for study in studies for group in groups]
    mean = judgments.mean_errors()
    found = []
    for target in names:
        category = target.removesuffix("_significant")
        suffix = "_significant" if target.endswith("significant") else ""
        keys = [category] if category in BY_KEY else [c.key for c in CATEGORIES]
        keys = [key for key in keys if not np.isnan(mean.column(f"errors_{key}{suffix}")).all()]
        if not keys:
            raise InputError(f"{judgments.name}: nobody counted {target} errors")
        counts = np.stack(
            [
                np.stack([rater.column(f"errors_{key}{suffix}")[order] for key in keys], axis=-1)
                for rater in judgments.errors.values()
            ],
            axis=1,
        )
        table = counts.reshape(len(studies), len(groups), len(judgments.errors), len(keys))
        by_rater = np.asarray(~np.isnan(table).any(axis=3))
        same_raters = (by_rater == by_rater[:, :1]).all(axis=(1, 2)) & by_rater[:, 0].any(axis=1)
        if not by_rater[same_raters].all():  # divided among raters
            totals = np.where(by_rater[..., None], table, 0.0).sum(axis=2, keepdims=True)
            table = totals / np.maximum(by_rater.sum(axis=2), 1)[:, :, None, None]
        judged = same_raters
        if judged.sum() < 2:
            raise InputError(
                f"{judgments.name}: {judged.sum()} studies were judged in full; failure modes need two"
            )
        modes = find_failure_modes(table[judged], groups=groups, categories=keys, total=category not in BY_KEY)
        found.append(FailureModes(target, modes, int(judged.sum()), int((~judged).sum())))
    return tuple(found)
