"""Agreement of every embedded text metric with the ratings of the held-out pairs.

`python benchmarks/agreement_by_metric.py` prints Kendall tau-b with an interval by resampling studies. `--write`
keeps the figures where the report finds them, for its tooltips and for its choice of the metrics to believe;
`tests/render/test_metric_names.py` fails when they drift.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from held_out import FOLDER, interval

import radgauge as rg
from radgauge.stats import association

METRICS = (
    *("errors", "ratescore", "radgraph", "radcliq", "chexbert_similarity", "comet"),
    *("bertscore", "bleu", "rouge", "cider"),
)
DEVELOPED: tuple[str, ...] = ()
"""Columns whose rules were made while looking at these texts later: the figures of the first run are kept."""
KEPT = Path(__file__).parents[1] / "src" / "radgauge" / "render" / "data" / "agreement.json"


def measure() -> dict[str, dict[str, float]]:
    """Column -> tau, interval and number of pairs."""
    rows = [json.loads(line) for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = ("id", "reference", "candidate", "age", "indication", "modality")
    cases = [{**{name: str(row.get(name, "")) for name in texts}, "system": row["cand"]} for row in rows]
    rating = np.array([row["rating"] for row in rows])
    studies = np.array([row["id"] for row in rows])
    found = {}
    for scores in rg.score(cases, METRICS).judges.values():
        asked = [
            scores.columns[0],
            *(c for c in ("errors_total", "errors_significant", "bleu_2") if c in scores.columns),
        ]
        for column in asked:
            values = scores.oriented(column)
            known = ~np.isnan(values)
            low, high = interval(values[known], rating[known], studies[known])
            tau = association(values[known], rating[known], kind="kendall_b")
            found[column] = {
                "tau": round(float(tau), 3),
                "low": round(low, 3),
                "high": round(high, 3),
                "pairs": int(known.sum()),
            }
    return found


def main() -> None:
    """Print the table; keep it if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the figures in the package")
    wanted = parser.parse_args()
    found = measure()
    for column, line in sorted(found.items(), key=lambda each: -each[1]["tau"]):
        print(f"{column:32s} {line['tau']:6.3f} [{line['low']:.2f}, {line['high']:.2f}]  n {line['pairs']}")
    if wanted.write:
        first = json.loads(KEPT.read_text(encoding="utf-8"))
        found |= {column: first[column] for column in first if column.startswith(DEVELOPED)}
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
