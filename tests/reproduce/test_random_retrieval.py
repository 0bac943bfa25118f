"""reproduce/random_retrieval.py: systems against reports drawn at random."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "reproduce" / "random_retrieval.py"
pytestmark = pytest.mark.process


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    lines = ["id,reference,candidate,system"]
    for n in range(12):
        lines += [
            f"{n},finding number {n} in the lung,finding number {n} in a lung,good",
            f"{n},finding number {n} in the lung,nothing,bad",
        ]
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "train.csv").write_text("id,report\na,the lung is clear\nb,finding number 3 here\n")
    return path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments), "-m", "bleu:variant=cxr"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_table_has_a_row_per_system_and_the_change_in_percent(reports: Path) -> None:
    shown = run(reports, "--corpus", reports.parent / "train.csv", "--oracle").stdout
    places = [shown.index(name) for name in ("random retrieval", "good", "bad")]
    assert places == sorted(places)
    assert "metric oracle" in shown
    assert "-100.0 %" in shown


def test_an_oracle_needs_a_corpus(reports: Path) -> None:
    done = run(reports, "--oracle")
    assert done.returncode == 2
    assert "--corpus" in done.stderr
