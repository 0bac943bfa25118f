"""Ctrl-C at any moment: exit code 130, at most one line, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fuzzing import attempts

import radgauge

pytestmark = pytest.mark.process

SOURCE = str(Path(radgauge.__file__).parents[1])


@pytest.mark.parametrize("verb", [["demo"], ["probe", "sensitivity", "reports.csv", "-m", "errors"], ["metrics"]])
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
