"""Option groups: one definition, many verbs."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from radgauge.cli import VERBS, app
from radgauge.cli.commands import Program, _run_with, command
from radgauge.cli.options import few_cases_note
from radgauge.core.progress import tell, working


@dataclass(frozen=True, kw_only=True)
class Group:
    """Two options."""

    colour: Annotated[Literal["red", "blue"], typer.Option("--colour")] = "red"
    size: Annotated[int, typer.Option("--size", min=1)] = 3


LARGE = Group(size=7)


def _app() -> tuple[typer.Typer, list[tuple[str, Group]]]:
    made, calls = typer.Typer(), []

    @command(made, "draw")
    def draw(name: Annotated[str, typer.Argument()], group: Group = LARGE) -> None:
        """Draw."""
        calls.append((name, group))

    @command(made, "other")
    def other(group: Group) -> None:
        """Other."""
        calls.append(("other", group))

    return made, calls


def test_a_group_becomes_options_and_comes_back_whole() -> None:
    made, calls = _app()
    for line in (["draw", "a", "--colour", "blue"], ["draw", "b", "--size", "2"], ["other"]):
        assert CliRunner().invoke(made, line).exit_code == 0
    assert calls == [
        ("a", Group(colour="blue", size=7)),
        ("b", Group(colour="red", size=2)),
        ("other", Group(colour="red", size=3)),
    ]


def test_help_lists_choices_and_wrong_ones_are_refused() -> None:
    made, calls = _app()
    shown = CliRunner().invoke(made, ["draw", "--help"]).stdout
    assert "red|blue" in shown
    assert "default: 7" in shown
    refused = CliRunner().invoke(made, ["draw", "a", "--colour", "green"])
    assert refused.exit_code == 2
    assert "'green' is not one of 'red', 'blue'" in " ".join(re.findall(r"[\w',]+", refused.output))
    assert not calls


def test_help_names_every_verb_and_the_shells_can_complete() -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert [verb for verb in VERBS if not re.search(rf" {verb}[ ,]", shown)] == []
    assert "--install-completion" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_the_line_of_a_verb_is_how_its_own_help_begins(verb: str) -> None:
    command = typer.main.get_command(app).get_command(None, verb)  # type: ignore[attr-defined]
    assert command.help.split("\n\n")[0].replace("\n", " ") == VERBS[verb].about


@pytest.mark.process
def test_help_loads_no_more_than_its_own_modules() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from radgauge.cli import app;"
        "CliRunner().invoke(app, ['--help']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith(("radgauge", "numpy"))}
    assert {name for name in loaded if not name.startswith("radgauge.cli")} == {
        "radgauge",
        "radgauge.core",
        "radgauge.core.config",
        "radgauge.core.errors",
        "radgauge.core.settings",
    }


def test_ls_shows_one_metric_with_the_values_of_its_settings() -> None:
    shown = CliRunner().invoke(app, ["metrics", "rouge"]).stdout
    assert "range 0 to 1, higher is better" in shown
    assert "needs reference" in shown
    assert re.search(r"tokenizer +default +default, words, whitespace, spaces", shown)
    assert re.search(r"rouge_l +↑", shown)
    found = json.loads(CliRunner().invoke(app, ["metrics", "errors", "--json"]).stdout)
    assert found["directions"]["errors_quality"] is True
    assert found["directions"]["errors_total"] is False
    refused = CliRunner().invoke(app, ["metrics", "blue"])
    assert "did you mean 'bleu'" in str(refused.exception)


def test_a_quiet_verb_draws_no_progress() -> None:
    made, drawn = typer.Typer(), []

    @command(made, "draw")
    def draw() -> None:
        """Draw."""
        with working("drawing", on=Console(file=io.StringIO())) as progress:
            drawn.append("shown" if progress is tell else "silent")

    for quiet in (True, False):
        with _run_with(Program(quiet=quiet)):
            assert CliRunner().invoke(made, []).exit_code == 0
    assert drawn == ["silent", "shown"]


def test_the_note_on_few_cases_speaks_of_intervals_only_where_there_are_some() -> None:
    assert few_cases_note(0) == few_cases_note(50) == []
    assert few_cases_note(4) == ["4 cases: an interval needs at least 5 (docs/intervals.md)"]
    assert few_cases_note(5, "studies")[0].startswith("5 studies: with fewer than 50, intervals can cover less")
