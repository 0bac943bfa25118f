"""The list of dangerous cases: most clinically significant errors first, wrong words marked, safe to open."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pytest

import radgauge as rg
from radgauge.analysis.leading import leading_judge
from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.report.appendix import WorstCase, worst_cases, write_worst

CASES = [
    Case("same", "No pneumothorax. Heart size is normal.", ("No pneumothorax. Heart size is normal.",)),
    Case("missed", "Heart size is normal.", ("Large left pneumothorax. Large right pleural effusion.",)),
    Case("one", "Large left pneumothorax.", ("Large left pneumothorax. Large right pleural effusion.",)),
]


@pytest.fixture(scope="module")
def worst() -> tuple[WorstCase, ...]:
    results = rg.score(CASES, ["errors"])
    return worst_cases(results, leading_judge(results), cases=CASES, max_cases=3, reading=Readings())


def test_most_significant_errors_come_first(worst: tuple[WorstCase, ...]) -> None:
    assert [each.study for each in worst] == ["missed", "one", "same"]
    assert [each.significant for each in worst] == [2, 1, 0]  # a copy has no error
    assert "neumothorax" in worst[0].notes[0]


def test_the_list_opens_in_a_spreadsheet(worst: tuple[WorstCase, ...], tmp_path: Path) -> None:
    write_worst(tmp_path / "w.xlsx", worst)
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx", rich_text=True).active
    rows = list(sheet.iter_rows(values_only=True))
    assert [row[1] for row in rows] == ["id", "missed", "one", "same"]
    marked = [str(part) for part in rows[2][5] if not isinstance(part, str)]
    assert marked == ["pleural effusion"]
    assert sheet.auto_filter.ref == "A1:G4"


def test_the_list_as_csv_runs_no_formula(worst: tuple[WorstCase, ...], tmp_path: Path) -> None:
    write_worst(tmp_path / "w.csv", worst)
    with (tmp_path / "w.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert "[[pleural effusion]]" in rows[1]["reference"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
