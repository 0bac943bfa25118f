"""Collapse: a system that writes the same report for everyone, whatever its scores say.

Two signs. Few distinct reports, counted without case and blanks, beside the distinct references of the same
studies. And the detector of the lay studies (Zhao et al., Layman's RRG, appendix A.10): two generated reports are
more alike than two references are, by more than `MARGIN` in mean cosine, with an interval above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.encoders.text.encoders import Encoder
from radgauge.stats.resample import draw_weights, percentile_bounds
from radgauge.stats.resampling import Resampling
from radgauge.text.static_embedding import StaticEncoder
from radgauge.text.words import has_words

Array = NDArray[np.float64]
MARGIN = 0.1
"""Excess of pairwise similarity over the references' from which reports are called collapsed."""

FEW = 0.5
"""Distinct reports per distinct reference below which they are called few."""

MIN_UNITS = 10
"""Studies below which nothing is said."""

MAX_REPORTS = 400
"""Studies that are compared with each other at most; more are sampled evenly."""


@dataclass(frozen=True, slots=True)
class Collapse:
    """One system."""

    system: str
    reports: int  # How many it wrote
    distinct: int  # How many of them differ
    distinct_references: int  # How many of the references of the same studies differ
    excess: float  # Mean cosine of two of its reports less that of two references
    collapsed: bool  # True if one of the signs is there

    def sentence(self) -> str:
        """For people."""
        side = "above" if self.excess > 0 else "below"
        alike = f"the mean cosine of two of its reports is {abs(self.excess):.2f} {side} that of two of theirs"
        copies = "report" if self.distinct == 1 else "reports"
        if self.few:
            return (
                f"system {self.system!r} writes {self.distinct} distinct {copies} "
                f"for {self.reports} studies, the "
                f"radiologists {self.distinct_references}; {alike}: it may have collapsed, and averages hide that"
            )
        return (
            f"the reports of system {self.system!r} are more alike than the radiologists': {alike}, though "
            f"{self.distinct} of {self.reports} are distinct; look whether it writes the same for everyone"
        )

    @property
    def few(self) -> bool:
        """True if it has too few distinct reports; otherwise they are too much alike, or nothing is wrong."""
        return self.distinct < FEW * self.distinct_references


@working("comparing reports with each other")
def collapse(
    cases: Sequence[Case], *, reading: Readings | None = None, encoder: Encoder | None = None, seed: int = 0
) -> tuple[Collapse, ...]:
    """Measure how varied each system's reports are; systems with fewer than ten are left out.

    Args:
        cases: Reports with their references.
        reading: Shared readings.
        encoder: Reports to vectors; by default the embedded one.
        seed: Of the interval's draws.
    """
    shared = reading if reading is not None else Readings()
    notes = []
    for system in dict.fromkeys(case.system for case in cases):
        own = [
            case
            for case in cases
            if case.system == system and has_words(case.candidate) and any(map(has_words, case.references))
        ]
        if len(own) < MIN_UNITS:
            continue
        theirs = [next(text for text in case.references if has_words(text)) for case in own]
        few, distinct = distinct_texts([case.candidate for case in own]), distinct_texts(theirs)
        chosen = np.unique(np.linspace(0, len(own) - 1, min(len(own), MAX_REPORTS)).astype(int))
        ours = [own[i].candidate for i in chosen]
        excess, low = _excess(ours, [theirs[i] for i in chosen], shared, encoder, seed)
        alike = excess > MARGIN and low > 0
        notes.append(Collapse(system, len(own), few, distinct, excess, alike or few < FEW * distinct))
    return tuple(notes)


def collapse_notes(cases: Sequence[Case], *, reading: Readings | None = None) -> list[str]:
    """A sentence for each system that shows a sign of collapse."""
    return [note.sentence() for note in collapse(cases, reading=reading) if note.collapsed]


def distinct_texts(texts: Sequence[str]) -> int:
    """Texts that remain when copies are counted once; case and blanks do not matter.

    >>> distinct_texts(["Clear.", "clear. ", "Edema."])
    2
    """
    return len({" ".join(text.lower().split()) for text in texts})


def pairwise(vectors: Array, weights: Array) -> Array:
    """Mean product of two different rows for each row of weights; NaN where a draw holds one report only."""
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    totals = weights @ vectors
    squares = weights**2
    pairs = weights.sum(axis=1) ** 2 - squares.sum(axis=1)
    cosines = np.full(len(weights), np.nan)
    np.divide(np.einsum("ij,ij->i", totals, totals) - squares @ lengths, pairs, out=cosines, where=pairs > 0)
    return cosines


def _excess(
    ours: Sequence[str], theirs: Sequence[str], reading: Readings, encoder: Encoder | None, seed: int
) -> tuple[float, float]:
    """Generated less references, and the lower end of its interval."""
    chosen = encoder or StaticEncoder()
    left, right = (np.stack(reading.of(chosen, list(texts))).astype(np.float64) for texts in (ours, theirs))
    how = Resampling(resamples=200, seed=seed)
    drawn = np.concatenate(
        [pairwise(left, w) - pairwise(right, w) for w in draw_weights(len(left), resamples=200, rng=how.rng())]
    )
    whole = np.ones((1, len(left)))
    low, _ = percentile_bounds(drawn[:, None], level=how.level)[:, 0]
    return float((pairwise(left, whole) - pairwise(right, whole))[0]), float(low)
