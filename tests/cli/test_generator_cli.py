"""`train generator`, `generate` and `train instructions` on drawn pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra image")
pytest.importorskip("threadpoolctl", reason="needs the extra image")

from generator_studies import TEXTS, draw_studies, read_table

from radgauge.cli import app
from radgauge.core.errors import UsageError


def _run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.models
def test_from_a_table_to_scores(tmp_path: Path) -> None:
    drawn = draw_studies(tmp_path / "drawn")
    table, images, made = drawn / "studies.jsonl", drawn / "images", tmp_path / "made"
    train = (
        "train",
        "generator",
        table,
        "--images",
        images,
        "--split",
        "train",
        "--kind",
        "retrieval",
        "-o",
        made,
    )
    found = json.loads(_run(*train, "--domain", "off", "--json"))
    assert (found["best"], found["left_out"]) == (None, {})
    assert "retrieval needs no epochs" in _run(*train, "--domain", "off")
    out = tmp_path / "candidates.jsonl"
    generate = ("generate", made, table, "--images", images, "--split", "test", "-o", out)
    told = _run(*generate, "--choose", "first", "--system", "ours", "--baselines")
    assert "ours: 6 studies, 0 without a report, 3 distinct reports" in told
    rows = read_table(out)
    assert len(rows) == 18
    assert rows[0] == {"id": "s18", "system": "ours", "candidate": TEXTS["left"], "reason": ""}
    about = json.loads((tmp_path / "candidates.jsonl.about.json").read_text())
    assert about["signature"].endswith("source:retrieval|choose:first")
    with pytest.raises(UsageError, match="is there already"):
        _run(*generate)
    again = json.loads(_run(*generate, "--choose", "first", "--replace", "--json"))
    assert [row["system"] for row in again["candidates"]] == ["retrieval"] * 6
    scored = _run("score", "--references", table, "--candidates", out, "--split", "test", "-m", "bleu", "--json")
    assert "bleu_4" in scored


def test_instructions_for_larger_models(tmp_path: Path) -> None:
    drawn = draw_studies(tmp_path / "drawn", train=3, test=2)
    out = tmp_path / "tuning.jsonl"
    words = ("train", "instructions", drawn / "studies.jsonl", "--images", drawn / "images", "-o", out)
    found = json.loads(_run(*words, "--split", "train", "--register", "both", "--form", "llava", "--json"))
    assert {name: found[name] for name in ("records", "studies", "left_out")} == {
        "records": 6,
        "studies": 3,
        "left_out": 0,
    }
    assert read_table(out)[0]["image"] == "0.png"
    with pytest.raises(UsageError, match="is there already"):
        _run(*words)
