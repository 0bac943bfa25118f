"""What the first screen says of one system: significant errors, recall, false alarms, its commonest errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import CATEGORIES, ErrorCategory
from radgauge.core.metric import Explanation, sums
from radgauge.core.readings import Readings
from radgauge.core.scores import Scores
from radgauge.stats.proportions import wilson_interval

COMMON = 3
"""Kinds of error that are shown per system."""


@dataclass(frozen=True, slots=True)
class CommonError:
    """A kind of error that a system makes often.

    Attributes:
        title: The kind.
        share: Share of the judged reports with a clinically significant error of this kind.
        example: What the judge says about one of them; "" without texts.
        case: Number of that case in the browser, -1 if it is not there.
        study: Its id.
    """

    title: str
    share: float
    example: str = ""
    case: int = -1
    study: str = ""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What the first screen says of one system.

    Attributes:
        system: Its name.
        judged: Reports behind the shares.
        cases: Reports that it was asked for.
        significant: Share of reports with a clinically significant error; NaN if nobody counted errors.
        low: Lower end of its Wilson interval.
        high: Upper end.
        recall: Share of the references' significant findings that are reported; NaN if unknown.
        false_alarms: Invented significant findings per normal study; NaN if unknown.
        abnormal: Studies behind `recall`.
        normal: Studies behind `false_alarms`.
        common: Its commonest kinds of significant error.
    """

    system: str
    judged: int
    cases: int
    significant: float
    low: float
    high: float
    recall: float
    false_alarms: float
    abnormal: int
    normal: int
    common: tuple[CommonError, ...]


def system_facts(
    counts: Scores, system: str, *, cases: Sequence[Case], places: Mapping[Key, int], reading: Readings
) -> SystemFacts:
    """What the counts of errors say of one system.

    Args:
        counts: A judge that counts errors.
        system: Whose reports.
        cases: Their texts, for examples.
        places: Numbers of the cases in the browser.
        reading: For the examples.
    """
    own = counts.of_system(system)
    serious = own.column("errors_significant")
    judged = serious[~np.isnan(serious)]
    hits, total = int((judged > 0).sum()), len(judged)
    low, high = wilson_interval(hits, total) if total else (math.nan, math.nan)
    return SystemFacts(
        system,
        total,
        len(own),
        hits / total if total else math.nan,
        low,
        high,
        _corpus(own, "errors_recall"),
        _corpus(own, "errors_false_alarms"),
        _support(own, "errors_recall"),
        _support(own, "errors_false_alarms"),
        tuple(_common(own, total, cases, places, reading)),
    )


def _corpus(scores: Scores, column: str) -> float:
    if column not in scores.columns:
        return math.nan
    return float(scores.corpus_scores(*sums(scores.rows))[scores.columns.index(column)])


def _support(scores: Scores, column: str) -> int:
    return int((~np.isnan(scores.column(column))).sum()) if column in scores.columns else 0


def _common(
    own: Scores, total: int, cases: Sequence[Case], places: Mapping[Key, int], reading: Readings
) -> list[CommonError]:
    found = []
    texts = {case.key: case for case in cases}
    for category in CATEGORIES:
        column = f"errors_{category.key}_significant"
        if column not in own.columns or not total:
            continue
        counts = own.column(column)
        if hits := int((counts > 0).sum()):
            found.append((hits, category, counts))
    found.sort(key=lambda each: (-each[0], each[1].number))
    common = []
    for hits, category, counts in found[:COMMON]:
        example, key = _example(own, category, counts, texts, places, reading)
        common.append(
            CommonError(
                category.title, hits / total, example, places.get(key, -1) if key else -1, key[0] if key else ""
            )
        )
    return common


def _example(
    own: Scores,
    category: ErrorCategory,
    counts: np.ndarray,
    texts: Mapping[Key, Case],
    places: Mapping[Key, int],
    reading: Readings,
) -> tuple[str, Key | None]:
    """What the judge says of a typical case: the one with the fewest other errors that the browser has."""
    if own.metric is None:
        return "", None
    total = own.column("errors_total")
    rows = [row for row in np.argsort(total, kind="stable").tolist() if counts[row] > 0]
    rows.sort(key=lambda row: own.keys[row] not in places)
    for row in rows[:COMMON]:
        key = own.keys[row]
        case = texts.get(key)
        if case is None:
            continue
        told: Explanation | None = own.metric.explain(case.with_real_references(), reading=reading)
        for note in told.notes if told is not None else ():
            if note.data.get("category_key") == category.key and note.data.get("significant"):
                return note.text.rsplit(" (", 1)[0] + ".", key
    return "", None
