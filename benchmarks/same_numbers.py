"""Do two versions of radgauge give the same numbers? Runs the verbs of both on the bundled reports and compares.

    python benchmarks/same_numbers.py OLD/src NEW/src
    python benchmarks/same_numbers.py OLD/src NEW/src --metrics bleu rouge cider errors --verbs score compare

Every number in the JSON of every verb must agree to 1e-12, every text and name too. Left out are signatures,
versions, hashes, paths and times, and keys that only the newer version prints. Exit code 1 if anything differs.
The metrics by default are those that no reader of reports stands behind, so that a better reader changes nothing.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOLERANCE = 1e-12
UNCOMPARED = frozenset(
    {"signature", "signatures", "metric", "input", "corpus", "queries", "radgauge", "page", "sha256", "reader"}
)


def main() -> int:
    """Compare two source trees; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="folder that holds the older radgauge package")
    parser.add_argument("new", type=Path, help="folder that holds the newer one")
    parser.add_argument("--metrics", nargs="+", default=["bleu", "rouge", "cider"])
    parser.add_argument("--verbs", nargs="+", help="only these")
    asked = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder), asked.new, asked.metrics)
        for verb, command in commands.items():
            if asked.verbs and verb not in asked.verbs:
                continue
            old, new = (_run(source, command, Path(folder)) for source in (asked.old, asked.new))
            found = list(differences(old, new))
            numbers = sum(1 for _ in _numbers(old))
            print(f"{verb}: {numbers} numbers, {len(found)} differences")
            for line in found[:10]:
                print(f"  {line}")
            differ += len(found)
    return 1 if differ else 0


def _commands(folder: Path, source: Path, metrics: list[str]) -> dict[str, list[str]]:
    """Verb -> its command line."""
    reports = str(source.resolve() / "radgauge" / "samples" / "reports.csv")
    judged = [part for metric in metrics for part in ("-m", metric)]
    ratings = _ratings(folder / "ratings.csv", Path(reports))
    few = ["--resamples", "200"]
    return {
        "score": ["score", reports, *judged, *few, "--no-cache", "--json"],
        "score, bca": ["score", reports, *judged, *few, "--interval", "bca", "--no-cache", "--json"],
        "compare": ["compare", reports, *judged, *few, "--permutations", "500", "--no-cache", "--json"],
        "compare, random": ["compare", reports, "-m", "bleu:variant=cxr", "--random-baseline", *few, "--json"],
        "align": ["align", "-j", ratings, *judged, *few, "--pairs", "--no-cache", "--json"],
        "oracle": ["oracle", "--corpus", reports, "--queries", reports, "--top", "2", "--json"],
        "triples": ["triples", *judged, "--no-cache", "--json"],
        "layman score": ["layman", "score", reports, *few, "--no-meteor", "--json"],
        "perturb": ["perturb", reports, "--evaluate", *judged, *few, "--permutations", "200", "--json"],
        "report": ["report", reports, *judged, *few, "--permutations", "200", "-q", "--table", "tables"],
    }


def _ratings(path: Path, reports: Path) -> str:
    """Invented ratings of two raters for the bundled reports."""
    with reports.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "system", "rater", "rating", "reference", "candidate"])
        for number, row in enumerate(rows):
            for rater in (1, 2):
                rating = 1 + (7 * number + 3 * rater) % 5
                writer.writerow([row["id"], row["system"], rater, rating, row["reference"], row["candidate"]])
    return str(path)


def _run(source: Path, command: list[str], folder: Path) -> Any:
    """The JSON that a command prints, or the tables that it writes."""
    here = folder / "run"
    here.mkdir(exist_ok=True)
    program = [sys.executable, "-W", "ignore", "-m", "radgauge", *command]
    done = subprocess.run(
        program,
        env={**os.environ, "PYTHONPATH": str(source.resolve())},
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {source}:\n{done.stderr}")
    if "--json" in command:
        return json.loads(done.stdout)
    return {path.name: list(csv.DictReader(path.open(newline=""))) for path in sorted(here.rglob("*.csv"))}


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Where two results differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key in UNCOMPARED:
                continue
            if key not in new:
                yield f"{place}/{key} is gone"
            else:
                yield from differences(old[key], new[key], f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{place}: {len(old)} entries, now {len(new)}"
        else:
            for number, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from differences(one, other, f"{place}/{number}")
    elif (one := _number(old)) is not None and (other := _number(new)) is not None:
        if not math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{place}: {old}, now {new}"
    elif old != new:
        yield f"{place}: {str(old)[:60]!r}, now {str(new)[:60]!r}"


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) or value is None else float(value)
    except (TypeError, ValueError):
        return None


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in UNCOMPARED:
                yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif (number := _number(value)) is not None:
        yield number


if __name__ == "__main__":
    sys.exit(main())
