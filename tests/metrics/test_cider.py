"""CIDEr: by hand, against pycocoevalcap on real text, and against published values."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.readings import Readings
from radgauge.metrics.cider import Cider
from radgauge.run.score import score


def test_by_hand() -> None:
    cases = [Case("1", "a b", ("a c",)), Case("2", "x", ("b y",))]
    # Words: a, b, c, y are each in one of two references, so all weigh log 2; x too (counted as in one).
    # Case 1: candidate (a, b), reference (a, c): cosine 1/2. No shared word pair; no longer n-grams.
    # Equal length, so no penalty: 10 * (1/2 + 0 + 0 + 0) / 4.
    rows = Cider().measure(cases, reading=Readings())
    assert rows[:, 0] == pytest.approx([10 * 0.5 / 4, 0.0])


def test_length_penalty_by_hand() -> None:
    cases = [Case("1", "a b c", ("a",)), Case("2", "d", ("d",))]
    # one of three words: cosine 1/sqrt(3); the candidate has two word pairs more
    expected = 10 / 4 / math.sqrt(3) * math.exp(-(2**2) / (2 * 6**2))
    assert Cider().measure(cases, reading=Readings())[0, 0] == pytest.approx(expected)


def test_repeating_a_word_does_not_help() -> None:
    cases = [
        Case("1", "a a a a", ("a b c d",), "repeats"),
        Case("1", "a b c d", ("a b c d",), "copies"),
        Case("2", "e f", ("e f",)),
    ]
    repeats, copies, _ = Cider().measure(cases, reading=Readings())[:, 0]
    assert repeats < 0.2 * copies


def coco(cases: list[Case]) -> tuple[float, np.ndarray]:
    cider = pytest.importorskip("pycocoevalcap.cider.cider")
    gts = {i: list(case.references) for i, case in enumerate(cases)}
    res = {i: [case.candidate] for i, case in enumerate(cases)}
    return cider.Cider().compute_score(gts, res)


@pytest.mark.parametrize("system", ["oracle_top20", "qwen_dino_rag_logp", "template"])
def test_pycocoevalcap(mrg_rl, system: str) -> None:
    cases = mrg_rl[system]
    corpus, each = coco(cases)
    metric = Cider(tokenizer="whitespace", lowercase=False, empty="zero")
    rows = metric.measure(cases, reading=Readings())
    np.testing.assert_allclose(rows[:, 0], each, rtol=1e-10, atol=1e-12)
    assert metric.corpus_score(rows) == pytest.approx(corpus, rel=1e-12)


def test_pycocoevalcap_with_several_references_and_an_empty_candidate(mrg_rl) -> None:
    texts = [case.references[0] for case in mrg_rl["template"]]
    cases = [
        Case(case.id, case.candidate if i else "", tuple(texts[i : i + 1 + i % 3]))
        for i, case in enumerate(mrg_rl["oracle_top20"])
    ]
    corpus, each = coco(cases)
    rows = Cider(tokenizer="whitespace", empty="zero").measure(cases, reading=Readings())
    np.testing.assert_allclose(rows[:, 0], each, rtol=1e-10, atol=1e-12)
    assert rows.mean() == pytest.approx(corpus, rel=1e-12)


def test_several_systems_in_one_run_score_as_in_runs_of_their_own(mrg_rl) -> None:
    systems = [mrg_rl[name] for name in ("oracle_top20", "template", "qwen_dino_rag_beam3")]
    together = Cider().measure(list(chain.from_iterable(systems)), reading=Readings())
    alone = [Cider().measure(cases, reading=Readings()) for cases in systems]
    np.testing.assert_allclose(together, np.vstack(alone), rtol=1e-12)


def test_published_corpus_values(published) -> None:
    cases, values = published
    if "CIDEr" not in values:
        pytest.skip("no CIDEr was published for this system")
    metric = Cider()
    value = metric.corpus_score(metric.measure(cases, reading=Readings()))
    assert value == pytest.approx(values["CIDEr"], rel=1e-12)


def test_studies_that_do_not_differ_cannot_be_judged() -> None:
    one = score([{"id": "1", "candidate": "clear", "reference": "clear"}], [Cider()])["cider"]
    same = [{"id": str(i), "candidate": "clear", "reference": "clear"} for i in range(3)]
    for judged in (one, score(same, [Cider()])["cider"]):
        assert np.isnan(judged.values).all()
        assert set(judged.reasons.values()) == {
            "the references of this run do not differ (CIDEr needs at least two studies)"
        }


def test_empty_candidates_keep_their_reference_in_the_run() -> None:
    records = [
        {"id": "1", "candidate": "", "reference": "no effusion"},
        {"id": "2", "candidate": "big heart", "reference": "big heart"},
    ]
    judged = score(records, [Cider()])["cider"]
    assert math.isnan(judged.values[0, 0])
    assert judged.reasons == {("1", "system"): "empty candidate"}
    assert judged.values[1, 0] == pytest.approx(5.0)  # two of four orders exist in two words
    assert score(records, [Cider(empty="zero")])["cider"].values[0, 0] == 0.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokenizer": "13a"}, "cider: tokenizer must be one of words, whitespace, got '13a'"),
        ({"empty": "drop"}, "cider: empty must be one of nan, zero, got 'drop'"),
        ({"sigma": 0.0}, "cider: sigma must be above 0, got 0.0"),
    ],
)
def test_impossible_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Cider(**settings)


def test_signature_says_where_the_frequencies_come_from() -> None:
    assert "|df:references-of-the-run|" in Cider().signature()
