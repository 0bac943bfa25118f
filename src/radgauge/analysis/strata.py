"""Judgments in parts: by modality, body region, or whatever column the reports have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from radgauge.core.cases import Key
from radgauge.core.errors import UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments import Judgments

MIN_CASES = 5  # cases of a part that is worth a coefficient


@dataclass(frozen=True, slots=True)
class Strata:
    """Parts of judgments."""

    by: str
    parts: Mapping[str, Judgments]  # Value -> the judgments of its cases, in order of first appearance
    too_few: Mapping[str, int]  # Value -> how many cases, where there are fewer than five
    unknown: int  # Cases without a value


def split_judgments(judgments: Judgments, results: Results, *, by: str) -> Strata:
    """The judgments of each value of a column.

    Args:
        judgments: All of them.
        results: Scores of the judged cases; their extra columns are the other place where the value may stand.
        by: A column of the judged reports, or of the reports behind the scores: modality, anatomy, ...
    """
    values: dict[Key, str] = {}
    if by in results.meta:
        values = dict(zip(results.keys_of_cases, map(str, results.meta[by]), strict=True))
    values |= {case.key: case.meta[by] for case in judgments.cases if case.meta.get(by)}
    if by == "system":
        values = {case.key: case.system for case in judgments.cases}
    if not any(values.get(case.key) for case in judgments.cases):
        there = sorted({*results.meta, *(name for case in judgments.cases for name in case.meta), "system"})
        raise UsageError(f"no judged case has a column {by!r}; there are: {', '.join(there)}")
    groups: dict[str, list[int]] = {}
    for index, case in enumerate(judgments.cases):
        groups.setdefault(values.get(case.key, ""), []).append(index)
    unknown = len(groups.pop("", ()))
    return Strata(
        by,
        {value: _part(judgments, indices) for value, indices in groups.items() if len(indices) >= MIN_CASES},
        {value: len(indices) for value, indices in groups.items() if len(indices) < MIN_CASES},
        unknown,
    )


def _part(judgments: Judgments, indices: list[int]) -> Judgments:
    def taken(raters: Mapping[str, Scores]) -> dict[str, Scores]:
        return {rater: scores.take(indices) for rater, scores in raters.items()}

    return replace(
        judgments,
        cases=tuple(judgments.cases[index] for index in indices),
        errors=taken(judgments.errors),
        ratings=taken(judgments.ratings),
        notes=(),
    )
