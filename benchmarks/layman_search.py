"""Nearest entries for many sentences: the search of lay replacement against plain numpy in the same run.

A sentence set and sentences of that size are made from Indiana University reports: words of side, degree and place
are exchanged, and sentences are joined in twos. Both searches must find the same entries.

Run: python benchmarks/layman_search.py [--data ../shared/data] [--entries 50000] [--sentences 100000]
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import time
import tracemalloc
from pathlib import Path

import numpy as np

from radgauge.lay.encoder import FindingEncoder
from radgauge.lay.replacement import nearest
from radgauge.text.sentences import sentences_of
from radgauge.text.static_embedding import StaticEncoder

EXCHANGED = [
    ["left", "right", "bilateral"],
    ["small", "moderate", "large", "trace"],
    ["mild", "severe", "minimal", "marked"],
    ["upper", "lower"],
    ["stable", "increased", "decreased", "new"],
]
BLOCK = 256


def recombined(sentences: list[str], number: int, rng: random.Random) -> list[str]:
    """Distinct sentences: exchanged words and joined pairs in equal parts, as far as there are enough."""
    made = dict.fromkeys(sentences)
    while len(made) < number:
        one, two = rng.sample(sentences, 2)
        if rng.random() < 0.5:
            for words in EXCHANGED:
                one = re.sub(
                    rf"\b({'|'.join(words)})\b", lambda _, words=words: rng.choice(words), one, flags=re.I
                )
            made[one] = None
        else:
            made[f"{one.rstrip('. ')} and {two[0].lower()}{two[1:]}"] = None
    found = list(made)
    rng.shuffle(found)
    return found[:number]


def brute_force(queries: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The nearest entry of each query by comparing all, in blocks."""
    turned = np.ascontiguousarray(entries.T)
    starts = range(0, len(queries), BLOCK)
    return np.concatenate([(queries[start : start + BLOCK] @ turned).argmax(axis=1) for start in starts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--encoder", choices=("findings", "static"), default="findings")
    chosen = parser.parse_args()
    with (chosen.data / "iu_xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        texts = [row[part] or "" for row in csv.DictReader(file) for part in ("findings", "impression")]
    base = list(dict.fromkeys(sentence for text in texts for sentence in sentences_of(text)))
    made = recombined(base, chosen.entries + chosen.sentences, random.Random(0))
    encoder = FindingEncoder() if chosen.encoder == "findings" else StaticEncoder()
    began = time.perf_counter()
    vectors = np.concatenate([encoder.encode(made[start : start + 5000]) for start in range(0, len(made), 5000)])
    print(f"{len(base)} sentences made into {len(made)}, encoded in {time.perf_counter() - began:.0f} s")
    entries, queries = vectors[: chosen.entries], vectors[chosen.entries :]

    timed = {}
    for name, search in (("radgauge", nearest), ("numpy", brute_force)):
        began, cpu = time.perf_counter(), time.process_time()
        found = search(queries, entries)
        timed[name] = time.perf_counter() - began, time.process_time() - cpu, found
    (ours, our_cpu, (found, products)), (theirs, their_cpu, expected) = timed["radgauge"], timed["numpy"]
    print(f"radgauge {ours:.1f} s (processor {our_cpu:.1f} s), numpy {theirs:.1f} s (processor {their_cpu:.1f} s)")
    print(f"ratio {theirs / ours:.1f}, of processor time {their_cpu / our_cpu:.1f}")
    other = np.flatnonzero(found != expected)
    exact = np.einsum("ij,ij->i", queries[other].astype(np.float64), entries[expected[other]])
    print(
        f"same entry {len(found) - len(other)} of {len(found)}; numpy nearer by more than 1e-6 in "
        f"{int((exact > products[other] + 1e-6).sum())}"
    )
    tracemalloc.start()
    nearest(queries[:5000], entries)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    print(f"memory beside the vectors ({vectors.nbytes / 1e6:.0f} MB): {peak:.0f} MB")


if __name__ == "__main__":
    main()
