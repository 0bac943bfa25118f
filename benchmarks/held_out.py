"""Agreement on pairs and probes set apart from the development: `python benchmarks/held_out.py [WHICH]`.

Kendall tau-b with the rating, intervals by resampling studies; what happens to faithful rewordings and poor
reports; claims of the probes that are read rightly. See held_out/README.md for what the texts are.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
from probes import score_probes

import radgauge as rg
from radgauge.stats import association

HELD_OUT = Path(__file__).parent / "held_out"
FOLDERS = {"first": HELD_OUT, "second": HELD_OUT / "second", "third": HELD_OUT / "third"}
FOLDER = FOLDERS["third"]
"""The newest texts whose first run was reported; development data since."""

METRICS = ("errors", "ratescore", "comet", "rouge")
COLUMNS = ("errors_quality", "errors_significant", "errors_total")
RESAMPLES = 2000


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="?", choices=FOLDERS, default="third", help="which texts")
    folder = FOLDERS[parser.parse_args().which]
    rows = [json.loads(line) for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = ("id", "reference", "candidate", "age", "indication", "modality")
    cases = [{**{name: str(row.get(name, "")) for name in texts}, "system": row["cand"]} for row in rows]
    results = rg.score(cases, METRICS)
    rating = np.array([row["rating"] for row in rows])
    chest = np.array(["chest" in f"{row['region']} {row['modality']}".lower() for row in rows])
    studies = np.array([row["id"] for row in rows])
    outputs = [("errors", name) for name in COLUMNS] + [(name, results[name].columns[0]) for name in METRICS[1:]]
    print(f"tau-b with the rating: {len(rows)} pairs, {int(chest.sum())} of the chest")
    for judge, column in outputs:
        values = results[judge].oriented(column)
        taus = [association(values[part], rating[part], kind="kendall_b") for part in (..., chest, ~chest)]
        low, high = interval(values, rating, studies)
        print(f"  {column:20s} {taus[0]:6.3f} [{low:.2f}, {high:.2f}]  chest {taus[1]:6.3f}  other {taus[2]:6.3f}")
    errors = results["errors"]
    good, poor = rating >= 4.5, rating <= 2.5
    charged = errors.column("errors_significant") > 0
    print(f"faithful rewordings: {int(good.sum())}, with a significant error {charged[good].mean():.2f}")
    missed, best = int((~charged[poor]).sum()), int((errors.headline[poor] >= 0.99).sum())
    print(f"poor reports: {int(poor.sum())}, no significant error {missed}, quality of 0.99 or more {best}")
    unknown, covered = int(np.isnan(errors.headline).sum()), np.nanmean(errors.column("errors_coverage"))
    print(f"coverage {covered:.3f}, not judged {unknown}")
    total: Counter[str] = sum(score_probes(folder / "probes.jsonl").values(), Counter())
    claims, side = total["n"], total["side"] / max(1, total["sided"])
    print(
        f"probes: {claims} claims, read {total['read'] / claims:.3f}, right {total['right'] / claims:.3f}, "
        f"side {side:.3f} of {total['sided']}"
    )


def interval(values: np.ndarray, rating: np.ndarray, studies: np.ndarray) -> tuple[float, float]:
    """Percentile interval of tau-b, studies drawn."""
    rng = np.random.default_rng(0)
    places = [np.flatnonzero(studies == study) for study in np.unique(studies)]
    drawn = []
    for _ in range(RESAMPLES):
        pick = np.concatenate([places[at] for at in rng.integers(len(places), size=len(places))])
        drawn.append(association(values[pick], rating[pick], kind="kendall_b"))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
