"""The texts that were set apart: the benchmark runs, and no version falls behind the one first measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("which", "tau", "claims"), [("first", 0.55, 0.86), ("second", 0.48, 0.80), ("third", 0.48, 0.86)]
)
def test_the_judge_does_not_fall_behind_on_texts_set_apart(which: str, tau: float, claims: float) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "held_out.py"), which],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    taus = {name: float(tau) for name, tau in re.findall(r"^  (\w+) +(-?[\d.]+) \[", done.stdout, re.MULTILINE)}
    assert taus["errors_quality"] >= tau
    assert taus["errors_quality"] > taus["ratescore_embedded"] > taus["rouge_l"]
    right = re.search(r"right ([\d.]+)", done.stdout)
    assert right is not None
    assert float(right[1]) >= claims


def test_reversed_reports_are_noticed() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "reversals.py")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    found = {
        kind: tuple(map(int, counts))
        for kind, *counts in re.findall(
            r"^(\w+) +all +(\d+) pairs, significant error +(\d+), not judged +(\d+)$", done.stdout, re.MULTILINE
        )
    }
    total, noticed, unjudged = found["reversed"]
    assert total == 100
    assert noticed >= 84
    assert noticed + unjudged >= 88  # the others are called right
    assert found["faithful"][0] == 60
    assert found["faithful"][1] <= 4
