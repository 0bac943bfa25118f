"""Names of metrics for people, and the measured agreement that stands beside them."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from radgauge.core.registry import load
from radgauge.render.metric_names import metric_name

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_every_default_headline_has_a_name() -> None:
    for name in ("errors", "bleu", "rouge", "cider", "ratescore", "bertscore", "chexbert", "radgraph", "radcliq"):
        column = load(name).columns[0]
        known = metric_name(column)
        assert known.name != column
        assert known.what
        assert known.follows in ("findings", "labels", "words", "reading", "image")


def test_a_tooltip_says_what_range_direction_and_trust() -> None:
    hint = metric_name("errors_quality").hint(True, (-1.0, 1.0))
    for part in ("higher is better", "range -1 to 1", "follows findings", "Kendall τ-b", "column errors_quality"):
        assert part in hint
    assert "lower is better" in metric_name("green").hint(False, (-math.inf, math.inf))


@pytest.mark.nightly
def test_the_kept_agreement_is_what_the_benchmark_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (BENCHMARKS / "agreement_by_metric.py").is_file():
        pytest.skip("the benchmarks are not beside the tests")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    place = importlib.util.spec_from_file_location("agreement_by_metric", BENCHMARKS / "agreement_by_metric.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    monkeypatch.setitem(sys.modules, "agreement_by_metric", module)
    place.loader.exec_module(module)
    kept = json.loads((files("radgauge.render") / "data" / "agreement.json").read_text(encoding="utf-8"))
    found = module.measure()
    assert set(found) == set(kept)
    for column, line in found.items():
        assert line["pairs"] == kept[column]["pairs"]
        if column.startswith(
            module.DEVELOPED
        ):  # better since it was developed on these texts: the first run is kept
            assert line["tau"] > kept[column]["tau"] - 0.03, column
        else:
            assert line["tau"] == pytest.approx(kept[column]["tau"], abs=0.03), column


@pytest.mark.nightly
def test_the_kept_smallest_effects_are_what_the_benchmark_measures() -> None:
    data = BENCHMARKS.parents[1] / "shared" / "data" / "judged"
    if not data.is_dir():
        pytest.skip("the judged pairs are not on this machine")
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "smallest_effects.py")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(BENCHMARKS.parent / "src")},
    )
    measured = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    kept = json.loads((files("radgauge.render") / "data" / "smallest_effects.json").read_text(encoding="utf-8"))
    assert {column: effect["value"] for column, effect in kept.items()} == pytest.approx(
        {column: measured[column] for column in kept}, rel=0.1
    )
