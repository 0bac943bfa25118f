"""Which candidate group makes more errors of a kind than another: supplementary tables 2 and 3 of Yu et al."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.error_categories import BY_KEY, CATEGORIES
from radgauge.errors import InputError, UsageError
from radgauge.io.judgments import Judgments
from radgauge.io.judgments.targets import target_name
from radgauge.show.progress import working
from radgauge.stats import FailureMode, find_failure_modes


@dataclass(frozen=True, slots=True)
class FailureModes:
    """Every ordered pair of candidate groups on the errors of one target.

    Attributes:
        target: total, significant, or one category.
        modes: One per category and ordered pair of groups.
        studies: Studies that every rater judged in full.
        not_judged: Studies left out because a count is missing.
    """

    target: str
    modes: tuple[FailureMode, ...]
    studies: int
    not_judged: int


@working("testing failure modes")
def failure_modes(judgments: Judgments, *, targets: Sequence[str] | None = None) -> tuple[FailureModes, ...]:
    """Which candidate group makes more errors than another, by category.

    Args:
        judgments: Error counts of two candidate groups or more, every study with every group. Studies that not
            every rater judged in full are left out and counted.
        targets: total (all errors), significant, a category (omission, or 2) or a category's significant errors
            (omission_significant); None = total and significant.
    """
    wanted = list(dict.fromkeys(target_name(name) for name in (targets or ("total", "significant"))))
    if "rating" in wanted:
        raise UsageError(
            "failure modes are about counted errors, not ratings: use total, significant or a category"
        )
    groups = list(dict.fromkeys(case.system for case in judgments.cases))
    studies = list(dict.fromkeys(case.id for case in judgments.cases))
    if len(groups) < 2 or not judgments.errors:
        raise InputError(f"{judgments.name}: failure modes need error counts of two candidate groups or more")
    place = {case.key: number for number, case in enumerate(judgments.cases)}
    absent = [(study, group) for study in studies for group in groups if (study, group) not in place]
    if absent:
        raise InputError(f"{judgments.name}: every study needs a candidate of every group; {absent[0]} is missing")
    order = [place[study, group] for study in studies for group in groups]
    mean = judgments.mean_errors()
    found = []
    for target in wanted:
        category = target.removesuffix("_significant")
        suffix = "_significant" if target.endswith("significant") else ""
        asked = [category] if category in BY_KEY else [c.key for c in CATEGORIES]
        asked = [key for key in asked if not np.isnan(mean.column(f"errors_{key}{suffix}")).all()]
        if not asked:
            raise InputError(f"{judgments.name}: nobody counted {target} errors")
        counts = np.stack(
            [
                np.stack([rater.column(f"errors_{key}{suffix}")[order] for key in asked], axis=-1)
                for rater in judgments.errors.values()
            ],
            axis=1,
        )
        table = counts.reshape(len(studies), len(groups), len(judgments.errors), len(asked))
        judged = ~np.isnan(table).any(axis=(1, 2, 3))
        if judged.sum() < 2:
            raise InputError(
                f"{judgments.name}: {judged.sum()} studies were judged in full; failure modes need two"
            )
        modes = find_failure_modes(table[judged], groups=groups, categories=asked, total=category not in BY_KEY)
        found.append(FailureModes(target, modes, int(judged.sum()), int((~judged).sum())))
    return tuple(found)
