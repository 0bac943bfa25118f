"""The embedded plain-language writer on Indiana University findings: grade before and after, and fidelity.

Run: python benchmarks/layman.py [--data ../shared/data] [--sample 300] [--seed 0]
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from pathlib import Path

import numpy as np

from radgauge.cases import Case
from radgauge.metric import sums
from radgauge.metrics.lay_fidelity import LayFidelity
from radgauge.metrics.readability import ReadabilityIndices
from radgauge.plain_language.writer import plain_language
from radgauge.reading import Readings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with (chosen.data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["findings"]]
    rows = random.Random(chosen.seed).sample(rows, chosen.sample)
    began = time.perf_counter()
    cases = [Case(row["uid"], plain_language(row["findings"]), (row["findings"],)) for row in rows]
    took = time.perf_counter() - began
    reading = Readings()
    fidelity, grades = LayFidelity(), ReadabilityIndices()
    values = fidelity.corpus_scores(*sums(fidelity.measure(cases, reading=reading)))
    lay = grades.measure(cases, reading=reading)[:, 0]
    originals = [Case(case.id, case.references[0]) for case in cases]
    professional = grades.measure(originals, reading=reading)[:, 0]
    print(f"{len(cases)} reports written in {took:.2f} s ({len(cases) / took:.0f} per second)")
    print(f"Flesch-Kincaid grade: {np.nanmean(professional):.2f} -> {np.nanmean(lay):.2f}")
    for name, value in zip(fidelity.columns, values, strict=True):
        print(f"{name}: {value:.4f}")


if __name__ == "__main__":
    main()
