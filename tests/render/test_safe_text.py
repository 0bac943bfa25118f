"""Names and texts of others neither steer a terminal nor run in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from radgauge.cli.lines import echo
from radgauge.core.wording import spreadsheet_cell, visible
from radgauge.render.tables import table, to_csv
from radgauge.render.terminal import console

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202ecod\x7f"


def test_a_formula_in_a_name_is_written_as_text() -> None:
    record = {"system": "=cmd|' /C calc'!A0", "@column": "+1", "value": -0.25, "note": "-0.5", "other": " =1"}
    made = table("system", rows=[("x",)], records=[record])
    header, row = csv.reader(io.StringIO(to_csv(made)))
    assert header == ["system", "'@column", "value", "note", "other"]
    assert row == ["'=cmd|' /C calc'!A0", "+1", "-0.25", "-0.5", "' =1"]


@pytest.mark.parametrize("text", ["=1", "+cmd", "-2+3", "@SUM(1)", "\t=1", "\r=1", "- clear"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert spreadsheet_cell(text) == f"'{visible(text)}"


def test_a_name_in_a_csv_file_steers_no_terminal_that_shows_the_file() -> None:
    assert spreadsheet_cell("\x1b[31mred") == "␛[31mred"
    assert spreadsheet_cell("two\r\nlines") == "two\nlines"


@pytest.mark.parametrize("value", ["-1", "+1.5", "-1e-05", ".5", "model-a", "", 3, None, "a=b"])
def test_numbers_and_other_texts_stay(value: object) -> None:
    assert spreadsheet_cell(value) == value


def test_a_line_of_a_verb_holds_no_control_sign(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE)
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\x7f"} & set(capsys.readouterr().out)


def test_the_console_prints_no_control_sign_of_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    out = console()
    out.show(table("system", HOSTILE, rows=[(f"model {HOSTILE}", 0.5)]))
    out.print(f"note: {HOSTILE}\nsecond line")
    said = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\x7f"} & set(said)
    assert "note: ␛]0;owned␛[2J" in said
    assert "\nsecond line" in said


def test_visible_keeps_what_people_write() -> None:
    assert visible("Größe ≥ 5 mm,\tstabil\n→ ok 好") == "Größe ≥ 5 mm,\tstabil\n→ ok 好"
