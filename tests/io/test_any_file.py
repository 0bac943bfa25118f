"""The files that people have: no ids, other names, conversations, plain text, workbooks; all problems at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.io.foreign_scores import join_scores, parse_scores


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_rows_with_both_texts_need_no_id(tmp_path: Path) -> None:
    file = rg.read_cases(put(tmp_path, "r.csv", "reference,candidate\nClear.,Clear.\nEdema.,Clear.\n"))
    assert [case.id for case in file.cases] == ["1", "2"]
    assert file.provenance.warnings == ("r.csv has no id column: the ids are row numbers",)
    assert rg.score([{"reference": "a b", "candidate": "a b"}], "rouge").keys_of_cases == (("1", "system"),)


def test_rows_of_several_systems_need_the_id_of_their_study(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "system,reference,candidate\na,Clear.,Clear.\nb,Clear.,Edema.\n")
    with pytest.raises(rg.InputError, match=r"no id column.*the column 'system' names systems"):
        rg.read_cases(path)


@pytest.mark.parametrize(
    "record",
    [
        {"label": "Clear.", "completion": "Edema."},
        {"label": "Clear.", "response": "Edema."},
        {"target": "Clear.", "output": "Edema."},
        {
            "reference": "Clear.",
            "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Edema."}],
        },
        {
            "reference": "Clear.",
            "messages": [{"role": "assistant", "content": [{"type": "text", "text": "Edema."}]}],
        },
        {"doc_id": 0, "doc": {"x": 1}, "target": "Clear.", "resps": [["Edema. "]], "filtered_resps": ["Edema."]},
    ],
)
def test_names_and_shapes_of_the_field(tmp_path: Path, record: dict[str, object]) -> None:
    case = rg.read_cases(put(tmp_path, "r.jsonl", lines(record))).cases[0]
    assert (case.candidate, case.references) == ("Edema.", ("Clear.",))


def test_a_hugging_face_dataset_is_scored() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"reference": ["Clear lungs."], "prediction": ["Clear lungs."]})
    assert rg.score(data, "rouge")["rouge"].headline.tolist() == [1.0]


def test_all_problems_of_a_file_come_in_one_message(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "study_id,uid,hyp,pred,ref,gt\n1,1,a,b,c,d\n")
    with pytest.raises(rg.InputError) as error:
        rg.read_cases(path)
    said = str(error.value)
    assert all(f"2 columns could be the {role}" in said for role in ("id", "candidate", "reference"))


def test_the_reference_is_never_offered_as_a_system(tmp_path: Path) -> None:
    text = "the heart is enlarged and there is a small effusion"
    path = put(tmp_path, "r.csv", f"id,Radiologist text,Model A\n1,{text},{text}\n")
    with pytest.raises(rg.InputError) as error:
        rg.read_cases(path)
    said = str(error.value)
    assert "no reference column either: of the texts 'Radiologist text', 'Model A' name the radiologist's" in said
    assert "candidate_columns=['Radiologist text'" not in said


def test_plain_text_is_one_report_per_line(tmp_path: Path) -> None:
    references = put(tmp_path, "truth.txt", "Clear.\nEdema.\n\n")
    candidates = put(tmp_path, "model.txt", "Clear.\n\nNo effusion.\n")
    file = rg.read_cases(references=references, candidates=[candidates])
    assert [(case.id, case.candidate, case.references) for case in file.cases] == [
        ("1", "Clear.", ("Clear.",)),
        ("2", "", ("Edema.",)),
        ("3", "No effusion.", ("",)),
    ]
    assert file.provenance.systems == ("model",)
    with pytest.raises(rg.InputError, match=r"short\.txt, first: '3'"):
        rg.read_cases(references=references, candidates=[put(tmp_path, "short.txt", "a\nb\n")])


def test_workbooks_come_and_go(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    cases = [rg.Case("007", "=1+2", ("Clear.",), meta={"age": "61"}), rg.Case("8", "Edema, mild.", ("Edema.",))]
    rg.write_cases(tmp_path / "cases.xlsx", cases)
    back = rg.read_cases(tmp_path / "cases.xlsx").cases
    assert [(case.id, case.candidate, case.references) for case in back] == [
        ("007", "=1+2", ("Clear.",)),
        ("8", "Edema, mild.", ("Edema.",)),
    ]
    assert back[0].meta["age"] == "61"


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_scores_as_a_table_for_spreadsheets(tmp_path: Path, suffix: str) -> None:
    results = rg.score(references=["Clear lungs.", "Edema."], candidates=["Clear lungs.", ""], metrics="rouge")
    path = tmp_path / f"scores{suffix}"
    rg.write_scores(path, results)
    if suffix == ".csv":
        assert path.read_text() == "id,system,rouge_l,rouge_1,rouge_2\n1,system,1.0,1.0,1.0\n2,system,,,\n"
    else:
        openpyxl = pytest.importorskip("openpyxl")
        rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
        assert rows[1:] == [("1", "system", 1, 1, 1), ("2", "system", None, None, None)]
    with pytest.raises(rg.InputError, match="is a table of values, not a scores file"):
        rg.read_scores(path)


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    results = rg.score(references=["a"], candidates=["a"], metrics="rouge")
    with pytest.raises(rg.InputError, match=r"there is no folder .*slip; make it first; the scores are kept in"):
        rg.write_scores(tmp_path / "slip" / "scores.jsonl", results)
    assert not (tmp_path / "slip").exists()


def test_metrics_in_one_text_with_commas() -> None:
    results = rg.score(references=["a b"], candidates=["a b"], metrics="rouge,bleu:smoothing=floor,lowercase=no")
    assert list(results) == ["rouge", "bleu"]
    assert "lowercase:no" in results["bleu"].signature


def test_an_unknown_profile_is_not_a_folder() -> None:
    with pytest.raises(rg.UsageError, match="'publishd'; did you mean 'published'"):
        rg.score(references=["a"], candidates=["a"], models="publishd")


RECORDS = [
    {"id": study, "system": system, "reference": "a b c", "candidate": text}
    for study in ("1", "2")
    for system, text in (("x", "a b c"), ("y", "a"))
]


def test_scores_of_others_join_as_a_judge(tmp_path: Path) -> None:
    results = rg.score(RECORDS, "rouge")
    path = put(tmp_path, "green.csv", "id,system,green,note\n1,x,0.9,fine\n1,y,0.1,bad\n2,x,,none\n")
    joined = join_scores(results, path, higher_is_better=False)
    assert list(joined) == ["rouge", "green"]
    assert joined["green"].headline[:2].tolist() == [0.9, 0.1]
    assert joined["green"].oriented("green")[0] == -0.9
    assert joined["green"].reasons == {("2", "x"): "no value in green.csv", ("2", "y"): "no row in green.csv"}
    lines = rg.compare(joined, permutations=20, resamples=20)
    assert [line.judge for line in lines] == ["rouge", "green"]
    assert lines[1].result.higher_is_better is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,green\nx,1\n", "no id column"),
        ("id,green\n1,1\n", "no system column, and the scores are of 2 systems"),
        ("id,system,a,b\n1,x,1,2\n", "2 columns hold numbers"),
        ("id,system,a\n9,x,1\n", "share no"),
        ("id,system,a\n1,x,1\n1,x,2\n", "occurs more than once"),
    ],
)
def test_scores_of_others_that_cannot_be_joined(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(rg.InputError, match=message):
        join_scores(rg.score(RECORDS, "rouge"), put(tmp_path, "g.csv", text), higher_is_better=True)


def test_scores_of_others_must_say_which_way_is_good() -> None:
    assert parse_scores("a.csv:lower:total") == (Path("a.csv"), False, "total")
    with pytest.raises(rg.UsageError, match="must say which way is good"):
        parse_scores("green.csv")
