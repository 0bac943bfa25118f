"""radgauge.toml: which defaults count, and what a file that came with data must not do."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.cli.commands import _set_defaults, command
from radgauge.cli.language_model import LlmSettings
from radgauge.cli.options import NO_LLM, Llm
from radgauge.core.config import read_config
from radgauge.core.errors import InputError, UsageError

REPORTS = "id,text,reference,other,system\n1,No effusion.,No effusion.,Effusion.,a\n2,Edema.,No edema.,Edema.,a\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with reports; the user's own file would be in `user/radgauge`."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "user" / "radgauge").mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.delenv("RADGAUGE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (work / "reports.csv").write_text(REPORTS, encoding="utf-8")
    return work


def _user_file(folder: Path) -> Path:
    return folder.parent / "user" / "radgauge" / "radgauge.toml"


def _columns(*arguments: str) -> dict[str, float]:
    done = CliRunner().invoke(app, ["score", "reports.csv", "--json", *arguments], catch_exceptions=False)
    return {line["column"]: line["value"] for line in json.loads(done.stdout)["summary"]}


def test_tables_are_defaults_that_options_override(folder: Path) -> None:
    (folder / "radgauge.toml").write_text(
        '[reports]\ncolumns = {candidate = "text"}\n[judge]\nmetric = ["rouge"]\n[score]\nmetric = ["bleu"]\n'
    )
    assert _columns()["bleu_1"] == pytest.approx(math.exp(1 - 6 / 5))  # [score] before [judge]
    assert _columns("-m", "rouge", "--columns", "candidate=other")["rouge_l"] == pytest.approx(2 / 3)


def test_the_project_counts_more_than_the_user_and_pyproject_is_read(folder: Path) -> None:
    _user_file(folder).write_text('[judge]\nmetric = ["rouge"]\nmodels = "embedded"\n')
    (folder / "pyproject.toml").write_text('[tool.radgauge.judge]\nmetric = ["bleu"]\n')
    config = read_config()
    assert config.table("judge") == {"metric": ["bleu"], "models": "embedded"}
    assert [path.name for path in config.origins.values()] == ["pyproject.toml", "radgauge.toml"]
    shown = CliRunner().invoke(app, ["config", "--json"]).stdout
    assert json.loads(shown)["settings"][0]["file"] == str(folder / "pyproject.toml")


def test_one_named_file_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "radgauge.toml").write_text('[judge]\nmetric = ["bleu"]\n')
    monkeypatch.setenv("RADGAUGE_CONFIG", "")
    assert read_config().tables == {}
    monkeypatch.setenv("RADGAUGE_CONFIG", str(folder / "none.toml"))
    with pytest.raises(InputError, match="none"):
        read_config()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('[score]\nmetrik = ["bleu"]\n', "metrik"),
        ("judge = 3\n", "'judge'"),
        ("[judge\n", "TOML"),
        ('[llm]\nkey = "secret-1"\n', "RADGAUGE_LLM_KEY"),
        ('[llm]\nurl = "https://elsewhere.example/v1"\n', "https?|RADGAUGE_LLM_URL"),
    ],
)
def test_what_a_project_file_must_not_say(folder: Path, text: str, names: str) -> None:
    (folder / "radgauge.toml").write_text(text)
    with pytest.raises((InputError, UsageError), match=names) as caught:
        CliRunner().invoke(app, ["score", "reports.csv"], catch_exceptions=False)
    assert "secret-1" not in str(caught.value)


def _settings(*options: str) -> LlmSettings:
    """What a verb with a language-model server gets from files and options."""
    made, calls = typer.Typer(), []

    @command(made, "ask")
    def ask(llm: Llm = NO_LLM) -> None:
        """Ask."""
        calls.append(llm)

    verb = typer.main.get_command(made)
    _set_defaults(verb, "ask")
    verb.main(list(options), standalone_mode=False)
    return calls[0]


def test_a_server_elsewhere_counts_from_the_users_own_file(folder: Path) -> None:
    _user_file(folder).write_text('[llm]\nurl = "https://elsewhere.example/v1"\nmax_cost = 5\nprice_in = 1\n')
    (folder / "radgauge.toml").write_text("[llm]\nparallel = 2\n")
    settings = _settings("--llm", "max-cost=7")
    assert (settings.url, settings.max_cost, settings.price_in, settings.parallel) == (
        *("https://elsewhere.example/v1", 7.0, 1.0, 2),
    )


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("max_cost", "KEY=VALUE"),
        ("max_cots=1", "max_cost"),
        ("parallel=0", "parallel"),
        ("retry_failed=x", "yes or no"),
    ],
)
def test_a_wrong_setting_is_named(folder: Path, option: str, names: str) -> None:
    with pytest.raises(UsageError, match=names):
        _settings("--llm", option)
