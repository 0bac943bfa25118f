"""Runs in parts: cost of a pair by metric, workers against one another, memory, what a kill repeats.

    python benchmarks/scale.py REPORTS.csv                  2,000 pairs
    python benchmarks/scale.py REPORTS.csv --pairs 1000000 --only memory [--engine ray]
    python benchmarks/scale.py REPORTS.csv --pairs 10000 --only file      one file, and with four times the pairs
    python benchmarks/scale.py REPORTS.csv --pairs 6000 --parts 30 --only kill --kills 10

REPORTS is a table with a column of findings (Open-i: indiana_reports.csv). Pairs are made of its sentences, each
pair a different one, so no reading serves twice. Ratios need an idle machine: the load is printed beside them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

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
    from radgauge.run.score import judges_of

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


def scored(path: Path, folder: Path, engine: str, parts: int, metrics: str, journal: Path | None = None) -> float:
    """Seconds of a run in a process of its own, start included; prints where they went."""
    begun = time.perf_counter()
    subprocess.run(_command(path, folder, engine, parts, metrics, journal), check=True)
    return time.perf_counter() - begun


def workers(path: Path, place: Path, parts: int, metrics: str) -> None:
    """One worker, two, and Ray on two processors."""
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    one = scored(path, place / "one", "Engine()", parts, metrics)
    two = scored(path, place / "two", "Engine('pool', 2)", parts, metrics)
    print(f"one process {one:.1f} s, two workers {two:.1f} s: {one / two:.2f}x, start included")
    if not _has_ray():
        print("Ray is not installed (extra scale)")
        return
    cluster = scored(path, place / "ray", "Engine('ray', 2)", parts, metrics)
    print(f"Ray on two processors {cluster:.1f} s: {one / cluster:.2f}x, start included")
    same = all(_same(place / "one", place / other) for other in ("two", "ray"))
    print(f"all bytes equal: {same}")


def kill(path: Path, place: Path, parts: int, metrics: str, kills: int) -> None:
    """Kill workers and drivers in turn, at random times, go on, and count the parts that were begun twice."""
    scored(path, place / "undisturbed", "Engine()", parts, metrics)
    for engine in ("Engine('pool', 2)", "Engine('ray', 2)"):
        if "ray" in engine and not _has_ray():
            continue
        folder, journal = place / f"killed {engine}", place / f"killed {engine}.journal"
        rng = random.Random(0)
        killed = {"driver": 0, "worker": 0}
        repeated: list[int] = []
        process = None
        while sum(killed.values()) < kills:
            if process is None:
                process = subprocess.Popen(_command(path, folder, engine, parts, metrics, journal))
            before = len(_begun(journal))
            while process.poll() is None and len(_begun(journal)) < before + 2:  # the run is on its way
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 1))
            begun = _begun(journal)
            if process.poll() is not None:
                if process.returncode == 0:
                    break  # done before all kills were
                process = None  # given up: workers of one part were killed three times
                continue
            whom = ("worker", "driver")[sum(killed.values()) % 2]
            done = {each["number"] for each in _ended(journal)}
            last = {each["pid"]: each["number"] for each in begun}
            under_way = {pid: part for pid, part in last.items() if part not in done and _lives(pid)}
            if whom == "worker" and not under_way:
                continue
            with suppress(ProcessLookupError):
                os.kill(process.pid if whom == "driver" else rng.choice(sorted(under_way)), signal.SIGKILL)
            killed[whom] += 1
            repeated.append(len(under_way))
            if whom == "driver":
                process.wait()
                process = None
                time.sleep(1)  # workers follow their driver
        if process is not None and process.wait() == 0:
            pass
        else:
            scored(path, folder, engine, parts, metrics, journal)
        times: dict[int, int] = {}
        for each in _begun(journal):
            times[each["number"]] = times.get(each["number"], 0) + 1
        twice = sum(times.values()) - len(times)
        limit = 2 * sum(killed.values())
        same = _same(place / "undisturbed", folder)
        print(
            f"{engine}: killed {killed['driver']} drivers and {killed['worker']} workers; {len(times)} parts, "
            f"{twice} begun again ({limit} allowed: one per worker and kill), under way at each kill "
            f"{repeated}; all bytes equal: {same}",
            flush=True,
        )


def memory(path: Path, place: Path, parts: int, metrics: str, engine: str) -> None:
    """What workers hold after their first, tenth ... part, and where the time goes."""
    journal = place / f"memory {engine}.journal"
    scored(path, place / f"memory {engine}", engine, parts, metrics, journal)
    ended = _ended(journal)
    held: dict[int, list[float]] = {}
    for each in ended:
        held.setdefault(each["pid"], []).append(each["held"] / 1e6)
    print(f"{engine}: {len(held)} workers in turn; MB held after a worker's part number:")
    most = max(map(len, held.values()))
    for at in sorted({1, 2, 5, 10, 20, 30, 40, most}):
        mine = [values[at - 1] for values in held.values() if len(values) >= at]
        if mine:
            print(f"  {at:4}: {min(mine):5.0f} to {max(mine):5.0f} ({len(mine)} workers)")
    total = {name: sum(each[name] for each in ended) for name in ("bucket", "reading", "matching", "writing")}
    whole = sum(total.values()) or 1.0
    print(
        "where the time goes: " + ", ".join(f"{name} {100 * each / whole:.0f} %" for name, each in total.items())
    )


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _has_ray() -> bool:
    from importlib.util import find_spec

    return find_spec("ray") is not None


def _lines(journal: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]
    except FileNotFoundError:
        return []


def _begun(journal: Path) -> list[dict[str, Any]]:
    return [each for each in _lines(journal) if each["what"] == "begun"]


def _ended(journal: Path) -> list[dict[str, Any]]:
    return [each for each in _lines(journal) if each["what"] == "ended"]


def _same(one: Path, other: Path) -> bool:
    names = [sorted(each.name for each in folder.iterdir() if each.name[0] != ".") for folder in (one, other)]
    return names[0] == names[1] and all((one / x).read_bytes() == (other / x).read_bytes() for x in names[0])


def journalled(job: Any) -> Any:
    """`score_part`, with a line in the journal before and after it; runs in a worker."""
    from radgauge.core.readings import Readings
    from radgauge.run.work import score_part

    journal = Path(f"{job.plan.folder}.journal")
    spent = {"depth": 0, "reading": 0.0}
    usual = Readings.of

    def of(self: Any, *given: Any, **more: Any) -> Any:
        begun = time.perf_counter()
        spent["depth"] += 1
        try:
            return usual(self, *given, **more)
        finally:
            spent["depth"] -= 1
            if not spent["depth"]:
                spent["reading"] += time.perf_counter() - begun

    _tell(journal, {"what": "begun", "number": job.number, "pid": os.getpid()})
    Readings.of = of  # type: ignore[method-assign]
    try:
        done = score_part(job)
    finally:
        Readings.of = usual  # type: ignore[method-assign]
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    times = {
        "bucket": done.seconds["reading"],
        "reading": spent["reading"],
        "matching": done.seconds["scoring"] - spent["reading"],
        "writing": done.seconds["writing"],
    }
    held = pages * os.sysconf("SC_PAGE_SIZE")
    _tell(journal, {"what": "ended", "number": job.number, "pid": os.getpid(), "held": held, **times})
    return done


def _tell(journal: Path, line: dict[str, Any]) -> None:
    handle = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, json.dumps(line).encode() + b"\n")
    os.close(handle)


def _command(
    path: Path, folder: Path, engine: str, parts: int, metrics: str, journal: Path | None = None
) -> list[str]:
    kept = ["journal"] if journal is not None else []
    return [sys.executable, __file__, "--run", str(path), str(folder), engine, str(parts), metrics, *kept]


def run_once(path: str, folder: str, engine: str, parts: str, metrics: str, journal: str = "") -> None:
    """What the processes above do."""
    from radgauge.core.garbage import collect_seldom
    from radgauge.run import run
    from radgauge.run.engines import Engine
    from radgauge.run.work import peak_memory

    collect_seldom()  # as the command does
    if journal:
        run.score_part = journalled
    known = {
        "Engine()": Engine(),
        "Engine('pool', 2)": Engine("pool", 2),
        "Engine('ray', 2)": Engine("ray", 2),
    }
    ran = run.score_to_folder(path, folder, metrics=metrics.split(","), parts=int(parts), engine=known[engine])
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in ran.seconds.items())
    print(
        f"  {engine}: {ran.manifest.cases} pairs, {ran.scored} of {len(ran.manifest.parts)} parts scored; "
        f"workers: {spent}; peak memory: driver {peak_memory() / 1e6:.0f} MB, worker {ran.peak / 1e6:.0f} MB",
        flush=True,
    )


def file_memory(reports: Path, place: Path, pairs: int, metrics: str) -> None:
    """Peak memory of `radgauge score -o scores.jsonl` for a number of pairs, and for four times as many."""
    peaks = []
    for count in (pairs, 4 * pairs):
        path = place / f"{count}.csv"
        make_pairs(reports, count, path)
        command = [sys.executable, "-m", "radgauge", "score", str(path), "-o", str(place / f"{count}.jsonl")]
        process = subprocess.Popen([*command, "-m", metrics], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"scoring {count} pairs failed")
        peaks.append(used.ru_maxrss / 1024)
        print(f"{count} pairs: {peaks[-1]:.0f} MB, {used.ru_utime + used.ru_stime:.0f} processor seconds")
    print(f"{peaks[1] / peaks[0]:.2f} times the memory")


def main() -> None:
    """Make the pairs and print what was asked for."""
    if sys.argv[1:2] == ["--run"]:
        run_once(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--parts", type=int, default=0, help="0: one per 6,000 pairs, at least 8")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--engine", choices=("pool", "ray"), default="pool", help="of the memory benchmark")
    parser.add_argument("--only", choices=("cost", "workers", "kill", "memory", "file"))
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="radgauge-scale-"))
    try:
        path = place / "pairs.csv"
        make_pairs(given.reports, given.pairs, path)
        parts = given.parts or max(8, given.pairs // 6000)
        if given.only == "file":
            file_memory(given.reports, place, given.pairs, given.metrics)
        if given.only in (None, "cost"):
            cost(path)
        if given.only in (None, "workers"):
            workers(path, place, parts, given.metrics)
        if given.only in (None, "kill"):
            kill(path, place, parts, given.metrics, given.kills)
        if given.only in (None, "memory"):
            memory(path, place, parts, given.metrics, f"Engine('{given.engine}', 2)")
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
