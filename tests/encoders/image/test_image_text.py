"""Pictures and texts are embedded once, by content; what cannot be read has a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.cache import Cache
from radgauge.core.errors import ModelError
from radgauge.core.readings import Readings
from radgauge.encoders.image.image_text import Unreadable, image_vectors, text_vectors

image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")


@dataclass(frozen=True)
class Means:
    """Embeds a picture by its mean and height, a text by its length; counts what it was asked."""

    asked: list[object] = field(default_factory=list, compare=False)
    name: str = "means-1"
    constant: float | None = 10.0
    rows: int = 1

    def embed_images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        self.asked.extend(each.shape for each in images)
        return np.array([[each.mean(), len(each)] for each in images] * self.rows, dtype=np.float32)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.extend(texts)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def save(path: Path, value: int, *, height: int = 4) -> Path:
    image.fromarray(np.full((height, 6), value, np.uint8)).save(path)
    return path


def test_equal_pictures_are_embedded_once_and_kept(tmp_path: Path) -> None:
    paths = [save(tmp_path / "a.png", 7), save(tmp_path / "b.png", 7), save(tmp_path / "c.png", 9, height=5)]
    encoder, cache = Means(), Cache(tmp_path / "kept")
    for _ in range(2):  # the second run finds the vectors on disk
        found = image_vectors([*paths, paths[0]], encoder, reading=Readings(cache=cache))
        assert [seen.vector.tolist() for seen in found] == [[7, 4], [7, 4], [9, 5], [7, 4]]
        assert len(encoder.asked) == 2
    assert len(image_vectors(paths, Means(name="means-2"), reading=Readings(cache=cache))) == 3


def test_what_cannot_be_read_has_a_reason_and_is_tried_again(tmp_path: Path) -> None:
    good, bad = save(tmp_path / "a.png", 7), tmp_path / "bad.png"
    bad.write_text("no picture")
    encoder, cache = Means(), Cache(tmp_path / "kept")
    for _ in range(2):
        found = image_vectors([bad, good, tmp_path / "gone.png"], encoder, reading=Readings(cache=cache))
        assert found[1].vector.tolist() == [7, 4]
        assert isinstance(found[0], Unreadable)
        assert "bad.png is not an image" in found[0].reason
        assert "gone.png is not there" in found[2].reason
    assert image_vectors([], encoder, reading=Readings()) == []


def test_texts_are_embedded_once(tmp_path: Path) -> None:
    encoder, cache = Means(), Cache(tmp_path / "kept")
    for _ in range(2):
        found = text_vectors(["clear", "no effusion", "clear"], encoder, reading=Readings(cache=cache))
        assert [vector.tolist() for vector in found] == [[5, 1], [11, 1], [5, 1]]
    assert sorted(encoder.asked) == ["clear", "no effusion"]


def test_a_wrong_number_of_rows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"must give one row per item, got \(2, 2\) for 1"):
        image_vectors([save(tmp_path / "a.png", 7)], Means(rows=2), reading=Readings())
