"""Reports by expected gain: pictures decide, the best constant is the best mean, no report judges itself."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from lay_entries import knowing_readings

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.encoders.image.report_words import ReportWords, fit_words
from radgauge.lab.generation.consensus import Consensus, shared_consensus
from radgauge.lab.generation.expected import (
    added_sentences,
    expected_of,
    features,
    fit_expected,
    shown_reports,
    usual_sentences,
)
from radgauge.lab.generation.generate import GenerateSettings, best_constants, system_name
from radgauge.lab.training.generator_files import Generator
from radgauge.lab.training.generator_settings import GeneratorSettings
from radgauge.lay.metrics.layman import Layman
from radgauge.metrics.errors import Errors

CLEAR, LEFT = "Lungs clear. Heart normal.", "Left effusion. Heart normal."


@dataclass
class _Same:
    """Gain 1 for each equal first sentence; counts what it is asked."""

    gain: str = "errors"
    signature: str = "same"
    asked: list[tuple[str, str]] = field(default_factory=list)

    def tables(self, candidates: Sequence[str], others: Sequence[str]) -> list[np.ndarray]:
        self.asked += [(one, two) for one in candidates for two in others]
        return [
            np.array([[float(one.split(".")[0] == two.split(".")[0]) for two in others] for one in candidates])
        ]


def _studies(number: int = 40) -> tuple[np.ndarray, list[str]]:
    """One number tells the side: positive is an effusion, in two of five studies."""
    rows = np.random.default_rng(0).normal(size=(number, 6)).astype(np.float32) * 0.1
    rows[:, 0] = [1.0 if at % 5 < 2 else -1.0 for at in range(number)]
    return rows, [LEFT if row[0] > 0 else CLEAR for row in rows]


@pytest.fixture(scope="module")
def words() -> ReportWords:
    return fit_words(*_studies())


def test_pictures_decide_and_without_them_the_best_mean(words: ReportWords) -> None:
    rows, texts = _studies()
    found = fit_expected(words, texts, consensus=_Same())  # type: ignore[arg-type]
    assert found.constant == CLEAR  # three of five
    assert found.means[0] == pytest.approx(0.6)
    chosen = found.choose(features(words, words.predicted(rows)))
    assert [text.startswith("Left") for text in chosen] == [text == LEFT for text in texts]
    usual = found.gains(found.centre[None])[0]
    np.testing.assert_allclose(usual, found.means)  # the middle of all pictures tells nothing
    assert found.choose(np.zeros((0, len(words.words)))) == []


def test_a_report_is_no_witness_for_itself(words: ReportWords) -> None:
    _, texts = _studies()
    alone = "Odd report. Heart normal."
    found = fit_expected(words, [alone, *texts[1:]], consensus=_Same())  # type: ignore[arg-type]
    assert found.means[found.reports.index(alone)] == 0.0  # 1 of 40 if it were asked about itself
    assert found.means[found.reports.index(CLEAR)] == pytest.approx(24 / 40)  # others have the same text


def test_added_sentences_are_usual_ones_with_words_that_pictures_tell(words: ReportWords) -> None:
    _, texts = _studies()
    assert added_sentences(words, texts) == []  # every word is in more than a quarter of the reports
    rows, _ = _studies()
    few = ["Small effusion." if at % 8 == 0 else CLEAR for at in range(40)]
    rows[:, 1] = [1.0 if at % 8 == 0 else 0.0 for at in range(40)]
    told = fit_words(rows, few)
    assert added_sentences(told, few) == ["Small effusion."]
    found = fit_expected(told, few, consensus=_Same())  # type: ignore[arg-type]
    assert f"{CLEAR} Small effusion." in found.reports
    assert found.constant == CLEAR
    assert found.constant in shown_reports(few)  # whole training reports only; the pool's best may be longer
    assert found.fixed in found.reports


def test_a_single_sentence_may_be_a_report_where_the_gain_is_a_share(words: ReportWords) -> None:
    _, texts = _studies()
    whole = fit_expected(words, texts, consensus=_Same())  # type: ignore[arg-type]
    assert "Heart normal." not in whole.reports
    share = Consensus("layman", knowing_readings())
    found = fit_expected(words, texts, consensus=share)
    assert {"Heart normal.", "Lungs clear.", "Left effusion."} <= set(found.reports)
    assert found.constant in texts  # a constant report is a whole one
    assert found.fixed == "Heart normal."  # in every report
    assert found.means.max() == pytest.approx(1)
    odd = [f"{text} Study {at}." for at, text in enumerate(texts)]
    assert usual_sentences(odd)[0] == "Heart normal."
    assert not any(sentence.startswith("Study") for sentence in usual_sentences(odd))


def test_what_is_fitted_is_kept_until_something_changes(words: ReportWords, tmp_path: Path) -> None:
    _, texts = _studies()
    card = {"pictures": "p"}
    names = tuple(str(at) for at in range(len(texts)))
    generator = Generator(tmp_path, GeneratorSettings(kind="retrieval"), card, words, names, tuple(texts))
    first = _Same()
    one = expected_of(generator, first)  # type: ignore[arg-type]
    again = _Same()
    two = expected_of(generator, again)  # type: ignore[arg-type]
    assert first.asked
    assert not again.asked
    assert one.reports == two.reports
    np.testing.assert_array_equal(one.matrix, two.matrix)
    other = _Same(signature="other")
    expected_of(generator, other)  # type: ignore[arg-type]
    assert other.asked
    (tmp_path / "expected-errors.npz").write_bytes(b"PK damaged")
    damaged = _Same()
    expected_of(generator, damaged)  # type: ignore[arg-type]
    assert damaged.asked


def test_nothing_that_can_be_judged_is_said(words: ReportWords) -> None:
    class Never(_Same):
        def tables(self, candidates: Sequence[str], others: Sequence[str]) -> list[np.ndarray]:
            return [np.full((len(candidates), len(others)), np.nan)]

    with pytest.raises(InputError, match="no training report can be judged by errors; choose another gain"):
        fit_expected(words, _studies()[1], consensus=Never())  # type: ignore[arg-type]


def test_headlines_are_the_two_metrics(words: ReportWords) -> None:
    case, reading = Case("1", LEFT, (CLEAR,)), knowing_readings()
    quality = Errors().measure([case], reading=reading)[0, 0]
    semantics = Layman().measure([case], reading=reading)[0, 0]
    headlines = shared_consensus("headlines", reading)
    assert headlines.gains([LEFT], [CLEAR])[0, 0] == pytest.approx(quality + semantics)
    assert Consensus("layman", reading).gains([LEFT], [CLEAR])[0, 0] == pytest.approx(semantics)
    assert shared_consensus("headlines", reading) is headlines
    assert shared_consensus("errors", reading)._errors is headlines._errors  # compared once for both
    assert headlines.signature.count("|v:") == 2


def test_constants_are_named_by_their_gain(
    words: ReportWords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, texts = _studies()
    names = tuple(str(at) for at in range(len(texts)))
    settings = GeneratorSettings(kind="retrieval")
    generator = Generator(tmp_path, settings, {"pictures": "p"}, words, names, tuple(texts))
    module = importlib.import_module("radgauge.lab.generation.generate")  # the function has the same name
    monkeypatch.setattr(module, "shared_consensus", lambda gain, reading: _Same(gain=gain))
    how = GenerateSettings(source="retrieval", choose="expected", gain="errors")
    rows = best_constants(generator, [Case("a", ""), Case("b", "")], settings=how)
    assert [(row.id, row.system) for row in rows[:2]] == [
        ("a", "best constant, errors"),
        ("b", "best constant, errors"),
    ]
    assert {row.candidate for row in rows[:2]} == {CLEAR}
    assert rows[2].system == "best constant and a sentence, errors"
    assert system_name(generator, how) == "retrieval, expected errors"
    assert how.signature == "source:retrieval|choose:expected|gain:errors|seed:0"
    with pytest.raises(UsageError, match="source='network'"):
        GenerateSettings(choose="expected")
