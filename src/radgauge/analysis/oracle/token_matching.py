"""BERTScore of every corpus text against a query, by bounds first and in full only where they allow it.

Precision is cheap: a token's best match in the query depends on the token alone, so it is looked up. Recall is
dear. It is bounded from above by what each token of the query could find at best: itself, if the text has it,
else the nearest other token of the whole corpus. Texts are then measured in the order of the bounds, until no
bound exceeds the best that was found. With an encoder that reads words in context every token is unique and
the bound says nothing, so all texts are measured: a few thousand texts are what to expect of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.oracle.ranking import Found, best, not_judged
from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.readings import Readings
from radgauge.encoders.text.token_vectors import TokenVectors
from radgauge.metrics._settings import EMBEDDED
from radgauge.metrics.bertscore import BertScore
from radgauge.text.words import has_words

Numbers = NDArray[np.int64]
Single = NDArray[np.float32]
Values = NDArray[np.float64]

DECIMALS = 6  # cosines are in single precision: what agrees this far is a tie
MARGIN = 1e-5  # by which a bound may miss for rounding
BLOCK = 2048  # texts read at once
FIRST = 128  # texts measured before the bounds are looked at again


def search_tokens(
    metric: BertScore, corpus: Sequence[str], *, queries: Sequence[str], top: int, reading: Readings
) -> Iterator[Found]:
    """The best corpus texts for each query by BERTScore F1.

    Args:
        metric: BERTScore without idf.
        corpus: Distinct texts that are not blank.
        queries: Texts that are not blank.
        top: How many are wanted.
        reading: For the token vectors.
    """
    if metric.idf or metric.empty != "nan":
        raise UsageError("an oracle of bertscore needs idf=no and empty=nan: a text must have a value of its own")
    tokens = _Tokens.of(metric, corpus, reading)
    for text in queries:
        (query,) = metric.token_vectors([text], reading=reading.fork())
        if query.empty or not has_words(text):
            yield not_judged("reference has no words")
            continue
        near = tokens.near(query, top=top)
        cases = [Case(str(number), corpus[number], (text,)) for number in near]
        scores = metric.case_scores(metric.measure(cases, reading=reading.fork()))[:, 0]
        yield best(near, scores, top=top, decimals=DECIMALS)


@dataclass(frozen=True, eq=False)
class _Tokens:
    """The tokens of a corpus."""

    vectors: Single  # One row per distinct token
    numbers: Numbers  # Tokens of text t are numbers[starts[t] : starts[t + 1]]; texts without tokens are left out
    starts: Numbers  # Where the tokens of each text begin, and where the last end
    counted: Values  # For each entry of `numbers` 1, or 0 for markers
    texts: NDArray[np.intp]  # Which texts of the corpus these are
    # Token -> texts (by place in `texts`) that have it; None if tokens are unique by nature
    having: tuple[Numbers, Numbers] | None

    @classmethod
    def of(cls, metric: BertScore, corpus: Sequence[str], reading: Readings) -> _Tokens:
        shared = metric.models == EMBEDDED
        numbers: dict[Hashable, int] = {}
        vectors: list[Single] = []
        flat: list[int] = []
        counted: list[NDArray[np.bool_]] = []
        sizes: list[int] = []
        texts: list[int] = []
        for start in range(0, len(corpus), BLOCK):
            block = corpus[start : start + BLOCK]
            read = metric.token_vectors(block, reading=reading.fork())
            for place, (text, each) in enumerate(zip(block, read, strict=True), start=start):
                if each.empty or not has_words(text):
                    continue
                texts.append(place)
                sizes.append(len(each.keys))
                counted.append(each.counted)
                for position, key in enumerate(each.keys):
                    name = key if shared else (place, position)
                    number = numbers.setdefault(name, len(numbers))
                    if number == len(vectors):
                        vectors.append(each.vectors[position])
                    flat.append(number)
        matrix = np.array(vectors, np.float32)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        tokens = np.array(flat, np.int64)
        having = None
        if shared:
            owner = np.repeat(np.arange(len(texts)), sizes)
            pairs = np.unique(tokens * len(texts) + owner)
            ends = np.concatenate([[0], np.cumsum(np.bincount(pairs // len(texts), minlength=len(matrix)))])
            having = (pairs % len(texts), ends)
        weight = np.concatenate(counted).astype(np.float64) if counted else np.empty(0)
        return cls(matrix, tokens, starts, weight, np.array(texts, np.intp), having)

    def near(self, query: TokenVectors, *, top: int) -> NDArray[np.intp]:
        """Texts that can be among the `top` best."""
        if not len(self.texts):
            return self.texts
        cosine = self.vectors @ query.vectors.T
        first = self.starts[:-1]
        recall = cosine.max(axis=1).astype(np.float64)[self.numbers] * self.counted
        precision = np.add.reduceat(recall, first) / np.add.reduceat(self.counted, first)
        bound = _f1(precision, self._most_recall(cosine, query))
        # F1 grows with the recall only where both have a positive sum; other texts are measured in any case.
        bound[precision <= max(0.0, -float(cosine.min()))] = np.inf
        order = np.argsort(-bound, kind="stable")
        exact = np.full(len(order), -np.inf)
        done, size, threshold = 0, max(FIRST, top), -np.inf
        while done < len(order) and bound[order[done]] >= threshold - MARGIN:
            block = order[done : done + size]
            block = block[bound[block] >= threshold - MARGIN]
            exact[block] = _f1(precision[block], self._recall(cosine, query, block))
            done += size
            if top <= min(done, len(exact) - 1):
                threshold = float(np.partition(exact, -top)[-top])
            size = min(4 * size, BLOCK)
        return self.texts[np.flatnonzero(exact >= threshold - MARGIN)]

    def _most_recall(self, cosine: Single, query: TokenVectors) -> Values:
        """No text can have more: its own tokens of the query, and the nearest other token for the rest."""
        counted = np.flatnonzero(query.counted)
        if self.having is None:
            return np.full(len(self.texts), cosine[:, counted].max(axis=0).mean(dtype=np.float64))
        members, ends = self.having
        highest = np.zeros(len(self.texts))
        for column in counted:
            same = np.flatnonzero(cosine[:, column] > 1 - MARGIN)
            other = float(np.delete(cosine[:, column], same).max(initial=-1.0))
            has = np.zeros(len(self.texts), bool)
            for token in same:
                has[members[ends[token] : ends[token + 1]]] = True
            highest += np.where(has, 1 + MARGIN, other)
        return highest / len(counted)

    def _recall(self, cosine: Single, query: TokenVectors, block: NDArray[np.intp]) -> Values:
        sizes = self.starts[block + 1] - self.starts[block]
        begins = np.cumsum(sizes) - sizes
        positions = np.repeat(self.starts[block] - begins, sizes) + np.arange(int(sizes.sum()))
        found = np.maximum.reduceat(cosine[self.numbers[positions]], begins, axis=0)
        recall: Values = found[:, query.counted].mean(axis=1, dtype=np.float64)
        return recall


def _f1(precision: Values, recall: Values) -> Values:
    total = precision + recall
    f1: Values = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    return f1
