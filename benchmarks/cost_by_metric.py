"""Processor seconds of every metric that runs anywhere, per 1,000 pairs of reports that were not read before.

`python benchmarks/cost_by_metric.py [--write]` scores the reports of the demonstration, made distinct by a
number, once per metric, on one thread. `--write` keeps the figures for the table of docs/which_metric.md. The
report reader is the larger part; metrics that are scored in one run share it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from itertools import cycle
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import radgauge as rg  # noqa: E402
from radgauge.core.registry import describe_metrics  # noqa: E402
from radgauge.io.case_files.read import read_cases  # noqa: E402

SAMPLES = Path(rg.__file__).parent / "samples" / "reports.csv"
RESULTS = Path(__file__).parent / "results" / "cost_by_metric.json"
PAIRS = 300
LEFT_OUT = ("meteor", "spice", "medcon", "readability", "vlscore", "crepe")
"""Need Java, a licence, an extra, images or weights."""


def cases() -> list[rg.Case]:
    """The reports of the demonstration's careful system, with a number of their own, so that none is a copy."""
    given = read_cases(SAMPLES).cases
    return [
        rg.Case(str(n), f"{case.candidate} Nodule of {n + 3} mm.", (f"{case.references[0]} Mass of {n + 3} mm.",))
        for n, case in zip(range(PAIRS), cycle(given), strict=False)
    ]


def main() -> None:
    """Print seconds per metric."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    seconds = {}
    for metric in describe_metrics():
        if metric.name in LEFT_OUT or metric.extra == "llm":
            continue
        rg.score(cases()[:2], [metric.name])  # loads lexicon and tables
        started = time.process_time()
        rg.score(cases(), [metric.name])
        seconds[metric.name] = round((time.process_time() - started) * 1000 / PAIRS, 2)
        print(f"{metric.name:20} {seconds[metric.name]:8.2f} s per 1,000 pairs", flush=True)
    if options.write:
        RESULTS.write_text(json.dumps(seconds, indent=1) + "\n")


if __name__ == "__main__":
    main()
