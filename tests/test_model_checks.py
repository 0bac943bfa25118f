"""`models verify`: printed examples are recomputed where the weights are, and named where they are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import radgauge.model_checks as checks
from radgauge.cli import app
from radgauge.errors import UsageError
from radgauge.metrics.radcliq import composite
from radgauge.models.catalogue import checkpoint
from radgauge.registry import load


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path / "models"))


def test_without_weights_everything_is_missing() -> None:
    results = checks.verify_models()
    assert {each.status for each in results} == {"missing"}
    assert results[0].note == "not on this machine: radgraph-xl, cxr-bert"


def test_names_choose_examples() -> None:
    assert [each.name for each in checks.verify_models(["bert-base-uncased"])] == [
        "CheXbert RadEval probes",
        "RadCliQ-v1 RadEval pairs",
    ]
    with pytest.raises(UsageError, match="no printed example is known for modernbert"):
        checks.verify_models(["modernbert"])
    with pytest.raises(UsageError, match="there is no checkpoint 'x'"):
        checks.verify_models(["x"])


def test_every_check_is_well_formed() -> None:
    for check in json.loads(checks._FILE.read_text())["checks"]:
        for name in check["models"]:
            checkpoint(name)
        if "metric" in check:
            metric = load(check["metric"], models="published")
            assert set(check["expected"]) <= set(metric.columns)
            count = 1 if check.get("set") else len(check["pairs"])
            assert all(len(values) == count for values in check["expected"].values())


def own_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: float) -> None:
    check = {
        "name": "a copy",
        "models": ["radgraph"],
        "source": "us",
        "metric": "rouge",
        "tolerance": 1e-6,
        "pairs": [["no effusion", "no effusion"]],
        "expected": {"rouge_l": [expected]},
    }
    path = tmp_path / "checks.json"
    path.write_text(json.dumps({"checks": [check]}))
    monkeypatch.setattr(checks, "_FILE", path)


def test_same_and_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = load("rouge").columns[0]
    assert name
    for expected, status in ((1.0, "same"), (0.5, "off")):
        own_check(tmp_path, monkeypatch, expected)
        text = checks._FILE.read_text().replace("rouge_l", name)
        checks._FILE.write_text(text)
        result = checks.verify_models(models=str(tmp_path))[0]
        assert result.status == status
        assert result.difference == pytest.approx(1.0 - expected)
    assert result.note == f"{name} of example 1: 1, printed 0.5"
    done = CliRunner().invoke(app, ["models", "verify", "--models", str(tmp_path), "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)[0]["status"] == "off"


def test_radevals_radcliq_differs_in_idf_only() -> None:
    ours, theirs = composite("v1").terms, composite("radeval").terms
    assert [(t.mean, t.scale, t.coefficient) for t in ours] == [(t.mean, t.scale, t.coefficient) for t in theirs]
    assert not load("radcliq:version=radeval").independent
    assert load("radcliq").independent


def test_list() -> None:
    done = CliRunner().invoke(app, ["models", "list", "--json"])
    assert done.exit_code == 0
    first = json.loads(done.stdout)[0]
    assert first["name"] == "radgraph"
    assert first["licence"] == "MIT"
    assert first["path"] is None
    assert len(first["looked_in"]) >= 3
    shown = CliRunner().invoke(app, ["models", "list", "--places"])
    assert "distilroberta-base" in shown.stdout


def test_fetch_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "chexbert.pth").write_bytes(b"x")
    done = CliRunner().invoke(app, ["models", "fetch", "chexbert"])
    assert done.exit_code == 0
    assert "chexbert.pth" in done.stdout
