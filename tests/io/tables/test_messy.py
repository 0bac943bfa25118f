"""Tables as hospitals hand them over: titles, blank lines, totals, merged cells, sheets, repeated ids, remarks."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pytest

import radgauge as rg
from radgauge.core.errors import InputError
from radgauge.io.tables import read_table

HEADER = ["Fall-Nr.", "Alter", "Befund (Radiologe)", "KI-Vorschlag", "Rückfrage an Radiologie"]
ROWS = [
    [
        f"A{i}",
        40 + i,
        f"Small left effusion of {i} mm. No pneumothorax.",
        f"No effusion of {i} mm at all.",
        "Anruf",
    ]
    for i in range(6)
]
MESSY = [
    ["KI-Pilot, Thorax, Januar", None, None, None, None],
    [None] * 5,
    HEADER,
    *ROWS[:3],
    [None] * 5,
    HEADER,
    *ROWS[3:],
    ["Summe", "1142,5", None, None, None],
    ["Stand: 31.03., vorläufig", None, None, None, None],
]


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    for number, (name, rows) in enumerate(sheets.items()):
        sheet = book.active if number == 0 else book.create_sheet()
        sheet.title = name
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def delimited(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([["" if cell is None else cell for cell in row] for row in rows])
    return path


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_what_stands_around_a_table_is_no_study(tmp_path: Path, form: str) -> None:
    file = tmp_path / f"befunde.{form}"
    workbook(file, Befunde=MESSY) if form == "xlsx" else delimited(file, MESSY)
    cases = rg.read_cases(file)
    assert [case.id for case in cases] == [row[0] for row in ROWS]
    assert cases.cases[5].references == (ROWS[5][2],)
    assert cases.cases[5].candidate == ROWS[5][3]
    notes = " ".join(cases.provenance.warnings)
    for fact in ("above the header (", "'Summe'", "repeat the header", "below the table is no study"):
        assert fact in notes


def test_a_sheet_is_chosen_by_its_reports_or_named(tmp_path: Path) -> None:
    cover: list[list[object]] = [["Auswertung"], ["Erstellt am", "12.03.2025"]]
    file = workbook(tmp_path / "b.xlsx", Deckblatt=cover, Befunde=MESSY)
    assert len(rg.read_cases(file)) == 6
    assert "'Befunde' was read" in read_table(file).source.notes[0]
    both = workbook(tmp_path / "c.xlsx", A=MESSY, B=MESSY[:5])
    with pytest.raises(InputError, match="sheet='A' or sheet='B'"):
        read_table(both)
    assert len(rg.read_cases(both, sheet="B")) == len(rg.read_cases(both, sheet="2")) == 2
    with pytest.raises(InputError, match="no sheet 'C'"):
        rg.read_cases(both, sheet="C")


def test_cells_merged_over_rows_stand_in_each(tmp_path: Path) -> None:
    file = workbook(
        tmp_path / "m.xlsx", S=[["Fall-Nr.", "Modell", *HEADER[2:4]], *([*r[:1], "x", *r[2:4]] for r in ROWS)]
    )
    book = openpyxl.load_workbook(file)
    sheet = book.active
    sheet["B3"] = "y"
    sheet.merge_cells("A2:A3")
    book.save(file)
    assert [case.key for case in rg.read_cases(file)][:2] == [("A0", "x"), ("A0", "y")]


def test_a_header_row_can_be_named(tmp_path: Path) -> None:
    file = workbook(
        tmp_path / "h.xlsx", S=[["a", "b", "c"], ["id", "reference", "candidate"], ["1", "Clear.", "Clear."]]
    )
    assert [case.id for case in rg.read_cases(file, header_row=2)] == ["1"]
    with pytest.raises(InputError, match="there is no row 9"):
        rg.read_cases(file, header_row=9)


def test_repeated_ids_are_counted_as_copies_and_as_different(tmp_path: Path) -> None:
    other = [*ROWS[1][:3], "Something else entirely was seen here.", "x"]
    file = delimited(tmp_path / "d.csv", [HEADER, *ROWS, ROWS[0], other])
    with pytest.raises(InputError, match="2 of 8 cases repeat an id") as error:
        rg.read_cases(file)
    text = str(error.value)
    assert "1 exact copies" in text
    assert "1 with different texts" in text
    assert "duplicates='first'" in text
    assert "system'" not in text  # no column here tells systems apart
    first, last = (rg.read_cases(file, duplicates=how) for how in ("first", "last"))
    assert first.cases[1].candidate == ROWS[1][3]
    assert last.cases[-1].candidate == other[3]
    assert len(first) == len(last) == 6
    assert "1 are exact copies, 1 differ" in " ".join(first.provenance.warnings)


def test_a_date_is_no_system(tmp_path: Path) -> None:
    rows = [["id", "Datum", "Anbieter", "reference", "candidate"]]
    rows += [
        [f"{i}", f"{i + 10 * k}.03.2025", f"v{k}", "Clear lungs.", f"Text {k}."] for i in range(5) for k in (0, 1)
    ]
    with pytest.raises(InputError, match=r"columns=\{'system': 'Anbieter'\}"):
        rg.read_cases(delimited(tmp_path / "s.csv", [list(row) for row in rows]))


def test_free_columns_travel_only_when_named(tmp_path: Path) -> None:
    file = delimited(tmp_path / "r.csv", [HEADER, *ROWS])
    plain = rg.read_cases(file)
    assert set(plain.cases[0].meta) == {"Alter"}
    assert "'Rückfrage an Radiologie'" in " ".join(plain.provenance.warnings)
    assert "Rückfrage" not in repr(rg.score(plain.cases, ["bleu"]).meta)
    assert rg.read_cases(file, keep_columns=HEADER[4]).cases[0].meta[HEADER[4]] == "Anruf"
    assert set(rg.read_cases(file, keep_columns="all", drop_columns="Alter").cases[0].meta) == {HEADER[4]}
    with pytest.raises(InputError, match="Bemerkung"):
        rg.read_cases(file, keep_columns="Bemerkung")


def test_every_fault_has_a_line_and_the_remedy_is_last(tmp_path: Path) -> None:
    header = ["Auftrag / Nr. (RIS)", "Befund (final)", "Entwurf vom KI-System", "Rückfrage"]
    file = delimited(tmp_path / "u.csv", [header, *([f"R{i}", *ROWS[i][2:5]] for i in range(6))])
    with pytest.raises(InputError) as error:
        rg.read_cases(file)
    lines = str(error.value).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) < 300
    assert all(repr(name) in str(error.value) for name in header[:3])  # as the user wrote them
    expected = {"id": header[0], "reference": header[1], "candidate": header[2]}
    assert f"columns={expected!r}" in lines[-1]
    assert len(rg.read_cases(file, columns=expected)) == 6


def test_a_file_without_header_shows_no_cell(tmp_path: Path) -> None:
    file = delimited(tmp_path / "n.csv", [["7", "Miller Ann", *row[2:4]] for row in ROWS])
    with pytest.raises(InputError) as error:
        rg.read_cases(file)
    assert "Miller" not in str(error.value)
    assert "effusion" not in str(error.value)
