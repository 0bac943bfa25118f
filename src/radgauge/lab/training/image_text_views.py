"""Content of images, learned from their features: the view, and what is no upright chest radiograph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from radgauge.encoders.image.picture_side import Direction, ViewLayer

Numbers = NDArray[np.float32]
Matrix = NDArray[np.float64]

_LEAST_SPREAD = 1e-3
_COMPONENTS = 60  # ways in which pictures of a view mostly differ
_ROUNDS = 5
_RARE = 0.05  # a view that fewer pictures show is not told apart
_HIGHEST = 0.999  # share of real pictures that a limit must let pass, on pictures that it was not learned from


def view_direction(numbers: Numbers, first: NDArray[np.bool_]) -> Direction:
    """Above 0 for frontal pictures.

    Collections put the frontal picture first, but not always (in the Indiana collection's usual form one study in
    ten has the lateral first): the direction that separates first from further pictures is found, pictures are
    called by it, and so on until the calls stay.

    Args:
        numbers: Of every picture.
        first: Whether a picture is the first of its study.
    """
    if first.all() or not first.any():
        return _none(numbers)
    frontal = first
    for _ in range(_ROUNDS):
        direction = _between(numbers, frontal)
        called = direction(numbers) > 0
        if min(called.mean(), 1 - called.mean()) < _RARE:
            return _none(numbers)
        if (called == frontal).all():
            break
        frontal = called
    return direction


def changed_direction(real: Numbers, changed: Numbers) -> tuple[Direction, float]:
    """A direction that is high for changed pictures, and its limit.

    The limit is set on the half of the pictures that the direction is not learned from: midway between what the
    highest real pictures and the lowest changed ones have. The direction itself is then learned from all.
    """

    def learned(one: Numbers, two: Numbers) -> Direction:
        return _between(np.vstack([one, two]), np.arange(len(one) + len(two)) >= len(one))

    half = learned(real[::2], changed[::2])
    high = float(np.quantile(half(real[1::2]), _HIGHEST))
    low = float(np.quantile(half(changed[1::2]), 1 - _HIGHEST))
    return learned(real, changed), max((high + low) / 2, high)


def view_layer(numbers: Numbers, matrix: Matrix) -> ViewLayer:
    """Centre, spread and usual differences of the pictures of one view, and its matrix."""
    centre, spread = _centre(numbers)
    scaled = (numbers - centre) / spread
    width = scaled.shape[1]
    number = min(_COMPONENTS, max(1, len(numbers) // 8), max(1, width // 4))
    _, basis = eigh(scaled.T @ scaled, subset_by_index=(width - number, width - 1))
    rest = scaled - (scaled @ basis) @ basis.T
    unlike = float((rest**2).mean()) or 1.0
    return ViewLayer(_short(centre), _short(spread), _short(matrix), _short(basis), unlike)


def distance_limit(numbers: Numbers) -> float:
    """The distance that hardly any picture of a view reaches, on pictures that it was not learned from."""
    nothing = np.zeros((numbers.shape[1], 1))
    held_out = view_layer(numbers[::2], nothing).distance(numbers[1::2]) if len(numbers) > 1 else np.ones(1)
    return 1.25 * float(np.quantile(held_out, _HIGHEST))


def _centre(numbers: Numbers) -> tuple[Matrix, Matrix]:
    values = numbers.astype(np.float64)
    return values.mean(axis=0), values.std(axis=0) + _LEAST_SPREAD


def _between(numbers: Numbers, high: NDArray[np.bool_]) -> Direction:
    """The regularised direction from one kind of pictures to the other (Fisher), both counting the same."""
    centre, spread = _centre(numbers)
    scaled = (numbers - centre) / spread
    weight = np.where(high, 0.5 / max(high.sum(), 1), 0.5 / max((~high).sum(), 1))
    scatter = (scaled * weight[:, None]).T @ scaled + np.eye(scaled.shape[1])
    vector = np.linalg.solve(scatter, scaled.T @ (weight * np.where(high, 1.0, -1.0))) / spread
    middle = (numbers[high].mean(axis=0) + numbers[~high].mean(axis=0)) / 2
    return Direction(_short(vector), -float(middle @ vector))


def _none(numbers: Numbers) -> Direction:
    """Views cannot be told apart: every picture counts as frontal."""
    return Direction(np.zeros(numbers.shape[1], np.float32), 1.0)


def _short(values: Matrix) -> Numbers:
    return np.ascontiguousarray(values, dtype=np.float32)
