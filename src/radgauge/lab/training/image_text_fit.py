"""The layers of an image-text encoder, in closed form.

Directions in which pictures and reports correlate most (regularised canonical correlations, Hotelling 1936; Vinod
1976) between both views' numbers side by side and the rows of the reports give the text side. Ways in which
reports differ that state the same are added to the reports' covariance as if they were noise, so that the
directions keep away from them. Each view's layer is then the ridge regression of the text side's vectors on its
pictures' numbers: a study with one view lands where the same study with two views lands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular, svd

from radgauge.lab.training.image_text_settings import ImageTextSettings

Matrix = NDArray[np.float64]

_COMPONENTS = 300  # of the reports: rarer ways to differ are mostly noise
_POWER = 2.0  # a direction counts by its correlation to this power


@dataclass(frozen=True, eq=False)
class Layers:
    """(row - centre) @ text for reports; one matrix per view, for its pictures' scaled numbers."""

    centre: Matrix
    text: Matrix
    views: tuple[Matrix, ...]


def fit_layers(
    pictures: tuple[Matrix, ...],
    owners: tuple[NDArray[np.intp], ...],
    rows: NDArray[np.float32],
    reworded: NDArray[np.float32],
    *,
    settings: ImageTextSettings,
) -> Layers:
    """Both sides' layers.

    Args:
        pictures: By view: scaled numbers of its pictures.
        owners: By view: the study of each picture.
        rows: Scaled row of every study's report.
        reworded: Differences between rows of reports that state the same.
        settings: Ridges, weight of the rewordings, dimensions.
    """
    studies = len(rows)
    beside = np.hstack([_by_study(*view, studies=studies) for view in zip(pictures, owners, strict=True)])
    centre = rows.mean(axis=0, dtype=np.float64)
    _, components = eigh((rows - centre).T @ (rows - centre))
    components = components[:, ::-1][:, :_COMPONENTS]
    reports = (rows - centre) @ components
    covariance = reports.T @ reports / studies
    ridge = settings.report_ridge * np.trace(covariance) / rows.shape[1] + 1e-9
    if len(reworded):
        apart = reworded.astype(np.float64) @ components
        covariance = covariance + settings.rewording * (apart.T @ apart) / len(apart)
    left = cholesky(beside.T @ beside / studies + settings.picture_ridge * np.eye(beside.shape[1]), lower=True)
    right = cholesky(covariance + ridge * np.eye(len(covariance)), lower=True)
    between = solve_triangular(left, beside.T @ reports / studies, lower=True)
    between = solve_triangular(right, between.T, lower=True).T
    _, strength, two = svd(between, full_matrices=False)
    n_dimensions = settings.dimensions
    text = components @ solve_triangular(right.T, two[:n_dimensions].T * strength[:n_dimensions] ** _POWER)
    text = _widened(text, rows - centre, n_dimensions)
    vectors = (rows - centre) @ text
    views = tuple(
        _regression(numbers, vectors[studies_of], ridge=settings.view_ridge)
        for numbers, studies_of in zip(pictures, owners, strict=True)
    )
    return Layers(centre, text, views)


def _by_study(numbers: Matrix, owners: NDArray[np.intp], *, studies: int) -> Matrix:
    """Mean of each study's pictures; zero, which is the mean of all, for a study that has none of this view."""
    total = np.zeros((studies, numbers.shape[1]))
    np.add.at(total, owners, numbers)
    return np.asarray(total / np.bincount(owners, minlength=studies).clip(1)[:, None])


def _regression(numbers: Matrix, vectors: Matrix, *, ridge: float) -> Matrix:
    if not len(numbers):
        return np.zeros((numbers.shape[1], vectors.shape[1]))
    factor = cho_factor(numbers.T @ numbers / len(numbers) + ridge * np.eye(numbers.shape[1]))
    return _widened(cho_solve(factor, numbers.T @ vectors / len(numbers)), numbers, vectors.shape[1])


def _widened(matrix: Matrix, values: Matrix, dimensions: int) -> Matrix:
    """The matrix scaled so that it makes vectors of length one on average, with as many columns as wanted."""
    length = float(np.linalg.norm(values @ matrix, axis=1).mean())
    padded = np.zeros((len(matrix), dimensions))
    padded[:, : matrix.shape[1]] = matrix / (length or 1.0)
    return padded
