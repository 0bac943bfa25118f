"""Figures of several panels, ready to print: panels side by side under one title, with a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radgauge.render.svg import SERIES, Plot, Scale, box, label, line, number, scale, shape, shown, ticks, turned

Array = NDArray[np.float64]
GAP, HEAD, EDGE = 18.0, 26.0, 8.0
LETTER = 6.6
"""Room for a letter of 11 pixels, without a font to measure with."""


class Difference(NamedTuple):
    """Two series that differ in a category, and the mark that says so."""

    category: int
    first: int
    second: int
    mark: str


def arrange(
    plots: Sequence[Plot],
    *,
    columns: int,
    key: str,
    title: str,
    legend: Sequence[str] = (),
    bars: bool = False,
    notes: Sequence[str] = (),
) -> Plot:
    """Panels on a grid, row by row.

    Args:
        plots: The panels.
        columns: Panels in a row.
        key: Name of the figure.
        title: What it shows.
        legend: Names of the series, in order of their numbers.
        bars: Whether the legend shows patches in place of marks.
        notes: Sentences below.
    """
    rows = [plots[at : at + columns] for at in range(0, len(plots), columns)]
    widths = [max(row[at].width for row in rows if at < len(row)) for at in range(len(rows[0]))]
    total = max(sum(widths) + GAP * (len(widths) - 1), *(LETTER * len(text) for text in (title, *notes)))
    parts = [label(0, 14, title, "h")]
    x, y = 0.0, HEAD + 12
    for place, name in enumerate(legend):
        wide = 16 + LETTER * len(name) + 20
        if x + wide > total and x:
            x, y = 0.0, y + 18
        if bars:
            parts.append(box(x, y - 9, 11, 11, f"c{place % SERIES}"))
        else:
            parts.append(shape(place, x + 5, y - 4, f"c{place % SERIES}", size=4))
        parts.append(label(x + 16, y, name, "i"))
        x += wide
    y = y + 16 if legend else HEAD
    for row in rows:
        x = 0.0
        for place, plot in enumerate(row):
            parts.append(f'<g transform="translate({number(x)} {number(y)})">{plot.body}</g>')
            x += widths[place] + GAP
        y += max(plot.height for plot in row) + GAP
    for note in notes:
        parts.append(label(0, y, note))
        y += 15
    body = f'<g transform="translate({number(EDGE)} {number(EDGE)})">{"".join(parts)}</g>'
    return Plot(key, title, total + 2 * EDGE, y + 2 * EDGE, body)


def error_bars(
    categories: Sequence[str],
    values: Array,
    *,
    title: str,
    differences: Sequence[Difference] = (),
    most: float | None = None,
) -> Plot:
    """Errors per report by category, a bar per series; brackets join the bars that differ.

    Args:
        categories: Names for people.
        values: (series, categories).
        title: First line.
        differences: What is marked.
        most: Largest value of the axis, where panels are to share one.
    """
    bar, left = 12.0, LETTER * max(map(len, categories)) + 12
    block = bar * len(values) + 14
    top, bottom = 24.0, 24.0 + block * len(categories)
    known = values[np.isfinite(values)]
    across = scale([0.0, most or float(known.max(initial=0.0)) or 1.0], left, left + 250, pad=0.0)
    depth = {at: _depths([d for d in differences if d.category == at]) for at in range(len(categories))}
    room = 34 + 16 * max((max(each.values(), default=-1) for each in depth.values()), default=-1) + 16
    parts = [label(left, 13, title, "h"), across_axis(across, bottom, top=top)]
    for c, category in enumerate(categories):
        y = top + block * c + 4
        parts.append(label(left - 8, y + bar * len(values) / 2 + 3, category, "e i"))
        for s, value in enumerate(values[:, c].tolist()):
            here = y + bar * s
            if math.isnan(value):
                parts.append(label(left + 4, here + bar - 3, "not judged"))
                continue
            parts.append(box(left, here, across(value) - left, bar - 1.5, f"c{s % SERIES}"))
            parts.append(label(across(value) + 4, here + bar - 3, f"{value:.2f}"))
        reach = max((across(value) for value in values[:, c].tolist() if math.isfinite(value)), default=left) + 32
        for found, level in depth[c].items():
            at = reach + 16.0 * level
            first, second = (y + bar * (s + 0.5) for s in sorted((found.first, found.second)))
            parts.append(
                f'<path class="zero" d="M{number(at)} {number(first)}h5V{number(second)}h-5"/>'
                + label(at + 7, (first + second) / 2 + 5, found.mark, "h")
            )
    return Plot("", title, left + 250 + room, bottom + 22, "".join(parts))


def _depths(found: Sequence[Difference]) -> dict[Difference, int]:
    """Brackets that would cross stand side by side."""
    taken: list[list[tuple[int, int]]] = []
    places: dict[Difference, int] = {}
    for each in sorted(found, key=lambda d: abs(d.first - d.second)):
        low, high = sorted((each.first, each.second))
        level = next(
            (n for n, spans in enumerate(taken) if all(high < a or b < low for a, b in spans)), len(taken)
        )
        if level == len(taken):
            taken.append([])
        taken[level].append((low, high))
        places[each] = level
    return places


def change_bars(rows: Sequence[tuple[str, float]], *, title: str, unit: str = "%") -> Plot:
    """Changes from zero, one bar per row, to the left where they are negative.

    Args:
        rows: (name, change); the colour follows the row.
        title: First line.
        unit: Behind the numbers.
    """
    bar, left = 16.0, LETTER * max(len(name) for name, _ in rows) + 12
    top, bottom = 24.0, 28.0 + bar * 1.35 * len(rows)
    across = scale([0.0, *(value for _, value in rows)], left + 56, left + 270, pad=0.02)
    parts = [label(left, 13, title, "h"), across_axis(across, bottom, top=top)]
    parts.append(line(across(0), top, across(0), bottom, "zero"))
    for place, (name, value) in enumerate(rows):
        y = top + 4 + bar * 1.35 * place
        parts.append(label(left - 8, y + bar - 4, name, "e i"))
        if math.isnan(value):
            parts.append(label(across(0) + 4, y + bar - 4, "no percentage"))
            continue
        start, end = sorted((across(0), across(value)))
        parts.append(box(start, y, end - start, bar, f"c{place % SERIES}"))
        said = f"{value:+.1f} {unit}"
        parts.append(label(end + 4, y + bar - 4, said) if value >= 0 else label(start - 4, y + bar - 4, said, "e"))
    return Plot("", title, left + 270 + 62, bottom + 22, "".join(parts))


def dot_plot(by_rater: Array, *, title: str, note: str, y_label: str, most: float | None = None) -> Plot:
    """What every rater said of every study: a dot each, studies in order of their mean.

    Args:
        by_rater: (studies, raters), NaN where a rater said nothing.
        title: First line.
        note: Second line.
        y_label: What is up.
        most: Largest value of the axis, where panels are to share one.
    """
    left, top, bottom, width = 40.0, 44.0, 210.0, 330.0
    known = ~np.isnan(by_rater)
    means = np.where(known, by_rater, 0.0).sum(1) / np.maximum(known.sum(1), 1)
    order = [study for study in np.argsort(means, kind="stable") if known[study].any()]
    across = scale([0.0, max(len(order) - 1.0, 1.0)], left, width - 8, pad=0.02)
    up = scale([0.0, most or float(np.nanmax(by_rater, initial=1.0))], bottom, top, pad=0.04)
    parts = [label(0, 13, title, "h"), label(0, 29, note)]
    for value in ticks(up.low, up.high, 4):
        parts += [line(left, up(value), width - 8, up(value)), label(left - 6, up(value) + 4, shown(value), "e")]
    raters = by_rater.shape[1]
    step = (across(1) - across(0)) / (raters + 1)
    for place, study in enumerate(order):
        values = by_rater[study][known[study]]
        parts.append(line(across(place), up(values.min()), across(place), up(values.max()), "ax"))
        for rater in np.flatnonzero(known[study]).tolist():
            # a little to the side, or equal counts would hide one another
            x = across(place) + step * (rater - (raters - 1) / 2)
            parts.append(shape(rater, x, up(by_rater[study, rater]), f"c{rater % SERIES} dot", size=2.2))
    parts.append(label((left + width) / 2, bottom + 20, f"{len(order)} studies, by their mean", "m i"))
    parts.append(turned(11, (top + bottom) / 2, y_label, -90, "m i"))
    return Plot("", title, width, bottom + 26, "".join(parts))


def across_axis(across: Scale, y: float, *, top: float) -> str:
    """Ticks of a horizontal axis, with lines up to the top."""
    parts = []
    for value in ticks(across.low, across.high, 5):
        parts += [line(across(value), top, across(value), y), label(across(value), y + 15, shown(value), "m")]
    return "".join(parts)
