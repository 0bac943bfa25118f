"""Lines over steps: shares by round, by size of a training set."""

from __future__ import annotations

import math
from collections.abc import Sequence

from radgauge.render.svg import SERIES, Plot, label, line, number, scale, shape, shown, ticks, turned


def share_curves(
    steps: Sequence[float],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    key: str,
    title: str,
    x_label: str,
    y_label: str,
) -> Plot:
    """Shares from 0 to 1 over steps, one line with its own marks and name per series.

    Args:
        steps: Positions across.
        series: (name, share at each step); NaN is a gap.
        key: Name of the plot.
        title: First line.
        x_label: What is across.
        y_label: What is up.
    """
    left, top, bottom, plot_width = 48.0, 34.0, 230.0, 300.0
    width = left + plot_width + 12 + max((6.6 * len(name) for name, _ in series), default=0.0) + 16
    height = bottom + 44
    across = scale(steps, left, left + plot_width, pad=0.06)
    up = scale([0.0, 1.0], bottom, top, pad=0.0)
    parts = [label(0, 13, title, "h")]
    for value in ticks(0, 1, 5):
        parts += [
            line(left, up(value), left + plot_width, up(value)),
            label(left - 6, up(value) + 4, shown(value), "e"),
        ]
    parts += [label(across(step), bottom + 16, shown(step), "m") for step in steps]
    parts.append(label(left + plot_width / 2, height - 8, x_label, "m i"))
    parts.append(turned(11, (top + bottom) / 2, y_label, -90, "m i"))
    for index, (name, values) in enumerate(series):
        points = [(across(x), up(y)) for x, y in zip(steps, values, strict=True) if math.isfinite(y)]
        if not points:
            continue
        path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
        parts.append(f'<path class="l{index % SERIES} w2" d="M{path}"/>')
        parts += [shape(index, x, y, f"c{index % SERIES} gap", size=4) for x, y in points]
        parts.append(label(left + plot_width + 10, points[-1][1] + 4, name, "i"))
    return Plot(key, title, width, height, "".join(parts))
