"""Estimators trained on ratings of judged pairs, measured on RadPref: features and first weights.

python benchmarks/estimator_ratings.py [--seeds 3]

Trained on IU pairs and the written sets (ratings of a language model, standardised per source), a fifth of the
studies chooses the epoch; Kendall's tau-b with the mean radiologist of RadPref's development part, which nothing
was trained on. Development figures: the reader behind the claims and the shipped head was made with an eye on
these sets.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judged_data import judged_sources
from scipy.stats import kendalltau

import radgauge as rg
from radgauge.io.judgments import Judgments
from radgauge.lab.training.estimator import train_estimator
from radgauge.lab.training.estimator_settings import EstimatorSettings
from radgauge.lab.training.pair_files import PairTable, read_pairs
from radgauge.text.words import has_words

TRAINING = ("iu_pairs", "written_chest", "written_regions")
WAYS = {
    "words and graphs": {"features": "words"},
    "claims (default)": {},
    "claims, from the shipped head": {"start": "shipped"},
}
Row = tuple[str, str, str, float]


def main() -> None:
    """Print a line per column name and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    sources = judged_sources()
    rated = [row for name in TRAINING for row in _rows(sources[name])]
    test = _rows(sources["radpref_dev"])
    studies = np.random.default_rng(0).permutation(sorted({row[0] for row in rated})).tolist()
    validation = set(studies[: len(studies) // 5])
    print(f"{len(rated)} rated pairs to learn from, {len(test)} to measure on; tau-b by seed")
    for column in ("rating", "errors_quality"):
        for name, changes in WAYS.items():
            taus = [_tau(rated, validation, test, column, seed, changes) for seed in range(seeds)]
            print(f"column {column}, {name}: {', '.join(f'{tau:.3f}' for tau in taus)}", flush=True)


def _rows(judgments: Judgments) -> list[Row]:
    ratings = judgments.mean_ratings().column("rating")
    standard = (ratings - np.nanmean(ratings)) / np.nanstd(ratings)
    return [
        (case.id, case.references[0], case.candidate, float(value))
        for case, value in zip(judgments.cases, standard, strict=True)
        if np.isfinite(value) and has_words(case.candidate)
    ]


def _tau(
    rated: Sequence[Row],
    validation: set[str],
    test: Sequence[Row],
    column: str,
    seed: int,
    changes: dict[str, str],
) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = [
            _table(folder / f"{part}.csv", [row for row in rated if (row[0] in validation) is held], column)
            for part, held in (("train", False), ("val", True))
        ]
        pace = {"batch_size": 16, "epochs": 20, "patience": 5, "device": "cpu", "seed": seed}
        settings = EstimatorSettings.for_embedded(target=column, direction="higher", **pace, **changes)
        train_estimator(*tables, folder=folder / "run", settings=settings)
        cases = [rg.Case(str(at), row[2], (row[1],)) for at, row in enumerate(test)]
        results = rg.score(cases, [f"comet:models={folder / 'run' / 'comet_embedded.npz'}"])
        (scores,) = results.judges.values()
        return float(kendalltau(scores.headline, [row[3] for row in test], nan_policy="omit").statistic)


def _table(path: Path, rows: Sequence[Row], column: str) -> PairTable:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["reference", "candidate", column])
        writer.writerows(row[1:] for row in rows)
    return read_pairs(path, target=column)


if __name__ == "__main__":
    main()
