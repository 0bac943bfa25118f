"""The chain and the scaling experiment on drawn pictures: from reports to the page and the figure."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="needs the extra image")
pytest.importorskip("threadpoolctl", reason="needs the extra image")
pytest.importorskip("safetensors", reason="needs the extra models")
pytest.importorskip("torch", reason="needs the extra models")

from generator_studies import TEXTS, draw_studies, read_table

from radgauge.analysis.baselines import FREQUENT, TEMPLATE

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_studies(tmp_path_factory.mktemp("scripts"))


def _run(
    script: str, words: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr(sys, "argv", [script, *map(str, words)])
    importlib.import_module(script).main()
    return capsys.readouterr().out


def _common(drawn: Path) -> list[object]:
    return [drawn / "studies.jsonl", "--images", drawn / "images", "--test", "test", "--domain", "off"]


def test_the_whole_chain(drawn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # slow for a reason: both registers are trained, written by seven ways, scored, compared and reported
    words = [*_common(drawn), "--output", drawn / "chain", "--width", 16, "--layers", 1, "--epochs", 2, "--json"]
    words += ["--pictures", drawn / "pictures", "--permutations", 20, "--most", 3]
    words += ["--figures", drawn / "figures.json"]
    found = json.loads(_run("generator_chain", words, monkeypatch, capsys))
    assert set(found) == {"professional", "lay"}
    assert json.loads((drawn / "figures.json").read_text()) == found
    assert found["professional"]["studies"] == 3
    professional = found["professional"]["systems"]
    systems = {line["system"] for line in professional}
    assert systems == {
        *(
            "network",
            "network, consensus",
            "retrieval",
            "retrieval, consensus",
            "network and retrieval, consensus",
        ),
        *("retrieval, expected headlines", "retrieval, expected errors"),
        *("best constant, headlines", "best constant and a sentence, headlines"),
        *("best constant, errors", "best constant and a sentence, errors"),
        *("retrieval, expected layman", "best constant, layman", "best constant or sentence, layman"),
        *(TEMPLATE, FREQUENT),
    }
    written = read_table(drawn / "chain" / "professional" / "candidates.jsonl")
    nearest = {row["id"]: row["candidate"] for row in written if row["system"] == "retrieval"}
    assert nearest == dict(zip(("s18", "s19", "s20"), TEXTS.values(), strict=True))  # the patch tells the side
    chosen = {row["candidate"] for row in written if row["system"] == "retrieval, consensus"}
    assert chosen <= set(TEXTS.values())
    quality = {line["system"]: line for line in professional if line["column"] == "errors_quality"}
    assert quality["retrieval"]["value"] == pytest.approx(1)  # word for word the references
    assert all(line["judged"] == 3 for line in quality.values())
    for system in systems - {
        "retrieval",
        "retrieval, expected errors",
        "retrieval, expected headlines",
        "retrieval, expected layman",
    }:  # what a chosen or constant report is worth is the metric's to say
        assert quality[system]["value"] < 1, system
    assert quality["retrieval"]["difference"]["value"] == pytest.approx(1 - quality[TEMPLATE]["value"])
    assert quality["retrieval, consensus"]["difference"]["value"] == pytest.approx(
        quality["retrieval, consensus"]["value"] - quality[TEMPLATE]["value"]
    )
    assert quality[TEMPLATE]["difference"] is None
    plan = {(line["column"], line["baseline"]): line for line in found["professional"]["planned"]}
    against = plan["errors_quality", "best constant, errors"]
    assert against["system"] == "retrieval, expected errors"
    assert against["value"] == quality["retrieval, expected errors"]["value"]
    assert against["baseline_value"] == quality["best constant, errors"]["value"]
    assert against["p_holm"] == against["p"]  # one output: nothing to correct
    assert ("layman_semantics_embedded", "best constant, headlines") in plan
    for register, systems_there in (("professional", 16), ("lay", 10)):
        folder = drawn / "chain" / register
        assert len(read_table(folder / "candidates.jsonl")) == systems_there * 3
        assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
        assert (folder / "scores.jsonl").is_file()
    lay = read_table(drawn / "chain" / "lay" / "candidates.jsonl")
    assert any("fluid" in str(row["candidate"]) for row in lay if row["system"] == "retrieval, lay")
    assert not any("pleural" in str(row["candidate"]) for row in lay)


def test_growth_with_training_data(
    drawn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*_common(drawn), "--output", drawn / "runs", "--sizes", 8, 12, "--kind", "retrieval"]
    words += ["--resamples", 50, "--figure", drawn / "f2.svg", "--figures", drawn / "f2.json"]
    shown = _run("layman_figure2", words, monkeypatch, capsys)
    assert "collapsed" in shown
    found = json.loads(_run("layman_figure2", [*words, "--json"], monkeypatch, capsys))
    assert json.loads((drawn / "f2.json").read_text()) == found
    assert [(run["size"][0], run["size"][1]) for run in found["runs"]] == [
        *((8, "nearest, lay"), (12, "nearest, lay"), (8, "nearest, professional"), (12, "nearest, professional"))
    ]
    share = {run["system"]: run["above"]["value"] for run in found["runs"]}
    assert all(0 <= value <= 1 for value in share.values())
    assert {(line["system"], line["baseline"]) for line in found["differences"]} == {
        ("nearest, professional 12", "nearest, professional 8"),
        ("nearest, lay 12", "nearest, lay 8"),
        ("nearest, lay 8", "nearest, professional 8"),
        ("nearest, lay 12", "nearest, professional 12"),
    }
    for line in found["differences"]:
        assert line["value"] == pytest.approx(share[line["system"]] - share[line["baseline"]])
        assert line["low"] <= line["value"] <= line["high"]
    assert [line["epochs"] for line in found["trainings"]] == [0] * 4  # retrieval has none
    assert (drawn / "f2.svg").read_text().startswith("<svg")
    assert (drawn / "f2_ranges.svg").is_file()


def test_one_training_serves_every_way_of_writing(
    drawn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*_common(drawn), "--output", drawn / "networks", "--sizes", 8, 12, "--registers", "professional"]
    words += ["--width", 16, "--layers", 1, "--epochs", 2, "--resamples", 20, "--most", 3, "--json"]
    found = json.loads(_run("layman_figure2", words, monkeypatch, capsys))
    ways = ("drawn", "first", "nearest")
    assert {run["system"] for run in found["runs"]} == {
        f"{way}, professional {n}" for way in ways for n in (8, 12)
    }
    small, large = found["trainings"]
    assert (large["most_epochs"], small["most_epochs"]) == (2, 3)  # 12 / 8 as many epochs: equally many steps
    assert all(1 <= each["best"] <= each["epochs"] for each in (small, large))
    assert len(found["differences"]) == 3  # nothing lay to compare with
