"""Runs in parts: cost of a pair by metric, workers against one another, memory, what a kill repeats.

    python benchmarks/scale.py REPORTS.csv                  2,000 pairs
    python benchmarks/scale.py REPORTS.csv --pairs 1000000 --only memory

REPORTS is a table with a column of findings (Open-i: indiana_reports.csv). Pairs are made of its sentences, each
pair a different one, so no reading serves twice. Ratios need an idle machine: the load is printed beside them.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = ("errors", "ratescore", "bleu")


def make_pairs(reports: Path, pairs: int, path: Path) -> None:
    """Pairs of reports out of real sentences; six of ten sentences of a candidate are those of its reference."""
    with reports.open(encoding="utf-8", newline="") as file:
        found = [row.get("findings") or "" for row in csv.DictReader(file)]
    pieces = (piece.strip() for text in found for piece in re.split(r"(?<=\.)\s+", text))
    sentences = sorted({piece for piece in pieces if 10 < len(piece) < 200})
    rng = random.Random(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "reference", "candidate", "system"])
        for number in range(pairs):
            reference = [rng.choice(sentences) for _ in range(rng.randint(3, 7))]
            candidate = [each if rng.random() < 0.6 else rng.choice(sentences) for each in reference]
            writer.writerow([f"s{number}", " ".join(reference), " ".join(candidate), "ab"[number % 2]])


def cost(path: Path) -> None:
    """Processor time of a pair by metric, reading included where the metric is the first to read."""
    from radgauge import Readings, read_cases, score
    from radgauge.scores import judges_of

    cases = read_cases(path).cases[:2000]
    judges = judges_of(METRICS)
    score(cases[:50], judges, progress=False)  # lexicon and embeddings are loaded once per process
    for metric in judges:
        begun = time.process_time()
        score(cases, [metric], reading=Readings(), progress=False)
        each = (time.process_time() - begun) / len(cases)
        print(f"{metric.name:12} {1e3 * each:7.2f} ms a pair alone, {each * 1e6 / 3600:6.2f} core hours a million")
    begun = time.process_time()
    score(cases, judges, reading=Readings(), progress=False)
    each = (time.process_time() - begun) / len(cases)
    print(f"{'together':12} {1e3 * each:7.2f} ms a pair, {each * 1e6 / 3600:6.2f} core hours a million")


def scored(path: Path, folder: Path, engine: str, parts: int, metrics: str) -> float:
    """Seconds of a run in a process of its own, start included; prints where they went."""
    begun = time.perf_counter()
    subprocess.run(_command(path, folder, engine, parts, metrics), check=True)
    return time.perf_counter() - begun


def workers(path: Path, place: Path, parts: int, metrics: str) -> None:
    """One worker, two, and Ray on two processors."""
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    one = scored(path, place / "one", "Engine()", parts, metrics)
    two = scored(path, place / "two", "Engine('pool', 2)", parts, metrics)
    print(f"one process {one:.1f} s, two workers {two:.1f} s: {one / two:.2f}x, start included")
    try:
        import ray  # noqa: F401
    except ImportError:
        print("Ray is not installed (extra scale)")
        return
    cluster = scored(path, place / "ray", "Engine('ray', 2)", parts, metrics)
    print(f"Ray on two processors {cluster:.1f} s: {one / cluster:.2f}x, start included")
    same = all(
        each.read_bytes() == (place / other / each.name).read_bytes()
        for other in ("two", "ray")
        for each in (place / "one").iterdir()
        if not each.name.startswith(".")
    )
    print(f"all bytes equal: {same}")


def kill(path: Path, place: Path, parts: int, metrics: str) -> None:
    """Kill a run with two workers and go on: how many parts are scored twice?"""
    folder = place / "killed"
    process = subprocess.Popen(_command(path, folder, "Engine('pool', 2)", parts, metrics))
    while process.poll() is None and len(list(folder.glob("part-*"))) < max(1, parts // 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = len(list(folder.glob("part-*")))
    print(f"killed with {there} of {parts} parts there; going on:")
    scored(path, folder, "Engine('pool', 2)", parts, metrics)


def _command(path: Path, folder: Path, engine: str, parts: int, metrics: str) -> list[str]:
    return [sys.executable, __file__, "--run", str(path), str(folder), engine, str(parts), metrics]


def run_once(path: str, folder: str, engine: str, parts: str, metrics: str) -> None:
    """What the processes above do."""
    from radgauge.scale.engines import Engine
    from radgauge.scale.run import score_to_folder
    from radgauge.scale.work import peak_memory

    known = {
        "Engine()": Engine(),
        "Engine('pool', 2)": Engine("pool", 2),
        "Engine('ray', 2)": Engine("ray", 2),
    }
    ran = score_to_folder(path, folder, metrics=metrics.split(","), parts=int(parts), engine=known[engine])
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in ran.seconds.items())
    print(
        f"  {engine}: {ran.manifest.cases} pairs, {ran.scored} of {len(ran.manifest.parts)} parts scored; "
        f"workers: {spent}; peak memory: driver {peak_memory() / 1e6:.0f} MB, worker {ran.peak / 1e6:.0f} MB",
        flush=True,
    )


def main() -> None:
    """Make the pairs and print what was asked for."""
    if sys.argv[1:2] == ["--run"]:
        run_once(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--only", choices=("cost", "workers", "kill", "memory"))
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="radgauge-scale-"))
    try:
        path = place / "pairs.csv"
        make_pairs(given.reports, given.pairs, path)
        parts = max(8, given.pairs // 6000)
        if given.only in (None, "cost"):
            cost(path)
        if given.only in (None, "workers"):
            workers(path, place, parts, given.metrics)
        if given.only in (None, "kill"):
            kill(path, place, parts, given.metrics)
        if given.only == "memory":
            scored(path, place / "memory", "Engine('pool', 2)", parts, given.metrics)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
