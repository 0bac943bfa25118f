"""The table of controls: every row holds, the page says what came out, and a failing row fails the run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTROLS = ROOT / "benchmarks" / "controls"


def run(*arguments: str, folder: Path = CONTROLS) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(folder), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/controls.md"])
def test_the_files_that_hold_us_to_a_promise_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:tests|benchmarks|src|scripts)/[\w/.]+)(?:::\w+)?`", text))
    assert paths
    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pytest.mark.nightly
def test_every_control_holds_and_the_page_says_what_came_out() -> None:
    done = run()
    assert done.returncode == 0, done.stdout
    assert done.stdout.strip() == (ROOT / "docs" / "controls.md").read_text(encoding="utf-8").strip()
    assert " **no** " not in done.stdout


@pytest.mark.nightly
def test_a_control_that_fails_or_raises_fails_the_run(tmp_path: Path) -> None:
    for name in ("__main__.py", "outcome.py"):
        (tmp_path / name).write_text((CONTROLS / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "gates.py").write_text(
        '"""Silence."""\n'
        "from outcome import Outcome\n"
        "def control_silence(): return Outcome('nothing', 'fail', 'passed', False)\n"
        "def control_error(): raise ValueError('boom')\n",
        encoding="utf-8",
    )
    done = run("gates", folder=tmp_path)
    assert done.returncode == 1
    assert "| nothing | fail | passed | **no** |" in done.stdout
    assert "ValueError: boom" in done.stdout
