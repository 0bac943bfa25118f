"""Guards: what gets the floor of a reward before any metric is asked, since a metric can be made to like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from radgauge.analysis.rewards.norms import Norms, count_words
from radgauge.core.cases import Case
from radgauge.core.parsing import shipped_toml
from radgauge.core.readings import Readings
from radgauge.metrics.consistency import Consistency
from radgauge.metrics.llm_errors.fences import speaks_to_judge
from radgauge.reader import ReportReader
from radgauge.text.words import has_words

FREE_WORDS = 40
"""Words that every candidate may have: references of three words are common, and real reports are longer."""

OWED_WORDS = 20
"""Words of a reference from which on a candidate must not be far shorter: "Normal chest." answers short ones."""

_CONSISTENCY = Consistency()

_REASONING = "think|thinking|thought|reasoning|analysis|scratchpad"
_CLOSED = re.compile(rf"<({_REASONING})\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_BEFORE_CLOSE = re.compile(rf"^.*</(?:{_REASONING})\s*>", re.IGNORECASE | re.DOTALL)
_FROM_OPEN = re.compile(rf"<(?:{_REASONING})\b[^>]*>.*$", re.IGNORECASE | re.DOTALL)
_ANSWER = re.compile(r"<(answer|report)\s*>(.*?)(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Guards:
    """Limits of a text that a reward judges."""

    # Words of the candidate per word of its longest reference; 0 = no limit. Forty words are free.
    longest: float = 3.0
    # Words of the candidate per word of its shortest reference; 0 = no limit. Only where that reference has twenty
    # words or more.
    shortest: float = 0.15
    repetition: float = 0.5  # Share of the candidate's runs of four words that it has had before; 1 = no limit
    # Least share of the candidate's content words that the report reader must know; 0 = no limit. Shorter texts
    # than five content words are let pass.
    understood: float = 0.3
    # Share of the references of a training beyond each limit that is measured on them: word order of the text and
    # of its worst eight words, number of words, number of denials; 0 = these limits are off
    tail: float = 0.0025
    # True if a comparison with an earlier examination, or a conversation about the results, gets the floor if no
    # reference speaks of one
    invented: bool = True
    addressed: bool = True  # True if a text that speaks to a judge gets the floor
    # Share of the text's statements that it denies elsewhere or whose structure it calls normal; 0 = no limit. A
    # single one is let pass: the fault may be the reader's.
    contradictions: float = 0.15

    @classmethod
    def off(cls) -> Guards:
        """Return guards that let every text with words pass."""
        return cls(
            longest=0,
            shortest=0,
            repetition=1,
            understood=0,
            tail=0,
            invented=False,
            addressed=False,
            contradictions=0,
        )

    def why_not(
        self, candidate: str, references: Sequence[str], reading: Readings, *, norms: Norms | None = None
    ) -> str:
        """Return why a text gets the floor; "" if it does not.

        Args:
            candidate: The text, without reasoning.
            references: What it is judged against.
            reading: Where the reading of the text is, or goes.
            norms: Limits from the references of the training.
        """
        if not has_words(candidate):
            return "empty" if not candidate.strip() else "no words"
        words = re.findall(r"\w+", candidate.lower())
        lengths = [count_words(text) for text in references if text.strip()]
        if self.longest and lengths and len(words) > self.longest * max(lengths) + FREE_WORDS:
            return "too long"
        if lengths and min(lengths) >= OWED_WORDS and len(words) < self.shortest * min(lengths):
            return "too short"
        runs = [tuple(words[i : i + 4]) for i in range(len(words) - 3)]
        if len(runs) >= 8 and 1 - len(set(runs)) / len(runs) > self.repetition:
            return "repeated text"
        if self.addressed and speaks_to_judge(candidate):
            return "speaks to a judge"
        if self.tail and norms is not None and (why := norms.why_not(candidate)):
            return why
        if self.invented and (why := invented(candidate, references)):
            return why
        if self.understood:
            read = reading.of(ReportReader(), [candidate])[0]
            if read.content_words >= 5 and read.coverage < self.understood:
                return "not understood"
        return "contradicts itself" if self._contradicts(candidate, references, reading) else ""

    def _contradicts(self, candidate: str, references: Sequence[str], reading: Readings) -> bool:
        """True if a text contradicts itself, and more than its references, in which the reader may be wrong."""
        share = _contradicted(candidate, reading) if self.contradictions else 0.0
        return share >= self.contradictions > 0 and all(share > _contradicted(r, reading) for r in references)


def _contradicted(text: str, reading: Readings) -> float:
    """Return the share of a text's statements that others of it contradict; 0 for a single one."""
    row = dict(zip(_CONSISTENCY.columns, _CONSISTENCY.measure([Case("", text)], reading=reading)[0], strict=True))
    counted = float(row["consistency_denied"] + row["consistency_normal"])
    return counted / max(float(row["consistency_statements"]), 1.0) if counted > 1 else 0.0


def invented(candidate: str, references: Sequence[str]) -> str:
    """Return what a report speaks of and no reference does: an earlier examination, a conversation; "" if nothing.

    >>> invented("Compared to the prior study, no change.", ["Clear lungs."])
    'invented prior'
    >>> invented("Compared to the prior study, no change.", ["Stable effusion."])
    ''
    """
    if _speaks("prior", candidate) and not any(_speaks("prior", r) or _speaks("change", r) for r in references):
        return "invented prior"
    if _speaks("communication", candidate) and not any(_speaks("communication", text) for text in references):
        return "invented communication"
    return ""


def answer_of(text: str) -> str:
    """Return a completion without its reasoning.

    What is between tags such as <think>, before a lone closing tag or behind one that is never closed, is no
    report; of <answer> or <report> the inside is.

    >>> answer_of("<think>No effusion?</think> Small effusion."), answer_of("Hm.</think><answer>Clear.</answer>")
    ('Small effusion.', 'Clear.')
    >>> answer_of("<think>Small effusion, and")
    ''
    """
    if "<" not in text:
        return text
    stripped = _FROM_OPEN.sub("", _BEFORE_CLOSE.sub("", _CLOSED.sub(" ", text)))
    inside = _ANSWER.search(stripped)
    answer = inside[2] if inside else stripped
    return answer if answer == text else answer.strip()


@cache
def _patterns(topic: str) -> re.Pattern[str]:
    return re.compile("|".join(shipped_toml(__file__, "invented.toml")[topic]), re.IGNORECASE)


def _speaks(topic: str, text: str) -> bool:
    return _patterns(topic).search(text) is not None
