"""Exit codes: 0 fine, 1 a limit is broken, 2 usage, 3 input or system trouble; for every verb."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
import typer
from command import radgauge

from radgauge.cli import main
from radgauge.cli.exit_codes import EPILOG
from radgauge.cli.options import app

FINDING = "Large left pneumothorax."
RIGHT = "\n".join(["id,reference,candidate,system", *(f"{n},{FINDING},{FINDING},model" for n in range(6))])


def commands() -> list[tuple[str, ...]]:
    def leaves(command: click.Command, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        if isinstance(command, click.Group):
            return [leaf for name, child in command.commands.items() for leaf in leaves(child, (*path, name))]
        return [path]

    return leaves(typer.main.get_command(app), ())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "right.csv").write_text(RIGHT)
    (tmp_path / "wrong.csv").write_text(RIGHT.replace(f",{FINDING},model", ",No pneumothorax.,model"))
    for name in ("right", "wrong"):
        done = radgauge("score", f"{name}.csv", "-m", "errors", "-o", f"{name}.jsonl", "-q", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_says_its_codes_and_ends_with_2_on_an_unknown_option(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = radgauge(*command, "--help", folder=tmp_path, COLUMNS="300")
    assert done.returncode == 0
    assert EPILOG in " ".join(done.stdout.split())
    assert radgauge(*command, "--no-such-option", folder=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["diff", "right.jsonl", "wrong.jsonl", "--fail-if", "errors_recall < 0.9"], 0),
        (["diff", "wrong.jsonl", "right.jsonl", "--fail-if", "errors_recall < 0.9"], 1),
        (["diff", "wrong.jsonl", "right.jsonl", "--fail-if", "errors_recall < 0.9", "--json"], 1),
        (["diff", "right.jsonl", "wrong.jsonl", "--fail-if", "errors_recall"], 2),
        (["score", "right.csv", "-m", "no_such_metric"], 2),
        (["score", "no_such_file.csv"], 3),
        (["compare", "no_such_file.jsonl"], 3),
        (["report", "no_such_file.jsonl"], 3),
        (["agree", "right.jsonl", "--judgments", "no_such_file.json"], 3),
        (["score", "right.csv", "-m", "vlscore"], 3),
        (["score", "right.csv", "-m", "bleu", "-o", "right.csv/scores.jsonl"], 3),
    ],
)
def test_codes(words: list[str], code: int, folder: Path) -> None:
    done = radgauge(*words, folder=folder)
    assert done.returncode == code, done.stderr


def test_a_defect_is_trouble_and_no_broken_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("by nobody")

    monkeypatch.setattr("radgauge.cli.app", broken)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 3
    assert "ZeroDivisionError: by nobody" in capsys.readouterr().err


def test_an_unanswered_prompt_is_no_broken_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def aborted() -> None:
        sys.exit(1)  # what click does when a prompt meets the end of its input

    monkeypatch.setattr("radgauge.cli.app", aborted)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 3
