"""Figure 2 of Layman's RRG for any systems: score ranges as bars, growth with training data as curves."""

from __future__ import annotations

from collections.abc import Sequence

from layman_rrg.training import RANGES, TrainingRun
from radgauge.render.svg import SERIES, Plot, Scale, box, label, line, number, scale, shape, shown, ticks, turned

WIDTH, LEFT, TOP, BOTTOM, PANEL = 440.0, 52.0, 34.0, 240.0, 90.0


def range_bars(runs: Sequence[TrainingRun], *, threshold: float) -> Plot:
    """Share of sentences in each range of similarity (figure 2 a): a panel per training size, a bar per system."""
    panels = _panels(runs)
    series = list(dict.fromkeys(_series(run) for run in runs))
    across = scale([0.0, 1.0], LEFT, WIDTH - 12, pad=0.0)
    largest = max(share for run in runs for share in run.ranges)
    parts = [label(0, 13, "Similarity of generated sentences with the reference", "h")]
    floor = 0.0
    for number_, (title, members) in enumerate(panels):
        top = 40.0 + (PANEL + 42) * number_
        floor = top + PANEL
        up = scale([0.0, largest], floor, top, pad=0.0)
        parts += [*_levels(up, largest, 3), label(WIDTH - 12, top - 6, title, "e i")]
        step = (across(RANGES[1]) - across(RANGES[0]) - 4) / len(members)
        for place, run in enumerate(members):
            colour = series.index(_series(run)) % SERIES
            for low, share in zip(RANGES, run.ranges, strict=False):
                left = across(low) + 2 + step * place
                parts.append(box(left, up(share), max(step - 0.5, 0.8), floor - up(share), f"c{colour}"))
        parts += [label(across(value), floor + 15, shown(value), "m") for value in RANGES]
        parts.append(line(across(threshold), top, across(threshold), floor, "zero"))
    parts.append(label((LEFT + WIDTH) / 2, floor + 33, "cosine with the closest reference sentence", "m i"))
    parts.append(turned(12, (40 + floor) / 2, "share of sentences", -90, "m i"))
    for place, name in enumerate(series):
        y = floor + 54 + 18 * place
        parts += [box(LEFT, y - 8, 10, 10, f"c{place % SERIES}"), label(LEFT + 16, y + 1, name, "i")]
    height = floor + 48 + 18 * len(series)
    return Plot("ranges", "Score ranges of generated sentences", WIDTH, height, "".join(parts))


def _series(run: TrainingRun) -> str:
    return (run.size.series if run.size else "") or ("all" if run.size else run.system)


def _panels(runs: Sequence[TrainingRun]) -> list[tuple[str, list[TrainingRun]]]:
    """Systems of one training size together; without sizes as many together as there are colours."""
    sized: dict[float, list[TrainingRun]] = {}
    for run in runs:
        if run.size is not None:
            sized.setdefault(run.size.number, []).append(run)
    if sized:
        return [(f"{_thousands(number_)} training examples", sized[number_]) for number_ in sorted(sized)]
    return [("", list(runs[start : start + SERIES])) for start in range(0, len(runs), SERIES)]


def growth_curves(runs: Sequence[TrainingRun], *, threshold: float) -> Plot | None:
    """Share of sentences at or above the threshold against training size, with intervals (figure 2 b).

    None if no system has a size.
    """
    sized = [(run, run.size) for run in runs if run.size is not None]
    if not sized:
        return None
    series = list(dict.fromkeys(size.series for _, size in sized))
    named = any(series)
    height = BOTTOM + 48 + (18 * len(series) if named else 0)
    across = scale([size.number for _, size in sized], LEFT, WIDTH - 16, pad=0.06)
    top = max(max(run.above.value, *(x for x in (run.above.high,) if x == x)) for run, _ in sized)
    up = scale([0.0, max(top, 0.05)], BOTTOM, TOP, pad=0.0)
    parts = [label(0, 13, f"Sentences at or above {threshold:g} by training size", "h"), *_levels(up, up.high)]
    sizes = sorted({size.number for _, size in sized})
    last = -100.0
    for value in sizes:
        if across(value) - last > 34:  # labels must not touch
            parts.append(label(across(value), BOTTOM + 15, _thousands(value), "m"))
            last = across(value)
    parts.append(label((LEFT + WIDTH) / 2, BOTTOM + 33, "training examples", "m i"))
    parts.append(turned(12, (TOP + BOTTOM) / 2, "share of sentences", -90, "m i"))
    for place, name in enumerate(series):
        colour = place % SERIES
        points = sorted((size.number, run) for run, size in sized if size.series == name)
        path = "L".join(f"{number(across(x))} {number(up(run.above.value))}" for x, run in points)
        parts.append(f'<path class="l{colour} w2" d="M{path}"/>')
        for x, run in points:
            if run.above.low == run.above.low:
                parts.append(line(across(x), up(run.above.low), across(x), up(run.above.high), f"l{colour}"))
            parts.append(shape(place, across(x), up(run.above.value), f"c{colour} gap", size=4.2))
            if run.collapsed and not named:
                parts.append(label(min(across(x), WIDTH - 40), up(run.above.value) + 20, "collapsed", "m i"))
        if named:
            y = BOTTOM + 54 + 18 * place
            parts += [
                shape(place, LEFT + 5, y - 3, f"c{colour}", size=4.2),
                label(LEFT + 16, y + 1, name + _collapsed(points), "i"),
            ]
    return Plot("growth", "Share of sentences above the threshold by training size", WIDTH, height, "".join(parts))


def _collapsed(points: Sequence[tuple[float, TrainingRun]]) -> str:
    """Which points of a curve are of collapsed systems: for the legend, as marks beside several curves mix."""
    sizes = [_thousands(x) for x, run in points if run.collapsed]
    if not sizes:
        return ""
    return f" (collapsed at {'every size' if len(sizes) == len(points) else ', '.join(sizes)})"


def _levels(up: Scale, largest: float, count: int = 5) -> list[str]:
    parts = []
    for value in ticks(0.0, largest, count):
        y = up(value)
        parts += [line(LEFT, y, WIDTH - 12, y), label(LEFT - 6, y + 4, shown(value), "e")]
    return parts


def _thousands(value: float) -> str:
    """A training size as people say it.

    >>> _thousands(5000), _thousands(1500), _thousands(1861), _thousands(800)
    ('5k', '1.5k', '1,861', '800')
    """
    return f"{value / 1000:g}k" if value >= 1000 and value % 100 == 0 else f"{value:,.10g}"
