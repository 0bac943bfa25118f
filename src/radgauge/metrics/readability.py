"""readability: how hard a text is to read, by ten indices; needs no reference.

Zhao et al., Layman's RRG (2024), section 4, use these ten. Definitions: textstat 0.7.13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Metric, Rows
from radgauge.core.readings import Readings
from radgauge.text.readability import Readability, readability

DEFINITION = "textstat-0.7.13"
HEADLINE = "flesch_kincaid_grade"
COLUMNS = (HEADLINE, *(name for name in Readability._fields if name != HEADLINE))


@dataclass(frozen=True)
class ReadabilityReader:
    """Counts words, sentences and syllables of a text."""

    signature: ClassVar[str] = f"readability|{DEFINITION}"

    def read(self, texts: Sequence[str]) -> list[Readability | None]:
        """Ten indices per text; None where there is no word."""
        return [self._one(text) for text in texts]

    @staticmethod
    def _one(text: str) -> Readability | None:
        try:
            return readability(text)
        except ValueError:
            return None


@dataclass(frozen=True)
class ReadabilityIndices(Metric):
    """Ten readability indices of the candidate; the headline is the school grade of Flesch and Kincaid.

    Grades and scores: lower is easier to read. Reading ease: higher is easier. "Better" here means easier,
    which is right for lay texts and says nothing about whether a text is correct.
    """

    name: ClassVar[str] = "readability"
    higher_is_better: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()
    range: ClassVar[tuple[float, float]] = (-3.4, float("inf"))
    extra: ClassVar[str] = "lay"
    summary: ClassVar[str] = "how easy the text is to read: ten indices, no reference needed"

    @property
    def columns(self) -> tuple[str, ...]:
        """The grade first, then the other nine."""
        return tuple(f"readability_{name}" for name in COLUMNS)

    @property
    def directions(self) -> tuple[bool, ...]:
        """Easier is better."""
        return tuple(name == "flesch_reading_ease" for name in COLUMNS)

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The ten indices of each candidate."""
        counts = reading.of(ReadabilityReader(), [case.candidate for case in cases])
        rows = np.full((len(cases), len(COLUMNS)), np.nan)
        for row, indices in zip(rows, counts, strict=True):
            if indices is not None:
                row[:] = [getattr(indices, name) for name in COLUMNS]
        return rows

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """The only reason there is."""
        return "no word in the text"

    def parts(self) -> Mapping[str, str]:
        """Whose definitions these are."""
        return {"definition": DEFINITION}
