"""Where the layers of an image-text encoder start: directions in which pictures and reports correlate most.

Regularised canonical correlations (Hotelling 1936; Vinod 1976) between the means that the image network gives and
the rows of the reports. They have a closed form, take seconds, and with two thousand studies they are nearer to
what contrastive training can reach than random layers come in many passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular, svd

from radgauge.training.image_text_figures import mean_by_study

Matrix = NDArray[np.float64]

_COMPONENTS = 300  # of the reports: rarer ways to differ are mostly noise
_POWER = 1.5  # a direction counts by its correlation to this power on either side
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True, eq=False)
class Start:
    """Both layers: (x - centre) / spread @ image, and (row - text_centre) @ text; both of about length one."""

    centre: Matrix
    spread: Matrix
    image: Matrix
    text_centre: Matrix
    text: Matrix


def canonical_start(
    means: NDArray[np.float32],
    owners: NDArray[np.intp],
    rows: NDArray[np.float32],
    *,
    dimensions: int,
    picture_ridge: float,
    report_ridge: float,
) -> Start:
    """The start for these studies.

    Args:
        means: Numbers of every picture.
        owners: Study of every picture.
        rows: Scaled row of every study's report.
        dimensions: Columns of both layers; those beyond the number of directions are zero.
        picture_ridge: Added to the variances of the pictures' numbers, which are one.
        report_ridge: Added to those of the reports, as a multiple of their mean.
    """
    pictures = means.astype(np.float64)
    centre, spread = pictures.mean(axis=0), pictures.std(axis=0) + _LEAST_SPREAD
    pictures = (pictures - centre) / spread
    studies = mean_by_study(pictures, owners, studies=len(rows)).astype(np.float64)
    unlike = studies.std(axis=0) + _LEAST_SPREAD  # the views of a study differ, so its mean varies less
    studies = (studies - studies.mean(axis=0)) / unlike
    text_centre = rows.mean(axis=0, dtype=np.float64)
    reports = rows - text_centre
    _, components = eigh(reports.T @ reports)
    components = components[:, ::-1][:, :_COMPONENTS]
    reports = reports @ components
    number = len(rows)
    covariance = reports.T @ reports / number
    ridge = report_ridge * np.trace(covariance) / rows.shape[1] + 1e-9
    left = cholesky(studies.T @ studies / number + picture_ridge * np.eye(studies.shape[1]), lower=True)
    right = cholesky(covariance + ridge * np.eye(len(covariance)), lower=True)
    between = solve_triangular(left, studies.T @ reports / number, lower=True)
    between = solve_triangular(right, between.T, lower=True).T
    one, strength, two = svd(between, full_matrices=False)
    strength = strength[:dimensions] ** _POWER
    image = solve_triangular(left.T, one[:, :dimensions] * strength) / unlike[:, None]
    text = components @ solve_triangular(right.T, two[:dimensions].T * strength)
    return Start(
        centre,
        spread,
        _widened(image, pictures, dimensions),
        text_centre,
        _widened(text, rows - text_centre, dimensions),
    )


def _widened(matrix: Matrix, values: Matrix, dimensions: int) -> Matrix:
    """The matrix scaled so that it makes vectors of length one on average, with as many columns as wanted."""
    length = float(np.linalg.norm(values @ matrix, axis=1).mean())
    found = np.zeros((len(matrix), dimensions))
    found[:, : matrix.shape[1]] = matrix / (length or 1.0)
    return found
