"""`radgauge lay`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lay_reports import REPORTS, lay_set, write_file
from typer.testing import CliRunner

from radgauge.cli import app


def _run(*arguments: str, text: str = "") -> tuple[str, str]:
    done = CliRunner().invoke(app, ["lay", *arguments], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_write_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text("No pneumothorax.", encoding="utf-8")
    assert _run("write", str(file))[0] == "There is no air leak around your lungs.\n"
    out, err = _run("write", "--check", text="No pneumothorax.")
    assert out == "There is no air leak around your lungs.\n"
    assert err == "lay_fidelity 1.000\n"


def test_score(tmp_path: Path) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("id,reference,candidate\n1,No pneumothorax.,There is no pneumothorax.\n", encoding="utf-8")
    arguments = [
        "score",
        str(file),
        "--quiet",
        "--no-meteor",
        "--resamples",
        "100",
        "--sentences",
        lay_set(tmp_path),
    ]
    lines = {line["column"]: line["value"] for line in json.loads(_run(*arguments, "--json")[0])["summary"]}
    assert lines["layman_semantics_embedded"] == 1
    assert "layman_semantics_embedded" in _run(*arguments)[0]


def test_score_says_that_meteor_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pycocoevalcap")
    file = write_file(tmp_path, "reports.csv", REPORTS)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    arguments = ["score", file, "--resamples", "50", "--sentences", lay_set(tmp_path)]
    assert "METEOR is left out: METEOR 1.5 is a Java program" in _run(*arguments)[1]
    assert "METEOR" not in _run(*arguments, "--no-meteor")[1]
    done = CliRunner().invoke(app, ["lay", "score", file, "--meteor"])
    assert done.exit_code != 0
    assert "there is no java on the PATH" in str(done.exception)
