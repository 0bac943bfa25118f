"""RaTE-Eval readers on small files of the released layout, and triples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.analysis.triple_accuracy import triple_accuracy
from radgauge.core.errors import InputError
from radgauge.io.judgments import read_judgments
from radgauge.io.judgments.rate_eval import RateEvalFields, Triple, read_rate_eval, read_triples
from radgauge.samples import sample_rewrites_path


def sentence_task(folder: Path, rates: str) -> Path:
    task = folder / "Task1_sentence_rate"
    task.mkdir()
    (task / "gt_report_test.json").write_text(json.dumps({"a": "Effusion.", "b": "No edema."}))
    (task / "similar_report_test.json").write_text(json.dumps({"a": ["Fluid.", "No fluid."], "b": "Edema."}))
    (task / "rate_test.csv").write_text(rates)
    return task


def test_sentences_with_counts(tmp_path: Path) -> None:
    sentence_task(tmp_path, "id,errors,potential\na,0,3\na,3,3\nb,1,4\n")
    found = read_rate_eval(tmp_path, task="sentence")
    assert [(case.id, case.system, case.candidate) for case in found.cases] == [
        ("a", "candidate 1", "Fluid."),
        ("a", "candidate 2", "No fluid."),
        ("b", "candidate 1", "Edema."),
    ]
    assert found.mean_ratings().headline.tolist() == [1.0, 0.0, 0.75]
    again = read_judgments(tmp_path / "Task1_sentence_rate")
    assert np.array_equal(again.mean_ratings().headline, found.mean_ratings().headline)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ("id,errors,potential\na,1,0\n", "the number of possible errors must be above 0, got 0"),
        ("id,rate\nz,1\n", "'z' has no text in the JSON files"),
        ("id,rate\nb,1\nb,1\n", "'b' has more ratings than candidates"),
        ("id,rate\na,high\n", "column 'rate' must be a number, got 'high'"),
        ("id,rate\na,inf\n", "column 'rate' must be a number, got 'inf'"),
        ("id,rate\na,nan\n", "column 'rate' must be a number, got 'nan'"),
        (
            "id,other\na,1\n",
            r"none of the columns rating, .*, errors, .* is there; it has id, other; name yours in",
        ),
    ],
)
def test_ratings_that_cannot_be_used(tmp_path: Path, rates: str, message: str) -> None:
    sentence_task(tmp_path, rates)
    with pytest.raises(InputError, match=message):
        read_rate_eval(tmp_path, task="sentence")


def test_texts_in_objects_and_the_train_part(tmp_path: Path) -> None:
    task = sentence_task(tmp_path, "id,rate\na,1\n")
    (task / "gt_report_train.json").write_text(json.dumps([{"id": "7", "report": "Effusion."}]))
    (task / "similar_report_train.json").write_text(json.dumps({"7": {"candidate": ["Fluid.", "Edema."]}}))
    (task / "rate_train.csv").write_text("id,rate\n7,1\n7,0.5\n")
    found = read_judgments(tmp_path, format="rate_eval_sentence_train")
    assert [(case.id, case.candidate, case.references) for case in found.cases] == [
        ("7", "Fluid.", ("Effusion.",)),
        ("7", "Edema.", ("Effusion.",)),
    ]
    assert found.mean_ratings().headline.tolist() == [1.0, 0.5]
    (task / "gt_report_train.json").write_text(json.dumps([{"id": "7", "words": "Effusion."}]))
    with pytest.raises(InputError, match="'7' has none of the fields reference"):
        read_judgments(task, format="rate_eval_sentence_train")
    (task / "gt_report_train.json").write_text("5")
    with pytest.raises(InputError, match="must be a JSON object or list, got int"):
        read_judgments(task, format="rate_eval_sentence_train")


def test_a_file_is_missing(tmp_path: Path) -> None:
    task = sentence_task(tmp_path, "id,rate\na,1\n")
    (task / "similar_report_test.json").unlink()
    with pytest.raises(InputError, match=r"must hold similar_report_test.json"):
        read_rate_eval(task, task="sentence")
    (task / "similar_report_test.json").write_text('{"a": [1]}')
    with pytest.raises(InputError, match="'a' must be a text or a list of texts"):
        read_rate_eval(task, task="sentence")
    (task / "similar_report_test.json").write_text("{")
    with pytest.raises(InputError, match="not a JSON file"):
        read_rate_eval(task, task="sentence")
    with pytest.raises(InputError, match=r"task must be one of .*got 'x'"):
        read_rate_eval(task, task="x")
    with pytest.raises(InputError, match="no such file or folder"):
        read_rate_eval(tmp_path / "nothing")


def test_paragraphs_from_one_table(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("study,gt,generated,stars\n1,Effusion.,Fluid.,4.5\n2,Edema.,No edema.,0\n")
    with pytest.raises(InputError, match="none of the columns rating"):
        read_rate_eval(path)
    found = read_rate_eval(path, fields=RateEvalFields(id=("study",), rating=("stars",)))
    assert found.mean_ratings().headline.tolist() == [4.5, 0.0]
    (tmp_path / "fields.json").write_text('{"id": "study", "rating": "stars"}')
    assert read_judgments(path, format="rate_eval").cases == found.cases
    (tmp_path / "fields.json").write_text('{"colour": "study"}')
    with pytest.raises(InputError, match="must be an object with keys of candidate, errors"):
        read_rate_eval(path)
    (tmp_path / "fields.json").write_text("{")
    with pytest.raises(InputError, match=r"fields.json: not a JSON file"):
        read_rate_eval(path)


def test_triples_from_a_folder(tmp_path: Path) -> None:
    task = tmp_path / "Task3_synthetic_rate"
    task.mkdir()
    with pytest.raises(InputError, match="must hold one table of triples, got 0"):
        read_triples(tmp_path)
    (task / "t.jsonl").write_text('{"gt": "a b", "REWRITE": "a b", "OPPOSITE": "c d"}\n')
    assert read_triples(tmp_path) == (Triple("1", "a b", "a b", "c d"),)
    (task / "t.jsonl").write_text('{"gt": "a b", "REWRITE": "", "OPPOSITE": "c d"}\n')
    with pytest.raises(InputError, match="a triple must have gt, REWRITE, OPPOSITE"):
        read_triples(tmp_path)


def test_accuracy_by_hand() -> None:
    triples = [Triple("1", "a b", "a b", "c d"), Triple("2", "a b", "c d", "a b"), Triple("3", "a", "a", "a")]
    (found,) = triple_accuracy(triples, ["rouge"])
    assert (found.right, found.ties, found.total, found.wrong) == (1, 1, 3, ("2", "3"))
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.low == pytest.approx(0.0615, abs=1e-3)  # Wilson's interval of 1 in 3
    assert found.high == pytest.approx(0.7923, abs=1e-3)
    with pytest.raises(InputError, match="there are no triples"):
        triple_accuracy([], ["rouge"])


@pytest.mark.long
def test_the_bundled_set_and_what_ratescore_makes_of_it() -> None:
    """RaTE-Eval's own numbers: RaTEScore 0.670, ROUGE-L 0.117 (table 4 of the paper)."""
    triples = read_triples(sample_rewrites_path())
    assert len(triples) >= 100
    assert len({triple.original for triple in triples}) == len(triples)
    found = {each.column: each.accuracy for each in triple_accuracy(triples, ["ratescore", "rouge"])}
    assert found["ratescore_embedded"] >= 0.95
    assert found["rouge_l"] < 0.3
