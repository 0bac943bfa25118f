"""Group reports by the indexing terms they carry: TF-IDF of the terms' words, then K-means.

Calamida et al. (2023), Radiology-aware model-based evaluation metric for report generation, arXiv 2311.16764,
section 3 and appendices B and D. The paper does not name its vectoriser; TF-IDF over the words of the terms with
K = 6 finds most of the clusters of its table 5 on IU X-ray (normal, hypoinflation, thoracic vertebrae, calcified
granuloma), though not granulomatous disease as a leading term. TF-IDF, K-means and the scores are scikit-learn's.
K-means runs on the distinct sets of terms, weighted by their counts; another seed can find another local minimum
of its cost (about one start in 300 reached the best known one on IU X-ray).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError, require
from radgauge.core.progress import working

Floats = NDArray[np.float64]
UNUSABLE = frozenset({"no indexing", "technical quality of image unsatisfactory", ""})
"""Terms that say nothing about the findings (section 3)."""
STARTS = 100
"""Starts of K-means for the chosen K."""
TRIED = 10
"""Starts of K-means for each K that is only tried."""
SILHOUETTE_SAMPLE = 2000


def usable_terms(labels: Sequence[str]) -> tuple[str, ...]:
    """Terms in lower case without those that say nothing, in order.

    >>> usable_terms(["Lung/hypoinflation", "No Indexing"])
    ('lung/hypoinflation',)
    """
    terms = (" ".join(label.lower().split()) for label in labels)
    return tuple(term for term in terms if term not in UNUSABLE)


@dataclass(frozen=True, slots=True)
class Trial:
    """K-means with one K: what the choice rests on."""

    k: int  # Number of clusters
    silhouette: float  # Mean silhouette, -1 to 1, higher is better
    inertia: float  # Sum of squared distances to the centres, lower is better and always falling
    calinski_harabasz: float  # Ratio of dispersion between and within clusters, higher is better


@dataclass(frozen=True, eq=False)
class Clusters:
    """Reports in clusters."""

    labels: NDArray[np.intp]  # Cluster of each report; clusters are numbered by falling size
    trials: tuple[Trial, ...]  # The values behind the choice of K, and of K itself if it was given
    plane: Floats  # Each report on the first two principal components
    explained: tuple[float, float]  # Share of the variance that each of the two carries
    # For each cluster its most frequent concatenations of terms, with their counts
    prominent: tuple[tuple[tuple[str, int], ...], ...]

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.prominent)

    @property
    def sizes(self) -> list[int]:
        """Reports in each cluster."""
        return [int(size) for size in np.bincount(self.labels, minlength=self.k)]


@working("clustering")
def cluster_terms(
    terms: Sequence[Sequence[str]], *, k: int | None = None, k_range: tuple[int, int] = (2, 12), seed: int = 0
) -> Clusters:
    """Cluster reports by their terms.

    Args:
        terms: Usable terms of each report, at least one each.
        k: Number of clusters; None chooses it, see `choose_k`.
        k_range: Smallest and largest K tried.
        seed: Of K-means and of the sample for the silhouette.
    """
    documents = [" ".join(words) for words in terms]
    distinct = len(set(documents))
    low, high = k_range
    if not 1 <= low <= high or (k is not None and k < 1):
        raise UsageError(
            f"the number of clusters must be 1 or more and the range must rise, got {k or f'{low} to {high}'}"
        )
    if k is not None and distinct < k:
        raise InputError(
            f"{k} clusters need at least {k} different sets of terms, got {distinct} in {len(documents)} "
            "reports; ask for fewer clusters"
        )
    # a small corpus has fewer clusters to try; the criteria are not defined for a report per cluster
    tried = set(range(low, min(high, distinct, len(documents) - 1) + 1)) | ({k} if k is not None else set())
    vectors = _vectors(documents)
    _, first, inverse, counts = np.unique(documents, return_index=True, return_inverse=True, return_counts=True)
    points = vectors[first].toarray()

    def fit(number: int, starts: int) -> Any:
        kmeans = require("sklearn.cluster", extra="fit").KMeans
        return kmeans(number, n_init=starts, random_state=seed).fit(points, sample_weight=counts)

    fits = {number: fit(number, STARTS if number == k else TRIED) for number in sorted(tried or {1})}
    trials = tuple(_trial(vectors, fits[number], inverse, seed) for number in fits)
    chosen = k if k is not None else choose_k(trials)
    best = fits[chosen] if chosen == k else fit(chosen, STARTS)
    trials = tuple(_trial(vectors, best, inverse, seed) if trial.k == chosen else trial for trial in trials)
    labels = _by_size(best.labels_[inverse])
    plane, explained = _plane(vectors)
    prominent = tuple(
        tuple(Counter(documents[at] for at in np.flatnonzero(labels == number)).most_common(5))
        for number in range(chosen)
    )
    return Clusters(labels, trials, plane, explained, prominent)


def choose_k(trials: Sequence[Trial]) -> int:
    """The K whose mean rank by the three criteria is best; the smaller one if two are equal.

    Silhouette and Calinski-Harabasz rank by their values. Inertia always falls, so it ranks by how far the curve
    lies below the straight line from its first to its last point: the elbow. The first and the last K cannot
    be an elbow and are not chosen unless there is nothing between them.

    >>> curve = [(2, 0.40, 100.0, 90.0), (3, 0.50, 60.0, 80.0), (4, 0.45, 55.0, 50.0), (5, 0.44, 50.0, 40.0)]
    >>> choose_k([Trial(*values) for values in curve])
    3
    """
    if len(trials) < 3:
        return max(trials, key=lambda trial: trial.silhouette).k
    inertia = np.array([trial.inertia for trial in trials])
    line = np.linspace(inertia[0], inertia[-1], len(trials))
    criteria = np.array(
        [
            [trial.silhouette for trial in trials],
            [trial.calinski_harabasz for trial in trials],
            line - inertia,
        ]
    )[:, 1:-1]
    ranks = (-criteria).argsort(axis=1, kind="stable").argsort(axis=1).mean(axis=0)
    return trials[1 + int(ranks.argmin())].k


def _vectors(documents: Sequence[str]) -> Any:
    text = require("sklearn.feature_extraction.text", extra="fit")
    try:
        return text.TfidfVectorizer().fit_transform(documents)
    except ValueError as error:
        raise InputError(f"the terms must hold words, got: {error}") from None


def _trial(vectors: Any, fit: Any, inverse: NDArray[np.intp], seed: int) -> Trial:
    metrics = require("sklearn.metrics", extra="fit")
    k, labels = len(fit.cluster_centers_), fit.labels_[inverse]
    if not 1 < k < vectors.shape[0]:
        return Trial(k, float("nan"), float(fit.inertia_), float("nan"))
    size = min(SILHOUETTE_SAMPLE, vectors.shape[0])
    return Trial(
        k=k,
        silhouette=float(
            metrics.silhouette_score(
                vectors, labels, sample_size=size if size < vectors.shape[0] else None, random_state=seed
            )
        ),
        inertia=float(fit.inertia_),
        calinski_harabasz=float(metrics.calinski_harabasz_score(vectors.toarray(), labels)),
    )


def _by_size(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    order = np.argsort(-np.bincount(labels), kind="stable")
    new = np.empty(len(order), dtype=np.intp)
    new[order] = np.arange(len(order))
    return new[labels]


def _plane(vectors: Any) -> tuple[Floats, tuple[float, float]]:
    """Principal components; few words, so the dense matrix is small (198 columns for all of IU X-ray)."""
    centred = vectors.toarray() - np.asarray(vectors.mean(axis=0))
    scatter = centred.T @ centred
    values, directions = np.linalg.eigh(scatter)
    top = directions[:, ::-1][:, :2]
    top = top * np.where(top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])] < 0, -1.0, 1.0)
    plane: Floats = centred @ top
    if plane.shape[1] < 2:
        plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    shares = [*(values[::-1][:2] / max(float(values.sum()), 1e-12)), 0.0, 0.0]
    return plane, (float(shares[0]), float(shares[1]))
