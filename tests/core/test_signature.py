"""A signature moves with the numbers, and with nothing else.

After a deliberate change: `python -m radgauge.behaviour --update`, and review which lines of the file moved.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import radgauge
from radgauge.behaviour import (
    COMMAND,
    LEFT_OUT,
    component_line,
    components,
    known_settings,
    metric_line,
)
from radgauge.core.cache import Cache
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings, _key
from radgauge.core.registry import METRICS, load
from radgauge.core.signature import component, digest, probe_digest, read_behaviour, unreleased_state
from radgauge.encoders.text.chexbert_network import ChexbertReader
from radgauge.metrics.ratescore import RateScore
from radgauge.reader import ReportReader

IN_ANOTHER_PROCESS = ("layman", "lay_fidelity", "lay-reader", "everyday", "writer", "rate-entities")
"""Compile lexicons of lay words or read thousands of sentences first; the complete comparison has them."""


@cache
def _reading() -> Readings:
    return Readings()


@pytest.mark.parametrize("name", sorted(set(components()) - {*IN_ANOTHER_PROCESS}))
def test_readers_and_writers_behave_as_their_version_says(name: str) -> None:
    assert component_line(name) == read_behaviour()[name], f"{name} moved; if that is meant, run: {COMMAND}"


def _differing(metrics: dict[str, Metric]) -> dict[str, str]:
    computed = {name: metric_line(name, metric, reading=_reading()) for name, metric in metrics.items()}
    stored = {name: read_behaviour().get(name) for name in metrics}
    return {name: f"{stored[name]} -> {new}" for name, new in computed.items() if new not in (None, stored[name])}


@pytest.mark.parametrize("family", sorted(set(METRICS) - {*LEFT_OUT, *IN_ANOTHER_PROCESS}))
def test_metrics_behave_as_their_signature_says(family: str) -> None:
    differing = _differing(known_settings([family]))
    assert not differing, f"{differing} moved; if that is meant, run: {COMMAND}"


@pytest.mark.process
def test_nothing_else_moved(tmp_path: Path) -> None:
    command = [sys.executable, *COMMAND.split()[1:-1]]
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


def test_cached_readings_of_published_networks_are_found_by_the_version_of_their_fixtures(tmp_path: Path) -> None:
    weights = tmp_path / "chexbert.pth"
    weights.write_bytes(b"weights")
    reader = ChexbertReader(str(weights), str(tmp_path))
    assert _key(reader).endswith(f"|{component('networks')}")


def test_cached_readings_are_found_by_version_and_lexicon(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    Readings(cache=cache).of(ReportReader(), ["No effusion."])
    (key,) = cache.info().readers
    assert key == ReportReader().signature + unreleased_state()
    assert key.startswith(component("report-reader") + ":")


OF_FINDINGS = {"errors", "ratescore", "chexbert", "chexbert_similarity", "radgraph", "radcliq", "comet", "vlscore"}
ON_THE_READER = {*OF_FINDINGS, "layman"}
SOURCE = Path(radgauge.__file__).parent
SIGNATURES = """
import json
from radgauge.core.registry import METRICS, load
named = {name: load(name).signature() for name in (*METRICS, "bleu:variant=cxr")}
print(json.dumps(named))
"""


def _signatures(tree: Path) -> dict[str, str]:
    """Update the digests of a source tree; return the signatures that its metrics have then."""
    environment = {"PYTHONPATH": str(tree), "RADGAUGE_CACHE": str(tree / "cache"), "RADGAUGE_OFFLINE": "1"}
    for command in (["-m", "radgauge.behaviour", "--update"], ["-c", SIGNATURES]):
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, env=environment, cwd=tree
        )
        assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def _copy(folder: Path) -> Path:
    shutil.copytree(SOURCE, folder / "radgauge", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _edit(path: Path, pattern: str, replacement: str) -> None:
    before = path.read_text(encoding="utf-8")
    after = re.sub(pattern, replacement, before)
    assert after != before
    path.write_text(after, encoding="utf-8")


@pytest.fixture(scope="module")
def signatures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return _signatures(_copy(tmp_path_factory.mktemp("unchanged")))


@pytest.mark.nightly
def test_renaming_a_variable_and_moving_a_module_moves_no_signature(
    tmp_path: Path, signatures: dict[str, str]
) -> None:
    tree = _copy(tmp_path)
    places = tree / "radgauge/findings/places.py"
    _edit(places, r"\bknown\b", "renamed")
    moved = places.with_name("localities.py")
    places.rename(moved)
    for path in (tree / "radgauge").rglob("*.py"):
        if "radgauge.findings.places" in path.read_text(encoding="utf-8"):
            _edit(path, r"radgauge\.findings\.places", "radgauge.findings.localities")
    assert _signatures(tree) == signatures


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "using"),
    [
        ("findings/data/weights.json", r'"omission": [0-9.]+', '"omission": 0.9', {"errors", "llm_errors"}),
        ("findings/data/matching.toml", r"(?m)^near = [0-9.]+", "near = 0.6", {"errors"}),
        ("reader/lexicon/chest.toml", r'"pleural effussion"', '"pleural outpouring"', ON_THE_READER),
        ("reader/lexicon/chest.toml", r"\A", "# a comment\n", set()),
        ("reader/implied.py", r"(?m)^_MOST = 2", "_MOST = 1", ON_THE_READER),
        (
            "metrics/bleu.py",
            r"matches > 0, matches, 0\.1\)",
            "matches > 0, matches, 0.2)",
            {"bleu:variant=cxr", "radcliq"},
        ),
        ("lay/check/data/grammar.toml", r"\Z", '\n[added]\nx = "y"\n', {"lay_fidelity"}),
    ],
    ids=["weight", "comparison", "lexicon", "comment", "rule", "BLEU-2", "lay"],
)
def test_a_change_moves_the_signatures_of_the_metrics_that_use_it(
    file: str, pattern: str, replacement: str, using: set[str], tmp_path: Path, signatures: dict[str, str]
) -> None:
    tree = _copy(tmp_path)
    _edit(tree / "radgauge" / file, pattern, replacement)
    after = _signatures(tree)
    assert {name for name in signatures if after[name] != signatures[name]} == using
