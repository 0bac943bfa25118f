"""`radgauge layman`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from radgauge.cli import app


def _run(*arguments: str, text: str = "") -> tuple[str, str]:
    done = CliRunner().invoke(app, ["layman", *arguments], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_write_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text("No pneumothorax.", encoding="utf-8")
    assert _run("write", str(file))[0] == "There is no air leak around the lung.\n"
    out, err = _run("write", "--check", text="No pneumothorax.")
    assert out == "There is no air leak around the lung.\n"
    assert err == "lay_fidelity 1.000\n"


def test_score(tmp_path: Path) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("id,reference,candidate\n1,No pneumothorax.,There is no pneumothorax.\n", encoding="utf-8")
    out, _ = _run("score", str(file), "--json", "--quiet", "--resamples", "100")
    lines = {line["column"]: line["value"] for line in json.loads(out)["summary"]}
    assert lines["layman_semantics_embedded"] == 1
    assert "layman_semantics_embedded" in _run("score", str(file), "--quiet", "--resamples", "100")[0]
