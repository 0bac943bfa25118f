"""The command line with files as people have them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import radgauge as rg
from radgauge.cli import app
from radgauge.cli.commands import Program, _run_with
from radgauge.cli.flags import in_flags
from radgauge.cli.options import confirm_downloads
from radgauge.core import progress

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


def test_candidates_from_standard_input(tmp_path: Path) -> None:
    references = tmp_path / "truth.csv"
    references.write_text("id,reference\n1,a b c\n2,a b\n")
    candidates = "id,candidate\n1,a b c\n2,b\n"
    given = ("score", "--references", references, "-m", "rouge", "--json", "--no-cache")
    done = run(*given, "--candidates", "-", input=candidates)
    line = json.loads(done.stdout)["summary"][0]  # type: ignore[attr-defined]
    assert (line["system"], line["judged"]) == ("stdin", 2)
    named = run(*given, "--candidates", "ours=-", input=candidates)
    assert json.loads(named.stdout)["summary"][0]["system"] == "ours"  # type: ignore[attr-defined]
    with pytest.raises(rg.UsageError, match=r"standard input \(-\) can be one file only"):
        raise run("score", "--references", "-", "--candidates", "-", input=candidates).exception  # type: ignore[attr-defined]


def test_a_file_without_references_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "noref.csv"
    path.write_text("id,gold standard,candidate\n1,a b,a b\n")
    monkeypatch.setattr("radgauge.run.score._measured", lambda *args: pytest.fail("something was computed"))
    for verb in (
        ("score", path, "-m", "bleu"),
        ("report", path, "-m", "bleu", "-o", tmp_path / "r.html"),
    ):
        with pytest.raises(rg.InputError) as told:
            raise run(*verb).exception  # type: ignore[attr-defined]
        assert in_flags(str(told.value)) == (
            "bleu cannot judge without references: noref.csv has no reference column; its columns: id, "
            "'gold standard', candidate; name it with --columns reference=NAME"
        )
    monkeypatch.undo()
    assert run("score", path, "-m", "readability", "--no-cache").exit_code == 0  # type: ignore[attr-defined]


PUBLISHED = {
    "score": "R -m ratescore",
    "agree": "J -m ratescore",
    "probe behaviour": " -m ratescore",
    "probe triples": "T -m ratescore",
    "probe image": "R",
    "probe sensitivity": "R -m ratescore",
    "oracle": "--corpus R --queries R -m radgraph",
    "fit ratescore": "-j J -o O.json",
    "fit radcliq": "J -o O.json -m radgraph",
    "read": "R --graphs O.json",
    "serve": "-m ratescore",
}


def words_of(line: str, folder: Path) -> list[str]:
    """The words of a command line, in which R, J and T are files that this writes and O. is an output."""
    head, *rows = REPORTS.splitlines()
    ratings = "".join(
        f"{row},{rater},{(n + at) % 3 / 2},omission,{n % 3}\n"
        for n, row in enumerate(rows)
        for at, rater in enumerate("ab")
    )
    (folder / "R.csv").write_text(REPORTS)
    (folder / "J.csv").write_text(f"{head},rater,rating,category,count\n{ratings}")
    (folder / "T.jsonl").write_text('{"id": "1", "original": "a b.", "rewrite": "a, b.", "opposite": "c."}\n')
    files = {"R": folder / "R.csv", "J": folder / "J.csv", "T": folder / "T.jsonl"}
    return [str(files.get(word, word.replace("O.", f"{folder}/O."))) for word in line.split()]


@pytest.mark.parametrize("verb", PUBLISHED)
def test_every_verb_that_takes_models_says_what_it_would_fetch(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RADGAUGE_MODELS", "HF_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("RADGAUGE_OFFLINE", raising=False)
    with pytest.raises(rg.UsageError, match=r"checkpoints will be fetched into .* MB.*to agree, add --yes"):
        raise run(*verb.split(), *words_of(PUBLISHED[verb], tmp_path), "--models", "published").exception  # type: ignore[attr-defined]


LONG = {
    "score": "R -m bleu --no-cache --explain O.jsonl",
    "report": "R -m bleu -o O.html --no-cache --resamples 20",
    "agree": "J -m bleu --no-cache --resamples 20",
    "probe behaviour": " -m bleu --no-cache",
    "probe triples": "T -m bleu --no-cache",
    "perturb": "R -o O.jsonl",
    "probe rewards": "R -m bleu --system x --no-cache",
    "fit radcliq": "J -o O.json -m bleu -m rouge --resamples 20 --no-cache",
    "read": "R --graphs O.json",
}


class Shown(Exception):
    """Ends a run at its first line of progress."""


class Work:
    def __init__(self, *_: object) -> None:
        raise Shown


@pytest.mark.parametrize("verb", LONG)
def test_every_verb_that_can_take_long_says_what_it_does(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_console", Console)
    monkeypatch.setattr(progress, "_Work", Work)
    words = words_of(LONG[verb], tmp_path)
    assert isinstance(run(*verb.split(), *words).exception, Shown)  # type: ignore[attr-defined]
    if verb == "score":
        assert run(verb, *words, "--quiet").exit_code == 0  # type: ignore[attr-defined]


def test_a_metric_that_judged_nothing_is_a_failure(reports: Path) -> None:
    done = run("score", reports, "-m", "vlscore", "--no-cache")
    assert done.exit_code == 1  # type: ignore[attr-defined]
    assert str(done.exception) == "vlscore judged none of the 4 cases: no image (4)"  # type: ignore[attr-defined]


def test_scores_of_others_are_compared(reports: Path, tmp_path: Path) -> None:
    (tmp_path / "green.csv").write_text("id,system,green\n1,x,1\n1,y,0\n2,x,1\n2,y,0\n")
    scores = tmp_path / "scores.jsonl"
    run("score", reports, "-m", "rouge", "-o", scores, "--no-cache")
    done = run(
        *("compare", scores, "--join", f"{tmp_path}/green.csv:higher", "--json"),
        *("--permutations", 20, "--resamples", 20),
    )
    lines = json.loads(done.stdout)["comparisons"]  # type: ignore[attr-defined]
    assert [(line["judge"], line["result"]["difference"]["value"]) for line in lines][-1] == ("green", -1.0)


def test_published_models_are_not_fetched_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RADGAUGE_MODELS", str(tmp_path))
    monkeypatch.setattr("radgauge.encoders.checkpoints.catalogue.find", lambda wanted: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.delenv("RADGAUGE_OFFLINE", raising=False)
    with pytest.raises(rg.UsageError, match=r"checkpoints will be fetched into .* MB.*to agree, add --yes"):
        confirm_downloads(["chexbert:models=published"], models="embedded")
    confirm_downloads(["bleu"], models="published")
    monkeypatch.setenv("RADGAUGE_OFFLINE", "1")
    with pytest.raises(rg.ModelError, match="RADGAUGE_OFFLINE"), _run_with(Program(yes=True)):
        confirm_downloads(["chexbert"], models="published")


def test_a_folder_that_is_not_there_is_an_error(reports: Path, tmp_path: Path) -> None:
    for verb in ("score", "report"):
        done = run(
            verb, reports, "-m", "rouge", "-o", tmp_path / "slip" / ("x.jsonl" if verb == "score" else "x.html")
        )
        assert "there is no folder" in str(done.exception)  # type: ignore[attr-defined]


def test_names_with_blanks_stand_in_quotes() -> None:
    said = in_flags("pass candidate_columns=['Model A', 'b'] or columns={'reference': 'Ground Truth'}")
    assert said == "pass --candidate-columns 'Model A,b' or --columns 'reference=Ground Truth'"
