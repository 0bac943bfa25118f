"""The texts that were set apart: the benchmark runs, and no version falls behind the one first measured."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a benchmark prints; in this process, where the reader is loaded once."""

    def run(script: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        monkeypatch.syspath_prepend(str(BENCHMARKS))
        runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("which", "tau", "claims"), [("first", 0.55, 0.86), ("second", 0.48, 0.80), ("third", 0.48, 0.86)]
)
def test_the_judge_does_not_fall_behind_on_texts_set_apart(
    which: str, tau: float, claims: float, printed: Callable[..., str]
) -> None:
    out = printed("held_out.py", which)
    taus = {name: float(tau) for name, tau in re.findall(r"^  (\w+) +(-?[\d.]+) \[", out, re.MULTILINE)}
    assert taus["errors_quality"] >= tau
    assert taus["errors_quality"] > taus["ratescore_embedded"] > taus["rouge_l"]
    right = re.search(r"right ([\d.]+)", out)
    assert right is not None
    assert float(right[1]) >= claims


def test_reversed_reports_are_noticed(printed: Callable[..., str]) -> None:
    out = printed("reversals.py")
    found = {
        kind: tuple(map(int, counts))
        for kind, *counts in re.findall(
            r"^(\w+) +all +(\d+) pairs, significant error +(\d+), not judged +(\d+)$", out, re.MULTILINE
        )
    }
    total, noticed, unjudged = found["reversed"]
    assert total == 100
    assert noticed >= 84
    assert noticed + unjudged >= 88  # the others are called right
    assert found["faithful"][0] == 60
    assert found["faithful"][1] <= 4
