"""How long the learned metric and its training material take.

Usage: PYTHONPATH=src python benchmarks/comet.py [indiana_reports.csv]. Without the file, our own sample reports
are scored and the pairs are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.io.case_files import read_cases
from radgauge.lab.training.clusters import cluster_terms
from radgauge.lab.training.pair_scores import PairScorer
from radgauge.lab.training.pairs import build_pairs
from radgauge.lab.training.term_reports import read_term_reports
from radgauge.metrics.comet import Comet
from radgauge.reader import ReportReader
from radgauge.samples import sample_reports_path

PAIRS = 10_000


def timed(label: str, work: Callable[[], object]) -> float:
    start, busy = time.perf_counter(), time.process_time()
    work()
    spent = time.process_time() - busy
    print(f"{label:62} {time.perf_counter() - start:8.2f} s, {spent:8.2f} s of processor time")
    return spent  # ratios are of processor time: the machine may have other work


def main(corpus: Path | None) -> None:
    if corpus is None:
        texts = [text for case in read_cases(sample_reports_path()).cases for text in case.references]
    else:
        texts = [report.text for report in read_term_reports(corpus).reports]
    texts = list(dict.fromkeys(texts))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(texts), (PAIRS, 2))
    cases = [Case(str(at), texts[j], (texts[i],)) for at, (i, j) in enumerate(drawn)]
    reading = Readings()
    timed(f"read {len(texts)} reports", lambda: reading.of(ReportReader(), texts))
    metric = Comet()
    learned = timed(f"comet, {PAIRS} pairs, reports read before", lambda: metric.measure(cases, reading=reading))
    timed("  the same again", lambda: metric.measure(cases, reading=reading))
    direct = load("errors")
    target = timed(f"errors, {PAIRS} pairs, reports read before", lambda: direct.measure(cases, reading=reading))
    print(f"comet takes {learned / target:.2f} times as long as its target")

    some = np.arange(min(500, len(texts)))
    scorer = PairScorer.of([texts[at] for at in some], reading=reading)
    blocks = timed(f"all {len(some) ** 2} pairs by matrix products", lambda: scorer.block(some, some).radcliq)
    every = blocks / len(some) ** 2
    print(f"pair by pair would take {target / PAIRS / every:.0f} times as long")
    if corpus is not None:
        found = read_term_reports(corpus)
        grouped = []
        timed("cluster with K = 2 to 12", lambda: grouped.append(cluster_terms([r.terms for r in found.reports])))
        fixed = cluster_terms([report.terms for report in found.reports], k=6)
        for kind in ("top", "best"):
            timed(f"pairs, {kind}, from texts", lambda kind=kind: build_pairs(found.reports, fixed, corpus=kind))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
