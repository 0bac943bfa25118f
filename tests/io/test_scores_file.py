"""Scores files: flat, whole, and good for corpus values without reading reports again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.errors import InputError, UsageError
from radgauge.io.scores_file import is_scores_file, read_scores, write_scores
from radgauge.metric import sums
from radgauge.scores import Results, Scores, score

CASES = [
    {"id": "1", "candidate": "no pleural effusion", "reference": "no effusion", "system": "a", "age": "61"},
    {"id": "2", "candidate": "", "reference": "no effusion", "system": "a", "age": "44"},
    {"id": "1", "candidate": "there is an effusion", "reference": "no effusion", "system": "b", "age": "61"},
]


@pytest.fixture
def results() -> Results:
    return score(CASES, ["bleu", "rouge"])


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_what_is_written_can_be_read(tmp_path: Path, results: Results, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    write_scores(path, results, about={"seed": 7})
    assert is_scores_file(path)
    back, header = read_scores(path)
    assert header["seed"] == 7
    assert back.meta["age"] == ["61", "44", "61"]
    for name, scores in results.items():
        np.testing.assert_array_equal(back[name].rows, scores.rows)
        np.testing.assert_array_equal(back[name].values, scores.values)
        assert back[name].reasons == scores.reasons
        assert back[name].signature == scores.signature
        np.testing.assert_array_equal(
            back[name].corpus_scores(*sums(back[name].rows)), scores.corpus_scores(*sums(scores.rows))
        )


def test_the_form_of_the_file(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    first, *records = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(first) == ["_header"]
    assert first["_header"]["judges"]["bleu"]["higher_is_better"] is True
    assert [(record["id"], record["system"]) for record in records] == [("1", "a"), ("2", "a"), ("1", "b")]
    assert records[1]["bleu_1"] is None
    assert not [value for record in records for value in record.values() if isinstance(value, list | dict)]


def test_a_rater_has_no_metric_and_means_will_do(tmp_path: Path) -> None:
    values = np.array([[1.0], [np.nan], [4.0]])
    keys = (("1", "a"), ("2", "a"), ("3", "a"))
    rater = Scores("rater 1", "human", keys, values, values, ("errors",), False)
    write_scores(tmp_path / "s.jsonl", Results({"rater 1": rater}))
    back, _ = read_scores(tmp_path / "s.jsonl")
    assert back["rater 1"].corpus_scores(*sums(back["rater 1"].rows)).tolist() == [2.5]
    assert not back["rater 1"].higher_is_better


def test_a_metric_that_is_not_installed_keeps_its_values(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_text(path.read_text().replace('"metric": "bleu"', '"metric": "gone"'))
    back, _ = read_scores(path)
    assert back["bleu"].metric is None
    np.testing.assert_array_equal(back["bleu"].rows, results["bleu"].values)


def test_an_incomplete_file_is_refused(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(InputError, match="promises 3 cases, the file has 2; it is incomplete"):
        read_scores(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "not a scores file"), ('{"id": "1"}\n', "not a scores file"), ("{oops\n", "line 1: not JSON")],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    assert not is_scores_file(path)
    with pytest.raises(InputError, match=message):
        read_scores(path)


def test_a_broken_record_is_named(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_text(path.read_text() + '{"id": "9"}\n')
    with pytest.raises(InputError, match="line 5: every record must have the same columns"):
        read_scores(path)


def test_the_suffix_decides(tmp_path: Path, results: Results) -> None:
    with pytest.raises(UsageError, match=r"must end in \.jsonl or \.parquet"):
        write_scores(tmp_path / "scores.csv", results)


def test_nothing_half_written_is_left_behind(
    tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("radgauge.io.scores_file._write_jsonl", fail)
    with pytest.raises(OSError, match="no space"):
        write_scores(tmp_path / "scores.jsonl", results)
    assert list(tmp_path.glob("**/*scores*")) == []
