"""The plots of the report: values in, drawings out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from radgauge.render.svg import SERIES, Plot, Scale, box, label, line, number, scale, shape, shown, ticks, turned

Array = NDArray[np.float64]
HEAT = 0.52
"""Opacity of a perfect correlation: the number in the cell stays readable on white and on black."""

MOST_POINTS = 1500
"""More points than this are thinned out evenly: they would hide one another."""


def forest(
    rows: Sequence[tuple[str, int, float, float, float]], *, key: str, title: str, zero: bool = False
) -> Plot:
    """Values with intervals, one line each.

    Args:
        rows: (label, series, value, low, high).
        key: Name of the plot.
        title: What it shows.
        zero: Whether 0 matters and gets a line.
    """
    left = _text_width([name for name, *_ in rows]) + 12
    width, height = left + 300.0, 22.0 * len(rows) + 34
    numbers = [x for _, _, *values in rows for x in values] + ([0.0] if zero else [])
    across = scale(numbers, left, width - 14)
    parts = [_axis(across.low, across.high, across, height - 22, top=6)]
    if zero:
        parts.append(line(across(0), 4, across(0), height - 22, "zero"))
    for index, (name, series, value, low, high) in enumerate(rows):
        y = 16 + 22.0 * index
        parts.append(label(left - 10, y + 4, name, "e i"))
        parts.append(interval_mark(across, y, series, value, low, high))
    return Plot(key, title, width, height, "".join(parts))


def strip(
    rows: Sequence[tuple[int, float, float, float]], *, title: str, among: Sequence[float] = (), zero: bool = False
) -> Plot:
    """The same without labels, small enough for a cell of a table; `among` are more values the scale must hold."""
    width, height = 170.0, max(11.0 * len(rows) + 4, 22.0)
    numbers = [*among, *(x for _, *values in rows for x in values), *([0.0] if zero else [])]
    across = scale(numbers, 6, width - 6)
    parts = [line(across(0), 0, across(0), height, "zero")] if zero else []
    first = height / 2 - 5.5 * (len(rows) - 1)
    parts += [interval_mark(across, first + 11.0 * index, *row) for index, row in enumerate(rows)]
    return Plot("strip", title, width, height, "".join(parts))


def interval_mark(across: Scale, y: float, series: int, value: float, low: float, high: float) -> str:
    """A value with its interval."""
    if math.isnan(value):
        return ""
    parts = []
    if math.isfinite(low) and math.isfinite(high):
        parts.append(line(across(low), y, across(high), y, f"l{series % SERIES} w2"))
    parts.append(shape(series, across(value), y, f"c{series % SERIES}", size=3.6))
    return "".join(parts)


def distribution(
    groups: Sequence[tuple[str, Array]], *, key: str, title: str, note: str = "", bins: int = 28
) -> Plot:
    """A density plot per system, with quartiles below it: how the values of single cases are spread.

    All densities of a plot have the same scale, so their areas can be compared.
    """
    left = _text_width([name for name, _ in groups]) + 14
    width, row = 440.0, 44.0
    height = row * len(groups) + 48
    present = [values[~np.isnan(values)] for _, values in groups]
    everything = np.concatenate(present) if present else np.empty(0)
    across = scale(everything.tolist(), left, width - 12, pad=0.0)
    edges = np.linspace(across.low, across.high, bins + 1)
    densities = [np.histogram(values, edges)[0] / max(len(values), 1) for values in present]
    top = max((density.max() for density in densities), default=1.0) or 1.0
    parts = [label(0, 13, title, "h"), label(width - 12, 13, note, "e")]
    parts.append(_axis(across.low, across.high, across, height - 20, top=24))
    for index, ((name, _), values, density) in enumerate(zip(groups, present, densities, strict=True)):
        base = 24 + row * (index + 1) - 8
        parts.append(label(left - 10, base - 3, name, "e i"))
        if not len(values):
            parts.append(label(left, base - 3, "nothing judged"))
            continue
        steps = []
        for k, share in enumerate(density):
            y = number(base - share / top * (row - 14))
            steps.append(f"{number(across(edges[k]))} {y}L{number(across(edges[k + 1]))} {y}")
        outline = f"M{number(across.start)} {number(base)}L" + "L".join(steps)
        outline += f"L{number(across.end)} {number(base)}Z"
        parts.append(f'<path class="c{index % SERIES} area" d="{outline}"/>')
        q1, middle, q3 = np.quantile(values, [0.25, 0.5, 0.75])
        parts.append(line(across(q1), base + 3, across(q3), base + 3, f"l{index % SERIES} w4"))
        parts.append(shape(0, across(middle), base + 3, f"c{index % SERIES} gap", size=4))
    return Plot(key, f"{title}: distribution of the values of single cases", width, height, "".join(parts))


def scatter(
    points: Sequence[tuple[float, float, int, int]],
    *,
    key: str,
    title: str,
    note: str,
    x_label: str,
    y_label: str,
) -> Plot:
    """Points with a shape and colour per series.

    Args:
        points: (x, y, series, number of the case in the browser or -1).
        key: Name of the plot.
        title: First line.
        note: Second line.
        x_label: What is across.
        y_label: What is up.
    """
    width, height, left, top, bottom = 330.0, 300.0, 44.0, 44.0, 262.0
    finite = [p for p in points if math.isfinite(p[0]) and math.isfinite(p[1])]
    step = max(1, math.ceil(len(finite) / MOST_POINTS))
    across = scale([p[0] for p in finite], left, width - 10, pad=0.04)
    up = scale([p[1] for p in finite], bottom, top, pad=0.05)
    parts = [label(0, 13, title, "h"), label(0, 29, note)]
    parts.append(_axis(across.low, across.high, across, bottom, top=top))
    for value in ticks(up.low, up.high, 4):
        parts += [line(left, up(value), width - 10, up(value)), label(left - 6, up(value) + 4, shown(value), "e")]
    parts.append(label((left + width) / 2, height - 6, x_label, "m i"))
    parts.append(turned(11, (top + bottom) / 2, y_label, -90, "m i"))
    for x, y, series, case in finite[::step]:
        more = f' data-case="{case}"' if case >= 0 else ""
        parts.append(shape(series, across(x), up(y), f"c{series % SERIES} dot", more=more))
    thinned = f" ({len(finite[::step])} of {len(finite)} points drawn)" if step > 1 else ""
    return Plot(key, f"{title}: {y_label} against {x_label}, {note}{thinned}", width, height, "".join(parts))


def heat_map(names: Sequence[str], values: Array, *, key: str, title: str) -> Plot:
    """A matrix of correlations: blue agrees, orange contradicts, the number always stands in the cell."""
    left, cell = _text_width(names) + 12, 46.0
    top = 0.72 * _text_width(names) + 22
    width, height = left + cell * len(names) + 0.75 * _text_width(names[-1:]), top + cell * 0.72 * len(names) + 6
    parts = []
    for i, name in enumerate(names):
        y = top + cell * 0.72 * i
        parts.append(label(left - 8, y + cell * 0.36 + 4, name, "e i"))
        x = left + cell * (i + 0.5)
        parts.append(turned(x, top - 8, name, -42, "i"))
        for j in range(len(names)):
            value, x = float(values[i, j]), left + cell * j
            if math.isnan(value):
                parts.append(label(x + cell / 2, y + cell * 0.36 + 4, "–", "m"))
                continue
            strength = min(abs(value), 1.0) * HEAT
            parts.append(
                f'<g fill-opacity="{strength:.2f}">'
                + box(x, y, cell, cell * 0.72, f"{'pos' if value >= 0 else 'neg'} gap")
                + "</g>"
            )
            parts.append(label(x + cell / 2, y + cell * 0.36 + 4, f"{value:.2f}", "m i"))
    return Plot(key, title, width, height, "".join(parts))


def category_bars(
    systems: Sequence[str],
    categories: Sequence[str],
    *,
    means: Mapping[str, tuple[Array, Array]],
    key: str,
    title: str,
) -> Plot:
    """Errors per report by category; the full colour is the clinically significant part.

    Args:
        systems: Series.
        categories: Their names for people.
        means: System -> (mean errors by category, mean significant errors by category).
        key: Name of the plot.
        title: What it shows.
    """
    left, bar = _text_width(categories) + 14, 12.0
    width = left + 380.0
    block = bar * len(systems) + 12
    height = block * len(categories) + 30
    largest = max((float(np.nanmax(total, initial=0.0)) for total, _ in means.values()), default=0.0)
    across = scale([0.0, largest or 1.0], left, width - 44, pad=0.0)
    parts = [_axis(across.low, across.high, across, height - 22, top=2)]
    for i, category in enumerate(categories):
        y = 4 + block * i
        parts.append(label(left - 10, y + block / 2 - 2, category, "e i"))
        for j, system in enumerate(systems):
            total, significant = (float(row[i]) for row in means[system])
            here = y + bar * j
            if math.isnan(total):
                parts.append(label(left + 4, here + bar - 2, "not asked"))
                continue
            parts.append(box(left, here, across(total) - left, bar - 2, f"c{j % SERIES} faint"))
            if not math.isnan(significant):
                parts.append(box(left, here, across(significant) - left, bar - 2, f"c{j % SERIES}"))
            parts.append(label(across(total) + 4, here + bar - 3, f"{total:.2f}"))
    return Plot(key, title, width, height, "".join(parts))


def percentile_strip(percentiles: Sequence[float], *, title: str) -> Plot:
    """Plot the percentile of one case by each metric: 0 = worst, 100 = best."""
    width, height = 190.0, 16.0
    across = scale([0.0, 100.0], 6, width - 6, pad=0.0)
    parts = [line(across(0), 8, across(100), 8)]
    parts += [line(across(k), 4, across(k), 12) for k in (0, 50, 100)]
    finite = sorted(value for value in percentiles if math.isfinite(value))
    if len(finite) > 1:
        parts += [shape(0, across(value), 8, "c5 dot", size=3) for value in finite[1:-1]]
        parts.append(shape(1, across(finite[0]), 8, "c1", size=3.8))
        parts.append(shape(0, across(finite[-1]), 8, "c0", size=4.2))
    return Plot("percentile", title, width, height, "".join(parts))


def _axis(low: float, high: float, across: Scale, y: float, *, top: float) -> str:
    parts = []
    for value in ticks(low, high, 5):
        parts += [line(across(value), top, across(value), y), label(across(value), y + 15, shown(value), "m")]
    return "".join(parts)


def _text_width(names: Sequence[str]) -> float:
    """Room for the longest of these at 11 pixels, without a font to measure with."""
    return max((6.6 * len(name) for name in names), default=0.0)
