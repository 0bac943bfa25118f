"""How often the intervals of `radgauge study estimate` hold the true mean, and how narrow they are.

`python benchmarks/estimate_coverage.py` simulates 4,000 studies for each number of labels (70 s of processor
time). Each one has a frame of 2,000 new reports, a judge that scores them, and a judged slice. Labels are the mean
of two raters: ratings from 1 to 5, or counts of errors, as skewed as real ones. The judge sees the same truth with
the noise that makes its Kendall tau-b with the labels 0.6, 0.3 or 0. `stratified` draws as many studies of the
judge's worst tenth, the next three tenths and the rest. `--write` keeps the figures for the documentation.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from radgauge.stats.prediction_powered import LabelledStratum, powered_mean

PATH = Path(__file__).parent / "results" / "estimate_coverage.json"
FRAME, STUDIES, LABELS = 2000, 4000, (50, 100, 200)
TAUS = (0.6, 0.3, 0.0)
Array = NDArray[np.float64]
RECALL = 0.9
"""Share of the errors that a rater finds; as many false ones are added, so that means stay."""
MEAN_ERRORS, SHAPE = 1.64, 2.63
"""Errors per report: negative binomial, as skewed as the significant errors of RadPref's development half."""


def found(errors: Array, recall: float, rng: np.random.Generator) -> Array:
    """Errors counted by one who finds this share of them and invents as many."""
    counted: Array = rng.binomial(errors.astype(np.intp), recall) + rng.poisson(
        (1 - recall) * MEAN_ERRORS, len(errors)
    ).astype(np.float64)
    return counted


def rating(truth: Array, noise: float, rng: np.random.Generator) -> Array:
    """One opinion on the scale from 1 to 5, of a truth that is about normal."""
    scale: Array = np.clip(np.round(truth + noise * rng.normal(size=len(truth))), 1, 5)
    return scale


def reports(label: str, number: int, noise: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Labels (mean of two raters) and the judge's values of new reports."""
    if label == "errors":
        truth = rng.poisson(rng.gamma(SHAPE, MEAN_ERRORS / SHAPE, number)).astype(np.float64)
        return (found(truth, RECALL, rng) + found(truth, RECALL, rng)) / 2, found(truth, 1 - noise, rng)
    truth = rng.normal(3.2, 1.3, number)
    labels = (rating(truth, 0.5, rng) + rating(truth, 0.5, rng)) / 2
    return labels, truth + noise * rng.normal(size=number)


def noise_for(label: str, tau: float) -> float:
    """Noise of the judge that gives this tau-b, by bisection on 20,000 reports."""
    low, high = 0.0, 1.0 if label == "errors" else 1000.0
    for _ in range(24):
        middle = (low + high) / 2
        labels, predictions = reports(label, 20_000, middle, np.random.default_rng(1))
        low, high = (middle, high) if kendalltau(labels, predictions).statistic > tau else (low, middle)
    return (low + high) / 2


def drawn(frame: Array, number: int, design: str, rng: np.random.Generator) -> list[tuple[int, NDArray[np.intp]]]:
    """Strata of the frame: size, and which studies were drawn."""
    if design == "simple":
        return [(len(frame), rng.permutation(len(frame))[:number])]
    worst = np.argsort(-frame)
    cuts = np.split(worst, [len(frame) // 10, 4 * len(frame) // 10])
    share = [number - 2 * (number // 3), number // 3, number // 3]
    return [(len(part), rng.permutation(part)[:count]) for part, count in zip(cuts, share, strict=True)]


def measure(studies: int = STUDIES, seed: int = 0) -> list[dict[str, object]]:
    """One line per label, tau, design and number of labels."""
    lines = []
    for label in ("rating", "errors"):
        truth = float(reports(label, 4_000_000, 0.5, np.random.default_rng(seed + 99))[0].mean())
        for tau in TAUS:
            noise = noise_for(label, tau)
            for design in ("simple", "stratified"):
                for number in LABELS:
                    rng = np.random.default_rng([seed, number])
                    hits, alone_hits, widths, alone_widths = 0, 0, [], []
                    for _ in range(studies):
                        labels, predictions = reports(label, FRAME, noise, rng)
                        strata = [
                            LabelledStratum(size, labels[rows], predictions[rows])
                            for size, rows in drawn(predictions, number, design, rng)
                        ]
                        both = powered_mean(strata, frame_mean=float(predictions.mean()))
                        alone = powered_mean(strata, frame_mean=0.0, powered=False)
                        hits += both.low <= truth <= both.high
                        alone_hits += alone.low <= truth <= alone.high
                        widths.append(both.width)
                        alone_widths.append(alone.width)
                    lines.append(
                        {
                            "label": label,
                            "tau": tau,
                            "design": design,
                            "labels": number,
                            "coverage": hits / studies,
                            "labels_alone": alone_hits / studies,
                            "width": float(np.mean(widths)),
                            "narrower": 1 - float(np.mean(widths) / np.mean(alone_widths)),
                        }
                    )
                    print(*lines[-1].values(), sep="\t", flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--studies", type=int, default=STUDIES)
    options = parser.parse_args()
    lines = measure(options.studies)
    if options.write:
        PATH.parent.mkdir(exist_ok=True)
        PATH.write_text(json.dumps({"frame": FRAME, "studies": options.studies, "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
