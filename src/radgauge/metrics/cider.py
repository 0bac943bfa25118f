"""CIDEr-D: shared n-grams, weighted by how rare they are among the references of the run.

Vedantam et al. (2015), CIDEr: consensus-based image description evaluation, CVPR. What the field prints as
"CIDEr" is pycocoevalcap's program: the paper's CIDEr-D without stemming. This is that program's number.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.core.metric import Metric, Rows
from radgauge.core.readings import Readings
from radgauge.text.ngrams import Floats, NgramCounts, Pairing, count_ngrams, pair_up
from radgauge.text.tokenizers import TokenReader

ORDER = 4
Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Cider(Metric):
    """CIDEr-D as pycocoevalcap computes it, 0 to 10.

    An n-gram weighs the more, the fewer studies of the run have it in their references; every study counts
    once, however many systems are judged. So the value of a case depends on the other studies, and values
    from different test sets cannot be compared. One study alone, or studies whose references are all the
    same, tell nothing apart: NaN (the program gives 0, for a perfect copy too).

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> texts = ["no effusion seen today", "heart size is normal"]
    >>> cases = [Case(str(i), text, (text,)) for i, text in enumerate(texts)]
    >>> Cider().measure(cases, reading=Readings()).round(6).tolist()
    [[10.0], [10.0]]
    """

    name: ClassVar[str] = "cider"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 10.0)
    summary: ClassVar[str] = "shared word n-grams, rare ones weigh more (CIDEr-D; depends on the whole test set)"
    independent: ClassVar[bool] = False

    # "words" (punctuation split off) or "whitespace" (pycocoevalcap)
    tokenizer: Literal["words", "whitespace"] = "words"
    lowercase: bool = True  # True if case is ignored
    sigma: float = 6.0  # Width of the penalty for a different length, in words
    # "nan": a candidate without words is not judged; "zero": it scores 0, as in the peer. Its reference counts
    # among the studies either way.
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
        """Source of the document frequencies, and the rule for several references."""
        return {"df": "references-of-the-run", "references": "mean"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The value of each case, given all the others."""
        pairing = pair_up([case.candidate for case in cases], [case.references for case in cases])
        if not pairing.references:
            return np.full((len(cases), 1), np.nan)
        reader = TokenReader(self.tokenizer, lowercase=self.lowercase)
        counted = count_ngrams(reading.of(reader, pairing.texts), order=ORDER, hashed=True)
        frequencies: Frequencies | None = reading.once(self.pass_key, lambda: None)
        weights = (
            _squared_idf(counted, pairing, cases) if frequencies is None else _known_idf(counted, frequencies)
        )
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

    @property
    def pass_key(self) -> Hashable:
        """Key under which `measure` finds the document frequencies of a run of which it sees a part."""
        return ("document frequencies", self.tokenizer, self.lowercase)

    def count_documents(self, cases: Sequence[Case], *, reading: Readings) -> tuple[int, Hashes, Counts]:
        """Number of documents, hashes of the n-grams of their references, and how many documents have each."""
        pairing = pair_up([case.candidate for case in cases], [case.references for case in cases])
        if not pairing.references:
            return 0, np.empty((0, 2), dtype=np.uint64), np.empty(0, dtype=np.int64)
        reader = TokenReader(self.tokenizer, lowercase=self.lowercase)
        counted = count_ngrams(reading.of(reader, pairing.texts), order=ORDER, hashed=True)
        number, frequency = _document_frequency(counted, pairing, cases)
        there = np.flatnonzero(frequency)
        return number, _hashes(counted)[there], frequency[there]

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """An empty candidate, or references that tell nothing apart."""
        if not case.candidate.strip() and self.empty == "nan":
            return "empty candidate"
        return "the references of this run do not differ (CIDEr needs at least two studies)"


class Frequencies(Protocol):
    """Document frequencies of a whole run."""

    @property
    def documents(self) -> int:
        """Number of documents."""

    def of(self, hashes: Hashes) -> Counts:
        """Number of documents with each n-gram."""


def _squared_idf(counted: NgramCounts, pairing: Pairing, cases: Sequence[Case]) -> Floats:
    """Square of log(studies / studies that have the n-gram in a reference), for each n-gram."""
    return _idf(*_document_frequency(counted, pairing, cases))


def _known_idf(counted: NgramCounts, frequencies: Frequencies) -> Floats:
    return _idf(frequencies.documents, frequencies.of(_hashes(counted)))


def _idf(documents: int, frequency: Counts) -> Floats:
    idf: Floats = np.log(float(max(documents, 1))) - np.log(np.maximum(frequency, 1.0))
    return idf**2


def _document_frequency(counted: NgramCounts, pairing: Pairing, cases: Sequence[Case]) -> tuple[int, Counts]:
    # the same study under several systems is one document
    first = {(case.id, case.references): row for row, case in enumerate(cases) if case.references}
    documents = np.fromiter(first.values(), dtype=np.intp, count=len(first))
    having = counted.most([slot[documents] for slot in pairing.references])
    return len(documents), np.bincount(having.indices, minlength=len(counted.order_of))


def _hashes(counted: NgramCounts) -> Hashes:
    if counted.hashes is None:
        raise RadgaugeError("n-grams without hashes")  # cannot happen: they are asked for above
    return counted.hashes
