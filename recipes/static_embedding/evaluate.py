"""Measure tables and teachers on the same tasks; see README.md beside it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from material import gather
from numpy.typing import NDArray
from tasks import PAIRS, Encode, triplet_accuracy, triplets
from teachers import teacher_vectors
from train import LEXICON

from radgauge.text.static_embedding import StaticEncoder

COMPARED = ("minilm", "gte", "potion")
KINDS = ("side", "level", "severity", "change")


def _teacher(name: str, cache: Path, texts: Sequence[str]) -> NDArray[np.float32]:
    return teacher_vectors(name, list(texts), cache=cache)


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in cells) + " |"


def main() -> None:
    """Print the tables of the model card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--lexicon", type=Path, default=LEXICON)
    parser.add_argument("--only-tables", action="store_true")
    options = parser.parse_args()
    material = gather(cache=options.cache, shared=options.shared, lexicon=options.lexicon, hold_out=True)
    encoders: dict[str, Encode] = {path.stem: StaticEncoder(path=str(path)).encode for path in options.tables}
    for path in options.tables:
        encoders[f"{path.stem}, words only"] = StaticEncoder(path=str(path), terms=False).encode
    if not options.only_tables:
        encoders |= {name: partial(_teacher, name, options.cache) for name in COMPARED}
    names = list(encoders)

    print(_row(["retrieval", "queries", "targets", *(f"{name} R@1 / R@5" for name in names)]))
    for task in material.tasks:
        found = [task.recall(encode) for encode in encoders.values()]
        cells = (f"{first:.3f} / {five:.3f}" for first, five in found)
        print(_row([task.name, len(task.queries), len(task.targets), *cells]))

    print(_row(["triplets", "items", *(f"{name} accuracy (cosine of opposite)" for name in names)]))
    for kind in KINDS:
        items = triplets(material.held_lexicon, kind)
        found = [triplet_accuracy(items, encode) for encode in encoders.values()]
        print(_row([kind, len(items), *(f"{right:.3f} ({cosine:.2f})" for right, cosine in found)]))

    print(_row(["pair", *names]))
    columns = []
    for encode in encoders.values():
        first, second = (encode([pair[at] for pair in PAIRS]) for at in (0, 1))
        columns.append((first * second).sum(1))
    for at, (one, other) in enumerate(PAIRS):
        print(_row([f"{one} / {other}", *(f"{column[at]:.2f}" for column in columns)]))

    print(_row(["spread of random lexicon pairs: mean, 95th percentile", *names]))
    drawn = np.random.default_rng(0)
    terms = [concept.terms[0] for concept in material.lexicon]
    left, right = drawn.integers(len(terms), size=(2, 2000))
    spreads = []
    for encode in encoders.values():
        vectors = encode(terms)
        cosines = (vectors[left] * vectors[right]).sum(1)[left != right]
        spreads.append(f"{cosines.mean():.2f}, {np.quantile(cosines, 0.95):.2f}")
    print(_row(["", *spreads]))

    phrases = [text for text in material.texts if " " in text][:50000]
    for path in options.tables:
        encoder = StaticEncoder(path=str(path))
        encoder.encode(phrases[:100])
        start = time.process_time()
        encoder.encode(phrases)
        print(f"{path.stem}: {len(phrases) / (time.process_time() - start):,.0f} phrases per second of one core")


if __name__ == "__main__":
    main()
