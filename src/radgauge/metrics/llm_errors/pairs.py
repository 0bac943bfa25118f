"""Two reports as the judge sees them: numbered sentences, and the places that it quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from radgauge.core.metric import Span
from radgauge.text.sentences import split_sentences

_AROUND = " \t\r\n.,;:\"'“”‘’"


@dataclass(frozen=True)
class Text:
    """A report."""

    text: str  # As it was given

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """Spans of the sentences; list numbers belong to what follows, so that no word is left out.

        >>> text = Text("1. Heart normal. 2. No effusion.")
        >>> [text.text[start:end] for start, end in text.sentences]
        ['1. Heart normal.', '2. No effusion.']
        """
        spans, begin = [], 0
        ends = [end for _, end in split_sentences(self.text)][:-1]
        for end in (*ends, len(self.text)):
            piece = self.text[begin:end]
            start, stop = begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())
            spans.append((start, max(start, stop)))
            begin = end
        return tuple(spans)

    @property
    def numbered(self) -> str:
        """One numbered sentence per line."""
        lines = (" ".join(self.text[start:end].split()) for start, end in self.sentences)
        return "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, start=1))

    def find(self, quote: str) -> Span | None:
        """Find a quote, whatever the case of letters, line breaks and marks around it; None if it is not there.

        >>> Text("There is a small\\n left effusion.").find('"A small left effusion."')
        (9, 31)
        """
        words = quote.strip(_AROUND).split()
        if not words:
            return None
        match = re.search(r"\s+".join(map(re.escape, words)), self.text, re.IGNORECASE)
        return match.span() if match else None

    def sentences_at(self, spans: tuple[Span, ...]) -> set[int]:
        """Numbers, from 1, of the sentences that these places touch."""
        return {
            number
            for number, (start, end) in enumerate(self.sentences, start=1)
            if any(begin < end and start < stop for begin, stop in spans)
        }


@dataclass(frozen=True)
class Pair:
    """A reference and a candidate."""

    reference: Text
    candidate: Text


class Item(NamedTuple):
    """Texts of one question."""

    reference: str
    candidates: tuple[str, ...]  # The candidate; for a preference both, in the order shown
    context: str  # What the model is told of the patient
    repeat: int  # Which of the repeated judgments, from 0
