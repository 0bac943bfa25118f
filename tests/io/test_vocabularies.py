"""Terms of files in the published forms of UMLS, SNOMED CT and ICD-10-CM; the rows are invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from radgauge.core.errors import InputError
from radgauge.io.vocabularies import Term, read_semantic_types, read_terms


def umls(cui: str, text: str, *, language: str = "ENG", suppress: str = "N") -> str:
    """A row of MRCONSO.RRF."""
    cells = [
        cui,
        language,
        "P",
        "L1",
        "PF",
        "S1",
        "Y",
        "A1",
        "",
        "",
        "",
        "SRC",
        "PT",
        "C1",
        text,
        "0",
        suppress,
        "",
    ]
    return "|".join([*cells, ""])


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_umls_in_english_without_what_is_suppressed(tmp_path: Path) -> None:
    rows = (
        umls("C0000001", "Pleural effusion"),
        umls("C0000001", "Pleuraerguss", language="GER"),
        umls("C0000001", "obsolete name", suppress="O"),
        umls("C0000002", "Lung"),
    )
    file = write(tmp_path / "MRCONSO.RRF", *rows)
    assert list(read_terms(file)) == [Term("Pleural effusion", "C0000001"), Term("Lung", "C0000002")]
    with pytest.raises(InputError, match=r"MRCONSO.RRF, line 2: MRCONSO.RRF has 18"):
        list(read_terms(write(file, rows[0], "C1|ENG")))


def test_snomed_descriptions(tmp_path: Path) -> None:
    head = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId"
    rows = (
        "1\t20240101\t1\t9\t111\ten\t900000000000003001\tPneumothorax (disorder)\t9",
        "2\t20240101\t1\t9\t111\ten\t900000000000013009\tAir in pleural space\t9",
        "3\t20240101\t0\t9\t111\ten\t900000000000013009\tretired\t9",
        "4\t20240101\t1\t9\t111\tes\t900000000000013009\tneumotorax\t9",
    )
    file = write(tmp_path / "sct2_Description_Snapshot-en_INT_20240101.txt", head, *rows)
    assert list(read_terms(file)) == [Term("Pneumothorax", "111"), Term("Air in pleural space", "111")]
    with pytest.raises(InputError, match="line 2: must have 9 fields, got 2"):
        list(read_terms(write(file, head, "1\t2")))


def test_icd_order_file(tmp_path: Path) -> None:
    def row(number: int, code: str, short: str, long: str) -> str:
        return f"{number:05d} {code:<7} 1 {short:<60} {long}"

    rows = (
        row(1, "J90", "Pleural effusion, NEC", "Pleural effusion, not elsewhere classified"),
        row(2, "J930", "x", ""),
    )
    file = write(tmp_path / "icd10cm_order_2024.txt", *rows)
    assert list(read_terms(file)) == [
        Term("Pleural effusion, not elsewhere classified", "J90"),
        Term("x", "J930"),
    ]


def test_a_plain_list_and_what_is_none(tmp_path: Path) -> None:
    assert [term.text for term in read_terms(write(tmp_path / "terms.txt", "lung", "", "pleural effusion"))] == [
        "lung",
        "pleural effusion",
    ]
    with pytest.raises(InputError, match="holds no English term"):
        list(read_terms(write(tmp_path / "empty.txt", "", "")))
    with pytest.raises(InputError, match="holds no English term"):
        list(read_terms(write(tmp_path / "german.RRF", umls("C1", "Lunge", language="GER"))))
    with pytest.raises(InputError, match="cannot be read as a file of terms"):
        list(read_terms(tmp_path / "nowhere"))


def test_semantic_types(tmp_path: Path) -> None:
    file = write(tmp_path / "MRSTY.RRF", "C1|T033|A2|Finding|AT1||", "C1|T047|B2|Disease|AT2||")
    assert read_semantic_types(file) == {"C1": {"T033", "T047"}}
    with pytest.raises(InputError, match=r"line 1: must be a row of MRSTY\.RRF"):
        read_semantic_types(write(tmp_path / "x", "a,b"))
