"""`radgauge read` as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from radgauge.cli import app
from radgauge.core.errors import BrokenLimit, InputError, UsageError

REPORT = "The heart is mildly enlarged. No pleural effusion."


def run(*arguments: object, text: str | None = None) -> str:
    result = CliRunner().invoke(app, ["read", *map(str, arguments)], input=text, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_mentions_are_listed_with_what_is_said_of_them(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text(REPORT)
    shown = run(path)
    assert REPORT in shown
    assert "cardiomegaly" in shown
    assert "absent" in shown


def test_json_of_every_view() -> None:
    mentions = json.loads(run("--json", text=REPORT))
    assert [mention["concept"] for mention in mentions["mentions"]] == [
        "heart",
        "cardiomegaly",
        "pleural_effusion",
    ]
    assert mentions["mentions"][1]["attributes"]["severity"] == "mild"
    rate = json.loads(run("--json", "--view", "rate", text=REPORT))
    assert [entity["name"] for entity in rate] == ["heart", "mildly enlarged", "pleural effusion"]
    graph = json.loads(run("--json", "--view", "radgraph", "-", text=REPORT))
    assert graph["report"]["entities"]["1"] == {
        "tokens": "heart",
        "label": "ANAT-DP",
        "start_ix": 1,
        "end_ix": 1,
        "relations": [],
    }
    labels = json.loads(run("--json", "--view", "chexpert", text=REPORT))
    assert labels["Cardiomegaly"] == "positive"
    assert labels["Pleural Effusion"] == "negative"


@pytest.mark.parametrize("view", ["rate", "radgraph", "chexpert"])
def test_views_as_tables(view: str) -> None:
    assert "heart" in run("--view", view, text=REPORT) or view == "chexpert"


@pytest.mark.long
def test_a_lexicon_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[concept]]\nid = "gizmo"\nkind = "device"\nname = "zorb implant"\n')
    (mention,) = json.loads(run("--json", "--lexicon", path, text="A zorb implant is seen."))["mentions"]
    assert mention["concept"] == "gizmo"


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["read", "--view", "x"], input=REPORT)
    assert done.exit_code == 2
    words = " ".join(re.findall(r"[\w',]+", done.stderr))
    assert "'x' is not one of 'mentions', 'rate', 'radgraph', 'chexpert'" in words
    path = tmp_path / "latin.txt"
    path.write_bytes(b"\xe9dema")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        run(path)


def test_a_report_in_place_of_its_file_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write it to standard input") as refused:
        run("Small left effusion of Mr. Zorbas.")
    assert "Zorbas" not in str(refused.value)
    path = tmp_path / "my three reports.txt"
    path.write_text(REPORT)
    assert "heart" in run(path)


def test_a_table_is_not_read_as_one_report(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text(f"id,reference\n1,{REPORT}\n")
    with pytest.raises(InputError, match=r"reports\.csv is a table; give one report"):
        run(path)


def test_a_report_is_checked_against_itself() -> None:
    assert "no contradiction among 2 statements" in run("--check", text=REPORT)
    with pytest.raises(BrokenLimit, match="1 contradiction among 2 statements"):
        run("--check", text="No pneumothorax. Small right apical pneumothorax.")
    with pytest.raises(InputError, match="no finding and no normal statement"):
        run("--check", text="Thank you.")
    checked = json.loads(run("--check", "--json", text=REPORT))
    assert (checked["values"]["consistency"], checked["notes"]) == (1.0, [])
