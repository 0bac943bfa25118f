"""Reports with terms from tables of any shape, and clear words about tables that have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.lab.training.term_reports import read_term_reports, read_term_studies

ROWS = [
    ("1", "Clear lungs.", "normal"),
    ("2", "The heart is large.", "Cardiomegaly/mild;Aorta, Thoracic/tortuous"),
]
TERMS = [("normal",), ("cardiomegaly/mild", "aorta, thoracic/tortuous")]


def put(folder: Path, header: str, *, encoding: str = "utf-8", name: str = "c.csv") -> Path:
    path = folder / name
    lines = [header, *(f'{study},{text},"{terms}"' for study, text, terms in ROWS)]
    path.write_text("\r\n".join(lines), encoding=encoding, newline="")
    return path


@pytest.mark.parametrize(
    "header", ["id,report,terms", "study_id,findings,labels", "uid,text,MeSH", "ID,Report Text,MeSH terms"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_usual_names_and_byte_order_marks_are_understood(tmp_path: Path, header: str, encoding: str) -> None:
    found = read_term_reports(put(tmp_path, header, encoding=encoding))
    assert [report.id for report in found.reports] == ["1", "2"]
    assert [report.terms for report in found.reports] == TERMS
    assert found.reports[1].text == "The heart is large."


def test_terms_may_be_a_list_or_have_bars_between_them(tmp_path: Path) -> None:
    lines = [
        {"id": "1", "report": "Clear lungs.", "terms": ["normal"]},
        {"id": "2", "report": "The heart is large.", "terms": ["Cardiomegaly/mild", "Aorta, Thoracic/tortuous"]},
        {"id": "3", "report": "Not indexed.", "terms": ["No Indexing"]},
        {"id": "4", "report": "Small effusion.", "terms": "Effusion|Atelectasis"},
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = read_term_reports(tmp_path / "c.jsonl")
    assert [report.terms for report in found.reports] == [*TERMS, ("effusion", "atelectasis")]
    assert found.dropped["no usable terms"] == 1
    (tmp_path / "c.json").write_text(json.dumps(lines), encoding="utf-8")
    assert read_term_reports(tmp_path / "c.json") == found


def test_columns_and_encoding_may_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, "nr,wording,index")
    named = {"id": ("nr",), "report": ("wording",), "terms": ("index",)}
    assert [report.terms for report in read_term_reports(path, columns=named).reports] == TERMS
    path = tmp_path / "indiana.csv"
    path.write_bytes("uid,MeSH,findings,impression\n1,normal,Clear’s.,x\n2,normal,No café.,y\n".encode("cp1252"))
    found = read_term_reports(path, encoding="cp1252")
    assert [report.text for report in found.reports] == ["Clear’s.", "No café."]
    assert read_term_reports(path, encoding="cp1252", section="impression").reports[0].text == "x"
    with pytest.raises(InputError, match="pass encoding='cp1252'"):
        read_term_reports(path)


def test_a_section_that_is_not_there_is_not_replaced_by_another(tmp_path: Path) -> None:
    path = put(tmp_path, "id,findings,terms")
    with pytest.raises(InputError, match=r"with a text \(impression\) .* dropped: 2 no text"):
        read_term_reports(path, section="impression")


def test_tables_without_terms_are_refused_with_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no column with the terms; .*got columns id, report, x; name yours with"
    ):
        read_term_studies(put(tmp_path, "id,report,x"))
    with pytest.raises(InputError, match=r"no column index; give"):
        read_term_studies(put(tmp_path, "id,report,x"), columns={"terms": ("index",)})
    with pytest.raises(UsageError, match="'reference'"):
        read_term_studies(put(tmp_path, "id,report,terms"), columns={"reference": ("report",)})
    (tmp_path / "c.csv").write_text("id,report,terms\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"c\.csv"):
        read_term_studies(tmp_path / "c.csv")
