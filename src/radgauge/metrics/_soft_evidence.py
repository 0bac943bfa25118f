"""Soft evidence on two reports in free wordings: similarity of entities and agreement of labels.

Counting errors rests on rules, which miss what other words say. Soft measures do not, but near copies look alike
to them whatever was turned round. So their weight fades out as two texts share more of their words and word pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from radgauge.core.metric import Note, Rows
from radgauge.core.readings import Readings
from radgauge.encoders.text.chexbert_labels import POSITIVE, UNCERTAIN, condition_codes
from radgauge.findings.edits import words_of
from radgauge.findings.findings import Findings
from radgauge.findings.numbers import numbers
from radgauge.metrics.ratescore import RateScore

Pair = tuple[str, str]


class SoftEvidence(NamedTuple):
    """What two texts have in common apart from matched findings.

    Attributes:
        gate: Share of the soft evidence that counts: 1 for free wordings, 0 for near copies.
        entities: Similarity of the entities (`ratescore_embedded`); NaN if a text has none.
        labels: Agreement on the positive ones of 14 conditions, smoothed: 1 without a disagreement.
    """

    gate: float
    entities: float = math.nan
    labels: float = math.nan

    @property
    def parts(self) -> dict[str, float]:
        """Return how strongly each part speaks for the candidate, or against it."""
        table = numbers()["soft"]
        parts = {
            name: self.gate * table[name] * (value - table[f"typical_{name}"])
            for name, value in (("entities", self.entities), ("labels", self.labels))
        }
        return {name: 0.0 if math.isnan(part) else part for name, part in parts.items()}

    def applied_to(self, quality: float) -> float:
        """Return the quality with the evidence; 1, -1 and the order of reports with equal evidence stay.

        >>> round(SoftEvidence(1.0, entities=0.75, labels=1.0).applied_to(0.5), 6)  # 0.2 x (1 - 0.25) more
        0.65
        """
        return quality + sum(self.parts.values()) * (1.0 - quality**2)

    def note(self, quality: float, *, which: int = 0) -> Note:
        """Return a sentence on every part and its weight."""
        moved = self.applied_to(quality) - quality
        parts = ", ".join(
            f"{name} agree {value:.2f}, {part:+.2f}" if not math.isnan(value) else f"no {name}"
            for (name, part), value in zip(self.parts.items(), (self.entities, self.labels), strict=True)
        )
        text = f"Errors alone give a quality of {quality:.2f}; "
        if self.gate:
            text += f"soft evidence moves it by {moved:+.2f} ({parts}; weight {self.gate:.0%} for free wording)."
        else:
            text += "soft evidence does not count between near copies."
        data = {**self._asdict(), "errors_alone": quality, "moved": moved}
        finite = {name: value for name, value in data.items() if not math.isnan(value)}
        return Note("info", text, data={**finite, "reference": which})


def soft_evidence(
    pairs: Sequence[Pair], read: Mapping[str, Findings], *, reading: Readings
) -> dict[Pair, SoftEvidence]:
    """Compute the evidence on distinct pairs of candidate and reference."""
    table = numbers()["soft"]
    pairs = list(dict.fromkeys(pairs))
    shared = [
        _shared(read[candidate].sentences.texts, read[reference].sentences.texts) for candidate, reference in pairs
    ]
    span = table["copied"] - table["free"]
    gates = [1.0 - min(1.0, max(0.0, (share - table["free"]) / span)) for share in shared]
    evidence = {pair: SoftEvidence(0.0) for pair in pairs}
    free = [(pair, gate) for pair, gate in zip(pairs, gates, strict=True) if gate]
    if free:
        candidates, references = [pair[0] for pair, _ in free], [pair[1] for pair, _ in free]
        entities = RateScore().f1(candidates, references, reading=reading)
        labels = _label_agreement(candidates, references, reading=reading)
        for (pair, gate), entity, label in zip(free, entities.tolist(), labels.tolist(), strict=True):
            evidence[pair] = SoftEvidence(gate, entity, label)
    return evidence


def _label_agreement(candidates: Sequence[str], references: Sequence[str], *, reading: Readings) -> Rows:
    positive = np.isin(condition_codes([*candidates, *references], reading=reading), (POSITIVE, UNCERTAIN))
    ours, theirs = positive[: len(candidates)], positive[len(candidates) :]
    agreed, differing = 2.0 * (ours & theirs).sum(axis=1), (ours ^ theirs).sum(axis=1)
    agreement: Rows = (agreed + 1.0) / (agreed + differing + 1.0)  # 1, not 0 / 0, where neither is positive
    return agreement


def _shared(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Return the share of the words and word pairs of two texts that both have, 0 to 1."""
    # not the sum of counters, whose cost is the square of the number of sentences
    ours, theirs = (Counter(chain.from_iterable(map(_ngrams, texts))) for texts in (candidate, reference))
    size = ours.total() + theirs.total()
    return 2.0 * (ours & theirs).total() / size if size else 1.0


@lru_cache(maxsize=1 << 14)
def _ngrams(sentence: str) -> tuple[tuple[str, ...], ...]:
    """Return the content words of a sentence and their neighbouring pairs."""
    words = words_of(sentence).order
    return (*((word,) for word in words), *pairwise(words))
