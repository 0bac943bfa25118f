"""Three points of a high-dimensional space: area, bounding sphere, cosines; arrays of points, row by row.

Everything is computed from difference vectors in double precision, without subtracting squares: nearly collinear
and coincident points give areas near and at 0, never the root of a negative number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.floating]
Values = NDArray[np.float64]


def sides(image: Points, candidate: Points, reference: Points) -> Values:
    """Distances image-candidate, image-reference, candidate-reference; shape (n, 3)."""
    i, g, r = (np.asarray(points, dtype=np.float64) for points in (image, candidate, reference))
    return np.stack([np.linalg.norm(d, axis=1) for d in (i - g, i - r, g - r)], axis=1)


def triangle_area(image: Points, candidate: Points, reference: Points) -> Values:
    """Area of each triangle: half the shortest side times the height over it.

    The height is what is left of the second-shortest side once its part along the shortest is taken away; that
    loses no digits to the long sides, however thin the triangle.

    >>> triangle_area(*(np.array([point]) for point in ([0.0, 0.0], [3.0, 0.0], [0.0, 4.0])))
    array([6.])
    """
    i, g, r = (np.asarray(points, dtype=np.float64) for points in (image, candidate, reference))
    edges = np.stack([g - i, r - i, r - g])
    lengths = np.linalg.norm(edges, axis=2)
    order = np.argsort(lengths, axis=0, kind="stable")
    rows = np.arange(len(i))
    short, second = edges[order[0], rows], edges[order[1], rows]
    base = lengths[order[0], rows]
    unit = np.divide(short, base[:, None], out=np.zeros_like(short), where=base[:, None] > 0)
    height = second
    for _ in range(2):  # the second pass removes what rounding left in the first
        height = height - np.sum(height * unit, axis=1, keepdims=True) * unit
    return np.asarray(0.5 * base * np.linalg.norm(height, axis=1))


def bounding_radius(image: Points, candidate: Points, reference: Points) -> Values:
    """Radius of the smallest sphere that holds the three points.

    Half the longest side, unless the triangle has only acute angles: then the radius of the circle through them.
    """
    lengths = np.sort(sides(image, candidate, reference), axis=1)
    area = triangle_area(image, candidate, reference)
    acute = lengths[:, 0] ** 2 + lengths[:, 1] ** 2 > lengths[:, 2] ** 2
    through = np.divide(lengths.prod(axis=1), 4 * area, out=np.zeros_like(area), where=acute & (area > 0))
    return np.where(acute & (area > 0), through, lengths[:, 2] / 2)


def cosine(left: Points, right: Points) -> Values:
    """Cosine of each pair of vectors; 1 where they are equal, NaN where one alone is zero."""
    a, b = (np.asarray(points, dtype=np.float64) for points in (left, right))
    product = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.full(len(a), np.nan)
    np.divide(np.sum(a * b, axis=1), product, out=cosines, where=product > 0)
    cosines[np.all(a == b, axis=1)] = 1.0
    clipped: Values = np.clip(cosines, -1.0, 1.0)
    return clipped


def elasticities(lengths: Values) -> Values:
    """By how many percent the area grows if one side grows by a percent; each row sums to 2, NaN without area.

    >>> elasticities(np.array([[1.0, 1.0, 1.0]])).round(3)
    array([[0.667, 0.667, 0.667]])
    """
    squares = np.asarray(lengths, dtype=np.float64) ** 2
    total = squares.sum(axis=1, keepdims=True)
    sixteen = np.sum(squares * (total - 2 * squares), axis=1, keepdims=True)  # 16 times the squared area
    slopes = np.full(squares.shape, np.nan)
    small = 1e-12 * total**2
    np.divide(2 * squares * (total - 2 * squares), sixteen, out=slopes, where=sixteen > small)
    return slopes
