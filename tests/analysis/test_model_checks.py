"""`models verify`: printed examples are recomputed where the weights are, and named where they are not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import radgauge.analysis.model_checks as checks
from radgauge.cli import app
from radgauge.core.errors import UsageError
from radgauge.core.registry import load
from radgauge.encoders.checkpoints.catalogue import checkpoint, content_hash
from radgauge.metrics.radcliq import composite


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path / "models"))


def test_without_weights_everything_is_missing() -> None:
    results = checks.verify_models()
    assert {each.status for each in results} == {"missing"}
    assert "nothing was verified" in CliRunner().invoke(app, ["models", "verify"]).stdout
    assert [each.name for each in results[:2]] == ["radgraph-xl: file", "modern-radgraph-xl: file"]
    assert "not on this machine: radgraph-xl, cxr-bert" in [each.note for each in results]


def test_names_choose_examples() -> None:
    assert [each.name for each in checks.verify_models(["bert-base-uncased"])] == [
        "bert-base-uncased: file",
        "CheXbert RadEval probes",
        "RadCliQ-v1 RadEval pairs",
    ]
    with pytest.raises(UsageError, match="neither a hash nor a printed example is known for modernbert"):
        checks.verify_models(["modernbert"])
    with pytest.raises(UsageError, match="there is no checkpoint or metric 'x'"):
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


def test_the_six_pairs_of_radgraphs_own_tests_are_recomputed() -> None:
    """Their means are those that the package's test compares with; which checkpoint they need is said."""
    names = [each.name for each in checks.verify_models(["radgraph"])]
    assert names == [
        "radgraph, six pairs of its tests",
        "radgraph, means of its tests",
        "RadCliQ-v1 RadEval pairs",
    ]
    each, means = json.loads(checks._FILE.read_text())["checks"][:2]
    assert len(each["pairs"]) == 6
    for column, [published] in means["expected"].items():
        assert sum(each["expected"][column]) / 6 == pytest.approx(published, abs=1e-15)


@pytest.mark.models
def test_six_pairs_are_computed_where_a_checkpoint_is(tmp_path: Path) -> None:
    """A seeded checkpoint is not the published one: every value is computed, and some are off."""
    pytest.importorskip("torch")
    from parity_scripts import parity_script

    parity_script("seeded").radgraph(tmp_path / "radgraph", network="radgraph", max_length=64)
    found = {each.name: each for each in checks.verify_models(["radgraph"], models=str(tmp_path / "radgraph"))}
    six = found["radgraph, six pairs of its tests"]
    assert six.status == "off", six.note
    assert six.difference is not None
    assert 0 < six.difference <= 1
    assert "of example" in six.note


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
    monkeypatch.setattr(checks, "CHECKPOINTS", ())


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
    assert done.exit_code == 3
    assert json.loads(done.stdout)[0]["status"] == "off"


def test_what_is_not_judged_is_off_whatever_the_other_columns_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_check(tmp_path, monkeypatch, 1.0)
    check = json.loads(checks._FILE.read_text())["checks"][0]
    first, second = load("rouge").columns[:2]
    check |= {"pairs": [["no effusion", ""], ["no effusion", "no effusion"]]}
    check |= {"expected": {first: [0.0, 1.0], second: [0.0, 1.0]}}
    checks._FILE.write_text(json.dumps({"checks": [check]}))
    (result,) = checks.verify_models(models=str(tmp_path))
    assert result.status == "off"
    assert result.difference == float("inf")


def test_files_are_compared_with_their_hashes(tmp_path: Path) -> None:
    (tmp_path / "models" / "bert-base-uncased").mkdir(parents=True)
    (tmp_path / "models" / "bert-base-uncased" / "vocab.txt").write_text("[PAD]\n")
    (tmp_path / "models" / "radgraph-xl").mkdir()
    (tmp_path / "models" / "chexbert.pth").write_bytes(b"x")
    found = {each.name: each for each in checks.verify_models(models=str(tmp_path / "models"))}
    assert found["chexbert: file"].status == "off"
    assert found["chexbert: file"].note.endswith(
        "chexbert.pth has the hash 2d711642b726, published is 6550703c92d6"
    )
    assert found["bert-base-uncased: file"].status == "off"
    assert found["radgraph-xl: file"].status == "not checked"
    assert found["biolord: file"].status == "missing"


@pytest.mark.parametrize("digits", [64, 40])
def test_the_published_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digits: int) -> None:
    (tmp_path / "chexbert.pth").write_bytes(b"x")
    known = content_hash(tmp_path / "chexbert.pth", like="0" * digits)
    wanted = dataclasses.replace(checkpoint("chexbert"), hashes={"chexbert.pth": known})
    monkeypatch.setattr(checks, "CHECKPOINTS", (wanted,))
    assert checks.verify_models(models=str(tmp_path))[0].status == "same"


def test_a_checkpoint_that_cannot_be_loaded_is_not_missing(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra 'models' is not installed")
    (tmp_path / "bert-base-uncased").mkdir()
    (tmp_path / "bert-base-uncased" / "config.json").write_text("{}")
    (tmp_path / "chexbert.pth").write_bytes(b"")
    done = CliRunner().invoke(app, ["models", "verify", "bert-base-uncased", "--models", str(tmp_path), "--json"])
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert found["CheXbert RadEval probes"]["status"] == "unreadable"
    assert "an empty file" in found["CheXbert RadEval probes"]["note"]
    assert done.exit_code == 3


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="models must be 'published'"):
        checks.verify_models(models=str(tmp_path / "none"))


def test_radevals_radcliq_differs_in_idf_only() -> None:
    ours, theirs = composite("v1").terms, composite("radeval").terms
    assert [(t.mean, t.scale, t.coefficient) for t in ours] == [(t.mean, t.scale, t.coefficient) for t in theirs]
    assert not load("radcliq:version=radeval").independent
    assert load("radcliq").independent


def test_fetch_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "chexbert.pth").write_bytes(b"x")
    (tmp_path / "models" / "bert-base-uncased").mkdir()
    (tmp_path / "models" / "bert-base-uncased" / "config.json").write_text("{}")
    done = CliRunner().invoke(app, ["models", "fetch", "chexbert"])
    assert done.exit_code == 0
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["chexbert", "bert-base-uncased"]
