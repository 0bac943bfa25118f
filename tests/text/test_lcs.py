"""Bit-parallel longest common subsequence against the textbook table."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from radgauge.text.lcs import lcs_length, lcs_of_long, lcs_pairs, word_bits


def table(left: list[str], right: list[str]) -> int:
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left, start=1):
        for j, b in enumerate(right, start=1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if a == b else max(rows[i - 1][j], rows[i][j - 1])
    return rows[-1][-1]


words = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=90)


@given(words, words)
def test_length_and_one_subsequence(left: list[str], right: list[str]) -> None:
    expected = table(left, right)
    assert lcs_length(word_bits(left), len(left), right) == expected
    assert lcs_of_long(left, right, block=7) == expected
    pairs = lcs_pairs(left, right)
    assert len(pairs) == expected
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_very_long_texts() -> None:
    left = ["a", "b", "c"] * 2000
    assert lcs_length(word_bits(left), len(left), left[1:]) == len(left) - 1
    assert lcs_of_long(left, left[1:]) == len(left) - 1
    assert lcs_of_long(["no", "effusion"] * 300_000, ["effusion", "big", "no"]) == 2
