"""The chance level of embedded BERTScore: print the row for `models/text/data/bertscore_baselines.csv`.

Mean precision, recall and F1 over 20,000 random pairs of distinct sentences of Open-i chest X-ray reports. Run
it after every change of the table: `python bertscore_baseline.py --shared DATA`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sources import read_iu_sentences

from radgauge.core.readings import Readings
from radgauge.encoders.text.token_vectors import embedded_token_vectors, greedy_match

PAIRS = 20_000


def main() -> None:
    """Print one row of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True)
    options = parser.parse_args()
    sentences = sorted(set(read_iu_sentences(options.shared)))
    read = embedded_token_vectors(sentences, reading=Readings())
    usable = [sentence for sentence in sentences if not read[sentence].empty]
    first, second = np.random.default_rng(0).integers(len(usable), size=(2, PAIRS))
    chosen = [(usable[a], usable[b]) for a, b in zip(first, second, strict=True) if a != b]
    means = np.mean([greedy_match(read[a], read[b]) for a, b in chosen], axis=0)
    print("embedded,0," + ",".join(f"{value:.5f}" for value in means))


if __name__ == "__main__":
    main()
