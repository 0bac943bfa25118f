"""Explanations on disk: a line per case and metric, in order, and none lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.io.explanations import write_explanations
from radgauge.run.score import score

CASES = [
    Case("1", "No pleural effusion.", ("Small left pleural effusion. Rib fracture.",), "a"),
    Case("2", "As discussed.", ("Small effusion.",), "a"),
    Case("3", "Small effusion \U0001f9d1.", ("Small effusion.",), "b"),
]


def test_a_line_per_case_and_metric(tmp_path: Path) -> None:
    path, reading = tmp_path / "new" / "why.jsonl", Readings()
    results = score(CASES, ["ratescore", "bleu"], reading=reading)
    count = write_explanations(path, CASES, results=results, reading=reading)
    text = path.read_text(encoding="utf-8")
    lines = [line for line in map(json.loads, text.splitlines()) if line["metric"] == "ratescore"]
    assert count == len(text.splitlines())
    assert [(line["id"], line["system"]) for line in lines] == [("1", "a"), ("2", "a"), ("3", "b")]
    first, second, third = lines
    assert first["values"]["ratescore_embedded"] == results["ratescore"].headline[0]
    (clash,) = [note for note in first["notes"] if note["data"].get("anchor") == "candidate"]
    assert clash["kind"] == "contradicted"
    start, end = clash["candidate_spans"][0]
    assert CASES[0].candidate[start:end] == "pleural effusion"
    shares = [note["text"] for note in first["notes"] if note["data"]["anchor"] == "reference"]
    assert all("of this side" in share for share in shares)
    assert second["not_judged"] == "no entities in the candidate"
    assert third["notes"][0]["kind"] == "matched"


@pytest.mark.long
def test_command_line(tmp_path: Path) -> None:
    table, why = tmp_path / "r.csv", tmp_path / "why.jsonl"
    table.write_text("id,reference,candidate\n1,Small effusion.,Large effusion.\n")
    done = CliRunner().invoke(app, ["score", str(table), "-m", "ratescore", "--explain", str(why)])
    assert done.exit_code == 0, done.output
    assert json.loads(why.read_text())["notes"][0]["data"]["entity"] == "Small effusion"
