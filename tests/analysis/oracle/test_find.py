"""oracle: ties, fallback, what cannot be judged, every message."""

from __future__ import annotations

import math
import sys

import pytest

import radgauge
import radgauge.analysis.oracle.exhaustive
from radgauge.analysis.oracle import Corpus, oracle
from radgauge.analysis.oracle.find import NO_MATCH, PAPER_FALLBACK, mean_score
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError


def test_the_public_name() -> None:
    assert radgauge.oracle({"1": "clear lungs"}, {"q": "clear lungs"})[0].score == pytest.approx(1)


def test_ties_go_to_the_more_frequent_text_and_then_to_the_smaller_id() -> None:
    corpus = {"1": "no edema now", "2": "no edema here", "3": "no edema here", "4": "no edema ever"}
    found = oracle(corpus, {"q": "no edema seen"}, top=3)
    assert [(match.corpus_id, match.frequency) for match in found] == [("2", 2), ("1", 1), ("4", 1)]
    assert len({match.score for match in found}) == 1
    assert [match.rank for match in found] == [1, 2, 3]


def test_ties_in_spite_of_rounding() -> None:
    # 2 of 4 words and 1 of 3 pairs, whatever the order in which a floating-point product is taken
    corpus = {"b": "a b x y", "a": "a b x z"}
    assert oracle(corpus, {"q": "a b c d"})[0].corpus_id == "a"


def test_queries_keep_their_order_and_their_copies() -> None:
    found = oracle([("1", "edema"), ("2", "clear")], [("y", "clear"), ("x", "edema"), ("z", "clear")])
    assert [(match.id, match.corpus_id) for match in found] == [("y", "2"), ("x", "1"), ("z", "2")]


def test_without_any_match_the_most_frequent_report_is_given_or_the_fallback() -> None:
    corpus = {"1": "edema", "2": PAPER_FALLBACK, "3": PAPER_FALLBACK}
    (frequent,) = oracle(corpus, {"q": "fracture"})
    assert (frequent.corpus_id, frequent.score, frequent.text) == ("2", 0.0, PAPER_FALLBACK)
    assert frequent.note == f"{NO_MATCH}; the most frequent reports are given"
    (named,) = oracle(corpus, {"q": "fracture"}, fallback="edema", top=2)
    assert (named.corpus_id, named.score, named.text, named.frequency) == ("1", 0.0, "edema", 1)
    (foreign,) = oracle(corpus, {"q": "fracture"}, fallback="Clear.")
    assert (foreign.corpus_id, foreign.text, foreign.frequency) == ("", "Clear.", 0)
    assert foreign.note == f"{NO_MATCH}; this is the fallback"
    (matched,) = oracle(corpus, {"q": "edema"}, fallback="Clear.")
    assert matched.corpus_id == "1"


def test_an_empty_query_is_not_judged_and_an_empty_report_is_not_found() -> None:
    found = oracle({"1": " ", "2": "clear"}, {"q": "", "r": "clear"}, top=5)
    assert [(match.id, match.corpus_id, match.note) for match in found] == [
        ("q", "", "empty reference"),
        ("r", "2", ""),
    ]
    assert math.isnan(found[0].score)
    assert mean_score(found) == pytest.approx(found[1].score)
    assert math.isnan(mean_score(found[:1]))


def test_cases_are_their_first_reference() -> None:
    corpus = [Case("1", "ignored", ("clear lungs",))]
    assert oracle(corpus, [Case("q", "", ("clear lungs",))])[0].corpus_id == "1"


def test_other_metrics_are_measured_pair_by_pair() -> None:
    found = oracle({"1": "no effusion", "2": "large effusion"}, {"q": "a large effusion"}, metric="rouge")
    assert found[0].corpus_id == "2"


def test_corpus_counts_reports_and_blanks() -> None:
    corpus = Corpus.of([("1", "clear"), ("2", ""), ("3", "clear")])
    assert (corpus.reports, corpus.blank, corpus.frequencies) == (3, 1, (2,))


@pytest.mark.parametrize(
    ("corpus", "queries", "settings", "error", "message"),
    [
        ({"1": "x"}, {"q": "x"}, {"top": 0}, UsageError, "top must be 1 or more, got 0"),
        ({}, {"q": "x"}, {}, InputError, "at least one report that is not blank, got 0 reports"),
        ({"1": " "}, {"q": "x"}, {}, InputError, "not blank, got 1 reports"),
        ("text", {"q": "x"}, {}, InputError, "corpus must map ids to texts, got one string"),
        (["text"], {"q": "x"}, {}, InputError, r"corpus, report 1: must be a pair \(id, text\) of strings"),
        ({"1": "x"}, [("q", None)], {}, InputError, "queries, report 1: must be a pair"),
        ([("1", "x"), ("1", "y")], {"q": "x"}, {}, InputError, "corpus: the id '1' has two different texts"),
        ({"1": "x"}, {"q": "x"}, {"metric": "cider"}, UsageError, "cider cannot be searched"),
    ],
)
def test_messages(corpus: object, queries: object, settings: dict[str, object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        oracle(corpus, queries, **settings)  # type: ignore[arg-type]


def test_a_search_without_index_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["radgauge.analysis.oracle.exhaustive"], "MOST_PAIRS", 1)
    with pytest.raises(UsageError, match="and 2 x 1 pairs are more than 1"):
        oracle({"1": "x", "2": "y"}, {"q": "x"}, metric="rouge")


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    oracle({"1": "x"}, {"a": "x", "b": "y"}, progress=lambda *now: told.append(now))
    assert told == [("queries", 1, 2), ("queries", 2, 2)]
