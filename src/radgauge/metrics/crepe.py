"""CREPE: six error counts that a network predicts from a pair of reports.

Cho et al. (2025), CREPE: rapid chest X-ray report evaluation by predicting multi-category error counts, EMNLP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.error_categories import CATEGORIES
from radgauge.core.errors import ModelError
from radgauge.core.metric import (
    NETWORK_PRECISION,
    Explanation,
    Metric,
    Note,
    Rows,
    best_reference,
    reference_pairs,
)
from radgauge.core.readings import Readings, pair_text
from radgauge.encoders.text.crepe_network import HEADS, CrepeReader, crepe_folder
from radgauge.encoders.text.embedded_estimator import load_embedded
from radgauge.metrics._settings import EMBEDDED, label_columns, wordless
from radgauge.text.words import has_words


@dataclass(frozen=True)
class Crepe(Metric):
    """Predicted number of errors in six categories, and their sum; lower is better.

    Of several references the one with the fewest predicted errors counts.

    Attributes:
        models: "published" (the authors' checkpoint), or a folder with it or with one of `train estimator --heads
            counts`.
    """

    name: ClassVar[str] = "crepe"
    higher_is_better: ClassVar[bool] = False
    precision: ClassVar[float] = NETWORK_PRECISION
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    one_range: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    extra: ClassVar[str] = "models"
    summary: ClassVar[str] = "errors in six categories, predicted by a network from both reports at once"

    models: str = "published"

    def checkpoints(self) -> tuple[str, ...]:
        """Return the authors' checkpoint."""
        return ("crepe",) if self.models == "published" else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The sum, then each category."""
        names = ("crepe", *(f"crepe_{category.key}" for category in CATEGORIES[:HEADS]))
        return label_columns(names, EMBEDDED if self._file() is not None else self.models)

    def parts(self) -> Mapping[str, str]:
        """The checkpoint."""
        if (file := self._file()) is not None:
            estimator = load_embedded(file)
            return {"checkpoint": estimator.hash, "reader": estimator.sketch.signature, "references": "best"}
        return {"checkpoint": self._reader().signature, "references": "best"}

    def _file(self) -> Path | None:
        """Heads on the embedded reader, of `train estimator --encoder embedded --heads counts`."""
        path = Path(self.models).expanduser()
        return path if path.suffix == ".npz" else None

    def _reader(self) -> CrepeReader:
        return CrepeReader(crepe_folder(self.models))

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Counts of each case against its best reference."""
        candidates, references, owner = reference_pairs(cases)
        judged = [
            at for at, pair in enumerate(zip(candidates, references, strict=True)) if all(map(has_words, pair))
        ]
        counts = np.full((len(owner), HEADS), np.nan)
        if judged:
            counts[judged] = self._counts([(references[at], candidates[at]) for at in judged], reading)
        values = np.column_stack([counts.sum(axis=1), counts])
        rows = np.full((len(cases), 1 + HEADS), np.nan)
        best = best_reference(values, owner, cases=len(cases), higher_is_better=False)
        rows[best >= 0] = values[best[best >= 0]]
        return rows

    def _counts(self, pairs: Sequence[tuple[str, str]], reading: Readings) -> Rows:
        if (file := self._file()) is None:
            return np.array(reading.of(self._reader(), [pair_text(*pair) for pair in pairs]), dtype=np.float64)
        estimator = load_embedded(file)
        number = {text: index for index, text in enumerate(dict.fromkeys(chain.from_iterable(pairs)))}
        vectors = estimator.sketch.vectors(list(number), reading=reading)
        reference, candidate = np.array([[number[text] for text in pair] for pair in pairs], dtype=np.intp).T
        counts = estimator.head.outputs(vectors, candidate=candidate, reference=reference).clip(min=0)
        if counts.shape[1] != HEADS:
            raise ModelError(f"{file} must have {HEADS} heads of counts, has {counts.shape[1]}")
        empty = estimator.sketch.empty(vectors)
        counts[empty[candidate] | empty[reference]] = np.nan
        return counts

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words, or without anything that was read."""
        missing = wordless(case.candidate, case.references)
        return missing or "no finding and no normal statement was read in one of the reports"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The predicted counts, largest first; the network does not say where the errors are."""
        row = self.measure([case], reading=reading)[0]
        values = dict(zip(self.columns, map(float, row), strict=True))
        notes = [
            Note("info", f"{row[1 + at]:.2f} predicted: {CATEGORIES[at].title}")
            for at in np.argsort(-row[1:], kind="stable")
            if row[1 + at] >= _SHOWN
        ]
        return Explanation(self.name, values, tuple(notes))


_SHOWN = 0.05  # of an error
