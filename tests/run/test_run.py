"""Runs in parts: the numbers of one run in memory, whatever the form of the input; nothing mixed, nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_metrics import Ranked
from scale_runs import content, records, write

from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Metric
from radgauge.io.case_files import InputSpec, read_cases
from radgauge.io.score_folder import read_manifest
from radgauge.io.scores_file import read_scores
from radgauge.run.engines import Engine
from radgauge.run.run import score_to_folder
from radgauge.run.score import score


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("form", ["r.csv", "r.jsonl", "r.parquet", "folder"])
def test_the_numbers_are_those_of_one_run(tmp_path: Path, form: str, kind: str) -> None:
    rows = records()
    path = tmp_path / form
    if form == "folder":
        path.mkdir()
        for at in range(3):
            write(path / f"{at}.parquet", rows[20 * at : 20 * at + 20])
    else:
        write(path, rows)
    ran = score_to_folder(path, tmp_path / "scores", metrics=["bleu", "rouge"], parts=7, kind=kind)
    expected = score(read_cases(write(tmp_path / "all.csv", rows)), ["bleu", "rouge"])
    found = read_scores(tmp_path / "scores")
    assert found.keys_of_cases == expected.keys_of_cases
    for name, scores in expected.judges.items():
        np.testing.assert_array_equal(found[name].rows, scores.rows)
        np.testing.assert_array_equal(found[name].values, scores.values)
        assert dict(found[name].reasons) == dict(scores.reasons)
    assert found.meta["age"] == expected.meta["age"]
    assert (ran.manifest.complete, ran.manifest.cases, ran.scored) == (True, 60, len(ran.manifest.parts))
    assert (ran.manifest.input["studies"], ran.manifest.input["systems"]) == (30, ("a", "b"))
    assert any("1 of 60 candidates are empty; first: id 's3'" in note for note in ran.manifest.input["warnings"])
    assert not (tmp_path / "scores" / ".work").exists()


def test_references_meet_their_candidates(tmp_path: Path) -> None:
    rows = records()
    truth = [{"id": row["id"], "reference": row["reference"]} for row in rows[::2]]
    files = {
        name: write(
            tmp_path / f"{name}.csv",
            [{"id": row["id"], "candidate": row["candidate"]} for row in rows if row["system"] == name][::-1],
        )
        for name in "ab"
    }
    references = write(tmp_path / "truth.csv", truth)
    spec = InputSpec(references=references, candidates=files)
    score_to_folder(spec, tmp_path / "scores", metrics="bleu", parts=5, kind="jsonl")
    expected = score(read_cases(references=references, candidates=files), "bleu")
    found = read_scores(tmp_path / "scores")
    assert found.keys_of_cases == expected.keys_of_cases
    np.testing.assert_array_equal(found["bleu"].rows, expected["bleu"].rows)


def test_a_study_without_candidate_is_found_before_anything_is_scored(tmp_path: Path) -> None:
    rows = records()
    references = write(tmp_path / "truth.csv", [{"id": r["id"], "reference": r["reference"]} for r in rows[::2]])
    short = write(tmp_path / "a.csv", [{"id": r["id"], "candidate": "x"} for r in rows[:-2:2]])
    spec = InputSpec(references=references, candidates={"a": short})
    with pytest.raises(InputError, match=r"1 of \d+ studies have no candidate in a\.csv, first: 's29'"):
        score_to_folder(spec, tmp_path / "s", metrics="bleu", parts=4)
    assert not list((tmp_path / "s").glob("part-*"))
    score_to_folder(replace(spec, missing="nan"), tmp_path / "t", metrics="bleu", parts=4)
    found = read_scores(tmp_path / "t")
    assert found["bleu"].reasons == {("s29", "a"): "no candidate"}
    assert len(found.keys_of_cases) == 30


def test_the_same_call_goes_on_and_nothing_is_mixed(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", records())
    folder = tmp_path / "scores"
    settings: dict[str, Any] = {"parts": 6, "kind": "jsonl"}
    whole = score_to_folder(path, folder, metrics="bleu", **settings)
    before = content(folder)
    again = score_to_folder(path, folder, metrics="bleu", **settings)
    assert (again.scored, again.manifest) == (0, read_manifest(folder))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, "complete": False}), encoding="utf-8")
    with pytest.raises(InputError, match="is not finished: its run was stopped"):
        read_scores(folder)
    first = folder / whole.manifest.parts[1].file
    first.unlink()
    (folder / whole.manifest.parts[2].file).write_bytes(b'{"_header": {"half')  # not ours: no run renames a half
    assert score_to_folder(path, folder, metrics="bleu", **settings).scored == 2
    assert content(folder) == before
    for changed, what in (
        ({"metrics": "rouge"}, r"other metrics \(rouge_l"),
        ({"metrics": ["bleu", "rouge"]}, "other metrics"),
        ({"metrics": "bleu", "longest": 10}, r"another setting \(longest\)"),
        ({"metrics": "bleu", "parts": 5}, "another division"),
    ):
        with pytest.raises(InputError, match=rf"holds the scores of another run: {what}"):
            score_to_folder(path, folder, **{**settings, **changed})
    with pytest.raises(InputError, match="another run: other reports"):
        score_to_folder(write(tmp_path / "r.csv", records(40)), folder, metrics="bleu", **settings)
    assert content(folder) == before


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", records())
    with pytest.raises(InputError, match=r"holds other files \(r\.csv\) and no manifest\.json; name a new folder"):
        score_to_folder(path, tmp_path, metrics="bleu")
    with pytest.raises(InputError, match="is a file; scores in parts need a folder"):
        score_to_folder(path, path, metrics="bleu")


def test_ids_that_repeat_are_found_before_anything_is_scored(tmp_path: Path) -> None:
    rows = records()
    rows[40] = {**rows[40], "id": rows[2]["id"]}
    path = write(tmp_path / "r.csv", rows)
    with pytest.raises(InputError, match=r"1 of 60 cases repeat an id: for instance 's1' of system 'a'"):
        score_to_folder(path, tmp_path / "scores", metrics="bleu", parts=4)
    assert not list((tmp_path / "scores").glob("part-*"))


def test_what_cannot_be_done_in_parts_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", records())
    with pytest.raises(UsageError, match="ranked must see all cases of a run at once; write to a file"):
        score_to_folder(path, tmp_path / "s", metrics=Ranked())
    with pytest.raises(UsageError, match="the kind of the parts must be parquet or jsonl, got 'csv'"):
        score_to_folder(path, tmp_path / "s", metrics="bleu", kind="csv")
    with pytest.raises(
        UsageError, match="llm_errors asks a server, with one budget and one journal: score it in one process"
    ):
        score_to_folder(path, tmp_path / "s", metrics="llm_errors", engine=Engine("pool", 2))
    bare = write(tmp_path / "bare.csv", [{"id": "1", "candidate": "clear"}])
    with pytest.raises(InputError, match=r"bleu cannot judge without references: bare\.csv has no ref"):
        score_to_folder(bare, tmp_path / "s", metrics="bleu")
    (tmp_path / "mixed").mkdir()
    write(tmp_path / "mixed" / "a.csv", records())
    write(tmp_path / "mixed" / "b.jsonl", records())
    with pytest.raises(InputError, match="must hold tables of one format to be read as one, got csv, jsonl"):
        score_to_folder(tmp_path / "mixed", tmp_path / "s", metrics="bleu")
    with pytest.raises(UsageError, match="nothing to read"):
        InputSpec()


@pytest.mark.parametrize("engine", [Engine(), Engine("pool", 2)])
def test_cider_takes_two_passes_and_gives_the_values_of_one(tmp_path: Path, engine: Engine) -> None:
    rows = records(200)
    rows[30]["reference"] = ""  # no document
    path = write(tmp_path / "r.csv", rows)
    wanted = ["cider", "cider:empty=zero as zero", "cider:tokenizer=whitespace as other"]
    ran = score_to_folder(path, tmp_path / "s", metrics=wanted, parts=6, kind="jsonl", engine=engine)
    expected = score(read_cases(path), wanted)
    found = read_scores(tmp_path / "s")
    assert found.keys_of_cases == expected.keys_of_cases
    for name, scores in expected.judges.items():
        np.testing.assert_array_equal(found[name].rows, scores.rows)
        assert dict(found[name].reasons) == dict(scores.reasons)
    assert ran.manifest.judges["cider"]["judged"] == 198


def test_bertscore_with_idf_takes_two_passes_and_gives_the_values_of_one(tmp_path: Path) -> None:
    rows = records(120)
    rows[30]["reference"] = ""
    rows[40]["reference"] = "no  effusion;small opacity"
    path = write(tmp_path / "r.csv", rows)
    wanted = ["bertscore:idf=true", "bertscore:idf=true,empty=zero as zero", "bertscore as plain"]
    score_to_folder(path, tmp_path / "s", metrics=wanted, parts=5, kind="jsonl")
    expected, found = score(read_cases(path), wanted), read_scores(tmp_path / "s")
    for name, scores in expected.judges.items():
        np.testing.assert_array_equal(found[name].rows, scores.rows)
        assert dict(found[name].reasons) == dict(scores.reasons)
    assert not np.array_equal(expected["bertscore"].rows, expected["plain"].rows, equal_nan=True)


def test_splits_and_sections_are_those_of_one_run(tmp_path: Path) -> None:
    rows = [{**row, "split": "test" if at % 3 else "train"} for at, row in enumerate(records())]
    for row in rows[:30]:
        row["candidate"] = f"FINDINGS: {row['candidate']} IMPRESSION: none"
    path = write(tmp_path / "r.csv", rows)
    spec = InputSpec(reports=path, split="test", section="findings")
    ran = score_to_folder(spec, tmp_path / "s", metrics="bleu", parts=4, kind="jsonl")
    expected = read_cases(path, split="test", section="findings")
    found = read_scores(tmp_path / "s")
    np.testing.assert_array_equal(found["bleu"].rows, score(expected, "bleu")["bleu"].rows)
    wanted = {note for note in expected.provenance.warnings if "have no headings" in note}
    assert wanted
    assert wanted <= set(ran.manifest.input["warnings"])
    with pytest.raises(InputError, match="has no studies of split 'dev'; it has test, train"):
        score_to_folder(replace(spec, split="dev"), tmp_path / "t", metrics="bleu")


def test_one_run_at_a_time_in_a_folder(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = write(tmp_path / "r.csv", records())
    (tmp_path / "s").mkdir()
    with (tmp_path / "s" / ".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="is in use by another run; wait for it or name another folder"):
            score_to_folder(path, tmp_path / "s", metrics="bleu")
    assert score_to_folder(path, tmp_path / "s", metrics="bleu").manifest.complete


def test_a_folder_has_the_digest_of_the_references_that_a_file_has(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", records())
    score_to_folder(path, tmp_path / "s", metrics="bleu", parts=3, kind="jsonl")
    assert read_scores(tmp_path / "s").header["references"] == score(path, "bleu").header["references"]


def test_a_case_that_makes_a_metric_fail_fails_alone(tmp_path: Path) -> None:
    from scale_metrics import Poisoned

    metric: Metric = Poisoned(at="s5")
    path = write(tmp_path / "r.csv", records())
    score_to_folder(
        path, tmp_path / "s", metrics=[metric, "bleu"], parts=3, kind="jsonl", engine=Engine("pool", 2)
    )
    found = read_scores(tmp_path / "s")
    reasons = found["words"].reasons
    assert reasons.keys() == {("s5", "a"), ("s5", "b"), ("s3", "b")}
    assert reasons[("s5", "a")].startswith(
        "words failed on this case (ZeroDivisionError in scale_metrics.py, line "
    )
    assert found["bleu"].reasons == {("s3", "b"): "empty candidate"}
    assert len(found.keys_of_cases) == 60
