"""A signature moves with the numbers, and with nothing else.

After a deliberate change: `python -m radgauge.signature --update`, and review which lines of the file moved.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from radgauge.cache import Cache
from radgauge.metric import Metric
from radgauge.metrics.ratescore import RateScore
from radgauge.reading import Readings
from radgauge.registry import METRICS, load
from radgauge.report_reader import ReportReader
from radgauge.signature import component, digest, probe_digest, read_behaviour, unreleased_state
from radgauge.signature.compute import COMMAND, LEFT_OUT, component_line, components, known_settings, metric_digest

IN_ANOTHER_PROCESS = ("layman", "lay_fidelity", "lay-reader", "everyday", "writer", "rate-entities")
"""Compile lexicons of lay words or read thousands of sentences first; the complete comparison has them."""


@cache
def _reading() -> Readings:
    return Readings()


@pytest.mark.parametrize("name", sorted(set(components()) - {*IN_ANOTHER_PROCESS}))
def test_readers_and_writers_behave_as_their_version_says(name: str) -> None:
    if name == "networks" and not (Path(__file__).parent / "data" / "parity").is_dir():
        pytest.skip("the fixtures are not part of this checkout")
    assert component_line(name) == read_behaviour()[name], f"{name} moved; if that is meant, run: {COMMAND}"


def _differing(metrics: dict[str, Metric]) -> dict[str, str]:
    computed = {name: metric_digest(metric, reading=_reading()) for name, metric in metrics.items()}
    stored = {name: read_behaviour().get(name, ("none",))[0] for name in metrics}
    return {name: f"{stored[name]} -> {new}" for name, new in computed.items() if new not in (None, stored[name])}


@pytest.mark.parametrize("family", sorted(set(METRICS) - {*LEFT_OUT, *IN_ANOTHER_PROCESS}))
def test_metrics_behave_as_their_signature_says(family: str) -> None:
    differing = _differing(known_settings([family]))
    assert not differing, f"{differing} moved; if that is meant, run: {COMMAND}"


@pytest.mark.process
def test_nothing_else_moved(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "radgauge.signature"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}; if that is meant, run: {COMMAND}"


def test_known_settings_have_a_digest_of_their_own_and_others_that_of_the_family() -> None:
    stored = read_behaviour()
    assert probe_digest("bleu", {}) == stored["bleu"][0]
    assert probe_digest("bleu", {"variant": "cxr"}) == stored["bleu:variant=cxr"][0]
    family = [row[0] for name, row in sorted(stored.items()) if name.partition(":")[0] == "bleu"]
    assert probe_digest("bleu", {"smoothing": "floor", "empty": "zero"}) == digest("\n".join(family))
    assert probe_digest("medcon", {}) is None
    assert f"|probes:{stored['bleu'][0]}|v:" in load("bleu").signature()
    assert "|revision:1|v:" in load("medcon").signature()


def test_published_networks_name_the_version_of_their_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateScore, "parts", lambda self: {})  # would look for the checkpoints
    assert f"|{component('networks').replace('-', ':')}|v:" in RateScore(models="published").signature()
    assert "networks" not in RateScore().signature()


def test_cached_readings_are_found_by_version_and_lexicon(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    Readings(cache=cache).of(ReportReader(), ["No effusion."])
    (key,) = cache.info().readers
    assert key == ReportReader().signature + unreleased_state()
    assert key.startswith(component("report-reader") + ":")
