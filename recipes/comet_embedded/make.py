"""Make the estimator that ships and the figures of its card: see README.md beside this file."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
from scipy import stats

from radgauge.models.text.embedded_estimator import EMBEDDED, load_embedded
from radgauge.reading import Readings
from radgauge.report_reader import ReportReader
from radgauge.training.clusters import cluster_terms
from radgauge.training.estimator import train_estimator
from radgauge.training.pair_files import PairTable, read_pairs, write_pairs
from radgauge.training.pair_scores import PairScorer
from radgauge.training.pairs import build_pairs
from radgauge.training.term_reports import TermReports, read_term_reports

CLUSTERS = 6
BACKGROUND = 0.5
RANDOM_PAIRS = 5000


def main() -> None:
    """Train under both split rules and print what the card says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="indiana_reports.csv or the folder of Open-i XML")
    parser.add_argument("work", type=Path, help="folder for pairs and checkpoints")
    parser.add_argument("--install", action="store_true", help="put the trained file into the package")
    given = parser.parse_args()
    chosen = read_term_reports(given.corpus)
    reading = Readings()
    for split in ("report", "pairs"):
        file = train(chosen, given.work / split, split, reading)
        for name in ("val", "test"):
            show(f"split by {split}, {name}", file, read_pairs(given.work / split / f"{name}.csv"), reading)
        if split == "report":
            show("random pairs of unseen reports", file, random_pairs(given.work / split, reading), reading)
            show("the file that ships now, test", EMBEDDED, read_pairs(given.work / split / "test.csv"), reading)
            shipped = file
    if given.install:
        shutil.copyfile(shipped, EMBEDDED)
        print(f"installed {EMBEDDED}")


def train(chosen: TermReports, folder: Path, split: str, reading: Readings) -> Path:
    """Pairs and a head trained on them; the file."""
    clusters = cluster_terms([report.terms for report in chosen.reports], k=CLUSTERS)
    corpus = build_pairs(chosen.reports, clusters, split=split, background=BACKGROUND, reading=reading)
    about = {"split": split, "background": BACKGROUND, "seed": 0, "reader": ReportReader().signature}
    write_pairs(folder, corpus, chosen=chosen, clusters=clusters, about=about)
    trained = train_estimator(
        *(read_pairs(folder / f"{name}.csv") for name in ("train", "val")),
        folder=folder / "checkpoint",
        about={"training": "train.csv", "validation_file": "val.csv"},
        tell=lambda line: print(line, file=sys.stderr),
    )
    return trained.folder / "comet_embedded.npz"


def random_pairs(folder: Path, reading: Readings) -> PairTable:
    """Pairs of any two test reports, scored like the others."""
    table = read_pairs(folder / "test.csv")
    scorer = PairScorer.of(table.texts, reading=reading)
    rng = np.random.default_rng(0)
    reference, candidate = (rng.integers(0, len(table.texts), RANDOM_PAIRS).astype(np.intp) for _ in range(2))
    return PairTable(table.texts, reference, candidate, scorer.each(reference, candidate).radcliq, ())


def show(name: str, file: Path, pairs: PairTable, reading: Readings) -> None:
    """Kendall tau and mean absolute error of a file on pairs."""
    estimator = load_embedded(file)
    vectors = estimator.sketch.vectors(pairs.texts, reading=reading)
    found = estimator.head.score(vectors, candidate=pairs.candidate, reference=pairs.reference)
    tau = stats.kendalltau(found, pairs.target).statistic
    error = np.abs(found - pairs.target).mean()
    print(f"{name}: {len(pairs):,} pairs, tau {tau:.3f}, mean absolute error {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
