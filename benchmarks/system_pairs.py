"""Real candidates and references of IU X-ray studies, for the benchmarks."""

from __future__ import annotations

import csv
from pathlib import Path

Pairs = list[tuple[str, str]]


def real_pairs(data: Path, count: int, systems: int) -> list[Pairs]:
    """About `count` pairs of candidate and reference: the same studies from each of the most varied systems."""
    with (data / "iu_xray_systems" / "mrg_rl_test382_systems.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in ("uid", "reference")]
    names.sort(key=lambda name: len({row[name] for row in rows}), reverse=True)
    rows = [row for row in rows if row["reference"].strip() and all(row[name].strip() for name in names)]
    return [[(row[name], row["reference"]) for row in rows[: -(-count // systems)]] for name in names[:systems]]
