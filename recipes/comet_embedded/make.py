"""Make the estimator that ships and the figures of its card: see README.md beside this file."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from material import Judged, joined, judged_pairs, scored, split_pairs
from scipy import stats

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.encoders.text.embedded_estimator import EMBEDDED, load_embedded
from radgauge.lab.training.estimator import train_estimator
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import PairTable
from radgauge.metrics.comet import Comet
from radgauge.metrics.errors import Errors
from radgauge.reader import ReportReader

TARGET = "errors_quality"
REPEATED = 10
"""How often a judged pair stands beside the pairs that `errors` scored."""


def main() -> None:
    """Train on the verdicts of `errors`; print what the card says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of all corpora, see README.md")
    parser.add_argument("work", type=Path, help="folder for checkpoints")
    parser.add_argument("--reports", type=int, default=1500, help="at most, of each corpus")
    parser.add_argument("--judged", action="store_true", help="try judged pairs, each source left out in turn")
    parser.add_argument("--install", action="store_true", help="put the trained file into the package")
    given = parser.parse_args()
    torch.set_num_threads(1)
    reading = Readings()
    tables = {name: scored(pairs, reading) for name, pairs in split_pairs(given.data, most=given.reports).items()}
    judged = judged_pairs(given.data)
    cases = [Case(str(at), each.candidate, (each.reference,)) for at, each in enumerate(judged)]
    quality = Errors().measure(cases, reading=reading)[:, 0]
    rating = np.array([each.rating for each in judged])
    source = np.array([each.source for each in judged])
    print(", ".join(f"{name} {len(each):,} pairs" for name, each in tables.items()), flush=True)
    show("errors_quality itself", quality, rating, source)
    show("the file that ships now", predictions(EMBEDDED, judged, reading), rating, source)
    final = train(given.work / "errors", tables["train"], tables["val"])
    show("trained on errors", predictions(final, judged, reading), rating, source)
    for name in ("val", "test"):
        pairs = tables[name]
        estimator = load_embedded(final)
        vectors = estimator.sketch.vectors(pairs.texts, reading=reading)
        found = estimator.head.score(vectors, candidate=pairs.candidate, reference=pairs.reference)
        tau = stats.kendalltau(found, pairs.target).statistic
        error = np.abs(found - pairs.target).mean()
        print(f"{name}: {len(pairs):,} pairs of unseen reports, tau with errors {tau:.3f}, mean error {error:.3f}")
    if given.judged:
        mixed = np.full(len(judged), np.nan)
        for name in dict.fromkeys(source):
            out = source == name
            pairs = with_judged(tables["train"], judged, quality, ~out)
            file = train(given.work / f"without_{name}", pairs, tables["val"])
            mixed[out] = predictions(file, [each for each in judged if each.source == name], reading)
        show("and on judged pairs of the other sources", mixed, rating, source)
    if given.install:
        shutil.copyfile(final, EMBEDDED)
        print(f"installed {EMBEDDED}, {EMBEDDED.stat().st_size:,} bytes")


def with_judged(pairs: PairTable, judged: Sequence[Judged], quality: np.ndarray, chosen: np.ndarray) -> PairTable:
    """Judged pairs among the others; ratings are put on the scale of the quality value by a straight line."""
    rating = np.array([each.rating for each in judged])
    usable = chosen & np.isfinite(quality)
    line = np.polyfit(rating[usable], quality[usable], 1)
    kept = [each for each, use in zip(judged, chosen, strict=True) if use] * REPEATED
    target = [float(np.polyval(line, each.rating)) for each in kept]
    return joined(pairs, [(each.candidate, each.reference) for each in kept], target)


def train(folder: Path, training: PairTable, validation: PairTable) -> Path:
    """A head; the file."""
    trained = train_estimator(
        training,
        validation,
        folder=folder,
        settings=EstimatorSettings.for_embedded(target=TARGET),
        about={"reader": ReportReader().signature},
        tell=lambda line: print(f"{folder.name}: {line}", file=sys.stderr, flush=True),
    )
    return trained.folder / "comet_embedded.npz"


def predictions(file: Path, judged: Sequence[Judged], reading: Readings) -> np.ndarray:
    """The metric with a file, the right way round."""
    metric = Comet(models=str(file))
    cases = [Case(str(at), each.candidate, (each.reference,)) for at, each in enumerate(judged)]
    values = metric.measure(cases, reading=reading)[:, 0]
    return values if metric.higher_is_better else -values


def show(name: str, values: np.ndarray, rating: np.ndarray, source: np.ndarray) -> None:
    """Kendall tau-b with the rating, source by source; pairs that cannot be judged are left out and counted."""
    able = np.isfinite(values)
    taus = []
    for each in dict.fromkeys(source):
        chosen = able & (source == each)
        taus.append(f"{each} {stats.kendalltau(values[chosen], rating[chosen]).statistic:.3f}")
    print(f"{name}: {', '.join(taus)}" + (f" ({(~able).sum()} not judged)" if not able.all() else ""), flush=True)


if __name__ == "__main__":
    main()
