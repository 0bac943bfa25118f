"""From the numbers of an image network to vectors, one layer per view; and what is no chest radiograph.

Frontal and lateral pictures differ more from each other than studies do, so each view has a centre, a spread and a
layer of its own; which view a picture shows is told from the picture. The same numbers tell what the layers were
not made for: pictures far from all that were learned from, inverted ones, turned ones. A picture without contrast
is told by its grey levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

VIEWS = ("frontal", "lateral")
SIGNS = ("view", "distance", "inverted", "turned", "contrast")
"""Numbers that follow a picture's vector: above 0 for frontal; the others are compared with their limits."""
LEAST_CONTRAST = 4.0
"""Grey levels (standard deviation) below which a picture is blank; of 4,730 pictures of a real collection one
has less, which is blank, and the next has 18.6."""


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """A picture as an encoder sees it."""

    vector: Vectors
    view: str = ""  # frontal or lateral; "" if the encoder cannot tell
    # Why it should not be judged ("is blank"); "" if nothing speaks against it or nobody looked
    objection: str = ""


@dataclass(frozen=True, eq=False)
class Direction:
    """A number from numbers: numbers @ vector + offset."""

    vector: Vectors
    offset: float

    def __call__(self, numbers: Vectors) -> Vectors:
        """One number per row."""
        projected: Vectors = (numbers @ self.vector + np.float32(self.offset)).astype(np.float32)
        return projected


@dataclass(frozen=True, eq=False)
class ViewLayer:
    """Learned layer of one view."""

    centre: Vectors
    spread: Vectors
    matrix: Vectors  # (numbers, length of a vector), for numbers that are centred and divided by their spread
    basis: Vectors  # (numbers, components): how pictures of this view mostly differ from each other
    unlike: float  # What is usually left of a picture beside these components (mean square)

    def scaled(self, numbers: Vectors) -> Vectors:
        """Means as the matrix takes them."""
        standardised: Vectors = (numbers - self.centre) / self.spread
        return standardised

    def distance(self, numbers: Vectors) -> Vectors:
        """Residual of each image that the components do not explain, as a multiple of what is usual."""
        scaled = self.scaled(numbers)
        rest = scaled - (scaled @ self.basis) @ self.basis.T
        distances: Vectors = (rest**2).mean(axis=1) / np.float32(self.unlike)
        return distances


@dataclass(frozen=True, eq=False)
class PictureSide:
    """The image side behind its network."""

    view: Direction  # Above 0 for frontal
    layers: tuple[ViewLayer, ViewLayer]  # By view, in the order of `VIEWS`
    inverted: Direction  # Above its limit for pictures whose grey levels are inverted
    turned: Direction  # The same for pictures that are turned by a quarter or a half
    limits: Mapping[str, float]  # Of distance, inverted and turned

    @property
    def directions(self) -> tuple[Direction, Direction, Direction]:
        """As they stand in a file."""
        return self.view, self.inverted, self.turned

    def rows(self, numbers: Vectors) -> Vectors:
        """Vectors of length one, with the signs but for the contrast behind them."""
        view = self.view(numbers)
        projected = np.empty((len(numbers), self.layers[0].matrix.shape[1] + len(SIGNS) - 1), np.float32)
        for layer, of_view in zip(self.layers, (view > 0, view <= 0), strict=True):
            vectors = layer.scaled(numbers[of_view]) @ layer.matrix
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            projected[of_view, : vectors.shape[1]] = vectors / np.where(lengths > 0, lengths, 1)
            projected[of_view, vectors.shape[1] + 1] = layer.distance(numbers[of_view])
        first = self.layers[0].matrix.shape[1]
        projected[:, first] = view
        projected[:, first + 2], projected[:, first + 3] = self.inverted(numbers), self.turned(numbers)
        return projected

    def objection(self, signs: Mapping[str, float]) -> str:
        """Why a picture should not be judged; "" if it should.

        Args:
            signs: By the names in `SIGNS`.
        """
        if signs["contrast"] < LEAST_CONTRAST:
            return "is blank"
        if signs["distance"] > self.limits["distance"]:
            return "does not look like a chest radiograph"
        if signs["inverted"] > self.limits["inverted"]:
            return "looks inverted (air should be dark, bone bright)"
        if signs["turned"] > self.limits["turned"]:
            return "looks turned (the head should be up)"
        return ""


def view_of(sign: float) -> str:
    """The view that a sign stands for."""
    return VIEWS[0] if sign > 0 else VIEWS[1]


def pack_side(side: PictureSide) -> dict[str, NDArray[Any]]:
    """Arrays for a file."""
    parts: dict[str, NDArray[Any]] = {
        "limits": np.array([side.limits[name] for name in SIGNS[1:4]], np.float32),
        "unlike": np.array([layer.unlike for layer in side.layers], np.float32),
        "offsets": np.array([direction.offset for direction in side.directions], np.float32),
        "directions": np.stack([direction.vector for direction in side.directions]).astype(np.float32),
    }
    for name, layer in zip(VIEWS, side.layers, strict=True):
        parts[f"{name}_centre"], parts[f"{name}_spread"] = layer.centre, layer.spread
        parts[f"{name}_matrix"], parts[f"{name}_basis"] = layer.matrix.astype("f2"), layer.basis.astype("f2")
    return parts


def unpack_side(parts: Mapping[str, Any]) -> PictureSide:
    """The side in arrays that `pack_side` made."""
    directions = [
        Direction(vector, float(offset))
        for vector, offset in zip(parts["directions"], parts["offsets"], strict=True)
    ]
    layers = [
        ViewLayer(
            parts[f"{name}_centre"],
            parts[f"{name}_spread"],
            parts[f"{name}_matrix"].astype(np.float32),
            parts[f"{name}_basis"].astype(np.float32),
            float(unlike),
        )
        for name, unlike in zip(VIEWS, parts["unlike"], strict=True)
    ]
    limits = dict(zip(SIGNS[1:4], map(float, parts["limits"]), strict=True))
    return PictureSide(directions[0], (layers[0], layers[1]), directions[1], directions[2], limits)
