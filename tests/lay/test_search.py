"""The nearest entry: always the one that comparing everything finds."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.lay import replacement as search
from radgauge.lay.replacement import nearest


def _all_compared(queries: np.ndarray, entries: np.ndarray) -> np.ndarray:
    products = queries.astype(np.float64) @ entries.astype(np.float64).T
    return (products >= products.max(axis=1, keepdims=True) - search.TIE).argmax(axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _clustered(rng: np.random.Generator, number: int, spread: float, dimensions: int = 300) -> np.ndarray:
    centres = np.random.default_rng(7).normal(size=(40, dimensions))
    return _unit(centres[rng.integers(0, 40, number)] + spread * rng.normal(size=(number, dimensions)))


@pytest.mark.parametrize("large", [1000, 10_000])  # by bounds, and by one matrix product
@pytest.mark.parametrize("spread", [0.1, 0.7, 3.0])  # sentences like one another, and noise that no bound cuts
def test_bounds_lose_nothing(spread: float, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    monkeypatch.setattr(search, "LARGE", large)
    entries, queries = _clustered(rng, 3000, spread), _clustered(rng, 700, spread)
    chosen, products = nearest(queries, entries)
    expected = _all_compared(queries, entries)
    np.testing.assert_array_equal(chosen, expected)
    np.testing.assert_allclose(products, (queries * entries[expected]).sum(axis=1), atol=1e-6)


@pytest.mark.parametrize("large", [1000, 10_000])
def test_the_first_of_equal_entries(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    monkeypatch.setattr(search, "LARGE", large)
    entries = _clustered(rng, 500, 0.5)
    twice = np.concatenate([entries, entries[::-1]])
    assert (nearest(entries, twice)[0] == np.arange(500)).all()


def test_texts_without_words_are_rows_of_zeros() -> None:
    rng = np.random.default_rng(2)
    entries = _clustered(rng, 600, 0.5)
    entries[::7] = 0
    queries = _clustered(rng, 50, 0.5)
    queries[3] = 0
    chosen, products = nearest(queries, entries)
    np.testing.assert_array_equal(chosen, _all_compared(queries, entries))
    assert products[3] == 0


@pytest.mark.parametrize(("number", "dimensions"), [(1, 300), (5, 8), (70, 300), (2000, 8)])
def test_small_sets_and_short_vectors(number: int, dimensions: int) -> None:
    rng = np.random.default_rng(3)
    entries, queries = (_unit(rng.normal(size=(size, dimensions))) for size in (number, 90))
    np.testing.assert_array_equal(nearest(queries, entries)[0], _all_compared(queries, entries))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    entries, queries = _clustered(rng, 1000, 0.7), _clustered(rng, 101, 0.7)
    monkeypatch.setattr(search, "LARGE", 1000)
    monkeypatch.setattr(search, "WORTH_IT", 100)
    whole = nearest(queries, entries)
    monkeypatch.setattr(search, "CELLS", 7000)
    for one, other in zip(whole, nearest(queries, entries), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert nearest(queries[:0], entries)[0].shape == (0,)
