"""`radgauge compare --random-baseline`: systems against reports drawn at random."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import UsageError


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    lines = ["id,reference,candidate,system"]
    for n in range(12):
        lines += [
            f"{n},finding number {n} in the lung,finding number {n} in a lung,good",
            f"{n},finding number {n} in the lung,nothing,bad",
        ]
    path = tmp_path / "reports.csv"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "train.csv").write_text("id,report\na,the lung is clear\nb,finding number 3 here\n")
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_table_has_a_row_per_system_and_the_change_in_percent(reports: Path) -> None:
    shown = run(reports, "--random-baseline", "-m", "bleu:variant=cxr", "--corpus", reports.parent / "train.csv")
    assert shown.index("random retrieval") < shown.index("good") < shown.index("bad")
    assert "-100.0 %" in shown


@pytest.mark.long
def test_json_with_the_oracle(reports: Path) -> None:
    out = run(
        *(reports, "--random-baseline", "-m", "bleu:variant=cxr", "--json"),
        *("--oracle", "--corpus", reports.parent / "train.csv"),
    )
    models = json.loads(out)["models"]
    assert [line["summary"]["system"] for line in models] == ["good", "bad", "random retrieval", "metric oracle"]
    assert models[2]["comparison"] is None
    assert models[3]["comparison"]["improvement"]["value"] > 0


def test_percent_against_any_baseline(reports: Path) -> None:
    out = run(reports, "--baseline", "good", "--percent", "-m", "bleu:variant=cxr", "--json")
    (line,) = json.loads(out)["comparisons"]
    assert line["improvement"]["value"] == pytest.approx(-100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--random-baseline", "--baseline", "good"], "--random-baseline is the baseline; leave --baseline"),
        (["--oracle"], "--oracle needs --corpus: reports to choose from"),
    ],
)
def test_messages(reports: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(reports, *arguments)


def test_scores_alone_are_not_enough(reports: Path) -> None:
    scores = reports.parent / "scores.jsonl"
    CliRunner().invoke(app, ["score", str(reports), "-m", "rouge", "-o", str(scores)], catch_exceptions=False)
    with pytest.raises(UsageError, match="holds scores; baselines and oracles need the reports themselves"):
        run(scores, "--random-baseline")
