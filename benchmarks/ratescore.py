"""RaTEScore: the published path against the authors' package, and the embedded path by itself.

    python benchmarks/ratescore.py --data ../shared/data --python parity/.envs/published/bin/python

Both run on the same seeded checkpoints of base size (12 layers of 768) and the same real report pairs, in one run;
loading is not counted, the peer's debug log is off. `--data` is the folder that holds iu_xray_systems.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from system_pairs import real_pairs

PARITY = Path(__file__).parents[1] / "parity" / "ratescore"
PEER = """
import json, sys, time
from loguru import logger
logger.disable("PyRuSH")
from RaTEScore import RaTEScore
job = json.load(open(sys.argv[1]))
scorer = RaTEScore(bert_model=job["ner"], eval_model=job["encoder"], use_gpu=False)
scorer.compute_score(*[[text] for text in job["pairs"][0]])
candidates, references = map(list, zip(*job["pairs"]))
start, busy = time.perf_counter(), time.process_time()
scores = [float(score) for score in scorer.compute_score(candidates, references)]
spent = {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy}
json.dump({**spent, "scores": scores}, open(sys.argv[2], "w"))
"""


def embedded(pairs: list[tuple[str, str]]) -> None:
    """Pairs per second of reading, and of comparing when everything is read."""
    from radgauge.core.readings import Readings
    from radgauge.metrics.ratescore import RateScore

    many = [(a, b) for a, _ in pairs for _, b in pairs][:5000]
    reading = Readings()
    metric = RateScore()
    metric.f1([pairs[0][0]], [pairs[0][1]], reading=Readings())  # load the tables
    start = time.perf_counter()
    metric.f1(*zip(*pairs, strict=True), reading=reading)
    first = time.perf_counter() - start
    start = time.perf_counter()
    metric.f1(*zip(*many, strict=True), reading=reading)
    again = time.perf_counter() - start
    print(f"embedded, texts read: {len(many) / again:,.0f} pairs/s ({len(many)} pairs)")
    print(f"embedded, with reading: {len(pairs) / first:,.0f} pairs/s")


def published(pairs: list[tuple[str, str]], python: Path) -> None:
    """Ours and the authors' on checkpoints of base size."""
    sys.path.insert(0, str(PARITY))
    from checkpoints import BASE, build_encoder, build_ner, words_of

    from radgauge.core.readings import Readings
    from radgauge.metrics.ratescore import RateScore

    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        words = words_of(text for pair in pairs for text in pair)
        ner = build_ner(work / "RaTE-NER-Deberta", words=words, size=BASE)
        encoder = build_encoder(work / "BioLORD-2023-C", words=words, size=BASE)
        (work / "peer.py").write_text(PEER)
        job = {"ner": str(ner), "encoder": str(encoder), "pairs": pairs}
        (work / "job.json").write_text(json.dumps(job))
        metric = RateScore(models=str(work), no_entities="published")
        metric.f1(["Warm up the models."], ["They load when first used."], reading=Readings())
        start, busy = time.perf_counter(), time.process_time()
        values = metric.f1(*zip(*pairs, strict=True), reading=Readings())
        ours, busy = time.perf_counter() - start, time.process_time() - busy
        subprocess.run([python, work / "peer.py", work / "job.json", work / "out.json"], check=True)
        peer = json.loads((work / "out.json").read_text())
    close = sum(abs(a - b) < 1e-4 for a, b in zip(values, peer["scores"], strict=True))
    rate, theirs = len(pairs) / ours, len(pairs) / peer["seconds"]
    print(f"published: {rate:.2f} pairs/s; authors' package: {theirs:.2f} pairs/s")
    print(f"ratio {peer['seconds'] / ours:.1f} by the clock, {peer['busy'] / busy:.1f} in processor time")
    print(f"{close} of {len(pairs)} values equal to 1e-4 (others: ties)")


def main() -> None:
    """Run what the arguments allow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", type=Path, help="Python of an environment with RaTEScore 0.6.0")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--systems", type=int, default=1, help="Share the pairs among this many systems.")
    chosen = parser.parse_args()
    systems = real_pairs(chosen.data, chosen.pairs, chosen.systems)
    pairs = [pair for each in systems for pair in each]
    print(f"{len(pairs)} pairs of {len(systems)} systems, {len({t for p in pairs for t in p})} distinct texts")
    embedded(pairs)
    if chosen.python is not None:
        published(pairs, chosen.python)


if __name__ == "__main__":
    main()
