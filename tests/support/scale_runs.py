"""Inputs of runs in parts, what a finished run left, and waiting for other processes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

WORDS = ["no", "small", "left", "right", "pleural", "effusion", "opacity", "clear", "heart", "enlarged"]


def records(cases: int = 60) -> list[dict[str, str]]:
    """Reports of two systems on half as many studies; one candidate is empty."""
    rng = np.random.default_rng(0)

    def text() -> str:
        return " ".join(rng.choice(WORDS, size=int(rng.integers(2, 9))))

    found = [
        {"id": f"s{at // 2}", "system": "ab"[at % 2], "reference": text(), "candidate": text(), "age": str(at)}
        for at in range(cases)
    ]
    for at in range(0, cases, 2):
        found[at + 1]["reference"] = found[at]["reference"]
    found[7]["candidate"] = ""
    return found


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    """A table in the format of its name."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def content(folder: Path) -> dict[str, bytes]:
    """The files of a run, byte by byte."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")}


DRIVER = """
import sys
from scale_metrics import *
from radgauge.run.engines import Engine
from radgauge.run.run import score_to_folder

def main(reports, folder, metric, engine, before=""):
    exec(before, globals())
    score_to_folder(reports, folder, metrics=eval(metric), parts=6, kind="jsonl", engine=eval(engine))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def driver(place: Path, *words: str | Path) -> subprocess.Popen[bytes]:
    """A run in a process of its own: reports, folder, metric, engine, and what to execute first."""
    script = place / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.Popen(
        [sys.executable, str(script), *map(str, words)], stderr=subprocess.PIPE, env=environment
    )


def wait_for(happened: Callable[[], object], patience: float = 300.0) -> None:
    """Until it is so; a busy machine takes its time."""
    deadline = time.monotonic() + patience
    while not happened():
        assert time.monotonic() < deadline, "did not happen"
        time.sleep(0.05)
