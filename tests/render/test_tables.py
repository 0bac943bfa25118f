"""One table, six outputs."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import pytest

from radgauge.core.wording import p_value, signed
from radgauge.render.tables import (
    Cell,
    Column,
    Table,
    bounded,
    table,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_records,
)
from radgauge.render.terminal import console


@pytest.fixture
def made() -> Table:
    found = SimpleNamespace(value=0.25, low=0.1, high=0.4)
    return table(
        *("metric", Column("difference", True, format=signed), Column("p", format=p_value, significant=0.05)),
        Column("share", right=True),
        rows=[("bleu_4", bounded(found, signed), 0.012, "<b>"), None, ("=sum|A1", float("nan"), 0.4, None)],
        key="differences",
        title="Differences & more",
        note="a < b",
    )


def test_numbers_stand_at_the_right_and_texts_at_the_left(made: Table) -> None:
    assert [column.right for column in made.columns] == [False, True, True, True]
    assert made.rules == (1,)


def test_markdown_and_latex_escape_and_mark(made: Table) -> None:
    assert to_markdown(made).splitlines() == [
        "| metric | difference ↑ | p | share |",
        "| --- | ---: | ---: | ---: |",
        "| bleu_4 | +0.250 [0.100, 0.400] | **0.012** | <b> |",
        "| =sum\\|A1 | – | 0.400 |  |",
        "",
        "a < b",
    ]
    latex = to_latex(made)
    assert "\\caption{Differences \\& more}" in latex
    value = r"\shortstack[r]{+0.250\\{\scriptsize [0.100, 0.400]}}"
    assert rf"bleu\_4 & {value} & \textbf{{0.012}} & $<$b$>$ \\" in latex


def test_html_escapes_and_marks(made: Table) -> None:
    page = to_html(made)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert '<td class="num best">0.012</td>' in page
    assert "difference\u00a0↑" in page
    assert "a &lt; b" in page


def test_csv_and_json_hold_values_and_no_formula(made: Table) -> None:
    assert to_records(made)[0] == {"metric": "bleu_4", "difference": 0.25, "p": 0.012, "share": "<b>"}
    rows = list(csv.DictReader(io.StringIO(to_csv(made))))
    assert rows[1] == {"metric": "'=sum|A1", "difference": "", "p": "0.4", "share": ""}


def test_given_records_win() -> None:
    made = table("a", rows=[(0.123,)], records=[{"a": 0.123456789, "n": 3}])
    assert to_csv(made) == "a,n\n0.123456789,3\n"


def test_a_terminal_shows_stars_and_obeys_no_text(capsys: pytest.CaptureFixture[str], made: Table) -> None:
    console().show(made)
    out = capsys.readouterr().out
    assert "0.012*" in out
    assert "0.400 " in out
    console().show(table("name", rows=[(Cell("red\x1b[31m"),)]))
    assert "\x1b" not in capsys.readouterr().out


def test_a_narrow_terminal_gets_the_short_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = table("metric", "a long head of a column", rows=[("bleu", 1.0)])
    short = table("metric", rows=[("bleu",)])
    for width, there in (("80", True), ("12", False)):
        monkeypatch.setenv("COLUMNS", width)
        console().show(wide, short)
        assert ("long head" in capsys.readouterr().out) is there


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is longer"):
        table("a", "b", rows=[("only one",)])
