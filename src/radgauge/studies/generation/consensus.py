"""Choose among reports without a reference: the one that the reports of similar studies agree with most.

Minimum Bayes risk (Kumar and Byrne 2004; Eikema and Aziz 2020): the reports of the training studies whose pictures
are most alike stand for what the reference may say, and the candidate with the greatest mean gain against them is
written. The study's own reference is never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.cases import Case
from radgauge.metrics.errors import Errors
from radgauge.plain_language.encoder import FindingEncoder
from radgauge.plain_language.replacement import sentences_of
from radgauge.reading import Readings

Pair = tuple[str, str]
Gain = Literal["both", "errors", "semantics"]
THRESHOLD = 0.8  # Layman's RRG: cosine from which a sentence says what another says


@dataclass
class Consensus:
    """Gains of pairs of reports, each pair compared once.

    Attributes:
        gain: errors (`errors_quality`), semantics (F1 of the sentences that say the same, at a cosine of 0.8 or
            more), or both (their sum).
        reading: Reads every text once.
    """

    gain: Gain = "both"
    reading: Readings = field(default_factory=Readings)
    _errors: dict[Pair, float] = field(default_factory=dict)
    _semantics: dict[Pair, float] = field(default_factory=dict)
    _vectors: dict[str, NDArray[np.float32] | None] = field(default_factory=dict)

    def gains(self, candidates: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        """(candidates, others): NaN where a pair cannot be judged."""
        found = np.zeros((len(candidates), len(others)))
        if self.gain in ("both", "errors"):
            found += self._table(candidates, others, self._errors, self._judge)
        if self.gain in ("both", "semantics"):
            found += self._table(candidates, others, self._semantics, self._compare)
        return found

    def choose(self, candidates: Sequence[str], others: Sequence[str], *, own: Sequence[int] = ()) -> int:
        """Number of the candidate with the greatest mean gain; the first of equals, and where nothing is judged.

        Args:
            candidates: Reports to choose from.
            others: Reports of similar studies.
            own: For each candidate the number of the report among `others` that it is itself and is not compared
                with, -1 if none; empty: none for all.
        """
        if len(candidates) < 2 or not others:
            return 0
        table = self.gains(candidates, others)
        for row, number in zip(table, own, strict=bool(own)):
            if number >= 0:
                row[number] = np.nan
        known = ~np.isnan(table)
        means = np.where(known, table, 0).sum(axis=1) / known.sum(axis=1).clip(1)
        return int(np.argmax(np.where(known.any(axis=1), means.round(9), -np.inf)))

    @staticmethod
    def _table(
        candidates: Sequence[str],
        others: Sequence[str],
        known: dict[Pair, float],
        compare: Callable[[Sequence[Pair]], list[float]],
    ) -> NDArray[np.float64]:
        pairs = [(one, two) for one in candidates for two in others]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            known.update(zip(new, compare(new), strict=True))
        return np.array([known[pair] for pair in pairs]).reshape(len(candidates), len(others))

    def _judge(self, pairs: Sequence[Pair]) -> list[float]:
        cases = [Case(str(at), one, (two,)) for at, (one, two) in enumerate(pairs)]
        return [float(value) for value in Errors().measure(cases, reading=self.reading)[:, 0]]

    def _compare(self, pairs: Sequence[Pair]) -> list[float]:
        return [self._f1(self._sentences(one), self._sentences(two)) for one, two in pairs]

    def _sentences(self, text: str) -> NDArray[np.float32] | None:
        if text not in self._vectors:
            sentences = sentences_of(text)
            self._vectors[text] = np.stack(self.reading.of(FindingEncoder(), sentences)) if sentences else None
        return self._vectors[text]

    @staticmethod
    def _f1(one: NDArray[np.float32] | None, two: NDArray[np.float32] | None) -> float:
        if one is None or two is None:
            return float("nan")
        hits = (one @ two.T).round(5) >= THRESHOLD
        precision, recall = float(hits.any(axis=1).mean()), float(hits.any(axis=0).mean())
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
