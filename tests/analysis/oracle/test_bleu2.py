"""The index of BLEU-2 against the metric itself on every pair."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radgauge.analysis.oracle import oracle
from radgauge.analysis.oracle.postings import FeatureIndex, radix_order
from radgauge.metrics.bleu import Bleu

Search = Callable[..., list[tuple[str, Any]]]

# few words, so that texts repeat words and pairs of words, tie, and sometimes share nothing
texts = st.lists(st.sampled_from(["no", "edema", "the", "Heart.", "is", ".", "x"]), max_size=12).map(" ".join)
corpora = st.lists(texts, min_size=1, max_size=30).map(lambda found: {f"c{n}": t for n, t in enumerate(found)})


@given(
    corpus=corpora.filter(lambda found: any(text.strip() for text in found.values())),
    query=texts,
    top=st.integers(1, 5),
)
def test_exactly_what_brute_force_finds(brute_force: Search, corpus: dict[str, str], query: str, top: int) -> None:
    found = oracle(corpus, {"q": query}, top=top)
    expected = brute_force(Bleu(variant="cxr"), corpus, query, top=top)
    assert [match.corpus_id for match in found if match.text] == [identifier for identifier, _ in expected]
    assert [match.score for match in found if match.text] == pytest.approx([score for _, score in expected])


def test_long_texts_do_not_overflow(brute_force: Search) -> None:
    long = " ".join(["effusion"] * 300)
    corpus = {"a": long, "b": " ".join(["effusion"] * 299), "c": "effusion"}
    found = oracle(corpus, {"q": long}, top=3)
    assert [(match.corpus_id) for match in found] == ["a", "b", "c"]
    assert [match.score for match in found] == pytest.approx(
        [score for _, score in brute_force(Bleu(variant="cxr"), corpus, long, top=3)]
    )


def test_real_reports(shared_data: Path, brute_force: Search) -> None:
    with (shared_data / "iu_xray" / "indiana_reports.csv").open() as file:
        reports = [(row["uid"], row["findings"]) for row in csv.DictReader(file) if row["findings"].strip()]
    corpus, queries = dict(reports[:600]), dict(reports[600:620])
    found = oracle(corpus, queries, top=3)
    for identifier, text in queries.items():
        mine = [(match.corpus_id, match.score) for match in found if match.id == identifier]
        expected = brute_force(Bleu(variant="cxr"), corpus, text, top=3)
        assert [place for place, _ in mine] == [place for place, _ in expected]
        assert [score for _, score in mine] == pytest.approx([score for _, score in expected])


@given(st.lists(st.integers(0, 2**40), max_size=40))
def test_radix_order_is_the_stable_order(keys: list[int]) -> None:
    array = np.array(keys, dtype=np.int64)
    assert radix_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(st.lists(st.sets(st.integers(0, 20)), min_size=2, max_size=40))
def test_shared_features_are_counted(sets: list[set[int]]) -> None:
    text = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    feature = np.array([item for each in sets for item in each], dtype=np.int64)
    index = FeatureIndex.of(text, feature, texts=len(sets), queries=1)
    assert index.shared(0).tolist() == [len(each & sets[-1]) for each in sets[:-1]]
