"""read_cases: one file, wide files, joins; every odd input has a defined outcome and a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from radgauge.case_files import CaseFile, read_cases
from radgauge.errors import InputError, UsageError


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def lines(folder: Path, name: str, *records: object) -> Path:
    return put(folder, name, "".join(json.dumps(record) + "\n" for record in records))


def pairs(found: CaseFile) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(case.id, case.system, case.candidate, case.references) for case in found.cases]


# --- one file ---------------------------------------------------------------------------------------------


def test_a_plain_csv(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,reference,candidate,split\n007,Clear.,clear lungs,test\nb,Normal.,x,val\n")
    found = read_cases(path)
    assert pairs(found) == [("007", "system", "clear lungs", ("Clear.",)), ("b", "system", "x", ("Normal.",))]
    assert found.cases[0].meta == {"split": "test"}
    source = found.provenance.sources[0]
    assert (source.name, source.format, source.encoding, source.rows) == ("r.csv", "csv", "utf-8", 2)
    assert found.provenance.columns == {"r.csv": {"id": "id", "reference": "reference", "candidate": "candidate"}}
    assert found.provenance.warnings == ()
    assert json.loads(json.dumps(found.provenance.as_dict()))["cases"] == 2


def test_a_long_file_has_several_systems(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,model,gt,hyp\n1,a,R,x\n1,b,R,y\n2,a,S,z\n")
    found = read_cases(path)
    assert [case.key for case in found.cases] == [("1", "a"), ("1", "b"), ("2", "a")]
    assert found.provenance.systems == ("a", "b")
    assert found.provenance.warnings == ("system 'b' has 1 of 2 studies; first without: '2'",)


def test_a_wide_file_has_one_column_per_system(tmp_path: Path) -> None:
    text = (
        "id,reference,reference_cleaned,ours,theirs\n"
        "1,The lungs are clear.,the lungs are clear,lungs are clear now,there is no effusion\n"
    )
    path = put(tmp_path, "wide.csv", text)
    found = read_cases(path, candidate_columns=["theirs", "ours"])
    assert pairs(found) == [
        ("1", "theirs", "there is no effusion", ("The lungs are clear.",)),
        ("1", "ours", "lungs are clear now", ("The lungs are clear.",)),
    ]
    with pytest.raises(InputError, match=r"no candidate column.*pass --candidate-columns ours,theirs$"):
        read_cases(path)
    with pytest.raises(InputError, match="no column 'our'; did you mean 'ours'"):
        read_cases(path, candidate_columns=["our"])
    with pytest.raises(UsageError, match="named once each"):
        read_cases(path, candidate_columns=["ours", "ours"])


def test_the_iu_systems_are_read_wide(shared_data: Path) -> None:
    path = shared_data / "iu_xray_systems" / "test590_systems.csv"
    systems = ["cvt2distilgpt2", "moerad", "hi_ia", "aamn"]
    with pytest.raises(InputError, match=r"--candidate-columns cvt2distilgpt2,moerad,hi_ia,aamn$"):
        read_cases(path)
    found = read_cases(path, candidate_columns=systems)
    assert len(found.cases) == 590 * 4
    assert found.provenance.studies == 590
    assert found.provenance.systems == tuple(systems)


# --- joins ------------------------------------------------------------------------------------------------


def test_files_are_joined_on_id_in_the_order_of_the_references(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "study_id,report,patient\n2,Two.,p\n1,One.,q\n")
    a = put(tmp_path, "a.csv", "study_id,report\n1,one\n2,two\n")
    b = lines(tmp_path, "b.jsonl", {"id": 2, "prediction": "zwei"}, {"id": 1, "prediction": "eins"})
    found = read_cases(references=references, candidates=[a, b])
    assert pairs(found) == [
        ("2", "a", "two", ("Two.",)),
        ("1", "a", "one", ("One.",)),
        ("2", "b", "zwei", ("Two.",)),
        ("1", "b", "eins", ("One.",)),
    ]
    assert found.cases[0].meta == {"patient": "p"}
    assert read_cases(a, references=references).cases == found.cases[:2]
    named = read_cases(references=references, candidates={"ours": a})
    assert named.provenance.systems == ("ours",)


def test_a_study_without_candidate(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "id,reference\n1,One.\n2,Two.\n")
    candidates = put(tmp_path, "a.csv", "id,candidate\n1,one\n3,three\n")
    with pytest.raises(InputError) as error:
        read_cases(references=references, candidates=[candidates])
    assert str(error.value) == (
        "system 'a': 1 of 2 studies have no candidate in a.csv, first: '2' (r.csv, line 3); "
        "1 of 2 candidates have no study in r.csv, first: '3' (a.csv, line 3). "
        "Complete the files, or keep such studies as cases that cannot be judged: --missing nan"
    )
    found = read_cases(references=references, candidates=[candidates], missing="nan")
    assert pairs(found) == [("1", "a", "one", ("One.",)), ("2", "a", "", ("Two.",)), ("3", "a", "three", ())]
    assert [case.missing for case in found.cases] == ["", "no candidate", ""]


@pytest.mark.parametrize(("one", "two"), [("007", "7"), ("12", "12.0"), ("CXR1", "cxr1"), ("a b", "ab")])
def test_ids_that_differ_in_writing_only_are_named(tmp_path: Path, one: str, two: str) -> None:
    references = put(tmp_path, "r.csv", f"id,reference\n{one},One.\n")
    candidates = put(tmp_path, "a.csv", f"id,candidate\n{two},one\n")
    with pytest.raises(InputError, match=f"ids '{one}' and '{two}' differ only in their writing"):
        read_cases(references=references, candidates=[candidates])


def test_blanks_around_ids_do_not_part_studies(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "id,reference\n 1 ,One.\n")
    candidates = put(tmp_path, "a.csv", "id,candidate\n1\t,one\n")
    assert pairs(read_cases(references=references, candidates=[candidates])) == [("1", "a", "one", ("One.",))]


def test_arguments_that_do_not_fit(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,reference,candidate\n1,One.,one\n")
    other = tmp_path / "more"
    other.mkdir()
    again = put(other, "r.csv", "id,candidate\n1,one\n")
    with pytest.raises(UsageError, match="nothing to read"):
        read_cases()
    with pytest.raises(UsageError, match="not both"):
        read_cases(path, candidates=[path])
    with pytest.raises(UsageError, match="references need candidates"):
        read_cases(references=path)
    with pytest.raises(UsageError, match="section must be one of findings, impression, both, whole, got 'x'"):
        read_cases(path, section="x")
    with pytest.raises(UsageError, match="missing must be 'error' or 'nan', got 'drop'"):
        read_cases(path, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="both be the system 'r'"):
        read_cases(references=path, candidates=[path, again])
    with pytest.raises(UsageError, match="must be a list of files"):
        read_cases(references=path, candidates=str(path))
