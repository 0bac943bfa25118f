"""score: rows in = rows out, reasons for what cannot be judged, no silent trouble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.analysis.summary import summarise
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.metric import Alias, Metric, Rows, best_reference, ratio, reference_pairs, sums
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.core.scores import Scores
from radgauge.io.scores_file import read_scores, write_scores
from radgauge.run.score import score


@dataclass(frozen=True)
class SharedWords(Metric):
    """Words of the candidate that the reference has: rows are (shared, all)."""

    name: ClassVar[str] = "shared_words"
    higher_is_better: ClassVar[bool] = True
    bias: float = 0.0

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        rows = np.empty((len(cases), 2))
        for row, case in zip(rows, cases, strict=True):
            words = case.candidate.split()
            row[:] = (
                (np.nan, np.nan)
                if "UNREADABLE" in words
                else (sum(word in case.references[0].split() for word in words), len(words))
            )
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        return ratio(rows[:, :1], rows[:, 1:]) + self.bias

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        return ratio(totals[..., :1], totals[..., 1:])

    def why_not(self, case: Case, *, reading: Readings) -> str:
        return "unreadable"


CASES = [
    {"id": "1", "candidate": "no effusion", "reference": "no effusion"},
    {"id": "2", "candidate": "", "reference": "no effusion"},
    {"id": "3", "candidate": "UNREADABLE", "reference": "no effusion"},
    {"id": "4", "candidate": "clear", "reference": ""},
    {"id": "5", "candidate": "large effusion", "reference": "effusion"},
    {"id": "6", "candidate": "clear"},
]


def test_every_case_has_a_row_and_every_gap_a_reason() -> None:
    scores = score(CASES, [SharedWords()])["shared_words"]
    np.testing.assert_array_equal(scores.headline, [1, np.nan, np.nan, np.nan, 0.5, np.nan])
    assert scores.reasons == {
        ("2", "system"): "empty candidate",
        ("3", "system"): "unreadable",
        ("4", "system"): "empty reference",
        ("6", "system"): "empty reference",
    }


def test_corpus_values_come_from_the_rows() -> None:
    scores = score(CASES, [SharedWords()])["shared_words"]
    assert scores.corpus_scores(*sums(scores.rows)) == pytest.approx(3 / 4)
    assert SharedWords().corpus_score(scores.rows) == pytest.approx(3 / 4)


def test_records_use_none_for_what_could_not_be_judged() -> None:
    records = score(CASES, [SharedWords()]).records()
    assert records[0] == {"id": "1", "system": "system", "shared_words": 1.0}
    assert records[1]["shared_words"] is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"id": ["1", "2"], "candidate": ["a", None], "reference": ["a", "b"]})
    results = score(frame, [SharedWords()])
    back = results.to_pandas() if library == "pandas" else results.to_polars()
    assert list(back["id"]) == ["1", "2"]
    assert results["shared_words"].reasons == {("2", "system"): "empty candidate"}


def test_a_dict_of_columns_is_a_table_too() -> None:
    results = score({"id": ["1"], "candidate": ["a"], "reference": ["a"]}, [SharedWords()])
    assert results["shared_words"].headline.tolist() == [1.0]


def test_a_missing_id_is_named() -> None:
    with pytest.raises(InputError, match="record 2: id: every case needs a non-empty id"):
        score([{"id": "1", "candidate": "a"}, {"id": "", "candidate": "a"}], [SharedWords()])


def test_a_repeated_id_is_named() -> None:
    with pytest.raises(InputError, match=r"first '1' of system 'system' \(record 1"):
        score([{"id": "1", "candidate": "a"}, {"id": "1", "candidate": "b"}], [SharedWords()])


def test_columns_must_not_clash() -> None:
    with pytest.raises(UsageError, match="both write the column 'shared_words'"):
        score(CASES, [SharedWords(), SharedWords(bias=1.0)])


def test_an_infinite_value_fails_its_case_alone() -> None:
    @dataclass(frozen=True)
    class Endless(SharedWords):
        def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
            return np.array([[np.inf if case.id == "1" else 1.0, 1.0] for case in cases])

    scores = score(CASES, [Endless()])["shared_words"]
    assert scores.headline[[0, 4]].tolist() == pytest.approx([np.nan, 1], nan_ok=True)
    assert "infinite" in scores.reasons["1", "system"]


def test_a_metric_that_loses_rows_is_refused() -> None:
    @dataclass(frozen=True)
    class Lossy(SharedWords):
        def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
            return np.zeros((1, 2))

    with pytest.raises(RadgaugeError, match="one row per case"):
        score(CASES, [Lossy()])


def test_the_signature_names_every_setting() -> None:
    assert SharedWords(bias=0.25).signature().startswith("shared_words|bias:0.25|precision:1e-06|revision:1|v:")


def test_systems_and_selection() -> None:
    cases = [Case("1", "a", ("a",), "x"), Case("1", "b", ("a",), "y"), Case("2", "a", ("a",), "x")]
    scores = score(cases, [SharedWords()])["shared_words"]
    assert scores.systems == ("x", "y")
    assert scores.of_system("x").keys == (("1", "x"), ("2", "x"))
    with pytest.raises(UsageError, match="no column 'nothing'"):
        scores.column("nothing")


def test_keys_must_be_unique_and_as_many_as_rows() -> None:
    with pytest.raises(RadgaugeError, match="equally many"):
        Scores("x", "x", (("1", "s"),), np.zeros((2, 1)), np.zeros((2, 1)), ("x",), True)
    with pytest.raises(RadgaugeError, match="unique"):
        Scores("x", "x", (("1", "s"),) * 2, np.zeros((2, 1)), np.zeros((2, 1)), ("x",), True)


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), max_size=3)), max_size=20))
def test_rows_in_are_rows_out(texts: list[tuple[str, list[str]]]) -> None:
    cases = [Case(str(i), candidate, tuple(refs)) for i, (candidate, refs) in enumerate(texts)]
    scores = score(cases, [SharedWords()])["shared_words"]
    assert scores.keys == tuple(case.key for case in cases)
    gaps = {key for key, value in zip(scores.keys, scores.headline, strict=True) if np.isnan(value)}
    assert gaps == set(scores.reasons)


def test_the_best_reference_wins_and_nan_loses() -> None:
    cases = [Case("1", "a", ("x", "y", "z")), Case("2", "a"), Case("3", "a", ("x",))]
    _, _, owner = reference_pairs(cases)
    values = np.array([[0.2], [0.9], [np.nan], [np.nan]])
    assert best_reference(values, owner, cases=3, higher_is_better=True).tolist() == [1, -1, 3]
    assert best_reference(values, owner, cases=3, higher_is_better=False).tolist() == [0, -1, 3]


def test_two_settings_of_one_metric_stand_side_by_side_under_an_alias(tmp_path: Path) -> None:
    cases = [
        {"id": "1", "candidate": "No effusion. The heart is large.", "reference": "Small effusion. Normal heart."},
        {"id": "2", "candidate": "Clear lungs.", "reference": "The lungs are clear."},
    ]
    both = score(cases, ["bleu", "bleu:smoothing=floor as floored"])
    assert list(both) == ["bleu", "floored"]
    assert both["floored"].columns == ("floored_bleu_4", "floored_bleu_1", "floored_bleu_2", "floored_bleu_3")
    alone = score(cases, "bleu:smoothing=floor")["bleu"]
    assert np.array_equal(both["floored"].values, alone.values)
    assert both["floored"].values[0, 0] != both["bleu"].values[0, 0]
    assert both["floored"].signature == alone.signature
    write_scores(tmp_path / "scores.jsonl", both)
    again = read_scores(tmp_path / "scores.jsonl")
    assert isinstance(again["floored"].metric, Alias)
    lines = {line.column: line.value for line in summarise(again, resamples=0)}
    expected = {line.column: line.value for line in summarise(score(cases, "bleu:smoothing=floor"), resamples=0)}
    assert lines["floored_bleu_2"] == expected["bleu_2"]  # a corpus value, not the mean of cases


def test_an_alias_is_a_word() -> None:
    with pytest.raises(UsageError, match="got 'a-b'"):
        load("bleu as a-b")


def test_an_aliased_metric_keeps_the_contract_of_explanations() -> None:
    metric = load("bleu as mine")
    case = Case("1", candidate="no effusion", references=("no effusion",))
    found = metric.explain(case, reading=Readings())
    assert found is not None
    assert (found.metric, found.values["mine_bleu_1"]) == ("mine", 1.0)


GERMAN = "Kein Pleuraerguss, kein Pneumothorax. Das Herz ist normal groß."
ENGLISH = "No pleural effusion or pneumothorax. The heart is normal in size."
STORY = "Our train was delayed, so we took a taxi to the airport and nearly missed the flight to Lisbon."


@pytest.mark.parametrize(
    ("candidate", "references", "reason"),
    [
        (GERMAN, (GERMAN,), "text is not in English"),
        (GERMAN, (ENGLISH,), "candidate is not in English"),
        (ENGLISH, (GERMAN,), "reference is not in English"),
        (STORY, (ENGLISH,), "candidate is hardly understood"),
        (STORY, (STORY,), "text is hardly understood"),
        (ENGLISH, (GERMAN, ENGLISH), ""),
    ],
)
def test_texts_that_are_no_english_reports_are_not_judged(
    candidate: str, references: tuple[str, ...], reason: str
) -> None:
    case = Case("1", candidate, references)
    scores = score([case], "errors")["errors"]
    assert scores.reasons.get(case.key, "") == reason
    assert bool(np.isnan(scores.headline[0])) is bool(reason)
    assert reason not in score([case], "errors", any_language=True)["errors"].reasons.values()


def test_published_networks_choose_their_language_themselves() -> None:
    @dataclass(frozen=True)
    class Multilingual(Metric):
        name: ClassVar[str] = "multilingual"
        higher_is_better: ClassVar[bool] = True
        english_only: ClassVar[bool] = True
        models: str = "embedded"

        def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
            return np.ones((len(cases), 1))

    cases = [Case("1", GERMAN, (GERMAN,))]
    assert np.isnan(score(cases, Multilingual())["multilingual"].headline[0])
    assert score(cases, Multilingual(models="published"))["multilingual"].headline[0] == 1
    assert score(cases, Alias(Multilingual(), "two"))["two"].reasons[cases[0].key] == "text is not in English"


def test_a_candidate_in_another_language_is_no_answer() -> None:
    cases = [Case("1", GERMAN, (ENGLISH,)), Case("2", GERMAN, (GERMAN,)), Case("3", ENGLISH, (ENGLISH,))]
    assert score(cases, "bleu").unanswered == {cases[0].key}


def test_blocks_hold_a_study_and_give_the_values_of_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["effusion", "edema", "nodule", "fracture"]
    texts = ["" if n == 4 else f"{words[n % 4]} on the left, heart normal" for n in range(6)]
    cases = [
        Case(f"s{n}", text, (f"{words[n % 3]} left",), system) for system in "ab" for n, text in enumerate(texts)
    ]
    metrics = ["bleu", "cider", "errors"]
    at_once = score(cases, metrics)
    studies: list[set[str]] = []

    class Seen(SharedWords):
        def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
            studies.append({case.id for case in cases})
            return super().measure(cases, reading=reading)

    monkeypatch.setattr("radgauge.run.score.BLOCK", 3)
    in_blocks = score(cases, [*metrics, Seen()])
    assert studies == [{"s0", "s1"}, {"s2", "s3"}, {"s5"}]
    for name, scores in at_once.judges.items():
        np.testing.assert_array_equal(scores.values, in_blocks[name].values)
        np.testing.assert_array_equal(scores.rows, in_blocks[name].rows)
        assert list(scores.reasons.items()) == list(in_blocks[name].reasons.items())
