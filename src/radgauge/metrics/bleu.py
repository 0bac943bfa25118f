"""BLEU: how many of the candidate's word n-grams the references have.

Papineni et al. (2002), BLEU: a method for automatic evaluation of machine translation, ACL.
The variant "cxr" is the BLEU-2 of CXR-Report-Metric (Yu et al. 2023, Patterns 4(9)), a term of RadCliQ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Explanation, Metric, Note, Rows, Span, best_reference, reference_pairs
from radgauge.core.readings import Readings
from radgauge.text.ngrams import count_ngrams, pair_up
from radgauge.text.tokenizers import TokenReader, locate

# Which words two texts share, as notes for people: what lexical metrics show as their explanation.

Side = tuple[str, Sequence[str]]
"""A text and its words."""

_MAX_POSITIONS = 20  # occurrences of one phrase looked at: keeps a text of one repeated word from taking for ever


def shared_phrases(candidate: Side, reference: Side, *, shortest: int = 2) -> list[Note]:
    """Phrases in both texts, longest first at each place, and the words only one of them has.

    >>> notes = shared_phrases(("No big mass", ["no", "big", "mass"]), ("no mass", ["no", "mass"]))
    >>> [(note.kind, note.text) for note in notes]
    [('added', 'only in the candidate: big')]
    """
    text, words = candidate
    other_text, others = reference
    positions: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(others) - shortest + 1):
        starts = positions.setdefault(tuple(others[start : start + shortest]), [])
        if len(starts) < _MAX_POSITIONS:
            starts.append(start)
    spans, other_spans = locate(text, words), locate(other_text, others)
    notes = []
    position = 0
    while position <= len(words) - shortest:
        size, where = 0, 0
        for start in positions.get(tuple(words[position : position + shortest]), ()):
            length = _common(words, position, others, start)
            if length > size:
                size, where = length, start
        if size:
            phrase = " ".join(words[position : position + size])
            notes.append(
                Note(
                    "matched",
                    f"in both: {phrase}",
                    reference_spans=cover(other_spans[where : where + size]),
                    candidate_spans=cover(spans[position : position + size]),
                    data={"words": size},
                )
            )
        position += max(size, 1)
    vocabulary, known_others = set(words), set(others)
    added = [i for i, word in enumerate(words) if word not in known_others]
    missing = [i for i, word in enumerate(others) if word not in vocabulary]
    if added:
        listed = ", ".join(dict.fromkeys(words[i] for i in added))
        notes.append(
            Note("added", f"only in the candidate: {listed}", candidate_spans=_located(spans[i] for i in added))
        )
    if missing:
        listed = ", ".join(dict.fromkeys(others[i] for i in missing))
        places_of = _located(other_spans[i] for i in missing)
        notes.append(Note("missing", f"only in the reference: {listed}", reference_spans=places_of))
    return notes


def cover(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    """One span from the first to the last of these."""
    located = [span for span in spans if span is not None]
    return ((located[0][0], located[-1][1]),) if located else ()


def _located(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    return tuple(span for span in spans if span is not None)


def _common(words: Sequence[str], start: int, others: Sequence[str], other: int) -> int:
    length = 0
    while (
        start + length < len(words)
        and other + length < len(others)
        and words[start + length] == others[other + length]
    ):
        length += 1
    return length


ORDER = 4
_TINY, _SMALL = 1e-15, 1e-9  # pycocoevalcap's guards against division by zero; they show in single cases


_COCO: dict[str, str | bool] = {
    "tokenizer": "whitespace",
    "lowercase": False,
    "smoothing": "coco",
    "empty": "zero",
}
PRESETS: dict[str, dict[str, str | bool]] = {
    "sacrebleu": {"tokenizer": "13a", "lowercase": False, "smoothing": "exp", "empty": "zero"},
    "coco": _COCO,
    "radeval": _COCO,  # RadEval scores the texts as they are by a copy of the COCO scorer
}
"""Settings that give another package's numbers."""


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU-1 to BLEU-4, of a case and of a set of cases.

    A set's value is computed from summed counts, as published; it is not the mean of the cases' values.
    A text with fewer than n words has no n-grams: BLEU-n then uses the orders that exist (sacreBLEU's
    "effective order"), except with smoothing "coco".

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="no acute effusion", references=("no effusion",))
    >>> rows = Bleu().measure([case], reading=Readings())
    >>> Bleu().case_scores(rows).round(3).tolist()  # BLEU-4, 1, 2, 3
    [[0.347, 0.667, 0.408, 0.347]]
    """

    name: ClassVar[str] = "bleu"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "word n-grams shared with the references (BLEU-1 to BLEU-4)"
    one_range: ClassVar[bool] = True

    # "standard", or "cxr" for CXR-Report-Metric's BLEU-2, whose set value is the mean of cases and which fixes the
    # other settings except `empty`; "sacrebleu", "coco" and "radeval" are the settings of these packages
    variant: Literal["standard", "cxr", "sacrebleu", "coco", "radeval"] = "standard"
    # "words" (punctuation split off), "whitespace" (pycocoevalcap) or "13a" (sacreBLEU)
    tokenizer: Literal["words", "whitespace", "13a"] = "words"
    lowercase: bool = True  # True if case is ignored
    # What an order without matches counts as: "exp" (halved again at each such order, as sacreBLEU), "floor" (0.1
    # matches), "none" (the score is 0), "coco" (1e-15, as pycocoevalcap)
    smoothing: Literal["exp", "floor", "none", "coco"] = "exp"
    # "nan": a candidate without words is not judged; "zero": it counts, as in the peers
    empty: Literal["nan", "zero"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        fixed = (self.tokenizer, self.lowercase, self.smoothing)
        if self.variant in PRESETS:
            if (*fixed, self.empty) != ("words", True, "exp", "nan"):
                raise UsageError(f"bleu: variant {self.variant!r} fixes all other settings; leave them out")
            for name, value in {**PRESETS[self.variant], "variant": "standard"}.items():
                object.__setattr__(self, name, value)
            return
        if self.variant == "cxr" and fixed != ("words", True, "exp"):
            raise UsageError("bleu: variant 'cxr' fixes tokenizer, lowercase and smoothing; leave them out")

    @property
    def columns(self) -> tuple[str, ...]:
        """BLEU-4 is the headline; the variant has one output."""
        return ("bleu2_cxr",) if self.variant == "cxr" else ("bleu_4", "bleu_1", "bleu_2", "bleu_3")

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate counts."""
        return self.empty == "zero"

    def parts(self) -> Mapping[str, str]:
        """Settings behind the variant, and the rule for several references."""
        if self.variant == "cxr":
            return {"tokenizer": "cxr", "smoothing": "floor", "references": "best"}
        return {"references": "closest-length"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case: matches of order 1-4, n-grams of order 1-4, closest reference length; or the value."""
        if self.variant == "cxr":
            return self._measure_cxr(cases, reading)
        pairing = pair_up([case.candidate for case in cases], [case.references for case in cases])
        if not pairing.references:
            return np.full((len(cases), 2 * ORDER + 1), np.nan)
        counted = count_ngrams(reading.of(self._reader(), pairing.texts), order=ORDER)
        candidate, slots = pairing.candidate, pairing.references
        matches = counted.by_order(counted.counts[candidate].minimum(counted.most(slots)))

        lengths = np.stack([np.where(slot < 0, np.inf, counted.lengths[slot]) for slot in slots], axis=1)
        # closest length, the shorter of two equally close; the offset never reaches the next integer
        distance = np.abs(lengths - counted.lengths[candidate, None]) + np.where(
            lengths < counted.lengths[candidate, None], 0.0, 0.5
        )
        closest = np.take_along_axis(lengths, distance.argmin(axis=1)[:, None], axis=1)
        rows = np.hstack([matches, counted.totals(candidate), closest])
        cannot = np.isinf(closest[:, 0]) | (closest[:, 0] == 0)
        if not self.judges_empty:
            cannot |= counted.lengths[candidate] == 0
        rows[cannot] = np.nan
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """BLEU-4, 1, 2, 3 of each case."""
        return rows if self.variant == "cxr" else _bleu(rows, smoothing=self.smoothing)

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The same formula on summed counts; the mean for the variant "cxr"."""
        if self.variant == "cxr":
            return super().corpus_scores(totals, counts)
        return _bleu(np.where(counts > 0, totals, np.nan), smoothing=self.smoothing)

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words."""
        return "candidate has no words" if not case.candidate.split() else "reference has no words"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The phrases both texts share and the words only one of them has."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, self.case_scores(rows)[0]), strict=True))
        if np.isnan(rows[0, 0]):
            return Explanation(self.name, values)
        notes = []
        if self.variant == "standard":
            pairs = zip(rows[0, :ORDER], rows[0, ORDER : 2 * ORDER], strict=True)
            matched = ", ".join(f"{match:.0f} of {total:.0f}" for match, total in pairs)
            notes.append(Note("info", f"n-grams of order 1 to 4 found in the reference: {matched}"))
            notes.append(
                Note("info", f"{rows[0, ORDER]:.0f} words against {rows[0, -1]:.0f} in the closest reference")
            )
        words = reading.of(self._reader(), [case.candidate, case.references[0]])
        notes += shared_phrases((case.candidate, words[0]), (case.references[0], words[1]))
        return Explanation(self.name, values, tuple(notes))

    def _reader(self) -> TokenReader:
        return TokenReader("cxr" if self.variant == "cxr" else self.tokenizer, lowercase=self.lowercase)

    def _measure_cxr(self, cases: Sequence[Case], reading: Readings) -> Rows:
        candidates, references, owner = reference_pairs(cases)
        pairing = pair_up(candidates, [(text,) for text in references])
        result = np.full((len(cases), 1), np.nan)
        if not candidates:
            return result
        counted = count_ngrams(reading.of(self._reader(), pairing.texts), order=2)
        candidate, reference = pairing.candidate, pairing.references[0]
        matches = counted.by_order(counted.counts[candidate].minimum(counted.counts[reference]))
        length, goal = counted.lengths[candidate], counted.lengths[reference]
        value = cxr_bleu2(matches, length, goal)
        value[goal == 0] = np.nan
        if not self.judges_empty:
            value[length == 0] = np.nan
        best = best_reference(value[:, None], owner, cases=len(cases), higher_is_better=True)
        result[best >= 0, 0] = value[best[best >= 0]]
        return result


def cxr_bleu2(matches: Rows, length: ArrayLike, goal: ArrayLike) -> Rows:
    """BLEU-2 of CXR-Report-Metric from clipped matches of words and pairs of words, shape (n, 2), and lengths.

    As in fast-bleu, an order without matches counts 0.1 matches and there is at least one n-gram to divide by.

    >>> cxr_bleu2(np.array([[4.0, 3.0]]), [5], [5]).round(4).tolist()
    [0.7746]
    """
    words = np.asarray(length, dtype=np.float64)
    totals = np.maximum(words[:, None] - np.arange(2), 1.0)
    precision = np.where(matches > 0, matches, 0.1) / totals
    score: Rows = brevity_penalty(words, goal) * np.exp(np.log(precision).sum(axis=1) / 2)
    return np.where(matches[:, 0] > 0, score, 0.0)


def brevity_penalty(length: ArrayLike, goal: ArrayLike) -> Rows:
    """1 for a candidate longer than the reference, exp(1 - goal / length) otherwise."""
    words, target = np.asarray(length, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    penalty: Rows = np.where(words > target, 1.0, np.exp(1 - target / np.maximum(words, 1)))
    return penalty


def _bleu(rows: Rows, *, smoothing: str) -> Rows:
    """BLEU-4, 1, 2, 3 from counts, shape (..., 9) to (..., 4)."""
    matches, totals, goal = rows[..., :ORDER], rows[..., ORDER : 2 * ORDER], rows[..., -1:]
    orders = np.arange(1, ORDER + 1)
    length = totals[..., :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        if smoothing == "coco":
            logs = np.cumsum(np.log((matches + _TINY) / (totals + _SMALL)), axis=-1) / orders
            ratio = (length + _TINY) / (goal + _SMALL)
            bleu = np.exp(logs + np.minimum(0.0, 1 - 1 / ratio))
        else:
            exists = totals > 0
            empty_orders = np.cumsum(exists & (matches == 0), axis=-1)
            instead = {"exp": 0.5**empty_orders, "floor": np.full_like(totals, 0.1)}.get(smoothing, 0.0)
            precision = np.where(matches > 0, matches, instead) / np.where(exists, totals, 1.0)
            logs = np.cumsum(np.where(exists, np.log(precision), 0.0), axis=-1) / np.cumsum(exists, axis=-1)
            bleu = np.exp(logs + np.minimum(0.0, 1 - goal / length))
            bleu = np.where(matches[..., :1] > 0, bleu, 0.0)  # no word in common is 0, however smoothed
    bleu = np.where(np.isnan(goal), np.nan, bleu)
    return bleu[..., [3, 0, 1, 2]]
