"""read_cases: one file, wide files, joins; every odd input has a defined outcome and a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from radgauge.core.errors import InputError, UsageError
from radgauge.io.case_files import CaseFile, read_cases


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
    assert pairs(found) == [("007", "r", "clear lungs", ("Clear.",)), ("b", "r", "x", ("Normal.",))]
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
    with pytest.raises(InputError, match=r"candidate_columns=\['ours', 'theirs'\]$"):
        read_cases(path)
    with pytest.raises(InputError, match=r"no column 'our' \(did you mean 'ours'\?\)"):
        read_cases(path, candidate_columns=["our"])
    with pytest.raises(UsageError, match="named once each"):
        read_cases(path, candidate_columns=["ours", "ours"])


def test_the_iu_systems_are_read_wide(shared_data: Path) -> None:
    path = shared_data / "iu_xray_systems" / "test590_systems.csv"
    systems = ["cvt2distilgpt2", "moerad", "hi_ia", "aamn"]
    with pytest.raises(InputError, match=r"'moerad', 'hi_ia', 'aamn'\]$"):
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
        "Complete the files, keep such studies as cases that cannot be judged (missing='nan'), "
        "or leave out studies that no system has reported (missing='subset')"
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
    with pytest.raises(UsageError, match=r"section must be one of .*got 'x'"):
        read_cases(path, section="x")
    with pytest.raises(UsageError, match=r"missing must be one of .*got 'drop'"):
        read_cases(path, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="both be the system 'r'"):
        read_cases(references=path, candidates=[path, again])
    with pytest.raises(UsageError, match="must be a list of files"):
        read_cases(references=path, candidates=str(path))


def test_subset_leaves_out_what_no_system_reported(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "id,reference\n1,One.\n2,Two.\n3,Three.\n")
    a = put(tmp_path, "a.csv", "id,candidate\n2,x\n")
    b = put(tmp_path, "b.csv", "id,candidate\n2,x\n3,y\n")
    found = read_cases(references=references, candidates=[a], missing="subset")
    assert pairs(found) == [("2", "a", "x", ("Two.",))]
    assert found.provenance.warnings == ("2 of 3 studies were left out: no system has reported them",)
    with pytest.raises(InputError, match=r"a.csv, first: '3'"):
        read_cases(references=references, candidates=[a, b], missing="subset")


def test_a_split_of_the_references(tmp_path: Path) -> None:
    annotation = {"train": [{"id": "1", "report": "One."}], "test": [{"id": "2", "report": "Two."}]}
    references = put(tmp_path, "annotation.json", json.dumps(annotation))
    candidates = put(tmp_path, "a.csv", "id,report\n2,two\n")
    with pytest.raises(InputError, match="All of them are of split train: pass split='test'"):
        read_cases(references=references, candidates=[candidates])
    found = read_cases(references=references, candidates=[candidates], split="test")
    assert pairs(found) == [("2", "a", "two", ("Two.",))]
    assert found.provenance.split == "test"
    with pytest.raises(InputError, match="no studies of split 'dev'; it has test, train"):
        read_cases(references=references, candidates=[candidates], split="dev")
    with pytest.raises(InputError, match=r"a.csv has no column 'split' to choose 'test' from"):
        read_cases(references=candidates, candidates=[candidates], split="test")


def test_columns_named_by_the_user_in_a_join(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "uid,truth,findings,impression\n1,One.,f,i\n")
    candidates = put(tmp_path, "a.csv", "id,written,other\n1,one,x\n")
    columns = {"reference": "truth", "candidate": "written"}
    found = read_cases(references=references, candidates=[candidates], columns=columns)
    assert pairs(found) == [("1", "a", "one", ("One.",))]
    with pytest.raises(InputError, match=r"'system'; columns: r.csv"):
        read_cases(references=references, candidates=[candidates], columns={**columns, "system": "nothing"})


def test_a_long_or_wide_file_of_candidates(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "id,reference\n1,One.\n")
    long = put(tmp_path, "long.csv", "id,system,candidate\n1,x,ex\n1,y,why\n")
    wide = put(tmp_path, "wide.csv", "id,reference,x,y\n1,other,ex,why\n")
    found = read_cases(references=references, candidates=[long])
    assert pairs(found) == [("1", "x", "ex", ("One.",)), ("1", "y", "why", ("One.",))]
    again = read_cases(references=references, candidates=[wide], candidate_columns=["x", "y"])
    assert again.cases == found.cases
    assert again.provenance.warnings == ("wide.csv: its own column 'reference' is not used",)


def test_two_files_of_one_system_name_are_refused_by_their_rows(tmp_path: Path) -> None:
    references = put(tmp_path, "r.csv", "id,reference\n1,One.\n")
    a = put(tmp_path, "a.csv", "id,system,candidate\n1,x,ex\n")
    b = put(tmp_path, "b.csv", "id,system,candidate\n1,x,why\n")
    with pytest.raises(InputError, match=r"'1' of system 'x' \(a.csv, line 2 and b.csv"):
        read_cases(references=references, candidates=[a, b])


# --- odd rows ---------------------------------------------------------------------------------------------


def test_repeated_ids_name_both_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", 'id,reference,candidate\n1,a,"b\n"\n2,a,b\n1,a,c\n')
    with pytest.raises(InputError, match=r"'1' .*r.csv, line 2 and r.csv, line 5"):
        read_cases(path)
    references = put(tmp_path, "refs.csv", "id,reference\n1,a\n1,b\n")
    candidates = put(tmp_path, "a.csv", "id,candidate\n1,a\n")
    with pytest.raises(InputError, match="with different texts"):
        read_cases(references=references, candidates=[candidates])


def test_empty_texts_are_kept_and_noted(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,reference,candidate\n1,R,\n2, ,x\n3,NaN,nan\n4,R,x\n")
    found = read_cases(path)
    assert pairs(found) == [
        ("1", "r", "", ("R",)),
        ("2", "r", "x", (" ",)),
        ("3", "r", "", ("",)),
        ("4", "r", "x", ("R",)),
    ]
    assert found.provenance.warnings == (
        "2 of 4 candidates are empty; first: id '1' (r.csv, line 2)",
        "2 of 4 references are empty; first: id '2' (r.csv, line 3)",
    )


def test_a_row_without_id(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,reference,candidate\n1,R,x\n,R,x\n")
    with pytest.raises(InputError, match=r"r.csv, line 3"):
        read_cases(path)


def test_values_that_are_no_text(tmp_path: Path) -> None:
    path = lines(tmp_path, "r.jsonl", {"id": 1, "reference": "R", "candidate": "x"}, {"id": 2, "candidate": 3})
    with pytest.raises(InputError, match=r"r.jsonl, line 2 \(id '2'\)"):
        read_cases(path)
    path = lines(tmp_path, "r.jsonl", {"id": 1, "candidate": "x", "reference": None, "boxes": [[1, 2]]})
    assert read_cases(path, keep_columns="boxes").cases[0].meta == {"boxes": "[[1, 2]]"}


def test_several_references(tmp_path: Path) -> None:
    listed = lines(tmp_path, "r.jsonl", {"id": 1, "candidate": "x", "references": ["a", "b"]})
    assert read_cases(listed).cases[0].references == ("a", "b")
    numbered = put(tmp_path, "r.csv", "id,candidate,reference_1,reference_2\n1,x,a,b\n")
    assert read_cases(numbered).cases[0].references == ("a", "b")
    cell = put(tmp_path, "s.csv", 'id,candidate,references\n1,x,"[""a"", ""b""]"\n2,x,[XXXX] clear\n')
    assert [case.references for case in read_cases(cell).cases] == [("a", "b"), ("[XXXX] clear",)]


def test_no_references_at_all_is_noted(tmp_path: Path) -> None:
    found = read_cases(put(tmp_path, "r.csv", "id,candidate\n1,x\n"))
    assert found.cases[0].references == ()
    assert found.provenance.warnings == (
        "r.csv has no reference column; its columns: id, candidate; name it with columns={'reference': NAME}",
    )


def test_masks_line_breaks_and_long_texts_pass_untouched(tmp_path: Path) -> None:
    text = "XXXX\n\n___ 'x', \"y\" " + "No effusion. " * 40_000
    path = lines(tmp_path, "r.jsonl", {"id": 1, "candidate": text, "reference": text})
    assert read_cases(path).cases[0].candidate == text
    assert read_cases(path).cases[0].references == (text,)


# --- sections ---------------------------------------------------------------------------------------------

REPORTS = (
    "id,reference,candidate\n"
    "1,FINDINGS: Clear. IMPRESSION: Normal.,clear lungs\n"
    "2,IMPRESSION: Normal.,Findings: a Impression: b\n"
    "3,Lungs clear.,x\n"
)


def test_headings_without_a_choice_are_noted(tmp_path: Path) -> None:
    found = read_cases(put(tmp_path, "r.csv", REPORTS))
    assert found.cases[0].references == ("FINDINGS: Clear. IMPRESSION: Normal.",)
    assert found.provenance.warnings == (
        "2 of 3 references contain section headings (first: id '1') and are used whole; "
        "choose with section='findings', 'impression', 'both' or 'whole'",
        "1 of 3 candidates contain section headings (first: id '2') and are used whole; "
        "choose with section='findings', 'impression', 'both' or 'whole'",
    )
    assert read_cases(put(tmp_path, "r.csv", REPORTS), section="whole").provenance.warnings == ()


def test_a_section_is_taken_from_every_text(tmp_path: Path) -> None:
    found = read_cases(put(tmp_path, "r.csv", REPORTS), section="findings")
    assert pairs(found) == [
        ("1", "r", "clear lungs", ("Clear.",)),
        ("2", "r", "a", ("",)),
        ("3", "r", "x", ("Lungs clear.",)),
    ]
    assert found.provenance.section == "findings"
    assert found.provenance.warnings == (
        "r.csv: 1 of 3 references have headings but no findings, and count as empty; "
        "first: id '2' (r.csv, line 3)",
        "r.csv: 1 of 3 references have no headings and are used whole; first: id '3' (r.csv, line 4)",
        "r.csv: 2 of 3 candidates have no headings and are used whole; first: id '1' (r.csv, line 2)",
        "1 of 3 references are empty; first: id '2' (r.csv, line 3)",
    )


def test_rexrank_results_use_the_section_columns(tmp_path: Path) -> None:
    study = {
        "report": "Findings: Clear. Impression: Normal.",
        "section_findings": "Clear.",
        "section_impression": float("nan"),
        "model_prediction": "Findings:Lungs clear.Impression:No disease.",
        "image_path": ["a/0.png", "a/1.png"],
        "key_image_path": "a/0.png",
    }
    path = put(tmp_path, "model.json", json.dumps({"s1": study}))
    findings = read_cases(path, section="findings").cases[0]
    assert (findings.candidate, findings.references) == ("Lungs clear.", ("Clear.",))
    assert findings.images == (Path("a/0.png"), Path("a/1.png"))
    impression = read_cases(path, section="impression").cases[0]
    assert (impression.candidate, impression.references) == ("No disease.", ("",))
    both = read_cases(path, section="both").cases[0]
    assert (both.candidate, both.references) == ("Lungs clear.\nNo disease.", ("Clear.",))
    assert read_cases(path).cases[0].references == ("Findings: Clear. Impression: Normal.",)


# --- images, names, permissions ---------------------------------------------------------------------------


def test_images_are_found_in_their_folder(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,candidate,reference,image_path\n1,a,b,1.png\n2,a,b,2.png\n")
    folder = tmp_path / "images"
    folder.mkdir()
    put(folder, "1.png", "")
    found = read_cases(path, images=folder)
    assert found.cases[0].images == (folder / "1.png",)
    assert found.provenance.warnings == ("1 of 2 images are not in images; first: 2.png (id '2')",)
    with pytest.raises(InputError, match="is not a folder of images"):
        read_cases(path, images=path)


def test_images_with_another_ending_are_found(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,candidate,reference,image\n1,a,b,s1/0.png\n2,a,b,s2/0.png\n")
    folder = tmp_path / "images"
    for name in ("s1/0.jpg", "s2/0.jpg", "s2/0.dcm"):  # of the second study either could be meant
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        put(folder, name, "")
    found = read_cases(path, images=folder)
    assert [case.images for case in found.cases] == [(folder / "s1/0.jpg",), (folder / "s2/0.png",)]
    assert found.provenance.warnings == (
        "1 of 2 images are not in images; first: 0.png (id '2')",
        "1 of 2 images were found with another ending; first: 0.png (id '1')",
    )


def test_images_elsewhere_are_taken_and_said(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    (home / "below").mkdir(parents=True)
    away.mkdir()
    for place in (home / "below" / "1.png", away / "2.png"):
        place.touch()
    rows = f"1,a,b,below/1.png\n2,a,b,{away}/2.png\n3,a,b,../away/2.png\n"
    path = put(home, "r.csv", f"id,candidate,reference,image\n{rows}")
    found = read_cases(path)
    assert found.cases[0].images == (home / "below" / "1.png",)
    assert [case.images[0].resolve() for case in found.cases[1:]] == [away / "2.png"] * 2
    assert found.provenance.warnings == ("the table names 2 images outside its folder; first: 2.png (id '2')",)


def test_images_may_lie_beside_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "r.csv", "id,candidate,reference,Path_frontal\n1,a,b,1.png\n2,a,b,2.png\n")
    put(tmp_path, "1.png", "")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    put(elsewhere, "2.png", "")
    monkeypatch.chdir(elsewhere)
    first, second = read_cases(path).cases
    assert first.images == (tmp_path.resolve() / "1.png",)
    assert second.images == (Path("2.png"),)


def test_files_of_the_same_name_are_both_recorded(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "id,reference,candidate\n1,a,b\n")
    found = read_cases(path, references=path)
    assert set(found.provenance.columns) == {"r.csv", "r.csv (2)"}
    assert len(found.provenance.sources) == 2


def test_a_file_that_must_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "r.csv", "id,candidate\n1,a\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"r.csv cannot be read: Permission denied"):
        read_cases(path)


@pytest.mark.parametrize("name", ["../secret.png", "a/../../secret.png", "/etc/secret.png"])
def test_images_outside_the_folder_only_when_the_user_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "secret.png").write_bytes(b"")
    table = tmp_path / "r.csv"
    table.write_text(f"id,reference,candidate,image\n1,clear,clear,{name}\n")
    with pytest.raises(InputError, match=r"secret\.png of id '1'"):
        read_cases(table, images=tmp_path / "files")
    found = read_cases(table, images=tmp_path / "files", images_outside=True).cases[0].images
    assert found == (tmp_path / "files" / name,)


def test_a_name_with_nul_is_an_image_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    table = tmp_path / "r.jsonl"
    table.write_text('{"id": "1", "reference": "clear", "candidate": "clear", "image": "a\\u0000.png"}\n')
    found = read_cases(table, images=tmp_path / "files")
    assert any("1 of 1 images are not in files" in note for note in found.provenance.warnings)


def test_the_folder_of_images_has_a_name_even_as_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "r.csv", "id,candidate,reference,image\n1,a,b,none.png\n")
    monkeypatch.chdir(tmp_path)
    found = read_cases(path, images=Path())
    assert found.provenance.warnings == (f"1 of 1 images are not in {tmp_path.name}; first: none.png (id '1')",)
