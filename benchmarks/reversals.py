"""Reports with one significant thing turned round, and faithful rewordings: what `errors` notices.

    python benchmarks/reversals.py [--failures]

The pairs (held_out/reversals) were written by somebody who knew neither code nor rules; their first run is told in
held_out/README.md, and they are development data since.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from pathlib import Path

import radgauge as rg
from radgauge.metrics.errors import COLUMNS, Errors

PAIRS = Path(__file__).parent / "held_out" / "reversals" / "pairs.jsonl"


def main() -> None:
    """Print the counts, and with --failures the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true")
    wanted = parser.parse_args()
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    cases = [rg.Case(pair["id"], pair["candidate"], (pair["reference"],)) for pair in pairs]
    rows = Errors().measure(cases, reading=rg.Readings())
    significant = rows[:, COLUMNS.index("errors_significant")]
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for pair, found in zip(pairs, significant.tolist(), strict=True):
        unjudged = math.isnan(found)
        for group in ("all", pair["region"]):
            count = counts[(pair["kind"], group)]
            count[0] += 1
            count[1] += not unjudged and found > 0
            count[2] += unjudged
        if wanted.failures and (unjudged or (found > 0) is (pair["kind"] == "faithful")):
            print(f"{pair['id']} {pair['kind']} {found}\n  {pair['reference']}\n  {pair['candidate']}")
    for (kind, group), (total, noticed, unjudged) in sorted(counts.items()):
        print(f"{kind:9} {group:9} {total:4} pairs, significant error {noticed:3}, not judged {unjudged:2}")


if __name__ == "__main__":
    main()
