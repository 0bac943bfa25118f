"""The command line with files as people have them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import radgauge as rg
from radgauge.cli import app
from radgauge.cli.downloads import agree
from radgauge.cli.flags import in_flags

REPORTS = "id,system,reference,candidate\n1,x,a b c,a b c\n1,y,a b c,a\n2,x,a b,a b\n2,y,a b,b\n"


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    path = tmp_path / "reports.csv"
    path.write_text(REPORTS)
    return path


def run(*arguments: object, input: str | None = None) -> object:
    return CliRunner().invoke(app, [str(each) for each in arguments], input=input)


def test_a_table_from_standard_input() -> None:
    done = run("score", "-", "-m", "rouge,bleu", "--json", "--no-cache", input=REPORTS)
    summary = json.loads(done.stdout)["summary"]  # type: ignore[attr-defined]
    assert {line["judge"] for line in summary} == {"rouge", "bleu"}
    with pytest.raises(rg.InputError, match="standard input is empty"):
        raise run("score", "-", input="").exception  # type: ignore[attr-defined]


def test_a_metric_that_judged_nothing_is_a_failure(reports: Path) -> None:
    done = run("score", reports, "-m", "vlscore", "--no-cache")
    assert done.exit_code == 1  # type: ignore[attr-defined]
    assert str(done.exception) == "vlscore judged none of the 4 cases: no image (4)"  # type: ignore[attr-defined]


def test_scores_of_others_are_compared(reports: Path, tmp_path: Path) -> None:
    (tmp_path / "green.csv").write_text("id,system,green\n1,x,1\n1,y,0\n2,x,1\n2,y,0\n")
    done = run(
        *("compare", reports, "-m", "rouge", "--scores", f"{tmp_path}/green.csv:higher", "--no-cache", "--json"),
        *("--permutations", 20, "--resamples", 20),
    )
    lines = json.loads(done.stdout)["comparisons"]  # type: ignore[attr-defined]
    assert [(line["judge"], line["result"]["difference"]["value"]) for line in lines][-1] == ("green", -1.0)


def test_published_models_are_not_fetched_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path))
    monkeypatch.setattr("radgauge.models.checkpoints.catalogue.find", lambda wanted: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.delenv("RADGAUGE_OFFLINE", raising=False)
    with pytest.raises(rg.UsageError, match=r"checkpoints will be fetched into .* MB.*to agree, add --yes"):
        agree(["chexbert"], yes=False)
    agree(["bleu"], yes=False)
    monkeypatch.setenv("RADGAUGE_OFFLINE", "1")
    with pytest.raises(rg.ModelError, match=r"RADGAUGE_OFFLINE forbids fetching them: .*looked for in"):
        agree(["chexbert"], yes=True)


def test_a_folder_that_is_not_there_is_an_error(reports: Path, tmp_path: Path) -> None:
    for verb in ("score", "report"):
        done = run(
            verb, reports, "-m", "rouge", "-o", tmp_path / "slip" / ("x.jsonl" if verb == "score" else "x.html")
        )
        assert "there is no folder" in str(done.exception)  # type: ignore[attr-defined]


def test_names_with_blanks_stand_in_quotes() -> None:
    said = in_flags("pass candidate_columns=['Model A', 'b'] or columns={'reference': 'Ground Truth'}")
    assert said == "pass --candidate-columns 'Model A,b' or --columns 'reference=Ground Truth'"
