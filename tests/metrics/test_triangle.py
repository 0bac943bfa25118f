"""Areas, radii and cosines that can be checked with a pencil, and ones that rounding would spoil."""

from __future__ import annotations

import math

import numpy as np
import pytest

from radgauge.metrics._triangle import bounding_radius, cosine, elasticities, sides, triangle_area


def rows(*points: object) -> list[np.ndarray]:
    return [np.atleast_2d(np.asarray(point, dtype=np.float64)) for point in points]


@pytest.mark.parametrize(
    ("image", "candidate", "reference", "area"),
    [
        ([0, 0, 0], [3, 0, 0], [0, 4, 0], 6.0),
        ([1, 1, 1, 1], [2, 1, 1, 1], [1, 3, 1, 1], 1.0),
        ([0, 0], [1, 1], [2, 2], 0.0),  # on a line
        ([5, 5], [5, 5], [1, 2], 0.0),  # the candidate is where the image is
        ([5, 5], [1, 2], [1, 2], 0.0),  # a copy
        ([7, 7], [7, 7], [7, 7], 0.0),
    ],
)
def test_areas_by_hand(image: list, candidate: list, reference: list, area: float) -> None:
    assert triangle_area(*rows(image, candidate, reference))[0] == pytest.approx(area, abs=1e-15)


def test_areas_are_the_papers_formula() -> None:
    rng = np.random.default_rng(0)
    i, g, r = rng.normal(size=(3, 200, 768))
    a, b = i - g, i - r
    formula = 0.5 * np.sqrt((a * a).sum(1) * (b * b).sum(1) - (a * b).sum(1) ** 2)
    assert np.allclose(triangle_area(i, g, r), formula, rtol=1e-12)
    for order in ((g, i, r), (r, g, i), (i, r, g)):
        assert np.allclose(triangle_area(*order), formula, rtol=1e-12)


def test_thin_triangles_keep_their_digits() -> None:
    rng = np.random.default_rng(1)
    image = 1e3 * rng.normal(size=(50, 768))
    along = rng.normal(size=(50, 768))
    across = rng.normal(size=(50, 768))
    across -= (across * along).sum(1, keepdims=True) / (along * along).sum(1, keepdims=True) * along
    far, gap = image + 1e3 * along, 1e-4 * across
    expected = 0.5 * np.linalg.norm(1e3 * along, axis=1) * np.linalg.norm(far + gap - far, axis=1)
    found = triangle_area(image, far, far + gap)
    assert np.allclose(found, expected, rtol=1e-6)
    a, b = image - far, image - far - gap
    radicand = (a * a).sum(1) * (b * b).sum(1) - (a * b).sum(1) ** 2
    formula = 0.5 * np.sqrt(np.clip(radicand, 0, None))
    assert np.abs(formula / expected - 1).max() > 1e-2  # what subtracting squares makes of them


def test_collinear_points_never_give_nan() -> None:
    rng = np.random.default_rng(2)
    start, step = rng.normal(size=(2, 1000, 48)).astype(np.float32)
    far = start + step * rng.uniform(-3, 3, size=(1000, 1)).astype(np.float32)
    found = triangle_area(start, start + step, far)
    assert np.isfinite(found).all()
    assert found.max() < 1e-4
    assert np.isfinite(bounding_radius(start, start + step, far)).all()


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        (([0, 0], [1, 0], [0.5, math.sqrt(3) / 2]), 1 / math.sqrt(3)),  # equal sides: the circle through them
        (([0, 0], [4, 0], [1, 0.5]), 2.0),  # obtuse: half the longest side
        (([0, 0], [3, 0], [0, 4]), 2.5),  # a right angle: both
        (([0, 0], [1, 0], [2, 0]), 1.0),
        (([1, 1], [1, 1], [1, 1]), 0.0),
        (([1, 1], [1, 1], [1, 3]), 1.0),
    ],
)
def test_radii_by_hand(points: tuple, radius: float) -> None:
    for order in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        assert bounding_radius(*rows(*(points[at] for at in order)))[0] == pytest.approx(radius, abs=1e-12)


def test_the_sphere_holds_all_points_and_no_smaller_one_does() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(3, 3)) * rng.uniform(0.1, 3, size=(3, 1))
        best = min(
            minimize(lambda c, p=points: np.linalg.norm(p - c, axis=1).max(), start, method="Nelder-Mead").fun
            for start in points
        )
        assert bounding_radius(*rows(*points))[0] == pytest.approx(best, rel=1e-3)


def test_cosines() -> None:
    assert cosine(*rows([1, 0], [1, 1]))[0] == pytest.approx(math.sqrt(0.5))
    assert cosine(*rows([1, 0], [-2, 0]))[0] == -1
    assert cosine(*rows([0, 0], [0, 0]))[0] == 1  # equal, whatever the direction
    assert np.isnan(cosine(*rows([0, 0], [1, 0]))[0])


def test_sides_and_their_effects() -> None:
    lengths = sides(*rows([0, 0], [3, 0], [0, 4]))
    assert lengths.tolist() == [[3, 4, 5]]
    effects = elasticities(lengths)[0]
    assert effects.sum() == pytest.approx(2)
    assert effects[2] == pytest.approx(0)  # at a right angle the long side, stretched, neither adds nor takes
    longer = sides(*rows([0, 0], [3.0, 0], [0, 4.04]))  # a small step of one leg only
    assert triangle_area(*rows([0, 0], [3, 0], [0, 4.04]))[0] == pytest.approx(6.06)
    assert longer[0, 1] == pytest.approx(4.04)
    assert np.isnan(elasticities(np.array([[1.0, 1.0, 2.0], [0.0, 1.0, 1.0]]))[0]).all()
