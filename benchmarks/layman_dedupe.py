"""De-duplication of half a million sentences: time, memory, and what is kept.

Public reports hold too few distinct sentences, so theirs are recombined: two statements in one sentence, other
sides, degrees and levels of certainty. Nothing of it is stored.

Run: python benchmarks/layman_dedupe.py [--data ../shared/data] [--sentences 500000] [--encoder findings]
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.encoders.text.encoders import Encoder, encoder_named
from radgauge.lay.dedupe import deduplicate, distinct_sentences
from radgauge.lay.encoder import FindingEncoder
from radgauge.text.sentences import sentences_of

SWAPS = [
    ("left", "right", "bilateral"),
    ("small", "moderate", "large", "tiny"),
    ("mild", "moderate", "severe", "minimal"),
    ("upper", "lower", "middle"),
    ("stable", "unchanged", "increased", "decreased", "new"),
    ("no", "possible", "minimal"),
]
JOINTS = (", and ", "; ", ", with ", ". ", ", although ")


class Timed:
    """An encoder that counts its own time."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.seconds = encoder, 0.0
        self.batch_size = getattr(encoder, "batch_size", 8192)
        self.signature = encoder.signature

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of the encoder."""
        began = time.perf_counter()
        found = self.encoder.encode(texts)
        self.seconds += time.perf_counter() - began
        return found

    def read(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One vector per text."""
        return list(self.encode(texts))


def real_sentences(data: Path) -> list[str]:
    """Distinct sentences of the Indiana reports and of the radiology part of mtsamples."""
    texts = []
    with (data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        texts += [text for row in csv.DictReader(file) for text in (row["findings"], row["impression"]) if text]
    with (data / "mtsamples" / "mtsamples_radiology.csv").open(encoding="utf-8", newline="") as file:
        texts += [row["transcription"] for row in csv.DictReader(file) if row.get("transcription")]
    return list(distinct_sentences(each for text in texts for each in sentences_of(text)).values())


def recombined(sentences: Sequence[str], count: int, *, seed: int) -> list[str]:
    """The sentences and so many variations that `count` are distinct."""
    rng = random.Random(seed)
    made = dict.fromkeys(sentences)
    while len(made) < count:
        text = rng.choice(sentences)
        if rng.random() < 0.5:
            text = text.rstrip(". ") + rng.choice(JOINTS) + rng.choice(sentences).lower()
        for group in rng.sample(SWAPS, 3):
            pattern = re.compile(rf"\b({'|'.join(group)})\b", re.IGNORECASE)
            text = pattern.sub(lambda _, group=group: rng.choice(group), text)
        made[text] = None
    return list(made)[:count]


def naive(sentences: Sequence[str], encoder: Encoder, threshold: float) -> list[int]:
    """One by one against all kept, in 64 bits."""
    vectors = encoder.encode(sentences).astype(np.float64)
    kept: list[int] = []
    matrix = np.empty_like(vectors)
    for place, vector in enumerate(vectors):
        if vector.any() and (not kept or (matrix[: len(kept)] @ vector).max() <= threshold):
            matrix[len(kept)] = vector
            kept.append(place)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sentences", type=int, default=500_000)
    parser.add_argument("--encoder", default="findings")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument(
        "--check", type=int, default=20_000, help="sentences that the naive algorithm goes through"
    )
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    plain = FindingEncoder() if chosen.encoder == "findings" else encoder_named(chosen.encoder)
    real = real_sentences(chosen.data)
    sentences = recombined(real, chosen.sentences, seed=chosen.seed)
    print(f"{len(real)} real sentences, {len(sentences)} with variations")
    encoder = Timed(plain)
    began, processor = time.perf_counter(), time.process_time()
    found = deduplicate(sentences, encoder=encoder, threshold=chosen.threshold)
    took, processor = time.perf_counter() - began, time.process_time() - processor
    print(
        f"kept {len(found.kept)} at {chosen.threshold}: {took:.0f} s ({processor:.0f} s of processor time), ",
        end="",
    )
    print(f"of it {encoder.seconds:.0f} s encoding and {took - encoder.seconds:.0f} s searching")
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    if chosen.check:
        part = sentences[:: max(1, len(sentences) // chosen.check)][: chosen.check]
        began = time.perf_counter()
        expected = naive(part, plain, chosen.threshold)
        one_by_one = time.perf_counter() - began
        began = time.perf_counter()
        ours = deduplicate(part, encoder=plain, threshold=chosen.threshold)
        took = time.perf_counter() - began
        same = ours.kept.tolist() == expected
        print(f"{len(part)} sentences: {one_by_one:.1f} s one by one, {took:.1f} s in blocks, same result: {same}")


if __name__ == "__main__":
    main()
