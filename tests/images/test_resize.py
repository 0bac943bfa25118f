"""Pictures shrink and grow by the rules of pillow and OpenCV."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from radgauge.images.resize import resize_area, resize_pil

FIXTURE = Path(__file__).parents[1] / "data" / "parity" / "vlscore" / "fixture.json"


def noise(seed: int, height: int, width: int) -> np.ndarray:
    return np.random.RandomState(seed).randint(0, 256, (height, width)).astype(np.uint8)


def test_area_is_opencvs() -> None:
    recorded = json.loads(FIXTURE.read_text(encoding="utf-8"))
    for seed, (job, expected) in enumerate(zip(recorded["areas"], recorded["area"], strict=True)):
        height, width, new_height, new_width = job
        small = resize_area(noise(seed, height, width), new_height, new_width).astype(int)
        found = [*small.sum(axis=0), *small.sum(axis=1), *small[:3, :3].ravel()]
        # Single pixels may differ by one where a mean of single precision falls on a half.
        assert np.abs(np.array(found) - np.array(expected)).max() <= 2, job


@pytest.mark.parametrize("resize", [resize_area, resize_pil])
def test_a_flat_picture_stays_flat(resize) -> None:
    if resize is resize_pil:
        pytest.importorskip("PIL", reason="the extra 'image' is not installed")
    for shape in ((7, 5), (40, 90), (10, 90)):
        found = resize(np.full((20, 45), 93, np.uint8), *shape)
        assert found.shape == shape
        assert np.unique(found).tolist() == [93]


def test_whole_factors_are_plain_means() -> None:
    picture = noise(0, 60, 90)
    blocks = picture.reshape(20, 3, 30, 3).mean(axis=(1, 3))
    assert np.abs(resize_area(picture, 20, 30) - blocks).max() <= 0.5
    halves = picture.reshape(30, 2, 45, 2).astype(int).sum(axis=(1, 3))
    assert np.array_equal(resize_area(picture, 30, 45), (halves + 2) >> 2)
    assert np.array_equal(resize_area(picture, 60, 90), picture)


def test_pil_is_pillow() -> None:
    Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
    picture = noise(1, 61, 90)
    expected = np.asarray(Image.fromarray(picture).resize((30, 20), Image.Resampling.BICUBIC))
    assert np.array_equal(resize_pil(picture, 20, 30, filter="BICUBIC"), expected)
