"""Cases to a file and back: the same cases, row for row."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from radgauge.core.cases import Case
from radgauge.core.clean import decode
from radgauge.core.errors import InputError, UsageError
from radgauge.io.case_files import read_cases
from radgauge.io.case_files.write import write_cases
from radgauge.io.records import as_cases
from radgauge.io.tables.cells import NO_TEXT

texts = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.sampled_from(["", " ", "\n", "XXXX", "___", 'a "b", c', "a\r\nb\rc", "[1]", "ï»¿", "\u2028", "\ufeff"]),
).filter(lambda text: text.strip() not in NO_TEXT)
ids = texts.map(str.strip).filter(bool)
meta = st.dictionaries(st.sampled_from(["split", "patient", "report", "image_path", "reference_2"]), texts)
case_lists = st.lists(
    st.builds(
        Case,
        id=ids,
        candidate=texts,
        references=st.lists(texts, max_size=3).map(tuple),
        system=ids,
        images=st.lists(st.sampled_from([Path("a/0.png"), Path("b.jpg")]), max_size=2).map(tuple),
        meta=meta,
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda case: case.key,
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(
    cases=case_lists,
    name=st.sampled_from(["c.csv", "c.tsv", "c.jsonl", "c.csv.gz", "c.jsonl.gz", "c.parquet"]),
)
def test_cases_come_back(tmp_path: Path, cases: list[Case], name: str) -> None:
    path = tmp_path / name
    write_cases(path, cases)
    back = read_cases(path, section="whole", keep_columns="all").cases
    assert [(c.key, c.candidate, c.references, c.images) for c in back] == [
        (c.key, c.candidate, c.references, c.images) for c in cases
    ]
    for one, other in zip(cases, back, strict=True):
        kept = {name: text for name, text in other.meta.items() if text}
        renamed = {"image_path": "meta_image_path", "reference_2": "meta_reference_2"}
        assert kept == {renamed.get(name, name): text for name, text in one.meta.items() if text}
    assert sorted(item.name for item in tmp_path.iterdir() if item.name.startswith(".")) == []


cells = st.one_of(texts, st.none(), st.just(math.nan), st.sampled_from(sorted(NO_TEXT)))


@quick
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=20))
def test_every_row_becomes_a_case_whatever_its_texts(tmp_path: Path, rows: list[tuple[object, object]]) -> None:
    records = [{"id": i, "candidate": one, "reference": two} for i, (one, two) in enumerate(rows)]
    cases = as_cases(records)
    assert [case.id for case in cases] == [str(i) for i in range(len(rows))]
    write_cases(tmp_path / "c.csv", cases)
    for section in (None, "findings", "impression", "both", "whole"):
        found = read_cases(tmp_path / "c.csv", section=section)
        assert [case.id for case in found.cases] == [case.id for case in cases]
        assert found.provenance.cases == found.provenance.sources[0].rows == len(rows)


@quick
@given(
    studies=st.lists(ids, min_size=1, max_size=10, unique=True),
    reported=st.sets(st.integers(0, 9)),
    extra=st.lists(ids, max_size=3, unique=True),
)
def test_a_join_keeps_every_study_and_every_candidate(
    tmp_path: Path, studies: list[str], reported: set[int], extra: list[str]
) -> None:
    there = [study for i, study in enumerate(studies) if i in reported]
    more = [study for study in extra if study not in studies]
    if not there and not more:
        return
    write_cases(tmp_path / "r.jsonl", [Case(study, "", (f"ref {study}",)) for study in studies])
    write_cases(tmp_path / "a.jsonl", [Case(study, f"cand {study}", ("",)) for study in reversed(there + more)])
    columns = {"system": "nowhere"}
    with pytest.raises(InputError, match="no file has the column nowhere"):
        read_cases(
            references=tmp_path / "r.jsonl", candidates=[tmp_path / "a.jsonl"], columns=columns, missing="nan"
        )
    found = read_cases(references=tmp_path / "r.jsonl", candidates=[tmp_path / "a.jsonl"], missing="nan").cases
    assert [case.id for case in found] == studies + list(reversed(more))
    for case in found:
        assert case.candidate == (decode(f"cand {case.id}") if case.id in there + more else "")
        assert case.references == ((decode(f"ref {case.id}"),) if case.id in studies else ())


def test_the_simplest_file(tmp_path: Path) -> None:
    write_cases(tmp_path / "c.csv", [Case("1", "clear, dry", ("Clear.",), meta={"split": "test"})])
    assert (
        tmp_path / "c.csv"
    ).read_text() == 'id,system,reference,candidate,split\n1,system,Clear.,"clear, dry",test\n'
    write_cases(tmp_path / "none.csv", [])
    assert (tmp_path / "none.csv").read_text() == "id,system,reference,candidate\n"


def test_the_same_cases_give_the_same_bytes(tmp_path: Path) -> None:
    cases = [Case("1", "x", ("y",))]
    for name in ("a.csv.gz", "b.csv.gz"):
        write_cases(tmp_path / name, cases)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="id '1' holds a NUL character"):
        write_cases(tmp_path / "c.csv", [Case("1", "x", meta={"note": "\0"})])
    assert list(tmp_path.iterdir()) == []
    write_cases(tmp_path / "c.jsonl", [Case("1", "x", meta={"note": "\0"})])
    assert read_cases(tmp_path / "c.jsonl", keep_columns="note").cases[0].meta["note"] == "\0"
    with pytest.raises(UsageError, match=r"cases are written as .csv, .tsv, .jsonl or .parquet"):
        write_cases(tmp_path / "c.json", [])
    with pytest.raises(InputError, match="the name must end in one of"):
        write_cases(tmp_path / "c.doc", [])
    with pytest.raises(UsageError, match="a text file has no place for ids"):
        write_cases(tmp_path / "c.txt", [])
    with pytest.raises(InputError, match="cases repeat an id"):
        write_cases(tmp_path / "c.csv", [Case("1", "a"), Case("1", "b")])
    with pytest.raises(InputError, match="meta keys must have different names, got a, a "):
        write_cases(tmp_path / "c.csv", [Case("1", "a", meta={"a": "", "a ": ""})])
