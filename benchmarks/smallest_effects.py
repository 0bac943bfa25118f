"""Smallest effect of interest of each metric, from pairs that people and judges rated.

`python benchmarks/smallest_effects.py` prints by how much a metric's mean moves when one report in ten is one
point better on the raters' scale of five: a tenth of the slope of the metric on the rating, each source with a
level of its own (an anchor, as in minimal important differences: Guyatt et al. 2002). `--write` keeps the figures
where reports find them. Metrics whose slope could be zero have none. These are development pairs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from judged_data import HELD_OUT, judged_sources
from numpy.typing import NDArray

import radgauge as rg

METRICS = (
    *("errors", "ratescore", "radgraph", "radcliq", "chexbert_similarity", "comet"),
    *("bertscore", "bleu", "rouge", "cider"),
)
SHARE = 0.1
"""Reports of a set that must be one rating point better: one in ten."""
PATH = Path(__file__).parents[1] / "src" / "radgauge" / "render" / "data" / "smallest_effects.json"
Values = NDArray[np.float64]


def slope(values: Values, ratings: Values, sources: NDArray[np.str_]) -> float:
    """Change of the metric per rating point within sources."""
    x, y = ratings.copy(), values.copy()
    for source in np.unique(sources):
        own = sources == source
        x[own] -= x[own].mean()
        y[own] -= y[own].mean()
    return float(x @ y / (x @ x))


def measure(*, resamples: int = 1000, seed: int = 0) -> dict[str, dict[str, float]]:
    """Column -> smallest effect with its interval (studies resampled) and number of pairs."""
    columns: dict[str, list[Values]] = {}
    ratings, sources, studies = [], [], []
    for name, judgments in judged_sources().items():
        if name in HELD_OUT:
            continue
        rated = judgments.mean_ratings()
        ratings.append(rated.oriented(rated.columns[0]))
        sources += [name] * len(rated)
        studies += [f"{name}/{study}" for study, _ in rated.keys]
        by_key = {case.key: case for case in judgments.cases}
        for scores in rg.score([by_key[key] for key in rated.keys], METRICS).judges.values():
            for column in dict.fromkeys((scores.columns[0], scores.system_headline, "errors_significant")):
                if column in scores.columns:
                    columns.setdefault(column, []).append(scores.oriented(column))
    rating, source = np.concatenate(ratings), np.array(sources)
    units = np.unique(np.array(studies), return_inverse=True)[1]
    effects = {}
    for column, parts in columns.items():
        values = np.concatenate(parts)
        rows = [np.flatnonzero((units == unit) & ~np.isnan(values + rating)) for unit in range(units.max() + 1)]
        rows = [each for each in rows if len(each)]
        rng = np.random.default_rng(seed)
        drawn = []
        for _ in range(resamples):
            index = np.concatenate([rows[unit] for unit in rng.integers(0, len(rows), len(rows))])
            drawn.append(slope(values[index], rating[index], source[index]))
        index = np.concatenate(rows)
        low, high = np.quantile(drawn, [0.025, 0.975])
        effects[column] = {
            "value": round(SHARE * slope(values[index], rating[index], source[index]), 4),
            "low": round(SHARE * float(low), 4),
            "high": round(SHARE * float(high), 4),
            "pairs": len(index),
        }
    return effects


def main() -> None:
    """Print the table; keep it if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the figures in the package")
    options = parser.parse_args()
    effects = measure()
    for column, effect in effects.items():
        print(f"{column:32} {effect['value']:.4f} [{effect['low']:.4f}, {effect['high']:.4f}] {effect['pairs']}")
    if options.write:
        kept = {column: effect for column, effect in effects.items() if effect["low"] > 0}
        PATH.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
