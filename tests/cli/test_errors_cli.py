"""`fit errors` and `probe behaviour` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from radgauge.cli import app

REFERENCE = "Left pleural effusion. Cardiomegaly. No pneumothorax."
CANDIDATE = "Right pleural effusion. Heart size is normal. Rib fracture."


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_fitting(tmp_path: Path) -> None:
    judgments = tmp_path / "ratings.csv"
    rows = ["id,system,reference,candidate,rater,rating"]
    for study in range(4):
        for system, text, rating in (("a", REFERENCE, 5), ("b", CANDIDATE, 1), ("c", "Cardiomegaly.", 3)):
            rows.append(f"{study},{system},{REFERENCE},{text},r1,{rating}")
    judgments.write_text("\n".join(rows) + "\n")
    output = tmp_path / "weights.json"
    shown = run("fit", "errors", "--judgments", judgments, "-o", output, "--no-cache", "--quiet")
    assert "learned, studies not seen" in shown
    assert set(json.loads(output.read_text())["tiers"]) == {"urgent", "actionable", "not_actionable", "benign"}


def test_behaviour() -> None:
    shown = run("probe", "behaviour", "-m", "rouge", "--no-cache", "--quiet")
    assert "partial credit" in shown
    found = json.loads(run("probe", "behaviour", "-m", "rouge", "--no-cache", "--quiet", "--json"))
    assert found["behaviour"][0]["judge"] == "rouge"
