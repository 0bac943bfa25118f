"""Resize images exactly as the libraries do with which published networks were trained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import require
from radgauge.images.limits import Grey

_ONE = 2048  # OpenCV's fixed-point weights of a linear resize


def resize_pil(picture: Grey, height: int, width: int, *, filter: str = "BILINEAR") -> Grey:
    """As pillow does: filters that widen when the picture shrinks."""
    image = require("PIL.Image", extra="image")
    resized = image.fromarray(picture).resize((width, height), getattr(image.Resampling, filter))
    return np.asarray(resized, dtype=np.uint8)


def resize_area(picture: Grey, height: int, width: int) -> Grey:
    """As OpenCV's INTER_AREA does: the mean over the area that a new pixel covers; near-linear when enlarging.

    >>> resize_area(np.array([[0, 10, 20, 30]], dtype=np.uint8), 1, 2)
    array([[ 5, 25]], dtype=uint8)
    """
    if picture.shape == (height, width):
        return picture.copy()
    if picture.shape[0] < height or picture.shape[1] < width:
        return _enlarged(picture, height, width)
    rows, columns = _shares(picture.shape[0], height), _shares(picture.shape[1], width)
    exact = rows @ picture.astype(np.float32) @ columns.T
    halves = picture.shape == (2 * height, 2 * width)  # for which OpenCV has a rule of its own: .5 goes up
    return _grey(np.floor(exact + 0.5) if halves else np.rint(exact))


def _shares(old: int, new: int) -> NDArray[np.float32]:
    """Share of each old pixel in each new one: (new, old), rows that sum to 1."""
    scale = old / new
    edges = np.arange(new + 1) * scale
    begins, ends = np.arange(old), np.arange(1, old + 1)
    covered = np.minimum(edges[1:, None], ends) - np.maximum(edges[:-1, None], begins)
    covered = np.clip(covered, 0.0, None)
    covered[covered < 1e-3] = 0.0  # OpenCV leaves out slivers
    shares: NDArray[np.float32] = (covered / covered.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _enlarged(picture: Grey, height: int, width: int) -> Grey:
    """OpenCV's rule for INTER_AREA when a side grows: linear, but only across the borders of old pixels."""
    top, bottom, down = _neighbours(picture.shape[0], height)
    left, right, across = _neighbours(picture.shape[1], width)
    pixels = picture.astype(np.int64)
    lines = (pixels[:, left] * (_ONE - across) + pixels[:, right] * across) >> 4
    upper, lower = lines[top] * (_ONE - down)[:, None], lines[bottom] * down[:, None]
    mixed = ((upper >> 16) + (lower >> 16) + 2) >> 2  # OpenCV's integer arithmetic, bit by bit
    return _grey(mixed)


def _neighbours(old: int, new: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """For each new pixel the old one, the next, and the weight of the next in 1/2048."""
    at = np.floor(np.arange(new) * (old / new)).astype(np.intp)
    share = (np.arange(new) + 1) - (at + 1) * (new / old)
    share = np.where(share <= 0, 0.0, share - np.floor(share))
    share[at >= old - 1] = 0.0
    return np.minimum(at, old - 1), np.minimum(at + 1, old - 1), np.rint(share * _ONE).astype(np.int64)


def _grey(values: NDArray[np.float32] | NDArray[np.int64]) -> Grey:
    return np.asarray(np.clip(values, 0, 255), dtype=np.uint8)
