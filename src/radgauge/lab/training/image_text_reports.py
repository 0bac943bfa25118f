"""The reports that an image-text encoder learns from, as numbers, and how reports differ that state the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.encoders.text.report_claims import ReportClaims, claim_vocabulary, stating_sentences
from radgauge.lab.training.image_text_data import PicturedReport
from radgauge.reader import ReportReader, ReportReading

_RAREST = 0.01  # share of reports; columns of rarer claims are not scaled up further
_CLAIMS = 1 / 8  # claims have a length of about one in a typical report
_STATED, _WORDS = 2.0, 1.0  # vectors of the stating sentences, of all words: a half and a quarter of that


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Reports of the studies to learn from."""

    claims: ReportClaims  # What makes rows of reports
    scale: NDArray[np.float32]  # Of each column: rare claims weigh more
    rows: NDArray[np.float32]  # Scaled row of each study's first form (findings)
    reworded: NDArray[np.float32]  # Differences of scaled rows between reports that state the same


def report_rows(studies: Sequence[PicturedReport], *, min_reports: int, seed: int) -> ReportRows:
    """Rows of the studies' reports.

    Args:
        studies: To learn from.
        min_reports: Reports that must make a claim for it to have a column.
        seed: Chooses whose words reports are reworded with.
    """
    last = [study.texts[-1] for study in studies]
    readings = ReportReader().read(last)
    claims = ReportClaims(claim_vocabulary(readings, min_count=min_reports))
    n_claims = len(claims.vocabulary)
    full_rows = claims.rows(last)
    scale = np.full(claims.dimensions, _WORDS, np.float32)
    scale[:n_claims] = _CLAIMS / np.sqrt((full_rows[:, :n_claims] > 0).mean(axis=0).clip(_RAREST))
    scale[n_claims : (n_claims + claims.dimensions) // 2] = _STATED
    other = claims.rows(reworded(readings, seed=seed))
    rows = claims.rows([study.texts[0] for study in studies])
    return ReportRows(claims, scale, rows * scale, (other - full_rows) * scale)


def reworded(readings: Sequence[ReportReading], *, seed: int) -> list[str]:
    """Each report with the sentences that state something, and the rest taken from another report.

    What a report denies, what it calls normal and how it was examined thus change, and what it states does not: a
    normal report becomes another normal report.

    >>> texts = ["Left effusion. No edema.", "The heart is normal."]
    >>> reworded(ReportReader().read(texts), seed=0)[0].startswith("Left effusion.")
    True
    """
    parts = []
    for reading in readings:
        stating = set(stating_sentences(reading))
        every = [reading.text[span.start : span.end] for span in reading.sentences]
        own = [report for report in every if report in stating]
        parts.append((own, [report for report in every if report not in stating]))
    rest = [at for at, (_, other) in enumerate(parts) if other]
    if not rest:
        return [reading.text for reading in readings]
    chosen = np.random.default_rng(seed).choice(rest, len(parts))
    return [" ".join([*own, *parts[at][1]]) for (own, _), at in zip(parts, chosen, strict=True)]
