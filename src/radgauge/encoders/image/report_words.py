"""Predict a report's words from the features of its study's images: a ridge regression, in numpy.

Every word that enough training reports have is a target of its own (does the report have it?), whatever language
or register the reports are written in. What the regression says of a training study is what it would say if that
study had been left out, in closed form (Allen 1974, PRESS), so that whoever learns from these predictions meets
the same errors later. Two studies are alike if their predictions are: words that pictures do not tell count for
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from radgauge.core.errors import InputError, ModelError
from radgauge.encoders.array_file import DAMAGED, load_arrays, save_arrays
from radgauge.encoders.text.report_tokens import MASK, report_tokens

Matrix = NDArray[np.float64]
Rows = NDArray[np.float32]

RIDGES = tuple(float(value) for value in np.geomspace(0.1, 1000, 9))
"""Tried, as multiples of the mean eigenvalue of the studies' products; each word has the one of least error."""
LEAST_SHARE, LEAST_REPORTS = 0.01, 5
FEWEST = 8


@dataclass(frozen=True, eq=False)
class ReportWords:
    """The regression and what it says of the studies that it was learned from."""

    words: tuple[str, ...]
    centre: Rows  # Mean row of the training studies
    # (numbers, words): from a row without the centre to words, each in units of its standard deviation
    matrix: Rows
    strength: Rows  # Correlation of prediction and report over the training studies, each left out; at least 0
    training: Rows  # (studies, words): predictions for the training studies, each left out
    ridges: tuple[float, ...]  # The multiple that was chosen for each word

    def predicted(self, rows: Rows) -> Rows:
        """(studies, words): how much more often than usual a report like this has each word."""
        projected: Rows = ((rows - self.centre) @ self.matrix).astype(np.float32)
        return projected

    def points(self, predicted: Rows) -> Rows:
        """Predictions as points of length one in which each word counts by how well pictures tell it."""
        weighted = predicted * self.strength
        lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
        means: Rows = (weighted / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return means

    def conditions(self, predicted: Rows) -> Rows:
        """Predictions in units of their own spread over the training studies: what a network is given."""
        spread = self.training.std(axis=0)
        standardised: Rows = (predicted / np.where(spread > 1e-6, spread, 1)).clip(-5, 5).astype(np.float32)
        return standardised

    def nearest(self, rows: Rows, *, max_items: int) -> tuple[NDArray[np.intp], Rows]:
        """The training studies most like each study, best first, and their cosines; ties go to the first study."""
        cosines = self.points(self.predicted(rows)) @ self.points(self.training).T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :max_items]
        return order, np.take_along_axis(cosines, order, axis=1)


def fit_words(rows: Rows, texts: Sequence[str]) -> ReportWords:
    """Learn the regression.

    Args:
        rows: One per study (`study_numbers`).
        texts: Their reports.

    Raises:
        InputError: There are too few studies, or no word that several reports have and several lack.
    """
    if len(rows) < FEWEST:
        raise InputError(f"a generator must learn from {FEWEST} studies or more, got {len(rows)}")
    tokens = [set(report_tokens(text)) for text in texts]
    counts = Counter(
        word for tokens_of_report in tokens for word in tokens_of_report if word[0].isalnum() and word != MASK
    )
    min_count = max(min(LEAST_REPORTS, len(rows) // 4), round(LEAST_SHARE * len(rows)))
    words = tuple(sorted(word for word, n in counts.items() if min_count <= n < len(rows)))
    if not words:
        raise InputError(
            f"the reports to learn from must share words: of {len(rows)} reports no word is in {min_count} or "
            "more of them and lacking in others"
        )
    index = {word: at for at, word in enumerate(words)}
    has = np.zeros((len(rows), len(words)))
    for row, tokens_of_report in zip(has, tokens, strict=True):
        row[[index[word] for word in tokens_of_report if word in index]] = 1.0
    targets = (has - has.mean(axis=0)) / has.std(axis=0)
    centre = rows.mean(axis=0, dtype=np.float64)
    values = rows - centre
    spectrum, basis = eigh(values @ values.T)
    spectrum, turned = spectrum.clip(0), basis.T @ targets
    usual = max(float(spectrum.mean()), 1e-12)
    left_out, ridges = np.zeros_like(targets), np.zeros(len(words))
    least_error = np.full(len(words), np.inf)
    for multiple in RIDGES:
        shrunk = spectrum / (spectrum + multiple * usual)
        fitted = basis @ (shrunk[:, None] * turned)
        leverage = ((basis**2) @ shrunk + 1 / len(rows)).clip(0, 1 - 1e-6)
        predicted = targets - (targets - fitted) / (1 - leverage)[:, None]
        errors = ((targets - predicted) ** 2).mean(axis=0)
        better = errors < least_error
        left_out[:, better], ridges[better], least_error[better] = predicted[:, better], multiple, errors[better]
    matrix = values.T @ (basis @ (turned / (spectrum[:, None] + ridges * usual)))
    strength = _correlations(left_out, targets).clip(0)
    return ReportWords(
        words, _short(centre), _short(matrix), _short(strength), _short(left_out), tuple(ridges.tolist())
    )


def save_words(path: Path | str, model: ReportWords) -> None:
    """Write the regression: numbers and words, no report."""
    save_arrays(
        path,
        {"words": list(model.words), "ridges": list(model.ridges)},
        centre=model.centre,
        matrix=model.matrix,
        strength=model.strength,
        training=model.training,
    )


def load_words(path: Path | str) -> ReportWords:
    """Read what `save_words` wrote.

    Raises:
        ModelError: The file is not there or damaged.
    """
    try:
        facts, arrays = load_arrays(path)
        return ReportWords(words=tuple(facts["words"]), ridges=tuple(facts["ridges"]), **arrays)
    except DAMAGED as error:
        raise ModelError(f"{path} must be the words of a generator that radgauge trained, got: {error}") from error


def _correlations(one: Matrix, two: Matrix) -> Matrix:
    a, b = one - one.mean(axis=0), two - two.mean(axis=0)
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    correlations: Matrix = (a * b).sum(axis=0) / np.where(scale > 0, scale, 1)
    return correlations


def _short(values: Matrix) -> Rows:
    return np.ascontiguousarray(values, dtype=np.float32)
