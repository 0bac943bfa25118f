"""Ctrl-C at any moment: exit code 130, at most one line, no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fuzzing import attempts

import radgauge
from radgauge.core.cache import Cache

pytestmark = pytest.mark.process

SOURCE = str(Path(radgauge.__file__).parents[1])


@pytest.mark.parametrize("verb", [["demo"], ["perturb", "reports.csv", "--evaluate", "-m", "errors"], ["ls"]])
def test_ctrl_c_at_any_moment(verb: list[str], tmp_path: Path) -> None:
    rows = "".join(f"{n},No effusion {n}. The heart is large.,No effusion.\n" for n in range(300))
    (tmp_path / "reports.csv").write_text("id,reference,candidate\n" + rows)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "RADGAUGE_CACHE": str(tmp_path / "cache")}
    for rng in attempts(3):
        begun = "import sys, signal, radgauge.__main__ as m; "
        begun += "signal.signal(signal.SIGINT, signal.default_int_handler); "  # ignored in a shell's background
        begun += "print('begun', file=sys.stderr, flush=True); m.main()"
        with subprocess.Popen(
            [sys.executable, "-c", begun, *verb],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == "begun\n"
            time.sleep(0.1 + float(rng.random()))
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=120)[1]
        assert "Traceback" not in said
        if process.returncode == 130:
            assert said.splitlines()[-1].startswith("radgauge: stopped")
        else:  # it was done before, or was on its way out
            assert process.returncode in (0, -signal.SIGINT), said


def test_a_search_that_is_killed_goes_on(tmp_path: Path) -> None:
    """kill -9 at several moments; each run begins where the last one was, and the result is that of one run."""
    finding = ("effusion", "opacity", "nodule", "edema", "mass", "fracture")
    rows = [f"{n},There is a {n} mm left {finding[n % 6]}. The {finding[n % 5]} is stable." for n in range(160)]
    (tmp_path / "corpus.csv").write_text("id,report\n" + "\n".join(rows) + "\n")
    (tmp_path / "queries.csv").write_text("id,report\n" + "\n".join(rows[:80]) + "\n")
    command = [sys.executable, "-m", "radgauge", "oracle", "--corpus", "corpus.csv", "--queries", "queries.csv"]
    command += ["-m", "errors", "--json", "-q"]
    environment = {**os.environ, "PYTHONPATH": SOURCE, "RADGAUGE_CACHE": str(tmp_path / "cache")}
    alone = subprocess.run([*command, "--no-cache"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    kept = [0]
    for _ in range(3):
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and Cache(tmp_path / "cache").info().entries <= kept[-1]:
                time.sleep(0.02)
            process.kill()
        kept.append(Cache(tmp_path / "cache").info().entries)
    assert 0 < kept[1] < 80  # it was killed on the way
    assert kept == sorted(kept)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"] == json.loads(alone.stdout)["matches"]
    assert Cache(tmp_path / "cache").info().entries == 80


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["ls"]])
def test_a_reader_that_has_seen_enough(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "radgauge", *arguments]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": SOURCE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 0
    assert said == b""
