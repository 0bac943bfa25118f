"""Names of metrics for people, and the measured agreement that stands beside them."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from radgauge.registry import load
from radgauge.show.metric_names import metric_name

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
    kept = json.loads((files("radgauge.show") / "data" / "agreement.json").read_text(encoding="utf-8"))
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
