"""Vectorised n-gram counts against a plain Counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from radgauge.text.ngrams import count_ngrams, pair_up


def plain(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


texts = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), max_size=9), min_size=1, max_size=6)


@given(texts)
def test_clipped_matches_of_every_pair(listed: list[list[str]]) -> None:
    counted = count_ngrams(listed, order=4)
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(len(listed)), np.arange(len(listed))))
    matches = counted.by_order(counted.counts[left].minimum(counted.counts[right]))
    for i, j, row in zip(left, right, matches, strict=True):
        assert row.tolist() == [(plain(listed[i], n) & plain(listed[j], n)).total() for n in (1, 2, 3, 4)]
    assert counted.totals(left).tolist() == [
        [float(plain(listed[i], n).total()) for n in (1, 2, 3, 4)] for i in left
    ]


@given(texts)
def test_the_most_of_several_references(listed: list[list[str]]) -> None:
    counted = count_ngrams(listed, order=2)
    slots = [np.array([i]) for i in range(len(listed))]
    most = plain(listed[0], 2)
    for words in listed[1:]:
        most |= plain(words, 2)
    assert counted.by_order(counted.most(slots))[0, 1] == most.total()


def test_no_text_is_the_row_before_the_first() -> None:
    counted = count_ngrams([["a"]], order=1)
    assert counted.counts[np.array([-1])].sum() == 0
    assert counted.lengths[-1] == 0


def test_nothing_at_all() -> None:
    assert count_ngrams([], order=4).counts.shape == (1, 0)
    assert pair_up([], []).references == ()


def test_weights_multiply_each_ngram() -> None:
    counted = count_ngrams([["a", "b", "a"]], order=1)
    assert counted.by_order(counted.counts, np.array([10.0, 1.0])).tolist() == [[21.0], [0.0]]
