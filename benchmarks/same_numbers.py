"""Do two versions of radgauge give the same numbers? Runs the verbs of both and compares all that they print.

    python benchmarks/same_numbers.py OLD/src NEW/src
    python benchmarks/same_numbers.py OLD/src --save values.json      # keep the values of one version ...
    python benchmarks/same_numbers.py values.json NEW/src             # ... and compare another with them later
    python benchmarks/same_numbers.py OLD/src NEW/src --metrics bleu rouge cider --only score "data: score"

The input are the bundled reports and, where that folder is there, real reports, judgments and lay triples below
--data. Every number in the JSON, tables and files of every verb must agree to 1e-12, every text and name too. Left
out are signatures, versions, hashes, paths and times, and keys that only the newer version prints. Exit code 1 if
anything differs.
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
from itertools import islice
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-12
UNCOMPARED = frozenset(
    {"signature", "signatures", "metric", "input", "corpus", "queries", "radgauge", "page", "sha256", "reader"}
)
METRICS = (
    *("errors", "bleu", "rouge", "cider", "ratescore", "bertscore", "chexbert", "chexbert_similarity"),
    *("radgraph", "radcliq", "lay_fidelity", "layman", "comet"),
)
FEW = ("--resamples", "200")
QUICK = ("--permutations", "200")
TABLES = ("-q", "--no-cache", "--table", "tables")
PRINTED = ("--no-cache", "--json")
Command = tuple[str, ...]


def main() -> int:
    """Compare two versions, or save the values of one; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="folder that holds the older radgauge package, or its saved values")
    parser.add_argument("new", type=Path, nargs="?", help="folder that holds the newer one")
    parser.add_argument("--save", type=Path, help="write the values of OLD to this .json")
    parser.add_argument("--metrics", nargs="+", default=list(METRICS))
    parser.add_argument("--data", type=Path, default=TOP.parent / "shared" / "data")
    parser.add_argument("--only", nargs="+", help="only these of the commands")
    asked = parser.parse_args()
    if (asked.new is None) == (asked.save is None):
        parser.error("give the folder of a second version, or --save")
    differ = 0
    with tempfile.TemporaryDirectory() as made:
        commands = _commands(Path(made), asked.metrics, asked.data)
        saved = json.loads(asked.old.read_text("utf-8")) if asked.old.is_file() else {}
        kept = {}
        for name, command in commands.items():
            if asked.only and name not in asked.only:
                continue
            kept[name] = old = saved[name] if saved else _run(asked.old, command)
            numbers = sum(1 for _ in _numbers(old))
            if asked.save is not None:
                asked.save.write_text(json.dumps(kept), encoding="utf-8")
                print(f"{name}: {numbers} numbers", flush=True)
                continue
            found = list(differences(old, _run(asked.new, command)))
            print(f"{name}: {numbers} numbers, {len(found)} differences", flush=True)
            for line in found[:10]:
                print(f"  {line}")
            differ += len(found)
    return 1 if differ else 0


def _commands(folder: Path, metrics: list[str], data: Path) -> dict[str, Command]:
    """What is compared -> the command line."""
    reports = str(TOP / "src" / "radgauge" / "samples" / "reports.csv")
    judged = tuple(part for metric in metrics for part in ("-m", metric))
    ratings = _ratings(folder / "ratings.csv", Path(reports))
    commands = _on_reports(reports, judged) | {
        "score, bca": ("score", reports, *judged, *FEW, "--interval", "bca", *PRINTED),
        "compare, random": ("compare", reports, "-m", "bleu:variant=cxr", "--random-baseline", *FEW, "--json"),
        "align": ("align", "-j", ratings, *judged, *FEW, "--pairs", *PRINTED),
        "oracle": ("oracle", "--corpus", reports, "--queries", reports, "--top", "2", "--json"),
        "triples": ("triples", *judged, *PRINTED),
    }
    if not data.is_dir():
        print(f"{data} is not there: only the bundled reports are compared")
        return commands
    systems = _systems(folder / "systems.csv", data / "iu_xray_systems" / "test590_systems.csv")
    lay = _lay_triples(folder / "triples.csv", data / "judged" / "lay_triples.jsonl")
    radpref = str(data / "radpref_dev" / "radpref_dev.json")
    annotation = str(data / "iu_xray" / "r2gen_annotation.json")
    splits = ("--corpus-split", "val", "--queries-split", "test", "--top", "2")
    on_data = _on_reports(systems, judged) | {
        "align": ("align", "-j", radpref, *judged, *FEW, "--pairs", *PRINTED),
        "align, raters": ("align", "-j", radpref, *judged, *FEW, "--per-rater", *PRINTED),
        "report, judgments": ("report", "-j", radpref, *judged, *FEW, *QUICK, *TABLES),
        "triples": ("triples", lay, *judged, *PRINTED),
    }
    for metric in ("bleu2_cxr", "radgraph", "chexbert_similarity", "bertscore"):
        on_data[f"oracle, {metric}"] = ("oracle", "--corpus", annotation, *splits, "-m", metric, *PRINTED)
    return commands | {f"data: {name}": command for name, command in on_data.items()}


def _on_reports(reports: str, judged: Command) -> dict[str, Command]:
    """The verbs that need nothing but reports."""
    return {
        "score": ("score", reports, *judged, *FEW, "--all-columns", "-o", "scores.csv", *PRINTED),
        "compare": ("compare", reports, *judged, *FEW, *QUICK, *PRINTED),
        "layman score": ("layman", "score", reports, *FEW, "--no-meteor", *PRINTED),
        "perturb": ("perturb", reports, "--evaluate", *judged, *FEW, *QUICK, "-o", "perturbed.csv", *PRINTED),
        "perturb, triples": ("perturb", reports, "--triples", "-o", "triples.jsonl", *PRINTED),
        "report": ("report", reports, *judged, *FEW, *QUICK, *TABLES),
    }


def _write(path: Path, columns: list[str], rows: list[list[Any]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return str(path)


def _ratings(path: Path, reports: Path) -> str:
    """Invented ratings of two raters for the bundled reports."""
    with reports.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    rows = [
        [row["id"], row["system"], rater, 1 + (7 * number + 3 * rater) % 5, row["reference"], row["candidate"]]
        for number, row in enumerate(found)
        for rater in (1, 2)
    ]
    return _write(path, ["id", "system", "rater", "rating", "reference", "candidate"], rows)


def _systems(path: Path, wide: Path, studies: int = 60) -> str:
    """The first studies of a wide file, one row per study and system."""
    with wide.open(encoding="utf-8", newline="") as file:
        found = list(islice(csv.DictReader(file), studies))
    rows = [
        [row["id"], system, row["reference"], row[system]]
        for row in found
        for system in ("cvt2distilgpt2", "moerad", "hi_ia")
    ]
    return _write(path, ["id", "system", "reference", "candidate"], rows)


def _lay_triples(path: Path, lines: Path) -> str:
    """Professional text, right and wrong plain version as a table of triples."""
    found = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    return _write(
        path,
        ["original", "rewrite", "opposite"],
        [[each["professional"], each["right"], each["wrong"]] for each in found],
    )


def _run(source: Path, command: Command) -> Any:
    """What a command prints as JSON and the tables that it writes."""
    with tempfile.TemporaryDirectory() as here:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "radgauge", *command],
            env={**os.environ, "PYTHONPATH": str(source.resolve())},
            cwd=here,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{' '.join(command)} failed with {source}:\n{done.stderr}")
            return {"failed": done.stderr.splitlines()[-1:]}
        found: dict[str, Any] = {}
        for path in sorted(Path(here).rglob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                found[path.name] = list(csv.DictReader(file))
        for path in sorted(Path(here).rglob("*.jsonl")):
            found[path.name] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if "--json" in command:
        found["printed"] = json.loads(done.stdout)
    return found


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
