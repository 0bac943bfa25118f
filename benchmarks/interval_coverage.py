"""How often intervals hold what they say: coverage in samples whose true value is known.

Draws many small samples from distributions like those of scores, makes an interval of each with every method that
radgauge offers, and counts how many hold the true value. Prints the table of docs/intervals.md.

    python benchmarks/interval_coverage.py [--samples 2000] [--markdown]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.stats.resample import interval

Rows = NDArray[np.float64]
SIZES = (2, 5, 10, 20, 50, 100)
METHODS = ("percentile", "bca", "t", "auto")
LEVEL = 0.95


@dataclass(frozen=True)
class Population:
    """Values as a metric gives them, with their true mean."""

    name: str
    draw: Callable[[np.random.Generator, int], Rows]
    mean: float


POPULATIONS = (
    Population("mean of a symmetric score", lambda rng, n: rng.normal(0.5, 0.15, n), 0.5),
    Population("mean of a skewed score (beta 2, 8)", lambda rng, n: rng.beta(2, 8, n), 0.2),
    Population("mean near the upper end (beta 8, 0.5)", lambda rng, n: rng.beta(8, 0.5, n), 8 / 8.5),
    Population("mean error count (Poisson 1.5)", lambda rng, n: rng.poisson(1.5, n).astype(float), 1.5),
    Population("share of 0.5", lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.5),
    Population("share of 0.9", lambda rng, n: (rng.random(n) < 0.9).astype(float), 0.9),
    Population("share of 0.98", lambda rng, n: (rng.random(n) < 0.98).astype(float), 0.98),
)


def coverage(population: Population, size: int, method: str, *, samples: int, resamples: int, seed: int) -> float:
    """Share of samples whose interval holds the true mean; NaN where the method gives no interval."""
    rng = np.random.default_rng(seed)
    held = made = 0
    for _ in range(samples):
        (found,) = interval(
            population.draw(rng, size),
            rng=rng,
            method=method,  # type: ignore[arg-type]
            level=LEVEL,
            resamples=resamples,
        )
        if not np.isnan(found.low):
            made += 1
            held += found.low - 1e-12 <= population.mean <= found.high + 1e-12
    return held / made if made else float("nan")


def table(*, samples: int, resamples: int, seed: int = 0) -> list[tuple[str, str, list[float]]]:
    """One line per population and method: its coverage at each of SIZES."""
    return [
        (
            population.name,
            method,
            [
                coverage(population, size, method, samples=samples, resamples=resamples, seed=seed)
                for size in SIZES
            ],
        )
        for population in POPULATIONS
        for method in METHODS
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| value | method | " + " | ".join(f"n = {size}" for size in SIZES) + " |")
    print("|---|---|" + "---|" * len(SIZES))
    for name, method, found in table(samples=given.samples, resamples=given.resamples, seed=given.seed):
        cells = ["none" if np.isnan(value) else f"{value:.3f}" for value in found]
        print(f"| {name} | {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
