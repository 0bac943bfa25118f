"""RadGraph F1, CheXbert similarity and BERTScore: the searches against the metric itself on every pair."""

from __future__ import annotations

import csv
import importlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from radgauge.analysis.oracle import oracle
from radgauge.analysis.oracle.ranking import DECIMALS
from radgauge.core.errors import UsageError
from radgauge.encoders.text.token_vectors import TokenVectors
from radgauge.metrics.bertscore import BertScore
from radgauge.metrics.chexbert_similarity import ChexbertSimilarity
from radgauge.metrics.radgraph import RadGraph

Search = Callable[..., list[tuple[str, Any]]]

SENTENCES = [
    "No pleural effusion.",
    "Small left pleural effusion.",
    "Small right effusion.",
    "Pneumothorax.",
    "The heart is mildly enlarged.",
    "Heart size is normal.",
    "Possible pneumonia in the right lower lobe.",
    "Bibasilar atelectasis.",
    "Hello there.",  # says nothing
    "...",
    "XXXX",
]
METRICS = [
    (RadGraph(), DECIMALS),
    (RadGraph(empty="zero"), DECIMALS),
    (RadGraph(variant="complete"), DECIMALS),
    (RadGraph(variant="partial", case="2026-07"), DECIMALS),
    (ChexbertSimilarity(), DECIMALS),
    (ChexbertSimilarity(empty="read", uncertain="negative"), DECIMALS),
    (BertScore(), 6),
    (BertScore(rescale=False, collapse_spaces=True), 6),
]
texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5).map(" ".join)
corpora = st.lists(texts, min_size=1, max_size=25).map(lambda found: {f"c{n}": t for n, t in enumerate(found)})


def check(brute_force: Search, corpus: dict[str, str], query: str, top: int, number: int) -> None:
    metric, decimals = METRICS[number]
    found = [match for match in oracle(corpus, {"q": query}, metric=metric, top=top) if match.text]
    expected = brute_force(metric, corpus, query, top=top, decimals=decimals)
    assert [match.corpus_id for match in found] == [identifier for identifier, _ in expected]
    assert [match.score for match in found] == pytest.approx([score for _, score in expected], abs=1e-6)


@settings(max_examples=60)
@given(corpus=corpora, query=texts, top=st.integers(1, 4), number=st.integers(0, len(METRICS) - 1))
@example(corpus={"a": "Hello there."}, query="Hello there.", top=1, number=0)
@example(corpus={"a": "Hello there.", "b": "Pneumothorax."}, query="Hello there.", top=2, number=4)
@example(corpus={"a": "...", "b": "Pneumothorax."}, query="Pneumothorax.", top=2, number=6)
def test_exactly_what_brute_force_finds(
    brute_force: Search, corpus: dict[str, str], query: str, top: int, number: int
) -> None:
    check(brute_force, corpus, query, top, number)


@pytest.fixture(scope="session")
def reports(shared_data: Path) -> list[str]:
    with (shared_data / "iu_xray" / "indiana_reports.csv").open() as file:
        return [row["findings"] for row in csv.DictReader(file) if row["findings"].strip()]


@pytest.mark.nightly
@pytest.mark.parametrize("number", [0, 4, 6])
@pytest.mark.parametrize("top", [1, 7])
def test_real_reports(
    reports: list[str], brute_force: Search, monkeypatch: pytest.MonkeyPatch, number: int, top: int
) -> None:
    monkeypatch.setattr(
        importlib.import_module("radgauge.analysis.oracle.token_matching"), "FIRST", 8
    )  # so bounds matter
    corpus = {f"c{n}": text for n, text in enumerate(reports[:250])}
    for query in reports[400:406]:
        check(brute_force, corpus, query, top, number)


class Drawn:
    """An encoder that gives every token its own vector, with markers; so short vectors are often opposed."""

    signature = "drawn"

    def read(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self._of(text) for text in texts]

    def _of(self, text: str) -> TokenVectors:
        words = ("<s>", *text.split(), "</s>")
        drawn = np.random.default_rng(zlib.crc32(text.encode())).normal(size=(len(words), 3))
        vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
        counted = np.array([word not in ("<s>", "</s>") for word in words])
        return TokenVectors(words, words, vectors, counted)


@dataclass(frozen=True)
class Contextual(BertScore):
    """With an encoder in place of the published one: no weights may be asked for."""

    models: str = "published"
    rescale: bool = False

    def _reader(self) -> Any:
        return Drawn()


@settings(max_examples=60)
@given(corpus=corpora, query=texts, top=st.integers(1, 4))
def test_an_encoder_that_reads_in_context(
    brute_force: Search, corpus: dict[str, str], query: str, top: int
) -> None:
    metric = Contextual()
    found = [match for match in oracle(corpus, {"q": query}, metric=metric, top=top) if match.text]
    expected = brute_force(metric, corpus, query, top=top, decimals=6)
    assert [match.corpus_id for match in found] == [identifier for identifier, _ in expected]


def test_reasons_of_queries_that_cannot_be_judged() -> None:
    corpus = {"a": "Pneumothorax.", "b": "Hello there."}
    (graph,) = oracle(corpus, {"q": "Hello there."}, metric="radgraph")
    assert graph.note == "no entities found in the reference"
    (labels,) = oracle({"b": "Pleural thickening is denied."}, {"q": "..."}, metric="chexbert_similarity")
    assert labels.note == "reference has no words"
    (both,) = oracle({"b": "Hello there."}, {"q": "Hello you."}, metric="chexbert_similarity")
    assert both.note == "no finding and no normal statement was read in either text"
    (tokens,) = oracle(corpus, {"q": "..."}, metric="bertscore")
    assert tokens.note == "reference has no words"


def test_the_fallback_of_the_paper() -> None:
    corpus = {
        "1": "Pneumothorax.",
        "2": "No acute cardiopulmonary process.",
        "3": "No acute cardiopulmonary process.",
    }
    (found,) = oracle(corpus, {"q": "Hello there."}, metric="radgraph:empty=zero")
    assert (found.corpus_id, found.score) == ("2", 0.0)


def test_idf_has_no_value_of_a_pair_alone() -> None:
    with pytest.raises(UsageError, match="an oracle of bertscore needs idf=no and empty=nan"):
        oracle({"1": "x"}, {"q": "x"}, metric=BertScore(idf=True))
