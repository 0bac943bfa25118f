"""Pictures of a clustering as SVG: the three curves behind K, and the reports on two principal components.

Figures 4 and 5 of Calamida et al. (2023). SVG is written directly: two plots do not justify a plotting library.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from radgauge.training.clusters import Clusters, Floats

WIDTH, HEIGHT, MARGIN = 640, 400, 56
LINE = 16  # of the legend, which stands above the plot
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999933", "#882255", "#555555")
CURVES = (("silhouette", "#c0392b"), ("inertia", "#2e6da4"), ("calinski_harabasz", "#2e8b57"))
MOST_POINTS = 4000


def curves_svg(clusters: Clusters) -> str:
    """Silhouette (red), inertia (blue) and Calinski-Harabasz (green) by K, each scaled to its own range."""
    ks = [trial.k for trial in clusters.trials]
    x = _scaled(np.array(ks, dtype=np.float64), MARGIN, WIDTH - MARGIN)
    parts = [_text(WIDTH / 2, HEIGHT - 12, "number of clusters K"), _frame()]
    for k, place in zip(ks, x, strict=True):
        parts.append(_text(place, HEIGHT - MARGIN + 18, str(k), bold=k == clusters.k))
    for row, (name, colour) in enumerate(CURVES):
        values = np.array([getattr(trial, name) for trial in clusters.trials])
        known = np.isfinite(values)  # one cluster has no silhouette
        places = list(zip(x[known], _scaled(values[known], HEIGHT - MARGIN - 8, MARGIN + 8), strict=True))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        span = f"{name.replace('_', '-')}: " + (
            f"{values[known].min():.4g} to {values[known].max():.4g}" if places else "not defined"
        )
        parts.append(_text(MARGIN + 4, 16 + 14 * row, span, anchor="start", fill=colour))
    chosen = x[ks.index(clusters.k)]
    parts.append(
        f'<line x1="{chosen:.1f}" y1="{MARGIN}" x2="{chosen:.1f}" y2="{HEIGHT - MARGIN}" '
        'stroke="#888" stroke-dasharray="4 3"/>'
    )
    return _svg("Choice of the number of clusters", parts)


def plane_svg(clusters: Clusters) -> str:
    """Reports on the first two principal components of their terms, coloured by cluster."""
    legend = LINE * clusters.k
    x = _scaled(clusters.plane[:, 0], MARGIN, WIDTH - MARGIN)
    y = _scaled(clusters.plane[:, 1], HEIGHT - MARGIN, MARGIN) + legend
    step = max(1, -(-len(x) // MOST_POINTS))
    parts = [_frame(legend)]
    for a, b, label in zip(x[::step], y[::step], clusters.labels[::step], strict=True):
        parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{_colour(label)}" fill-opacity="0.5"/>')
    for label, prominent in enumerate(clusters.prominent):
        name = prominent[0][0] if prominent else ""
        name = name if len(name) <= 70 else name[:67] + "..."
        height = 30 + LINE * label
        parts.append(f'<rect x="{MARGIN}" y="{height - 9}" width="10" height="10" fill="{_colour(label)}"/>')
        parts.append(
            _text(MARGIN + 18, height, f"{label}: {name} ({clusters.sizes[label]} reports)", anchor="start")
        )
    first, second = (f"{100 * share:.1f} %" for share in clusters.explained)
    words = f"principal components 1 ({first} of the variance) and 2 ({second})"
    parts.append(_text(WIDTH / 2, HEIGHT + legend - 24, words))
    return _svg("Clusters of reports", parts, height=HEIGHT + legend)


def _colour(label: int) -> str:
    return COLOURS[int(label) % len(COLOURS)]


def _scaled(values: Floats, low: float, high: float) -> Floats:
    span = float(np.ptp(values)) if len(values) else 0.0
    share = (values - values.min()) / span if span else np.full(len(values), 0.5)
    return low + share * (high - low)


def _frame(below: float = 0) -> str:
    return (
        f'<rect x="{MARGIN}" y="{MARGIN + below}" width="{WIDTH - 2 * MARGIN}" height="{HEIGHT - 2 * MARGIN}" '
        'fill="none" stroke="#ccc"/>'
    )


def _text(
    x: float, y: float, words: str, *, anchor: str = "middle", fill: str = "#333", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(words)}</text>'


def _svg(title: str, parts: Sequence[str], *, height: int = HEIGHT) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>' + "".join(parts) + "</svg>\n"
    )
