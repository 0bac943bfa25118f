"""Norms of the references of a training set: word order, length, number of denials.

A salad of the right words satisfies every metric that reads findings, and no metric counts words. Here the
trigrams of the references do, interpolated with bigrams and words (Witten & Bell 1991): per word, the log of its
probability behind the two words before, over that of the word alone. The ratio does not ask whether words are
rare, only whether they stand in an order; a word that the references lack weighs nothing. Limits are quantiles of
references of a like length, under models that have not seen them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError

MIN_REFERENCES = 30
"""References that limits can be measured on."""

FOLDS = 5
WINDOW = 8
"""Words of the stretch that must not be out of order, however orderly the rest is."""

NEIGHBOURS = 200
"""References of a like length that set the limits of word order."""

UNUSUAL = 0.05
"""Share of the references whose order of words is unusual."""

SLACK = 0.05
"""By how much gains under all references may be below those under four fifths of them, where all are alike."""

_TOKENS = re.compile(r"[^\W\d_]+|\d+|[.;:]")
_WORDS = re.compile(r"\w+")
_DENIALS = re.compile(r"\b(?:no|not|without|negative|absent|absence|free of|denies)\b", re.IGNORECASE)

Gram = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class WordOrder:
    """Counts of runs of one, two and three words."""

    counts: Counter[Gram]  # Run -> how often it occurs
    before: Counter[Gram]  # Run of one or two words -> how often a word follows
    kinds: Counter[Gram]  # The same -> how many different words follow

    @classmethod
    def of(cls, texts: Sequence[str]) -> WordOrder:
        """Count the runs of some texts."""
        counts: Counter[Gram] = Counter()
        for text in texts:
            tokens = _tokens(text)
            for end in range(2, len(tokens)):
                counts.update((tokens[end : end + 1], tokens[end - 1 : end + 1], tokens[end - 2 : end + 1]))
        before: Counter[Gram] = Counter()
        for gram, count in counts.items():
            before[gram[:-1]] += count
        return cls(counts, before, Counter(gram[:-1] for gram in counts))

    def gains(self, text: str) -> NDArray[np.float64]:
        """Log of P(word | two words before) / P(word), for each word of a text.

        >>> order = WordOrder.of(["No pleural effusion."] * 9 + ["The heart is normal."])
        >>> bool(order.gains("No pleural effusion.").mean() > 0 > order.gains("effusion No pleural.").mean())
        True
        """
        tokens = _tokens(text)
        total = self.before[()] + self.kinds[()] + 1
        gains = []
        for end in range(2, len(tokens)):
            alone = probability = (self.counts[tokens[end : end + 1]] + 1) / total
            for start in (end - 1, end - 2):
                if seen := self.before[tokens[start:end]]:
                    novel = self.kinds[tokens[start:end]]
                    probability = (self.counts[tokens[start : end + 1]] + novel * probability) / (seen + novel)
            gains.append(math.log(probability / alone))
        return np.array(gains)


@dataclass(frozen=True, eq=False)
class Norms:
    """Limits that all but a small share of the references keep."""

    order: WordOrder  # Word order of the references
    lengths: NDArray[np.intp]  # Numbers of words that references have, ascending
    # For each of them two rows, the limit and where texts begin to be unusual, with the mean gain of a text and of
    # its worst `WINDOW` words in the columns
    limits: NDArray[np.float64]
    min_words: float  # Words of the shortest text
    max_words: float  # Words of the longest text
    max_denials: float  # Largest number of denials of a text

    @classmethod
    def of(cls, references: Sequence[str], *, tail: float) -> Norms:
        """Measure the limits on references.

        Args:
            references: Texts that radiologists wrote; equal ones count once.
            tail: Share of the references beyond each limit.
        """
        texts = [text for text in dict.fromkeys(references) if _tokens(text)[2:]]
        if len(texts) < MIN_REFERENCES:
            raise InputError(
                f"references must be {MIN_REFERENCES} different texts or more, so that limits can be measured on "
                f"them; got {len(texts)}"
            )
        unseen = np.empty((len(texts), 2))
        for fold in range(FOLDS):
            order = WordOrder.of([text for index, text in enumerate(texts) if index % FOLDS != fold])
            unseen[fold::FOLDS] = [_means(order.gains(text)) for text in texts[fold::FOLDS]]
        lengths = np.array([count_words(text) for text in texts])
        distinct = np.unique(lengths)
        gains, ascending = unseen[np.argsort(lengths, kind="stable")], np.sort(lengths)
        shortest, longest = np.quantile(lengths, [tail, 1 - tail])
        denials = np.quantile([_count_denials(text) for text in texts], 1 - tail)
        return cls(
            order=WordOrder.of(texts),
            lengths=distinct,
            limits=np.stack([_limits(gains, int(at), tail) for at in np.searchsorted(ascending, distinct)]),
            min_words=float(shortest),
            max_words=float(longest),
            max_denials=float(denials),
        )

    def fluency(self, text: str) -> float:
        """Return 0 for a text at the limit of word order, 1 from where all but `UNUSUAL` of the references are.

        Between them it rises evenly: a trainer that searches the limit for texts that metrics like is led back.
        """
        nearest = min(int(np.searchsorted(self.lengths, count_words(text))), len(self.lengths) - 1)
        low, usual = self.limits[nearest]
        reached = (_means(self.order.gains(text)) - low) / np.maximum(usual - low, 1e-9)
        return float(np.clip(reached.min(), 0.0, 1.0))

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
        return "" if self.fluency(text) > 0 else "words out of order"


def _limits(gains: NDArray[np.float64], middle: int, tail: float) -> NDArray[np.float64]:
    """Return the limit of gains and where they begin to be unusual, among references of a like length."""
    start = min(max(middle - NEIGHBOURS // 2, 0), max(len(gains) - NEIGHBOURS, 0))
    near = gains[start : start + NEIGHBOURS]
    low: NDArray[np.float64] = np.quantile(near, [tail, max(UNUSUAL, tail)], axis=0)
    if len(near) < NEIGHBOURS:  # too few to know the tail: as far as a normal distribution would reach
        low[0] = np.minimum(low[0], near.mean(axis=0) + NormalDist().inv_cdf(tail) * near.std(axis=0))
    return low - SLACK


def count_words(text: str) -> int:
    """Return the number of words and numbers in a text."""
    return len(_WORDS.findall(text))


def _count_denials(text: str) -> int:
    return len(_DENIALS.findall(text))


def _tokens(text: str) -> Gram:
    """Words, numbers as one word, and ends of sentences, behind two marks for the beginning."""
    tokens = ("0" if token[0].isdecimal() else token for token in _TOKENS.findall(text.lower()))
    return ("", "", *tokens)


def _means(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of a text and that of its worst stretch."""
    if len(gains) <= WINDOW:
        return np.full(2, gains.mean() if len(gains) else 0.0)
    ends = np.concatenate([[0.0], np.cumsum(gains)])
    return np.array([gains.mean(), ((ends[WINDOW:] - ends[:-WINDOW]) / WINDOW).min()])
