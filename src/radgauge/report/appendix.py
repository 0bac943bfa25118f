"""The worst cases, most clinically significant errors first: for print, for a workbook, for CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from radgauge.core.cases import Case, Key
from radgauge.core.files import write_file
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import number
from radgauge.io.tables.cells import guarded
from radgauge.io.tables.excel import write_marked_sheet
from radgauge.render.metric_names import metric_name
from radgauge.report.notes import KINDS, TELLING, explain_case

SIGNIFICANT = "errors_significant"
RANK = (1, 3, 3, 4, 5, 0)
"""Which mark wins where two overlap, by kind; as in the case browser."""


@dataclass(frozen=True, slots=True)
class WorstCase:
    """A case with its errors; texts are HTML with marks."""

    study: str
    system: str
    metric: str
    value: str
    significant: float  # NaN where no metric counts errors
    case: Case
    reference: str
    candidate: str
    notes: tuple[str, ...]  # what is wrong, clinically significant errors first
    spans: tuple[tuple[int, ...], tuple[int, ...]]  # of the errors in both texts, as flat UTF-16 positions


def worst_rows(results: Results, scores: Scores) -> list[int]:
    """Rows of a judge from the most clinically significant errors on, then by its value."""
    oriented = scores.oriented(scores.columns[0])
    judged = [row for row in range(len(scores.keys)) if not math.isnan(oriented[row])]
    counts = significant_errors(results)
    order = {row: -counts.get(scores.keys[row], 0.0) for row in judged}
    return sorted(judged, key=lambda row: (order[row], float(oriented[row])))


def significant_errors(results: Results) -> dict[Key, float]:
    """Clinically significant errors of each case, by the first judge that counts them."""
    for scores in results.judges.values():
        if SIGNIFICANT in scores.columns:
            values = scores.column(SIGNIFICANT).tolist()
            return {key: value for key, value in zip(scores.keys, values, strict=True) if not math.isnan(value)}
    return {}


def worst_cases(
    results: Results, scores: Scores, *, cases: Sequence[Case], max_cases: int, reading: Readings
) -> tuple[WorstCase, ...]:
    """Cases with most clinically significant errors and the worst values of one judge.

    Args:
        results: All scores, for the explanations.
        scores: The judge that orders cases with as many errors.
        cases: Their texts; a case without is left out.
        max_cases: Number of cases.
        reading: For the explanations.
    """
    texts = {case.key: case for case in cases}
    rows = [row for row in worst_rows(results, scores) if scores.keys[row] in texts]
    counts = significant_errors(results)
    name = metric_name(scores.columns[0]).name
    worst = []
    with reading.open_cache():
        for row in rows[:max_cases]:
            case = texts[scores.keys[row]].with_real_references()
            explained = explain_case(case, results, reading=reading, every=scores.judge not in TELLING)
            notes = explained.get(scores.judge) or next(iter(explained.values()), [])
            which = notes[0][4] if notes else 0
            wrong = [note for note in notes if KINDS[note[0]] not in ("matched", "info")]
            wrong.sort(key=lambda note: -int(note[6]))
            reference = case.references[which] if case.references else ""
            worst.append(
                WorstCase(
                    case.id,
                    case.system,
                    name,
                    number(float(scores.headline[row])),
                    counts.get(case.key, math.nan),
                    replace(case, references=(reference,)),
                    marked(reference, notes, 2),
                    marked(case.candidate, notes, 3),
                    tuple(str(note[1]) for note in wrong),
                    (_spans(wrong, 2), _spans(wrong, 3)),
                )
            )
    return tuple(worst)


def _spans(notes: Sequence[Sequence[Any]], side: int) -> tuple[int, ...]:
    """Merged spans of the notes, in order."""
    pairs = sorted({pair for note in notes for pair in zip(note[side][::2], note[side][1::2], strict=True)})
    merged: list[list[int]] = []
    for start, end in pairs:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return tuple(position for pair in merged for position in pair)


def pieces(text: str, spans: Sequence[int]) -> list[tuple[str, bool]]:
    """A text in pieces, each with whether it is marked.

    >>> pieces("No large effusion", [3, 8])
    [('No ', False), ('large', True), (' effusion', False)]
    """
    units = text.encode("utf-16-le")
    cuts = [0, *spans, len(units) // 2]
    parts = [units[2 * a : 2 * b].decode("utf-16-le", "replace") for a, b in pairwise(cuts)]
    return [(part, bool(i % 2)) for i, part in enumerate(parts) if part]


def write_worst(path: Path, worst: Sequence[WorstCase]) -> None:
    """Write the list of cases as a workbook with marked words, or as CSV with the words in double brackets."""
    names = ["rank", "id", "system", "significant errors", "what is wrong", "reference", "candidate"]
    rows: list[list[Any]] = []
    for rank, worst_case in enumerate(worst, start=1):
        count = None if math.isnan(worst_case.significant) else int(worst_case.significant)
        texts = (worst_case.case.references[0], worst_case.case.candidate)
        both = [pieces(text, spans) for text, spans in zip(texts, worst_case.spans, strict=True)]
        rows.append([rank, worst_case.study, worst_case.system, count, "; ".join(worst_case.notes), *both])
    if path.suffix.lower() == ".xlsx":
        write_marked_sheet(path, names, rows)
        return
    stream = io.StringIO(newline="")
    table = csv.writer(stream)
    table.writerow(names)
    for row in rows:
        plain = ["".join(f"[[{part}]]" if mark else part for part, mark in cell) for cell in row[5:]]
        table.writerow([guarded(str("" if cell is None else cell)) for cell in (*row[:5], *plain)])
    write_file(path, "\ufeff" + stream.getvalue())


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
            for position in range(start, min(end, len(owner))):
                if owner[position] < 0 or RANK[kind] > RANK[owner[position]]:
                    owner[position] = kind
    parts, start = [], 0
    for position in range(1, len(owner) + 1):
        if position < len(owner) and owner[position] == owner[start]:
            continue
        piece = escape(units[2 * start : 2 * position].decode("utf-16-le", "replace"))
        parts.append(piece if owner[start] < 0 else f'<mark class="k{owner[start]}">{piece}</mark>')
        start = position
    return "".join(parts)
