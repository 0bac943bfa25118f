"""`radgauge oracle` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import UsageError
from radgauge.io.case_files import read_cases, read_references


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "train.csv").write_text(
        "id,report\n1,No pleural effusion.\n2,Mild cardiomegaly.\n3,No pleural effusion.\n4,\n"
    )
    (tmp_path / "test.csv").write_text("id,report\na,No effusion.\nb,Fracture\nc,\n")
    return tmp_path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["oracle", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_matches_serve_as_candidates(files: Path, ending: str) -> None:
    out = files / f"found.{ending}"
    shown = run("--corpus", files / "train.csv", "--queries", files / "test.csv", "--top", 2, "-o", out)
    assert "No pleural effusion." in shown
    assert "over 2 of 3 queries" in shown
    read = read_cases(references=files / "test.csv", candidates=[out], missing="nan")
    found = {case.key: case.candidate for case in read.cases}
    assert found["a", "oracle bleu2_cxr"] == "No pleural effusion."
    assert found["a", "oracle bleu2_cxr 2"] == "Mild cardiomegaly."
    about = json.loads((files / f"found.{ending}.about.json").read_text())
    assert about["metric"].startswith("bleu|variant:cxr")
    assert about["corpus"]["sources"][0]["sha256"]
    assert (about["corpus"]["distinct"], about["corpus"]["blank"]) == (2, 1)


def test_json_and_the_fallback(files: Path) -> None:
    out = run(
        *("--corpus", files / "train.csv", "--queries", files / "test.csv", "--json"),
        *("--fallback", "Normal."),
    )
    answer = json.loads(out)
    assert [match["corpus_id"] for match in answer["matches"]] == ["1", "", ""]
    assert [match["score"] for match in answer["matches"]][1:] == [0.0, None]
    assert answer["matches"][2]["note"] == "empty reference"


def test_notes_say_what_was_searched_and_what_could_not_be_found(files: Path) -> None:
    done = CliRunner().invoke(
        app, ["oracle", "--corpus", str(files / "train.csv"), "--queries", str(files / "test.csv")]
    )
    assert "4 reports searched, 2 distinct, 1 blank ones left out" in done.stderr
    assert "1 of 3 queries: empty reference" in done.stderr
    assert "1 of 3 queries: no report of the corpus has anything in common with it" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no corpus given: use --corpus FILE"),
        (["--corpus", "train.csv"], "no queries given: use --queries FILE"),
        (["--corpus", "c", "--queries", "q", "-o", "x.txt"], "matches are written as .jsonl or .csv, got 'x.txt'"),
    ],
)
def test_messages(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*arguments)


def test_sections_of_references_are_checked(files: Path) -> None:
    with pytest.raises(UsageError, match="section must be one of"):
        read_references(files / "train.csv", section="all")
