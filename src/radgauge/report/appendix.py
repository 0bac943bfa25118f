"""The worst cases for print: texts with their marks, and why, without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import number
from radgauge.render.metric_names import metric_name
from radgauge.report.notes import KINDS, explain_case

RANK = (1, 3, 3, 4, 5, 0)
"""Which mark wins where two overlap, by kind; as in the case browser."""


@dataclass(frozen=True, slots=True)
class WorstCase:
    """One case of the appendix."""

    study: str
    system: str  # Who wrote the candidate
    metric: str  # Whose value it is, for people
    value: str
    reference: str  # The reference as HTML, with marks
    candidate: str  # The candidate as HTML, with marks
    notes: tuple[str, ...]  # What is wrong, in sentences


def worst_cases(
    results: Results, scores: Scores, *, cases: Sequence[Case], most: int, reading: Readings
) -> tuple[WorstCase, ...]:
    """The cases with the worst values of one judge, the worst first.

    Args:
        results: All scores, for the explanations.
        scores: The judge that orders them.
        cases: Their texts; a case without is left out.
        most: How many.
        reading: For the explanations.
    """
    texts = {case.key: case for case in cases}
    oriented = scores.oriented(scores.columns[0])
    rows = [row for row in range(len(scores.keys)) if not math.isnan(oriented[row]) and scores.keys[row] in texts]
    rows.sort(key=lambda row: float(oriented[row]))
    name = metric_name(scores.columns[0]).name
    found = []
    for row in rows[:most]:
        case = texts[scores.keys[row]].with_real_references()
        told = explain_case(case, results, reading=reading)
        notes = told.get(scores.judge) or next(iter(told.values()), [])
        which = notes[0][4] if notes else 0
        wrong = [note for note in notes if KINDS[note[0]] not in ("matched", "info")]
        found.append(
            WorstCase(
                case.id,
                case.system,
                name,
                number(float(scores.headline[row])),
                marked(case.references[which] if case.references else "", notes, 2),
                marked(case.candidate, notes, 3),
                tuple(str(note[1]) for note in wrong),
            )
        )
    return tuple(found)


def marked(text: str, notes: Sequence[Sequence[object]], side: int) -> str:
    """A text as HTML with the spans of the notes marked; positions count UTF-16 units, as the browser's do.

    >>> marked("No <b>", [[1, "why", [], [0, 2], 0]], 3)
    '<mark class="k1">No</mark> &lt;b&gt;'
    """
    units = text.encode("utf-16-le")
    owner = [-1] * (len(units) // 2)
    for note in notes:
        kind, spans = note[0], note[side]
        if not isinstance(kind, int) or not isinstance(spans, list):
            continue
        for start, end in zip(spans[::2], spans[1::2], strict=True):
            for place in range(start, min(end, len(owner))):
                if owner[place] < 0 or RANK[kind] > RANK[owner[place]]:
                    owner[place] = kind
    parts, start = [], 0
    for place in range(1, len(owner) + 1):
        if place < len(owner) and owner[place] == owner[start]:
            continue
        piece = escape(units[2 * start : 2 * place].decode("utf-16-le", "replace"))
        parts.append(piece if owner[start] < 0 else f'<mark class="k{owner[start]}">{piece}</mark>')
        start = place
    return "".join(parts)
