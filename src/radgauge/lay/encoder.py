"""The embedded sentence encoder for lay texts: words, and what the lay reader finds in them.

A sum of word vectors cannot tell "fluid on the left" from "no fluid on the right". This encoder joins it with a
vector of the statements: the finding with what lies above it in the lexicon, whether it is made, denied or left
open, its side, severity, change and place. Professional and plain words for the same statement so get nearly the
same vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from radgauge.lay.fidelity import lay_findings
from radgauge.lay.lay_reader import LayReader
from radgauge.lay.statements import COMMON, DIMENSIONS, STATED, parts_spoken_of, statements, unit
from radgauge.reader import ReportReading
from radgauge.text.static_embedding import StaticEncoder
from radgauge.text.vectors import VectorReader, Vectors

MEANING = 0.8  # how much of the cosine comes from statements rather than words


@dataclass(frozen=True)
class FindingEncoder(VectorReader):
    """Sentences to vectors by their words and statements; a `Reader` whose reading is the vector.

    >>> lay, same, other = FindingEncoder().encode(
    ...     ["There is fluid around the lung.", "Pleural effusion.", "No pleural effusion."])
    >>> bool(lay @ same > 0.8 > lay @ other)
    True
    """

    batch_size: ClassVar[int] = 8192

    @property
    def signature(self) -> str:
        """The word table and the lay reader."""
        return f"findings-3|{StaticEncoder().signature}|{LayReader().signature}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text; a text without any word is a row of zeros."""
        words = StaticEncoder().encode(texts)
        meaning = (
            np.stack([_meaning(read) for read in LayReader().read(texts)])
            if texts
            else (np.zeros((0, DIMENSIONS), np.float32))
        )
        says = np.linalg.norm(meaning, axis=1) > 0
        share = np.where(says, 1 - MEANING, 1.0).astype(np.float32)
        joined: Vectors = np.hstack([np.sqrt(share)[:, None] * words, np.float32(np.sqrt(MEANING)) * meaning])
        return joined

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))


def _meaning(reading: ReportReading) -> Vectors:
    """The sum of all statements, scaled to length one; zeros if there are none."""
    found = statements(lay_findings(reading), reading.text) or parts_spoken_of(reading)
    if not found:
        return np.zeros(DIMENSIONS, np.float32)
    return unit(unit(np.sum(found, axis=0)) + COMMON * STATED).astype(np.float32)
