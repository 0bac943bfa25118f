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

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.core.subjects import from_subject
from radgauge.encoders.text.encoders import Encoder
from radgauge.metrics.errors import Errors
from radgauge.text.sentences import sentences_of

Pair = tuple[str, str]
Gain = Literal["both", "errors", "semantics", "layman", "headlines"]
MEASURES: dict[Gain, tuple[str, ...]] = {
    "both": ("errors", "semantics"),
    "headlines": ("errors", "layman"),
    **{name: (name,) for name in ("errors", "semantics", "layman")},
}
THRESHOLD = 0.8  # Layman's RRG: cosine from which a sentence says what another says


def shared_consensus(gain: Gain, reading: Readings) -> Consensus:
    """One per gain for these readings; pairs that two gains ask for are compared once."""
    pairs: dict[str, dict[Pair, float]] = {
        name: reading.once(("pairs", name), dict) for name in ("errors", "semantics", "layman")
    }
    return reading.once(
        ("consensus", gain),
        lambda: Consensus(
            gain, reading, _errors=pairs["errors"], _semantics=pairs["semantics"], _layman=pairs["layman"]
        ),
    )


@dataclass
class Consensus:
    """Gains of pairs of reports, each pair compared once."""

    # errors (`errors_quality`), semantics (F1 of the sentences that say the same, at a cosine of 0.8 or more),
    # both (their sum), layman (`layman_semantics` itself: the share of the candidate's sentences, after lay
    # replacement; short reports win), or headlines (`errors_quality` + `layman_semantics`)
    gain: Gain = "both"
    reading: Readings = field(default_factory=Readings)  # Reads every text once
    _errors: dict[Pair, float] = field(default_factory=dict)
    _semantics: dict[Pair, float] = field(default_factory=dict)
    _layman: dict[Pair, float] = field(default_factory=dict)
    _vectors: dict[str, NDArray[np.float32] | None] = field(default_factory=dict)
    _lay: dict[str, NDArray[np.float32] | None] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """The gain and what measures it."""
        made = {
            "errors": lambda: Errors().signature(),
            "semantics": lambda: _lay_encoder().signature,
            "layman": lambda: load("layman").signature(),
        }
        return "|".join(f"{name}:{made[name]()}" for name in MEASURES[self.gain])

    def gains(self, candidates: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        """(candidates, others): NaN where a pair cannot be judged."""
        first, *more = self.tables(candidates, others)
        return sum(more, start=first)

    def tables(self, candidates: Sequence[str], others: Sequence[str]) -> list[NDArray[np.float64]]:
        """The gain taken apart: (candidates, others) for each of its measures."""
        measures = {
            "errors": (self._errors, self._judge),
            "semantics": (self._semantics, self._compare),
            "layman": (self._layman, self._shared),
        }
        return [self._table(candidates, others, *measures[name]) for name in MEASURES[self.gain]]

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
        defined = ~np.isnan(table)
        means = np.where(defined, table, 0).sum(axis=1) / defined.sum(axis=1).clip(1)
        return int(np.argmax(np.where(defined.any(axis=1), means.round(9), -np.inf)))

    @staticmethod
    def _table(
        candidates: Sequence[str],
        others: Sequence[str],
        cached: dict[Pair, float],
        compare: Callable[[Sequence[Pair]], list[float]],
    ) -> NDArray[np.float64]:
        pairs = [(one, two) for one in candidates for two in others]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in cached]
        if new:
            cached.update(zip(new, compare(new), strict=True))
        return np.array([cached[pair] for pair in pairs]).reshape(len(candidates), len(others))

    def _judge(self, pairs: Sequence[Pair]) -> list[float]:
        cases = [Case(str(at), one, (two,)) for at, (one, two) in enumerate(pairs)]
        return [float(value) for value in Errors().measure(cases, reading=self.reading)[:, 0]]

    def _compare(self, pairs: Sequence[Pair]) -> list[float]:
        return [self._f1(self._sentences(one), self._sentences(two)) for one, two in pairs]

    def _shared(self, pairs: Sequence[Pair]) -> list[float]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text not in self._lay))
        replaced = from_subject("lay", "metrics.layman:Layman")().replaced(
            [Case(str(at), text) for at, text in enumerate(texts)], reading=self.reading
        )
        for text in texts:
            self._lay[text] = replaced.matrix(text, lay=True) if replaced.sentences[text] else None
        return [self._share(self._lay[one], self._lay[two]) for one, two in pairs]

    def _sentences(self, text: str) -> NDArray[np.float32] | None:
        if text not in self._vectors:
            sentences = sentences_of(text)
            self._vectors[text] = np.stack(self.reading.of(_lay_encoder(), sentences)) if sentences else None
        return self._vectors[text]

    @staticmethod
    def _share(one: NDArray[np.float32] | None, two: NDArray[np.float32] | None) -> float:
        if one is None or two is None:
            return float("nan")
        return float(((one @ two.T).round(5) >= THRESHOLD).any(axis=1).mean())

    @staticmethod
    def _f1(one: NDArray[np.float32] | None, two: NDArray[np.float32] | None) -> float:
        if one is None or two is None:
            return float("nan")
        hits = (one @ two.T).round(5) >= THRESHOLD
        precision, recall = float(hits.any(axis=1).mean()), float(hits.any(axis=0).mean())
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _lay_encoder() -> Encoder:
    encoder: Encoder = from_subject("lay", "encoder:FindingEncoder")()
    return encoder
