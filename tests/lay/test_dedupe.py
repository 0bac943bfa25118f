"""De-duplication gives what the naive algorithm gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from radgauge.lay import dedupe
from radgauge.lay.dedupe import deduplicate, distinct_sentences, normal_sentence
from radgauge.lay.encoder import FindingEncoder
from radgauge.run.engines import Engine
from radgauge.text.static_embedding import StaticEncoder


class Rows:
    """An encoder whose texts are row numbers."""

    signature = "rows"

    def __init__(self, rows: NDArray[np.float32], batch_size: int = 0) -> None:
        self.rows, self.batch_size = rows, batch_size
        self.calls: list[int] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        return self.rows[[int(text) for text in texts]]

    def read(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return list(self.encode(texts))


def naive(rows: NDArray[np.float32], threshold: float) -> list[int]:
    kept: list[int] = []
    exact = rows.astype(np.float64)
    for place, row in enumerate(exact):
        if row.any() and all(float(exact[other] @ row) <= threshold for other in kept):
            kept.append(place)
    return kept


def rows_of(seed: int, count: int, clusters: int, spread: float) -> NDArray[np.float32]:
    """Unit vectors around some centres, with copies and zero rows among them."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, 8))
    rows = centres[rng.integers(clusters, size=count)] + spread * rng.standard_normal((count, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[rng.random(count) < 0.05] = 0
    copies = rng.random(count) < 0.2
    rows[copies] = rows[rng.integers(count, size=copies.sum())]
    return rows.astype(np.float32)


@settings(max_examples=300)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 70),
    st.integers(1, 12),
    st.sampled_from([0.02, 0.1, 0.3, 1.0]),
    st.sampled_from([-0.2, 0.0, 0.5, 0.8, 0.95, 1.0]),
    st.sampled_from([1, 3, 16, 1024]),
    st.sampled_from([(99, 0.0, 1 << 25), (3, 0.0, 64), (3, 0.3, 64), (2, 1.0, 1 << 25)]),
)
def test_same_as_the_naive_algorithm(
    seed: int,
    count: int,
    clusters: int,
    spread: float,
    threshold: float,
    block: int,
    bound: tuple[int, float, int],
) -> None:
    """Whatever the blocks, and whether pairs are measured all, after a bound, or now this and now that."""
    rows = rows_of(seed, count, clusters, spread)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("HEAD", "FEW", "CELLS", "BLOCK", "ENOUGH"), (*bound, block, 1), strict=True):
            patch.setattr(dedupe, name, value)
        found = deduplicate([str(n) for n in range(count)], encoder=Rows(rows, 20), threshold=threshold)
    assert found.kept.tolist() == naive(rows, threshold)
    exact = rows.astype(np.float64)
    for place, of in enumerate(found.copy_of.tolist()):
        if of < 0:
            assert not rows[place].any()
        elif of != place:
            assert of < place
            assert of in found.kept
            assert exact[of] @ exact[place] > threshold


def test_products_at_the_threshold_are_decided_exactly() -> None:
    """Rows whose product is one 32-bit step above or below the threshold."""
    rows = []
    for step in range(-20, 21):
        x = np.float32(0.8) + np.float32(step) * np.float32(2**-25)
        rows.append([x, np.sqrt(1 - np.float64(x) ** 2)])
    for each in rows:
        table = np.array([[1, 0], each], dtype=np.float32)
        found = deduplicate(["0", "1"], encoder=Rows(table), threshold=0.8)
        assert found.kept.tolist() == naive(table, 0.8), each


def test_vectors_are_asked_for_in_pieces() -> None:
    encoder = Rows(rows_of(1, 5000, 50, 0.5), batch_size=2048)
    told: list[tuple[str, int, int]] = []
    deduplicate([str(n) for n in range(5000)], encoder=encoder, progress=lambda *news: told.append(news))
    assert encoder.calls == [2048, 2048, 904]
    assert told[-1] == ("sentences", 5000, 5000)


def test_the_same_words_are_one_sentence() -> None:
    found = distinct_sentences(
        ["No effusion.", "no  effusion", "NO EFFUSION!", "...", "---", "Clear\tlungs.", "(No effusion.)"]
    )
    assert found == {"no effusion": "No effusion.", "clear lungs": "Clear lungs."}
    for one, other in (("2.5 cm nodule", "25 cm nodule"), ("<5 mm", "5 mm"), ("Pneumonia?", "Pneumonia.")):
        assert normal_sentence(one) != normal_sentence(other)


def test_the_embedded_encoder_keeps_opposites() -> None:
    sentences = [
        "There is a left pleural effusion.",
        "Left pleural effusion is present.",
        "There is no left pleural effusion.",
        "XXXX XXXX.",
    ]
    found = deduplicate(sentences, encoder=FindingEncoder())
    assert found.kept.tolist() == [0, 2]
    assert found.copy_of.tolist() == [0, 0, 2, -1]


def test_two_processes_keep_the_same_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe, "BLOCK", 4)
    sentences = [
        f"{size} {side} {what}."
        for size in ("Small", "Large", "No")
        for side in ("left", "right")
        for what in ("pleural effusion", "effusion", "pneumothorax")
    ]
    one, two = (
        deduplicate(sentences, encoder=StaticEncoder(), engine=engine) for engine in (Engine(), Engine("pool", 2))
    )
    assert 1 < len(one.kept) < len(sentences)
    assert one.kept.tolist() == two.kept.tolist()
    assert one.copy_of.tolist() == two.copy_of.tolist()
