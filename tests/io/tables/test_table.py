"""Tables: formats, encodings, and files that are not what they seem."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.tables import columns_to_records, iter_records, read_table


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def rows(path: Path, **options: str) -> list[dict[str, object]]:
    return [record.values for record in read_table(path, **options).records]


# --- formats ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "id,text\n1,a\n2,b\n"),
        ("r.csv", "id,text\r\n1,a\r\n2,b"),
        ("r.csv", "\ufeffid,text\n1,a\n\n   \n2,b\n\n"),
        ("r.csv", "id;text\n1;a\n2;b\n"),
        ("r.csv", 'id\ttext\n1\t"a"\n2\tb\n'),
        ("R.CSV", " id , text \n1,a\n2,b\n"),
        ("r.tsv", "id\ttext\n1\ta\n2\tb\n"),
        ("r.jsonl", '{"id": "1", "text": "a"}\n\n{"id": "2", "text": "b"}'),
        ("r.ndjson", '{"id": "1", "text": "a"}\r\n{"id": "2", "text": "b"}\r\n'),
        ("r.json", '[{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]'),
        ("r.json", '{"id": ["1", "2"], "text": ["a", "b"]}'),
        ("r.json", '{"1": {"text": "a"}, "2": {"text": "b"}}'),
        ("my.reports.v2.csv", "id,text\n1,a\n2,b\n"),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str, content: str) -> None:
    expected = [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]
    assert rows(put(tmp_path, name, content)) == expected
    zipped = put(tmp_path, name + ".gz", gzip.compress(content.encode()))
    assert rows(zipped) == expected


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    path = tmp_path / "r.parquet"
    parquet.write_table(arrow.table({"id": [7, 8], "text": ["a", None]}), path)
    assert rows(path) == [{"id": 7, "text": "a"}, {"id": 8, "text": None}]
    with pytest.raises(InputError, match="is damaged, cut off or no Parquet file"):
        read_table(put(tmp_path, "broken.parquet", b"PAR1 but no more"))


def test_json_of_splits_as_r2gen_writes_it(tmp_path: Path) -> None:
    path = put(tmp_path, "annotation.json", json.dumps({"train": [{"id": "a"}], "test": [{"id": "b"}]}))
    assert rows(path) == [{"id": "a", "split": "train"}, {"id": "b", "split": "test"}]


def test_json_from_id_to_text(tmp_path: Path) -> None:
    path = put(tmp_path, "ours.json", '{"s1": "Clear.", "s2": null}')
    assert rows(path) == [{"id": "s1", "report": "Clear."}, {"id": "s2", "report": None}]


def test_json_takes_the_nan_that_pandas_writes(tmp_path: Path) -> None:
    value = rows(put(tmp_path, "r.jsonl", '{"id": "1", "impression": NaN}'))[0]["impression"]
    assert value != value


def test_lines_are_counted_where_a_record_starts(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", 'id,text\n1,"a\nb\n\nc"\n2,d\n')
    table = read_table(path)
    assert [record.line for record in table.records] == [2, 6]
    assert table.location(table.records[1]) == "r.csv, line 6"
    assert table.records[0].values["text"] == "a\nb\n\nc"
    records = read_table(put(tmp_path, "r.json", '[{"id": "1"}]'))
    assert records.location(records.records[0]) == "r.json, record 1"


def test_records_stream(tmp_path: Path) -> None:
    path = put(tmp_path, "r.jsonl", '{"id": "1"}\nnot json\n')
    records = iter_records(path)
    assert next(records).values == {"id": "1"}
    with pytest.raises(InputError, match=r"r.jsonl, line 2: not valid JSON"):
        next(records)


def test_columns_are_those_of_all_records(tmp_path: Path) -> None:
    path = put(tmp_path, "r.jsonl", '{"id": "1", "a": 1}\n{"id": "2", "b": 2}\n')
    assert read_table(path).columns == ("id", "a", "b")


def test_a_nameless_column_gets_its_number(tmp_path: Path) -> None:
    assert rows(put(tmp_path, "r.csv", ",id,\n0,1,x\n")) == [{"column_1": "0", "id": "1", "column_3": "x"}]


def test_a_cell_of_five_megabytes(tmp_path: Path) -> None:
    usual = csv.field_size_limit()
    long = "No effusion. " * 400_000
    assert rows(put(tmp_path, "r.csv", f'id,text\n1,"{long}"\n'))[0]["text"] == long
    assert rows(put(tmp_path, "r.jsonl", json.dumps({"id": "1", "text": long})))[0]["text"] == long
    assert csv.field_size_limit() == usual


# --- encodings --------------------------------------------------------------------------------------------

TEXT = "id,text\n1,clear\n2,Röntgen\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_announce_themselves(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "r.csv", TEXT.encode(encoding))
    table = read_table(path)
    assert table.records[1].values["text"] == "Röntgen"
    assert table.source.encoding == encoding


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16-le"])
def test_other_encodings_must_be_named(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "r.csv", TEXT.encode(encoding))
    with pytest.raises(InputError, match=r"pass encoding='(cp1252|utf-16-le)'"):
        read_table(path)
    table = read_table(path, encoding=encoding)
    assert table.records[1].values["text"] == "Röntgen"
    assert table.source.notes == ()


def test_the_message_on_wrong_bytes_says_where(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", TEXT.encode("latin-1"))
    with pytest.raises(InputError, match=r"r.csv, line 3: byte 0xf6 is not utf-8. If 'ö'"):
        read_table(path)
    far = put(tmp_path, "far.jsonl", b'{"id": "1"}\n' * 20_000 + b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"far.jsonl, line 20001: byte 0xff"):
        read_table(far)


def test_utf8_read_as_latin1_on_request_is_noted(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", TEXT)
    assert read_table(path, encoding="latin-1").source.notes == (
        "r.csv was read as latin-1 as asked, but its bytes are valid UTF-8",
    )
    assert read_table(path, encoding="utf-8").source.notes == ()
    assert read_table(put(tmp_path, "a.csv", "id\n1\n"), encoding="latin-1").source.notes == ()


def test_a_wrong_utf16(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read as utf-16|is not utf-16"):
        read_table(put(tmp_path, "r.csv", TEXT), encoding="utf-16")


def test_an_unknown_encoding(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown encoding 'utf9'; try utf-8"):
        read_table(put(tmp_path, "r.csv", TEXT), encoding="utf9")


# --- files that are not what they seem --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", "", "r.csv is empty"),
        ("r.csv", " \n\n", "r.csv is empty"),
        ("r.jsonl.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("r.csv", "id,text\n", r"r.csv holds no rows \(a header at most\)"),
        ("r.json", "[]", "holds no rows"),
        ("r.json", "{}", "holds no rows"),
        ("r.xlsx", b"PK\x03\x04", r"r.xlsx is damaged, cut off or no Excel workbook"),
        ("r", "id\n1\n", "the name must end in one of"),
        ("r.parquet.gz", b"", "the name must end in one of"),
        ("r.csv", b"PK\x03\x04 rest", "an Excel workbook; name it .xlsx, or save it as CSV"),
        ("r.csv", b"PAR1 rest", "looks like Parquet; name it .parquet"),
        ("r.csv", b"id,text\n1,a\0b\n", "it holds NUL bytes"),
        ("r.csv", b"id,text\n" + b"1,a\n" * 2000 + b"2,\0\n", "r.csv, line 2002: NUL character"),
        ("r.csv", '{"id": 1}\n', "holds JSON, not CSV"),
        ("r.csv", "id,text,id\n1,a,2\n", "r.csv, line 1: the column name 'id' occurs more than once"),
        (
            "r.csv",
            "id,text\n1,a\n2,b, c\n",
            "r.csv, line 3: 3 cells where the header has 2; texts with commas",
        ),
        ("r.csv", "id,text,x\n1,a\n", "line 2: 2 cells where the header has 3"),
        ("r.csv", 'id,text\n1,a\n2,"open\n3,b\n', "r.csv, line 3: unexpected end of data; a quote inside"),
        ("r.csv", 'id,text\n1,"he said "no" twice"\n', "r.csv, line 2: ',' expected after"),
        ("r.csv.gz", gzip.compress(b"id,text\n1,a\n" * 99, mtime=0)[:-20], "gzip data is cut off or damaged"),
        ("r.jsonl", '{"id": "1"}\n["a"]\n', "r.jsonl, line 2: every line must be a JSON object, got a list"),
        ("r.jsonl", '{"id": "1", "id": "2"}\n', "r.jsonl, line 1: the key 'id' occurs more than once"),
        ("r.jsonl", '{"_header": {}}\n', "is a scores file"),
        ("r.json", '{"1": {"a": 1}, "1": {"a": 2}}', "r.json: the key '1' occurs more than once"),
        ("r.json", '{"id": "1"}\n{"id": "2"}\n', "one record per line. name it .jsonl"),
        ("r.json", '{"1": {"id": "2"}}', "the record under '1' says its id is '2'; they must agree"),
        ("r.json", '{"id": ["1"], "text": []}', "all columns must have the same length"),
        ("r.json", "[1]", "r.json, record 1: must be a JSON object, got a number"),
        ("r.json", '"text"', "the JSON must be a list of records.*got a text"),
        ("r.json", '{"a": 1, "b": {}}', "the JSON must be a list of records.*got an object"),
        ("r.json", "[" * 100_000, "nested too deeply"),
    ],
)
def test_odd_files_are_refused_with_a_reason(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_table(put(tmp_path, name, content))


def test_no_file_or_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "reports.csv", "id\n1\n")
    with pytest.raises(InputError, match=r"report.csv"):
        read_table(tmp_path / "report.csv")
    with pytest.raises(InputError, match=r"does not exist$"):
        read_table(tmp_path / "no" / "such.csv")
    with pytest.raises(InputError, match="is a folder; give the file to read"):
        read_table(tmp_path)


def test_columns_of_python_values() -> None:
    with pytest.raises(InputError, match="columns: column 'text'"):
        columns_to_records({"id": ["1"], "text": "a"})
    with pytest.raises(InputError, match=r"same length, got {'id': 1, 'text': 2}"):
        columns_to_records({"id": ["1"], "text": ["a", "b"]})
