"""What the references of a training say of any report: which word follows which, and how long reports are.

A salad of the right words satisfies every metric that reads findings, and no metric counts words. Here the bigrams
of the references do (Witten & Bell 1991): per word, the log of its probability behind the word before, over that
of the word alone. The ratio does not ask whether words are rare, only whether they stand in an order; a word that
the references lack weighs nothing. Limits are quantiles of the references under models that have not seen them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError

MIN_REFERENCES = 30
"""References that limits can be measured on."""

FOLDS = 5
WINDOW = 8
"""Words of the stretch that must not be out of order, however orderly the rest is."""

_TOKENS = re.compile(r"[^\W\d_]+|\d+|[.;:]")
_WORDS = re.compile(r"\w+")
_DENIALS = re.compile(r"\b(?:no|not|without|negative|absent|absence|free of|denies)\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class WordOrder:
    """Counts of words and of pairs of neighbours."""

    words: Counter[str]
    pairs: Counter[tuple[str, str]]
    begins: Counter[str]
    followers: Counter[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> WordOrder:
        """Count the words and neighbours of some texts."""
        words: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for text in texts:
            tokens = _tokens(text)
            words.update(tokens[1:])
            pairs.update(pairwise(tokens))
        begins: Counter[str] = Counter()
        for (first, _), count in pairs.items():
            begins[first] += count
        return cls(words, pairs, begins, Counter(first for first, _ in pairs))

    def gains(self, text: str) -> NDArray[np.float64]:
        """Log of P(word | word before) / P(word), for each word of a text.

        >>> order = WordOrder.of(["No pleural effusion."] * 9 + ["The heart is normal."])
        >>> bool(order.gains("No pleural effusion.").mean() > 0 > order.gains("effusion No pleural.").mean())
        True
        """
        tokens = _tokens(text)
        total = self.words.total() + len(self.words) + 1
        gains = []
        for first, second in pairwise(tokens):
            alone = (self.words[second] + 1) / total
            seen = self.begins[first]
            novel = self.followers[first]
            behind = (self.pairs[first, second] + novel * alone) / (seen + novel) if seen else alone
            gains.append(math.log(behind / alone))
        return np.array(gains)


@dataclass(frozen=True, eq=False)
class Norms:
    """Limits that all but a small share of the references keep.

    Attributes:
        order: Word order of the references.
        min_gain: Smallest mean gain of a text.
        min_window: Smallest mean gain of any `WINDOW` words of a text.
        min_words: Words of the shortest text.
        max_words: Words of the longest text.
        max_denials: Largest number of denials of a text.
    """

    order: WordOrder
    min_gain: float
    min_window: float
    min_words: float
    max_words: float
    max_denials: float

    @classmethod
    def of(cls, references: Sequence[str], *, tail: float) -> Norms:
        """Measure the limits on references.

        Args:
            references: Texts that radiologists wrote; equal ones count once.
            tail: Share of the references beyond each limit.
        """
        texts = [text for text in dict.fromkeys(references) if _tokens(text)[1:]]
        if len(texts) < MIN_REFERENCES:
            raise InputError(
                f"references must be {MIN_REFERENCES} different texts or more, so that limits can be measured on "
                f"them; got {len(texts)}"
            )
        unseen = []
        for fold in range(FOLDS):
            order = WordOrder.of([text for index, text in enumerate(texts) if index % FOLDS != fold])
            unseen += [_means(order.gains(text)) for text in texts[fold::FOLDS]]
        gains = np.array(unseen)
        low = np.quantile(gains, tail, axis=0)
        if len(texts) * tail < 1:  # no text lies so far out: as far as a normal distribution of them would reach
            low = np.minimum(low, gains.mean(axis=0) + NormalDist().inv_cdf(tail) * gains.std(axis=0))
        gain, window = low
        lengths = [count_words(text) for text in texts]
        shortest, longest = np.quantile(lengths, [tail, 1 - tail])
        denials = np.quantile([_count_denials(text) for text in texts], 1 - tail)
        return cls(
            WordOrder.of(texts), float(gain), float(window), float(shortest), float(longest), float(denials)
        )

    def why_not(self, text: str) -> str:
        """Return what sets a text apart from the references; "" if nothing does.

        Counts have margins, since a report may be terser or fuller than the references: three quarters of the
        fewest words, twice the most words, one and a half times the most denials.
        """
        words = count_words(text)
        if words < 0.75 * self.min_words:
            return "shorter than any reference"
        if words > 2 * self.max_words:
            return "longer than any reference"
        if _count_denials(text) > 1.5 * self.max_denials + 1:
            return "more denials than any reference"
        mean, window = _means(self.order.gains(text))
        return "words out of order" if mean < self.min_gain or window < self.min_window else ""


def count_words(text: str) -> int:
    """Return the number of words and numbers in a text."""
    return len(_WORDS.findall(text))


def _count_denials(text: str) -> int:
    return len(_DENIALS.findall(text))


def _tokens(text: str) -> list[str]:
    """Words, numbers as one word, and ends of sentences, behind a mark for the beginning."""
    return ["", *("0" if token[0].isdecimal() else token for token in _TOKENS.findall(text.lower()))]


def _means(gains: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of a text and that of its worst stretch."""
    mean = float(gains.mean()) if len(gains) else 0.0
    if len(gains) <= WINDOW:
        return mean, mean
    ends = np.concatenate([[0.0], np.cumsum(gains)])
    return mean, float(((ends[WINDOW:] - ends[:-WINDOW]) / WINDOW).min())
