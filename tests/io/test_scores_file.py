"""Scores files: flat, whole, and good for corpus values without reading reports again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.metric import sums
from radgauge.core.scores import Results, Scores
from radgauge.io.scores_file import is_scores_file, read_scores, write_scores
from radgauge.run.score import score

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
    back = read_scores(path)
    header = back.header
    assert header["seed"] == 7
    assert back.meta["age"] == ["61", "44", "61"]
    for name, scores in results.judges.items():
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
    back = read_scores(tmp_path / "s.jsonl")
    assert back["rater 1"].corpus_scores(*sums(back["rater 1"].rows)).tolist() == [2.5]
    assert not back["rater 1"].higher_is_better


def test_a_metric_that_is_not_installed_keeps_its_values(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_text(path.read_text().replace('"metric": "bleu"', '"metric": "gone"'))
    back = read_scores(path, trust=True)
    assert back["bleu"].metric is None
    np.testing.assert_array_equal(back["bleu"].rows, results["bleu"].values)


def test_an_incomplete_file_is_refused(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(InputError, match="promises 3 cases, the file has 2"):
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
        write_scores(tmp_path / "scores.txt", results)


@pytest.mark.parametrize("name", ["_age", "bleu_1", "_bleu_0", "system", "id"])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_no_column_of_the_input_is_lost(
    tmp_path: Path, name: str, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    cases = [
        Case("1", "no effusion", ("no effusion",), meta={name: "61", f"meta_{name}": "x"}),
        Case("2", "effusion", ("no effusion",), meta={name: "44"}),
    ]
    results = score(cases, ["bleu"])
    path = tmp_path / f"scores{suffix}"
    write_scores(path, results)
    assert f"column {name!r} is written as 'meta_meta_{name}'" in caplog.text
    back = read_scores(path)
    assert back.meta == {name: ["61", "44"], f"meta_{name}": ["x", ""]}
    np.testing.assert_array_equal(back["bleu"].values, results["bleu"].values)
    assert back.keys_of_cases == results.keys_of_cases


def test_half_a_character_costs_no_score(tmp_path: Path) -> None:
    whole = score([Case("1", "no effusion", ("no effusion",), meta={"note": "whole"})], ["bleu"])
    results = replace(whole, meta={"note": ["cut \ud83d"]})  # cases are checked; results can be made by hand
    write_scores(tmp_path / "s.jsonl", results)
    back = read_scores(tmp_path / "s.jsonl")
    assert back["bleu"].values[0, 0] == results["bleu"].values[0, 0]
    assert back.meta["note"] == ["cut \ud83d"]
    with pytest.raises(RadgaugeError, match=r"s\.parquet cannot be written \(UnicodeEncodeError\)"):
        write_scores(tmp_path / "s.parquet", results)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_scores_that_cannot_be_written_are_kept_elsewhere(tmp_path: Path, results: Results, suffix: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RadgaugeError, match="the scores are kept in") as caught:
        write_scores(tmp_path / "file" / f"scores{suffix}", results, about={"seed": 3})
    kept = Path(str(caught.value).rpartition(" kept in ")[2])
    back = read_scores(kept)
    header = back.header
    assert header["seed"] == 3
    np.testing.assert_array_equal(back["bleu"].rows, results["bleu"].rows)
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"bleu_1": 0.666', '"bleu_1": Infinity, "x": 0.666', "line 2: not JSON \\(Infinity is no value"),
        ('"bleu_1": null', '"bleu_1": NaN', "line 3: not JSON \\(NaN is no value"),
        (
            '"bleu_1": null',
            '"bleu_1": 1e999',
            "case 2: column 'bleu_1' must be a finite .* null, got an infinite",
        ),
        ('"bleu_1": null', f'"bleu_1": 1{"0" * 400}', "case 2: column 'bleu_1' must be a finite number or null"),
        ('"bleu_1": null', f'"bleu_1": {"9" * 5000}', "line 3: not JSON"),
        ('"bleu_1": null', '"bleu_1": true', "case 2: column 'bleu_1' must be a .* null, got a truth value"),
        ('"bleu_1": null', '"bleu_1": "0.3"', "case 2: column 'bleu_1' must be a finite .* null, got a text"),
        ('"bleu_1": null', f'"bleu_1": {"[" * 100_000}', "line 3: not JSON"),
        ('"id": "2"', '"id": null', "case 2: id must be a text, got null"),
        ('"id": "2"', '"id": "1"', "every \\(id, system\\) must occur once"),
        ('"judges"', '"jury"', "the header must have 'judges'"),
        ('"columns"', '"c"', "'columns' of judge 'bleu' in the header must be a list of column names"),
        ('"signature"', '"s"', "'signature' of judge 'bleu' in the header must be a text"),
        ('"higher_is_better": true', '"higher_is_better": "yes"', "must be true or false"),
        ('"rows": 9', '"rows": -1', "'rows' of judge 'bleu' in the header must be a number of columns"),
        ('"rows": 9', '"rows": 10', "promises column '_bleu_9' and no record has it"),
        ('"rows": 9', '"rows": 3', "the statistics of 'bleu' are not those that its metric keeps"),
        ('"not_judged": [[', '"not_judged": [["a"], [', "must be a list of \\[id, system, reason\\]"),
        ('"renamed": {}', '"renamed": []', "'renamed' must map names to names"),
        ('"metric": "bleu"', '"metric": 5', "'metric' of judge 'bleu' in the header must be a name"),
    ],
    ids=[str(number) for number in range(20)],
)
def test_what_is_no_value_is_refused(tmp_path: Path, results: Results, old: str, new: str, message: str) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_scores(path)


def test_bytes_that_are_no_utf8_are_refused(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "scores.jsonl"
    write_scores(path, results)
    path.write_bytes(path.read_bytes() + b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"scores\.jsonl, line 5: not UTF-8"):
        read_scores(path)


@pytest.mark.parametrize("cut", [0, 3, 100, -1])
def test_a_cut_parquet_file_is_refused(tmp_path: Path, results: Results, cut: int) -> None:
    path = tmp_path / "scores.parquet"
    write_scores(path, results)
    path.write_bytes(path.read_bytes()[:cut])
    for ask in (is_scores_file, read_scores):
        with pytest.raises(InputError, match=r"is damaged, cut off or no Parquet file"):
            ask(path)


def test_nothing_half_written_is_left_behind(
    tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("radgauge.io.scores_records._write_jsonl", fail)
    with pytest.raises(OSError, match="no space"):
        write_scores(tmp_path / "scores.jsonl", results)
    assert list(tmp_path.glob("**/*scores*")) == []


def test_a_judge_without_its_settings_is_not_computed_with_others(tmp_path: Path, results: Results) -> None:
    path = tmp_path / "s.jsonl"
    write_scores(path, results)
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    header = json.loads(first)
    del header["_header"]["judges"]["bleu"]["settings"]
    path.write_text(json.dumps(header) + "\n" + rest, encoding="utf-8")
    assert read_scores(path, trust=True)["bleu"].metric is None


def test_a_file_with_other_outputs_than_the_metric_has_now_is_means(tmp_path: Path) -> None:
    scores = score([{"id": "1", "candidate": "no effusion", "reference": "no effusion"}], ["errors"])
    path = tmp_path / "scores.jsonl"
    write_scores(path, scores)
    header, record = map(json.loads, path.read_text().splitlines())
    header["_header"]["judges"]["errors"]["columns"].remove("errors_f1")
    header["_header"]["judges"]["errors"]["rows"] = 0
    path.write_text(f"{json.dumps(header)}\n{json.dumps(record)}\n")
    old = read_scores(path, trust=True)["errors"]
    assert old.metric is None
    assert old.column("errors_quality").tolist() == [1.0]
