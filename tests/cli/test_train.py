"""`radgauge train`: pairs and estimator."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import term_corpus as own
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import InputError, UsageError


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "report", "terms"])
        writer.writeheader()
        writer.writerows(own.rows())
    return path


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in ("train", *words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.long
def test_pairs_are_built_and_described(corpus: Path, tmp_path: Path) -> None:
    out = run("pairs", corpus, "--clusters", 3, "--share", 0.5, "--no-cache", "-o", tmp_path / "pairs")
    assert "54 reports" in out
    assert "normal" in out
    described = json.loads(
        run("pairs", corpus, "--share", 0.5, "--kind", "best", "--json", "--no-cache", "-o", tmp_path / "best")
    )
    assert described["kind"] == "best"
    assert [trial["k"] for trial in described["k_trials"]] == [2, 3, 4, 5, 6, 7]


def test_pairs_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"nothing does not exist; `radgauge train pairs CORPUS -o .*nothing` makes"
    ):
        run("estimator", tmp_path / "nothing", "-o", tmp_path / "out")


@pytest.mark.models
def test_from_pairs_to_tables(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run("pairs", corpus, "--clusters", 3, "--share", 0.8, "--no-cache", "-q", "-o", tmp_path / "pairs")
    out = run(
        "estimator", tmp_path / "pairs", "--epochs", 2, "--hidden-sizes", "8,4", "-q", "-o", tmp_path / "own"
    )
    assert "best epoch" in out
    found = json.loads(
        run(
            "estimator",
            tmp_path / "pairs",
            "--epochs",
            2,
            "--hidden-sizes",
            "8,4",
            "--json",
            "-o",
            tmp_path / "own",
        )
    )
    assert len(found["epochs"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["estimator", "x.csv", "-o", "y"], "a single training table needs --validation FILE"),
        (
            ["estimator", "x.csv", "--validation", "x.csv", "--hidden-sizes", "8,x", "-o", "y"],
            "must be a whole number",
        ),
    ],
)
def test_wrong_usage_is_explained(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*words)


def test_a_target_that_pairs_do_not_have_is_refused() -> None:
    done = CliRunner().invoke(app, ["train", "pairs", "x.csv", "--comet", "rouge", "-o", "y"])
    assert done.exit_code == 2
    assert "'rouge' is not one of 'radcliq'" in done.stderr
