"""Files that state another size than they have lose no row: the statement is ignored, or the file is refused."""

from __future__ import annotations

import gzip
import random
import re
import struct
import zipfile
from pathlib import Path

import pytest

from radgauge.core.errors import InputError
from radgauge.io.tables import read_table

ROWS = 100


def _forged_workbook(path: Path, dimension: str) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["id", "reference", "candidate"])
    for number in range(ROWS):
        book.active.append([f"s{number}", "Clear lungs.", "Small effusion."])
    book.save(path.with_suffix(".whole.xlsx"))
    with zipfile.ZipFile(path.with_suffix(".whole.xlsx")) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content, count = re.subn(
                    rb'<dimension ref="[^"]*"', b'<dimension ref="%s"' % dimension.encode(), content
                )
                assert count == 1
            new.writestr(name, content)
    return path


@pytest.mark.parametrize("dimension", ["A1:C11", "A1", "A1:B101", "A1:XFD1048576"])
def test_a_workbook_keeps_its_rows_whatever_it_states(tmp_path: Path, dimension: str) -> None:
    table = read_table(_forged_workbook(tmp_path / "cases.xlsx", dimension))
    assert [record.values["id"] for record in table.records] == [f"s{number}" for number in range(ROWS)]
    assert {record.values["candidate"] for record in table.records} == {"Small effusion."}


def _forged_footer(path: Path, which: int) -> Path:
    """A Parquet file of 100 rows in whose footer one of the counts of 100 is 10."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"id": [f"s{n}" for n in range(ROWS)], "x": [float(n) for n in range(ROWS)]}), path)
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = bytearray(content[-8 - length : -8])
    counts = [at for at in range(len(footer)) if footer[at - 1 : at + 2] == b"\x16\xc8\x01"]  # 100, zigzag, i64
    footer[counts[which] : counts[which] + 2] = b"\x94\x00"
    path.write_bytes(content[: -8 - length] + bytes(footer) + content[-8:])
    return path


@pytest.mark.parametrize("which", range(4))
def test_a_parquet_file_whose_footer_contradicts_itself_is_refused(tmp_path: Path, which: int) -> None:
    path = _forged_footer(tmp_path / "cases.parquet", which)
    with pytest.raises(InputError, match=r"cases\.parquet is damaged"):
        read_table(path)


def _with_part(path: Path, name: str, content: bytes) -> Path:
    """A small workbook with another content of one of its parts."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["id", "candidate"])
    book.active.append(["s1", "Clear lungs."])
    book.save(path.with_suffix(".whole.xlsx"))
    with (
        zipfile.ZipFile(path.with_suffix(".whole.xlsx")) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return path


SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
    b"<c r='A1'%s</v></c></row></sheetData></worksheet>"
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("xl/worksheets/sheet1.xml", b"<a><b>"),
        (
            "xl/worksheets/sheet1.xml",
            SHEET % b" t='s'><v>7",
        ),
        ("xl/worksheets/sheet1.xml", SHEET % b"><v>x3"),
        ("xl/workbook.xml", b"<workbook"),
        ("xl/styles.xml", b"<styleSheet><cellXfs><xf a='1'/></cellXfs></styleSheet>"),
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/_rels/workbook.xml.rels", b"<Relationships/>"),
    ],
)
def test_a_damaged_workbook_is_refused(tmp_path: Path, part: str, content: bytes) -> None:
    with pytest.raises(InputError, match=r"cases\.xlsx (is damaged|holds no)"):
        read_table(_with_part(tmp_path / "cases.xlsx", part, content))


def test_a_file_that_unpacks_to_far_more_than_reports_do_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("radgauge.io.tables.sources.MAX_UNPACKED", 1 << 20)
    packed = tmp_path / "cases.csv.gz"
    packed.write_bytes(gzip.compress(b"id,candidate\ns1," + b"a" * (2 << 20) + b"\n"))
    with pytest.raises(InputError, match=r"cases\.csv\.gz unpacks to more than 50 times"):
        read_table(packed)
    book = _with_part(tmp_path / "cases.xlsx", "xl/worksheets/sheet1.xml", b" " * (2 << 20))
    with pytest.raises(InputError, match=r"cases\.xlsx unpacks to more than 50 times"):
        read_table(book)
    words = random.Random(0).choices([f"word{n}" for n in range(5000)], k=200_000)
    packed.write_bytes(gzip.compress(f"id,candidate\ns1,{' '.join(words)}\n".encode()))
    assert len(read_table(packed).records) == 1  # as large, and no bomb
