"""What lay replacement does to BLEU of related and unrelated reports, and to agreement with judged pairs.

Related: outputs of real generators beside their reports (judged/iu_pairs.jsonl); unrelated: the reports
of two studies. Association is Kendall's tau-b with the judged ratings. Run it with your own encoder before quoting
a value.

Run: python benchmarks/lay_replacement.py [--data ../shared/data] [--encoder FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.lay.metrics.layman import Layman
from radgauge.stats.coefficients import association

UNRELATED, SEED = 200, 0
SYSTEMS = Path("iu_xray_systems") / "mrg_rl_test382_systems.csv"


class Line(NamedTuple):
    """One way of comparing."""

    name: str
    related: float  # Corpus BLEU-4
    unrelated: float
    bleu_tau: float
    semantics_tau: float


def lines(data: Path, variants: Sequence[tuple[str, Layman]]) -> list[Line]:
    """Raw text first, then each way of replacing."""
    cases, ratings, unrelated = _cases(data)
    found: list[Line] = []
    for name, metric in variants:
        reading = Readings()
        rows, apart = (metric.measure(part, reading=reading) for part in (cases, unrelated))
        for state, semantics in (("raw", "layman_raw_semantics"), ("lay", "layman_semantics")):
            if state == "raw" and found:
                continue
            bleu, meaning = (
                next(n for n, column in enumerate(metric.columns) if column.startswith(start))
                for start in (f"layman_{state}_bleu_4", semantics)
            )
            values = metric.case_scores(rows)
            found.append(
                Line(
                    "raw" if state == "raw" else name,
                    *(_corpus(metric, part)[bleu] for part in (rows, apart)),
                    *(association(values[:, n], ratings, kind="kendall_b") for n in (bleu, meaning)),
                )
            )
    return found


def _corpus(metric: Layman, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return metric.corpus_scores(rows.sum(axis=0), np.full(rows.shape[1], float(len(rows))))


def _cases(data: Path) -> tuple[list[Case], NDArray[np.float64], list[Case]]:
    with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        texts = {row["uid"]: f"{row['findings']} {row['impression']}".strip() for row in csv.DictReader(file)}
    with (data / SYSTEMS).open(encoding="utf-8", newline="") as file:
        outputs = {row["uid"]: row for row in csv.DictReader(file)}
    verdicts = [
        json.loads(line) for line in (data / "judged" / "iu_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    cases = [
        Case(f"{number}", outputs[str(each["id"])][each["system"]], (texts[str(each["id"])],))
        for number, each in enumerate(verdicts)
    ]
    ratings = np.array([float(each["rating"]) for each in verdicts])
    long = [text for text in texts.values() if len(text.split()) > 8]
    chosen = random.Random(SEED).sample(long, UNRELATED)
    unrelated = [
        Case(str(number), text, (chosen[number - 1],))
        for number, text in enumerate(chosen)
        if text != chosen[number - 1]
    ]
    return cases, ratings, unrelated


EMBEDDED = (
    ("nearest entry, as published (default)", Layman()),
    ("nearest entry, words only (encoder=static)", Layman(encoder="static")),
    ("the writer where no entry is near (outside=write)", Layman(outside="write")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", help="Folder or id of a transformer, in place of the embedded encoders.")
    chosen = parser.parse_args()
    variants = EMBEDDED if chosen.encoder is None else ((chosen.encoder, Layman(models=chosen.encoder)),)
    for each in lines(chosen.data, variants):
        print(
            f"{each.name}: BLEU-4 of related reports {each.related:.3f}, unrelated {each.unrelated:.3f}; "
            f"tau-b with ratings: BLEU-4 {each.bleu_tau:.3f}, semantics {each.semantics_tau:.3f}"
        )


if __name__ == "__main__":
    main()
