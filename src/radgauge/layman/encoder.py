"""The embedded sentence encoder for lay texts: words, and what the lay reader finds in them.

A sum of word vectors cannot tell "fluid on the left" from "no fluid on the right". This encoder joins it with a
vector of the statements: the finding with what lies above it in the lexicon, whether it is made, denied or left
open, its side, severity and change. Professional and plain words for the same
statement so get nearly the same vector.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from radgauge.alignment.findings import Finding, Findings
from radgauge.layman.fidelity import lay_findings, lay_knowledge
from radgauge.layman.lay_reader import LayReader
from radgauge.models.static_embedding import StaticEncoder

Vectors = NDArray[np.float32]

DIMENSIONS = 512
MEANING = 0.85  # how much of the cosine comes from statements rather than words
BOTH = 3  # bits of left and right
STEP = 0.35  # weight of a concept one step above
SIDE, SEVERITY, CHANGE, PLACE, OPEN, DENIED = 0.75, 0.75, 0.8, 0.5, 0.7, 0.9


@dataclass(frozen=True)
class FindingEncoder:
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
        return f"findings-1|{StaticEncoder().signature}|{LayReader().signature}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text; a text without any word is a row of zeros."""
        words = StaticEncoder().encode(texts)
        meaning = (
            np.stack([_statements(lay_findings(read)) for read in LayReader().read(texts)])
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


def _statements(findings: Findings) -> Vectors:
    """The sum of all statements' features, scaled to length one; zeros if there are none."""
    total = np.zeros(DIMENSIONS, np.float64)
    for finding in findings.present:
        total += _unit(sum((weight * _feature(name) for name, weight in _claim(finding)), np.zeros(DIMENSIONS)))
    for denial in findings.denied:
        found = np.zeros(DIMENSIONS)
        for concept in sorted(denial.concepts):
            for name, weight in _concept(concept):
                found += weight * (DENIED * _feature(f"{name}|denied") - (1 - DENIED) * _feature(name))
        for side in _bits(denial.sides) if denial.sides & BOTH != BOTH else ():  # on neither side: nowhere
            found += SIDE * _feature(f"side:{side}")
        if denial.severity:
            found += SEVERITY * _feature(f"severity:{denial.severity}")
        total += _unit(found)
    return _unit(total).astype(np.float32)


def _claim(finding: Finding) -> Iterator[tuple[str, float]]:
    for name, weight in _concept(finding.concept):
        yield name, weight
        if finding.uncertain:
            yield f"{name}|open", OPEN * weight
    for side in _bits(finding.sides):
        yield f"side:{side}", SIDE
    if finding.severity:
        yield f"severity:{finding.severity}", SEVERITY
    if finding.change:
        yield f"change:{finding.change}", CHANGE
    for place in finding.locations:
        yield f"place:{place}", PLACE


def _concept(concept: str) -> Iterator[tuple[str, float]]:
    for above, steps in lay_knowledge().similarity.ancestors(concept).items():
        if steps <= 2:
            yield above, STEP**steps


def _bits(sides: int) -> list[int]:
    return [bit for bit in (1, 2, 4) if sides & bit]


@lru_cache(maxsize=1 << 15)
def _feature(name: str) -> NDArray[np.float64]:
    # RandomState's stream is frozen by numpy's compatibility policy, so the vector is the same everywhere.
    return _unit(np.random.RandomState(zlib.crc32(name.encode())).standard_normal(DIMENSIONS))


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
