"""K-means: the best clusters, and the same ones whatever the seed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from radgauge.training.kmeans import kmeans

pytestmark = pytest.mark.nightly

pytest.importorskip("sklearn")


def scattered() -> tuple[np.ndarray, np.ndarray]:
    """Points with many local minima: fifteen groups of unequal size for six centres."""
    rng = np.random.default_rng(5)
    middles = rng.normal(size=(15, 8)) * 2
    points = np.concatenate([m + rng.normal(size=(n, 8)) for m, n in zip(middles, range(6, 36, 2), strict=True)])
    return points, rng.integers(1, 6, len(points)).astype(float)


def test_seeds_agree_and_no_start_of_scikit_learn_is_better() -> None:
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    points, weights = scattered()
    found = [kmeans(points, 6, weights=weights, rng=np.random.default_rng(seed)) for seed in range(3)]
    for one, other in combinations(found, 2):
        assert adjusted_rand_score(one.labels, other.labels) > 0.99
    best = KMeans(6, n_init=50, random_state=0).fit(points, sample_weight=weights).inertia_
    assert all(each.inertia <= best * (1 + 1e-9) for each in found)


def test_the_cost_is_that_of_repeated_points() -> None:
    points = np.array([[0.0], [1.0], [10.0], [12.0]])
    found = kmeans(points, 2, weights=np.array([3.0, 1.0, 1.0, 1.0]), rng=np.random.default_rng(0))
    assert found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]
    assert found.inertia == pytest.approx(3 * 0.25**2 + 0.75**2 + 2 * 1.0)
    alone = kmeans(points, 4, weights=np.ones(4), rng=np.random.default_rng(0))
    assert alone.inertia == pytest.approx(0.0)
