"""ROUGE-1, ROUGE-2 and ROUGE-L: overlap of words, word pairs and word order.

Lin (2004), ROUGE: a package for automatic evaluation of summaries, Text Summarization Branches Out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Explanation, Metric, Note, Rows, Span, ratio, reference_pairs
from radgauge.core.readings import Readings
from radgauge.text.lcs import BLOCK, lcs_length, lcs_of_long, lcs_pairs, word_bits
from radgauge.text.ngrams import count_ngrams, pair_up
from radgauge.text.tokenizers import TokenReader, Tokens, locate

BETA = 1.2  # pycocoevalcap's weight of recall


@dataclass(frozen=True)
class Rouge(Metric):
    """F1 of ROUGE-L, ROUGE-1 and ROUGE-2 as rouge-score computes them, or ROUGE-L as pycocoevalcap does.

    The two are different numbers. Papers on report generation mostly print pycocoevalcap's; libraries for
    summarisation print rouge-score's. A set's value is the mean of its cases.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="no acute effusion", references=("no effusion",))
    >>> Rouge().measure([case], reading=Readings()).round(3).tolist()  # L, 1, 2
    [[0.8, 0.8, 0.0]]
    """

    name: ClassVar[str] = "rouge"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "shared words, word pairs and word order (ROUGE-L, 1, 2)"
    one_range: ClassVar[bool] = True

    # "standard" (rouge-score: F1, best reference) or "coco" (pycocoevalcap: recall weighs 1.44 times as much, best
    # precision and best recall over the references are combined)
    variant: Literal["standard", "coco"] = "standard"
    # "default": runs of a-z and 0-9 for "standard"; for "coco" the parts between single blanks, where two blanks
    # in a row make an empty word (pycocoevalcap to the letter, and in published values). "coco" also takes "words"
    # and "whitespace".
    tokenizer: Literal["default", "words", "whitespace", "spaces"] = "default"
    lowercase: bool = True  # True if case is ignored; "standard" always ignores it
    # True if words of more than three letters are stemmed (Porter, as rouge-score's use_stemmer)
    stemmer: bool = False
    # "nan": a candidate without words is not judged; "zero": it scores 0, as in the peers
    empty: Literal["nan", "zero"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "standard" and self.tokenizer != "default":
            raise UsageError("rouge: only variant 'coco' takes another tokenizer; leave tokenizer out")
        if self.variant == "standard" and not self.lowercase:
            raise UsageError("rouge: only variant 'coco' can keep the case; leave lowercase out")

    @property
    def columns(self) -> tuple[str, ...]:
        """ROUGE-L is the headline."""
        return ("rouge_l_coco",) if self.variant == "coco" else ("rouge_l", "rouge_1", "rouge_2")

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate counts."""
        return self.empty == "zero"

    def parts(self) -> Mapping[str, str]:
        """The tokenizer meant by "default", and the rule for several references."""
        if self.variant == "coco":
            return {"tokenizer": self._reader().tokenizer, "beta": "1.2", "references": "best-p-and-r"}
        return {"tokenizer": self._reader().tokenizer, "references": "best-f1"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """The values of each case."""
        candidates, references, owner = reference_pairs(cases)
        pairing = pair_up(candidates, [(text,) for text in references])
        if not candidates:
            return np.full((len(cases), len(self.columns)), np.nan)
        texts = reading.of(self._reader(), pairing.texts)
        candidate, reference = pairing.candidate, pairing.references[0]
        lengths = np.array([_words(text) for text in texts], dtype=np.float64)
        common = _common_lengths(texts, candidate, reference)
        sizes = np.array([len(text) for text in texts], dtype=np.float64)
        # a reference without words says nothing about the candidate: as if it were not there
        usable = lengths[reference] > 0
        if self.variant == "coco":
            precision = _best(np.where(usable, ratio(common, sizes[candidate]), np.nan), owner, len(cases))
            recall = _best(np.where(usable, ratio(common, sizes[reference]), np.nan), owner, len(cases))
            weighted = ratio((1 + BETA**2) * precision * recall, recall + BETA**2 * precision)
            values = np.where(precision * recall == 0, 0.0, weighted)[:, None]
        else:
            counted = count_ngrams(texts, order=2)
            matches = counted.by_order(counted.counts[candidate].minimum(counted.counts[reference]))
            overlap = np.column_stack([common, matches])
            of_candidate = np.column_stack([sizes[candidate], counted.totals(candidate)])
            of_reference = np.column_stack([sizes[reference], counted.totals(reference)])
            precision = overlap / np.maximum(of_candidate, 1)
            recall = overlap / np.maximum(of_reference, 1)
            f1 = np.where(overlap > 0, ratio(2 * precision * recall, precision + recall), 0.0)
            f1[~usable] = np.nan
            values = np.column_stack([_best(column, owner, len(cases)) for column in f1.T])
        if not self.judges_empty:
            words = dict(zip(pairing.texts, lengths, strict=True))
            values[[words.get(case.candidate, 0) == 0 for case in cases]] = np.nan
        return values

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words."""
        (words,) = reading.of(self._reader(), [case.candidate])
        return "candidate has no words" if not _words(words) else "reference has no words"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The longest common subsequence with the reference that has the longest."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, rows[0]), strict=True))
        if np.isnan(rows[0, 0]):
            return Explanation(self.name, values)
        reader = TokenReader(self._reader().tokenizer, lowercase=self.lowercase)  # stems cannot be located
        words = reading.of(reader, [case.candidate, *case.references])
        if max(map(len, words)) > BLOCK:
            return Explanation(self.name, values, (Note("info", "too long to show the words in common"),))
        read = reading.of(self._reader(), [case.candidate, *case.references])
        pairs, best = max(
            ((lcs_pairs(read[0], other), index) for index, other in enumerate(read[1:])),
            key=lambda item: len(item[0]),
        )
        common = " ".join(words[0][i] for i, _ in pairs)
        note = Note(
            "matched",
            f"{len(pairs)} words in the same order in both: {common}" if pairs else "no word in common",
            reference_spans=_word_spans(case.references[best], words[best + 1], [j for _, j in pairs]),
            candidate_spans=_word_spans(case.candidate, words[0], [i for i, _ in pairs]),
            data={"reference": best, "words": len(pairs)},
        )
        return Explanation(self.name, values, (note,))

    def _reader(self) -> TokenReader:
        meant = "spaces" if self.variant == "coco" else "alphanumeric"
        name = meant if self.tokenizer == "default" else self.tokenizer
        return TokenReader(name, lowercase=self.lowercase, stemmer=self.stemmer)


def _words(tokens: Tokens) -> int:
    """Number of words; the tokenizer "spaces" also makes empty ones."""
    return sum(map(bool, tokens))


def _common_lengths(texts: Sequence[Tokens], left: NDArray[np.intp], right: NDArray[np.intp]) -> Rows:
    """Length of the longest common subsequence of each pair; equal pairs are worked out once."""
    bits = {index: word_bits(texts[index]) for index in set(left.tolist()) if len(texts[index]) <= BLOCK}
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    lengths = {
        (i, j): lcs_length(bits[i], len(texts[i]), texts[j]) if i in bits else lcs_of_long(texts[i], texts[j])
        for i, j in set(pairs)
    }
    return np.array([lengths[pair] for pair in pairs], dtype=np.float64)


def _best(values: Rows, owner: NDArray[np.intp], cases: int) -> Rows:
    """The largest value of each case, NaN where it has none."""
    best = np.full(cases, -np.inf)
    np.fmax.at(best, owner, values)
    best[np.isinf(best)] = np.nan
    return best


def _word_spans(text: str, words: Tokens, chosen: Sequence[int]) -> tuple[Span, ...]:
    spans = locate(text, words)
    return tuple(span for i in chosen if (span := spans[i]) is not None)
