"""METEOR 1.5: words aligned by form, stem, synonym and paraphrase, with a penalty for broken order.

Denkowski and Lavie (2014), Meteor universal: language specific translation evaluation for any target
language, WMT. The field means the authors' Java program, which the package pycocoevalcap carries; other
implementations give other numbers, so this metric drives that program or fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.metric import Metric, Rows
from radgauge.core.readings import Readings
from radgauge.metrics import _meteor_java

STATISTICS = 23
MAX_WORDS = 10_000
"""Words: the program's memory ends somewhere above, and would take the whole run with it."""
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75  # the program's parameters for English
WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])  # exact, stem, synonym, paraphrase


@dataclass(frozen=True)
class MeteorReader:
    """Reads a candidate together with its references, because METEOR aligns them in one step.

    A "text" is a JSON list, candidate first, so that alignments are kept in the reading cache like any other
    reading and a run that was interrupted resumes.
    """

    signature: ClassVar[str] = "meteor-1.5|en|norm"
    batch_size: ClassVar[int] = 64  # what an interruption can lose

    def read(self, texts: Sequence[str]) -> list[Rows]:
        """The program's 23 statistics of each group of texts."""
        counts = _meteor_java.statistics([json.loads(text) for text in texts])
        for statistics in counts:
            if len(statistics) != STATISTICS:
                raise ModelError(f"METEOR gave {len(statistics)} statistics where {STATISTICS} were expected")
        return [np.array(statistics) for statistics in counts]

    def pack(self, reading: Rows, text: str) -> bytes:
        """Little-endian doubles."""
        return reading.astype("<f8").tobytes()

    def unpack(self, packed: bytes, text: str) -> Rows:
        """The statistics from `pack`."""
        if len(packed) != 8 * STATISTICS:
            raise ValueError(f"{STATISTICS} statistics must be {8 * STATISTICS} bytes, got {len(packed)}")
        return np.frombuffer(packed, dtype="<f8").astype(np.float64)


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR 1.5 for English, tokenised and lower-cased by the program itself ("-norm").

    The value of a set comes from the summed statistics, as the program does it and papers print it; it is
    not the mean of the cases' values. Of several references the one with the best value counts.
    """

    name: ClassVar[str] = "meteor"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    extra: ClassVar[str] = "meteor"
    summary: ClassVar[str] = "words aligned by form, stem, synonym and paraphrase (METEOR 1.5; needs Java)"

    # "nan": an empty candidate is not judged; "zero": it counts, as in the program
    empty: Literal["nan", "zero"] = "nan"

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate counts."""
        return self.empty == "zero"

    def parts(self) -> Mapping[str, str]:
        """The program and its options."""
        return {"program": "meteor-1.5", "language": "en", "norm": "yes", "references": "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The program's statistics: lengths, matches by stage and kind of word, chunks."""
        rows = np.full((len(cases), STATISTICS), np.nan)
        able = [
            index
            for index, case in enumerate(cases)
            if case.references and (self.judges_empty or case.candidate.strip()) and not _too_long(case)
        ]
        texts = [json.dumps([cases[index].candidate, *cases[index].references]) for index in able]
        for index, statistics in zip(able, reading.of(MeteorReader(), texts), strict=True):
            rows[index] = statistics
        without_words = rows[:, 1] == 0 if self.judges_empty else (rows[:, :2] == 0).any(axis=1)
        rows[without_words] = np.nan
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """METEOR of each case."""
        return _meteor(rows)

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The same formula on summed statistics."""
        return _meteor(np.where(counts > 0, totals, np.nan))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words for the program."""
        if not case.candidate.strip():
            return "empty candidate"
        if _too_long(case):
            return f"too long for METEOR (over {MAX_WORDS:,} words)"
        rows = Meteor(empty="zero").measure([case], reading=reading)
        return "reference has no words" if np.isnan(rows[0, 0]) else "candidate has no words"


def _too_long(case: Case) -> bool:
    return any(
        len(text) > MAX_WORDS and len(text.split()) > MAX_WORDS for text in (case.candidate, *case.references)
    )


def _meteor(rows: Rows) -> Rows:
    """METEOR from its statistics, shape (..., 23) to (..., 1); the program's computeMetrics.

    The statistics: words of candidate and reference, function words of both; for each of four stages the
    matched content words of candidate and reference, then the matched function words of both; chunks;
    matched words of candidate and reference.
    """
    lengths, functions = rows[..., 0:2], rows[..., 2:4]
    stages = rows[..., 4:20].reshape(*rows.shape[:-1], 4, 2, 2)  # stage, kind of word, side
    chunks, matched = rows[..., 20], rows[..., 21:23]
    kinds = np.array([DELTA, 1 - DELTA])  # content words weigh three times as much as function words
    weighted_lengths = DELTA * (lengths - functions) + (1 - DELTA) * functions
    weighted_matches = np.einsum("...skt,s,k->...t", stages, WEIGHTS, kinds)
    identical = (stages.sum(axis=(-3, -2)) == lengths).all(axis=-1) & (chunks == 1)  # a copy: no penalty
    with np.errstate(divide="ignore", invalid="ignore"):
        share = weighted_matches / weighted_lengths
        mean = 1 / ((1 - ALPHA) / share[..., 0] + ALPHA / share[..., 1])
        fragmentation = np.where(identical, 0.0, chunks / matched.mean(axis=-1))
        value = mean * (1 - GAMMA * fragmentation**BETA)
    value = np.where(np.isnan(value), 0.0, np.maximum(value, 0.0))
    return np.where(np.isnan(rows[..., 0]), np.nan, value)[..., None]
