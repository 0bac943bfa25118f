"""What radgauge's own reader would mark, for studies that offer raters assistance.

Off unless asked for: a rater who has seen a suggestion is no independent rater. With assistance on half of the
cases a study measures the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radgauge.core.cases import Case, Key
from radgauge.core.error_categories import BY_KEY
from radgauge.core.readings import Readings
from radgauge.metrics.errors import Errors
from radgauge.study.design import Design


def suggestions(cases: Sequence[Case], design: Design) -> dict[Key, list[dict[str, Any]]]:
    """(id, system) -> what the metric `errors` found, in words and places.

    Each is {"category": key of the kind of error, "significance": "significant" or "insignificant", "text": one
    sentence, "candidate_spans": [...], "reference_spans": [...]}; spans are of characters. Only categories that
    the design asks about are suggested, all of them where it has categories of its own.
    """
    metric = Errors()
    reading = Readings()
    asked = {category.key for each in design.fields for category in each.categories} & BY_KEY.keys()
    found: dict[Key, list[dict[str, Any]]] = {}
    for case in cases:
        explained = metric.explain(case, reading=reading) if case.candidate.strip() else None
        notes = explained.notes if explained is not None else ()
        found[case.key] = [
            {
                "category": note.data["category_key"],
                "significance": "significant" if note.data["significant"] else "insignificant",
                "text": note.text,
                "candidate_spans": [list(span) for span in note.candidate_spans],
                "reference_spans": [list(span) for span in note.reference_spans],
            }
            for note in notes
            if "category_key" in note.data and note.data["category_key"] in (asked or BY_KEY)
        ]
    return found
