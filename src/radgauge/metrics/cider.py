"""CIDEr-D: shared n-grams, weighted by how rare they are among the references of the run.

Vedantam et al. (2015), CIDEr: consensus-based image description evaluation, CVPR. What the field prints as
"CIDEr" is pycocoevalcap's program: the paper's CIDEr-D without stemming. This is that program's number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from radgauge.cases import Case
from radgauge.errors import UsageError
from radgauge.metric import Metric, Rows
from radgauge.reading import Readings
from radgauge.text.ngrams import Floats, NgramCounts, Pairing, count_ngrams, pair_up
from radgauge.text.tokenizers import TokenReader

ORDER = 4


@dataclass(frozen=True)
class Cider(Metric):
    """CIDEr-D as pycocoevalcap computes it, 0 to 10.

    An n-gram weighs the more, the fewer studies of the run have it in their references; every study counts
    once, however many systems are judged. So the value of a case depends on the other studies, and values
    from different test sets cannot be compared. One study alone, or studies whose references are all the
    same, tell nothing apart: NaN (the program gives 0, for a perfect copy too).

    Attributes:
        tokenizer: "words" (punctuation split off) or "whitespace" (pycocoevalcap).
        lowercase: Whether case is ignored.
        sigma: Width of the penalty for a different length, in words.
        empty: "nan": a candidate without words is not judged; "zero": it scores 0, as in the peer. Its
            reference counts among the studies either way.

    >>> from radgauge.cases import Case
    >>> from radgauge.reading import Readings
    >>> texts = ["no effusion seen today", "heart size is normal"]
    >>> cases = [Case(str(i), text, (text,)) for i, text in enumerate(texts)]
    >>> Cider().measure(cases, reading=Readings()).round(6).tolist()
    [[10.0], [10.0]]
    """

    name: ClassVar[str] = "cider"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 10.0)
    summary: ClassVar[str] = "shared word n-grams, rare ones weigh more (CIDEr-D; depends on the whole test set)"
    independent: ClassVar[bool] = False

    tokenizer: Literal["words", "whitespace"] = "words"
    lowercase: bool = True
    sigma: float = 6.0
    empty: Literal["nan", "zero"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sigma > 0:
            raise UsageError(f"cider: sigma must be above 0, got {self.sigma}")

    @property
    def judges_empty(self) -> bool:
        """True in any case: the references of empty candidates belong to the document frequencies."""
        return True

    def parts(self) -> Mapping[str, str]:
        """Where the document frequencies come from, and the rule for several references."""
        return {"df": "references-of-the-run", "references": "mean"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The value of each case, given all the others."""
        pairing = pair_up([case.candidate for case in cases], [case.references for case in cases])
        if not pairing.references:
            return np.full((len(cases), 1), np.nan)
        reader = TokenReader(self.tokenizer, lowercase=self.lowercase)
        counted = count_ngrams(reading.of(reader, pairing.texts), order=ORDER)
        weights = _squared_idf(counted, pairing, cases)
        norms = np.sqrt(counted.by_order(counted.counts.multiply(counted.counts).tocsr(), weights))

        candidate = pairing.candidate
        pairs_of = np.maximum(counted.lengths - 1, 0)  # the program measures length in word pairs
        similarity = np.zeros(len(cases))
        informative = np.zeros(len(cases), dtype=bool)
        references = np.zeros(len(cases))
        for slot in pairing.references:
            theirs = counted.counts[slot]
            # min(h, r) * r of tf-idf weights: the idf is common to both, so it leaves as its square
            shared = counted.by_order(counted.counts[candidate].minimum(theirs).multiply(theirs).tocsr(), weights)
            scale = norms[candidate] * norms[slot]
            cosine = np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 0)
            difference = (pairs_of[candidate] - pairs_of[slot]).astype(np.float64)
            similarity += cosine.mean(axis=1) * np.exp(-(difference**2) / (2 * self.sigma**2))
            informative |= norms[slot].any(axis=1)
            references += slot >= 0
        judged = informative & (references > 0)
        if self.empty == "nan":
            judged &= counted.lengths[candidate] > 0
        return np.where(judged, 10 * similarity / np.maximum(references, 1), np.nan)[:, None]

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """An empty candidate, or references that tell nothing apart."""
        if not case.candidate.strip() and self.empty == "nan":
            return "empty candidate"
        return "the references of this run do not differ (CIDEr needs at least two studies)"


def _squared_idf(counted: NgramCounts, pairing: Pairing, cases: Sequence[Case]) -> Floats:
    """Square of log(studies / studies that have the n-gram in a reference), for each n-gram."""
    # the same study under several systems is one document
    first = {(case.id, case.references): row for row, case in enumerate(cases) if case.references}
    documents = np.fromiter(first.values(), dtype=np.intp, count=len(first))
    having = counted.most([slot[documents] for slot in pairing.references])
    frequency = np.bincount(having.indices, minlength=len(counted.order_of))
    idf: Floats = np.log(float(max(len(documents), 1))) - np.log(np.maximum(frequency, 1.0))
    return idf**2
