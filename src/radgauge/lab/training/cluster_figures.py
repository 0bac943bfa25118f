"""Pictures of a clustering: the three curves behind K, and the reports on two principal components.

Figures 4 and 5 of Calamida et al. (2023).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from radgauge.lab.training.clusters import Clusters, Floats
from radgauge.render.curves import share_curves
from radgauge.render.plots import scatter
from radgauge.render.svg import SERIES, label, shape

CURVES = ("silhouette", "inertia", "calinski_harabasz")
LINE = 16.0  # of the legend, which stands below the plot


def curves_svg(clusters: Clusters) -> str:
    """Silhouette, inertia and Calinski-Harabasz by K, each scaled to its own range, which its name gives."""
    series, undefined = [], []
    for name in CURVES:
        shown = name.replace("_", "-")
        values = np.array([getattr(trial, name) for trial in clusters.trials])
        known = values[np.isfinite(values)]  # one cluster has no silhouette
        if len(known):
            series.append((f"{shown}: {known.min():.4g} to {known.max():.4g}", _scaled(values).tolist()))
        else:
            undefined.append(f"{shown}: not defined")
    return share_curves(
        [trial.k for trial in clusters.trials],
        series,
        key="k_curves",
        title="; ".join([f"Choice of the number of clusters: K = {clusters.k}", *undefined]),
        x_label="number of clusters K",
        y_label="place in its range",
    ).file()


def plane_svg(clusters: Clusters) -> str:
    """Reports on the first two principal components of their terms, coloured by cluster."""
    points = [
        (float(x), float(y), int(group), -1) for (x, y), group in zip(clusters.plane, clusters.labels, strict=True)
    ]
    first, second = (f"({100 * share:.1f} % of the variance)" for share in clusters.explained)
    plot = scatter(
        points,
        key="clusters",
        title="Clusters of reports",
        note=f"{len(points)} reports, {clusters.k} clusters",
        x_label=f"principal component 1 {first}",
        y_label=f"principal component 2 {second}",
    )
    legend = []
    for group, prominent in enumerate(clusters.prominent):
        name = prominent[0][0] if prominent else ""
        name = name if len(name) <= 40 else name[:37] + "..."
        y = plot.height + LINE * (group + 1)
        legend.append(shape(group, 8, y - 4, f"c{group % SERIES}"))
        legend.append(label(18, y, f"{group}: {name} ({clusters.sizes[group]} reports)"))
    height = plot.height + LINE * (clusters.k + 1)
    return replace(plot, height=height, body=plot.body + "".join(legend)).file()


def _scaled(values: Floats) -> Floats:
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.where(np.isfinite(values), 0.5, np.nan)
