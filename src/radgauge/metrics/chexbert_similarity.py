"""CheXbert similarity (s_emb): cosine of two reports' CheXbert embeddings, label vectors or claims.

Yu et al. (2023), Patterns 4(9). The preprint speaks of indicator vectors of the 14 conditions; the released
code, and so RadCliQ, compares the embedding (the first position of the last layer). Both exist here, by name.
Without the checkpoint, the claims that the report reader found stand in for the embedding: where published values
are known, their cosine orders pairs much more like it than labels do (docs/metrics/chexbert_similarity.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import NETWORK_PRECISION, Metric, Rows, ratio, reference_pairs
from radgauge.core.readings import Readings
from radgauge.encoders.text.chexbert_labels import (
    NO_FINDING,
    POSITIVE,
    UNCERTAIN,
    condition_codes,
    labeler_signature,
)
from radgauge.encoders.text.report_sketch import CLAIMS, ReportSketch
from radgauge.metrics._settings import EMBEDDED, label_columns, settle, wordless
from radgauge.reader import ReportReader, ReportReading
from radgauge.text.words import has_words


@dataclass(frozen=True)
class ChexbertSimilarity(Metric):
    """Cosine of two reports in CheXbert's eyes.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="Pneumothorax. Edema.", references=("Edema. No pneumothorax.",))
    >>> ChexbertSimilarity(of="labels").measure([case], reading=Readings()).round(3).tolist()
    [[0.707]]
    """

    name: ClassVar[str] = "chexbert_similarity"
    higher_is_better: ClassVar[bool] = True
    precision: ClassVar[float] = NETWORK_PRECISION
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    summary: ClassVar[str] = "cosine of CheXbert embeddings (published), of claims (embedded) or of the 14 labels"

    models: str = EMBEDDED  # "embedded", "published", or a folder or file with the authors' checkpoint
    # "embedding" (released code; published models only), "labels" (preprint: 1 for a positive condition, 0
    # otherwise), "claims" (what the embedded report reader found, hashed); "auto" is claims for embedded and
    # embedding for published models
    of: Literal["auto", "embedding", "labels", "claims"] = "auto"
    # For labels: whether "uncertain" counts as "positive" or "negative"
    uncertain: Literal["positive", "negative"] = "positive"
    # "nan": a text without words is not judged; "read": it is read like any other
    empty: Literal["nan", "read"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, "of", embedded="claims", published="embedding")
        if self.models == EMBEDDED and self.of == "embedding":
            raise UsageError(
                "chexbert_similarity: of=embedding needs the CheXbert checkpoint; add models=published"
            )
        if self.models != EMBEDDED and self.of == "claims":
            raise UsageError("chexbert_similarity: of=claims is the embedded report reader's; use models=embedded")

    @property
    def columns(self) -> tuple[str, ...]:
        """Named by what is compared."""
        name = "chexbert_label_similarity" if self.of == "labels" else "chexbert_similarity"
        return label_columns((name,), self.models)

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate is read too."""
        return self.empty == "read"

    def parts(self) -> Mapping[str, str]:
        """The labeler, or what reads the claims."""
        if self.of == "claims":
            return {"reader": ReportSketch(CLAIMS).signature, "references": "best"}
        return {"labeler": labeler_signature(self.models), "references": "best"}

    def checkpoints(self) -> tuple[str, ...]:
        """Return the labeler."""
        return ("chexbert",) if self.models == "published" else ()

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """One cosine per case."""
        candidates, references, owner = reference_pairs(cases)
        vectors = self.vectors([*candidates, *references], reading=reading)
        cosine = cosines(vectors[: len(candidates)], vectors[len(candidates) :])
        if self.empty == "nan":
            able = [has_words(a) and has_words(b) for a, b in zip(candidates, references, strict=True)]
            cosine[~np.array(able, dtype=bool)] = np.nan
        rows = np.full((len(cases), 1), np.nan)
        np.fmax.at(rows[:, 0], owner, cosine)
        return rows

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """No words, or no positive condition anywhere."""
        missing = "" if self.empty == "read" else wordless(case.candidate, case.references)
        return missing or self.nothing

    @property
    def nothing(self) -> str:
        """Why two texts cannot be compared."""
        if self.of == "claims":
            return "no finding and no normal statement was read in either text"
        return "no condition is positive in either text"

    def vectors(self, texts: Sequence[str], *, reading: Readings) -> Rows:
        """Rows to compare: claims, labels or an embedding per text."""
        if self.of == "claims":
            return ReportSketch(CLAIMS).vectors(texts, reading=reading)[:, : sum(CLAIMS)].astype(np.float64)
        if self.of == "labels":
            counted = (POSITIVE, UNCERTAIN) if self.uncertain == "positive" else (POSITIVE,)
            codes = condition_codes(texts, reading=reading, models=self.models)
            vectors = np.isin(codes, counted).astype(np.float64)
            if self.models == EMBEDDED:
                # The embedded labels follow CheXbert: "No Finding" is blank beside a finding outside the 14.
                # Here the CheXpert labeler's rule is the better one, because a vector of zeros has no angle:
                # a report that speaks of findings, none of them among the 14, has no finding.
                speaks = reading.derive(ReportReader(), texts, _speaks_of_findings, key="speaks of findings")
                vectors[np.array(speaks, dtype=bool) & ~vectors.any(axis=1), NO_FINDING] = 1.0
            return vectors
        from radgauge.encoders.text.chexbert_network import chexbert_reader

        labelled = reading.of(chexbert_reader(self.models), texts)
        return np.array([labels.embedding for labels in labelled] or np.zeros((0, 1)), dtype=np.float64)


def _speaks_of_findings(report: ReportReading) -> bool:
    return any(mention.kind != "anatomy" for mention in report.mentions)


def cosines(left: Rows, right: Rows) -> Rows:
    """Cosine of each row with the row of the other side; rows of zeros are reports without any condition.

    >>> cosines(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])).round(3).tolist()
    [0.707, 0.0]
    """
    lengths = np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1)
    cosine = ratio((left * right).sum(axis=1), lengths[0] * lengths[1])
    # One text names conditions and the other none: nothing in common. Neither does: nothing to compare.
    cosine[(lengths[0] == 0) ^ (lengths[1] == 0)] = 0.0
    return cosine
