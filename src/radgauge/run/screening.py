"""Decision which cases a metric judges: no text, no reference, another language, or words that nothing explains.

A judge that works without a network rests on English words. Two German reports that agree give it a number all the
same, so such cases are left out, with the reason, unless the caller wants them (`any_language`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from radgauge.core.cases import UNANSWERED, Case
from radgauge.core.metric import Metric, unaliased
from radgauge.core.readings import Readings
from radgauge.text.language import looks_english
from radgauge.text.words import has_words

MAX_LENGTH = 200_000
"""Characters of the longest text that is judged by default; reports have some thousands."""

MIN_COVERAGE = 0.4
"""Share of understood content words below which a text is no report in English.

`benchmarks/coverage_floor.py` measures it: real reports lie above it, other prose and other languages below.
"""
MIN_CONTENT_WORDS = 5
"""Content words that a text needs for its coverage to say something."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Criteria that make a case unfit for a metric."""

    # Characters of the longest text that is judged. It bounds the memory of metrics that compare every word of one
    # text with every word of another.
    longest: int = MAX_LENGTH
    any_language: bool = False  # Judge texts that are not English, or hardly understood, as well

    def usable(
        self, metric: Metric, cases: Sequence[Case], *, reading: Readings
    ) -> tuple[list[int], list[Case], list[str]]:
        """Positions of the cases that the metric measures, these cases, and for every case the reason against it.

        The cases come with the references that the metric may see.
        """
        reasons = [self._unfit(metric, case) for case in cases]
        judged = {i: _with_usable_references(metric, case) for i, case in enumerate(cases) if not reasons[i]}
        if not self.any_language:
            for what, fits in _languages(metric, list(judged.values()), reading):
                for index, case in list(judged.items()):
                    usable_texts = tuple(text for text in case.references if fits(text))
                    if why := _foreign(case, fits(case.candidate), len(usable_texts), what):
                        reasons[index] = why
                        del judged[index]
                    elif len(usable_texts) < len(case.references):
                        judged[index] = replace(case, references=usable_texts)
        return list(judged), list(judged.values()), reasons

    def _unfit(self, metric: Metric, case: Case) -> str:
        if case.missing:
            return case.missing
        if not metric.judges_empty and not has_words(case.candidate):
            return UNANSWERED[2] if case.candidate.strip() else UNANSWERED[1]
        if "reference" in metric.needs and not _with_usable_references(metric, case).references:
            blank = not any(text.strip() for text in case.references)
            return (
                "no reference" if not case.references else "empty reference" if blank else "reference has no words"
            )
        if "image" in metric.needs and not case.images:
            return "no image"
        if len(case.candidate) > self.longest:
            return f"candidate longer than {self.longest:,} characters"
        if "reference" in metric.needs and any(len(text) > self.longest for text in case.references):
            return f"reference longer than {self.longest:,} characters"
        return ""


def _languages(
    metric: Metric, cases: Sequence[Case], reading: Readings
) -> list[tuple[str, Callable[[str], bool]]]:
    """Requirements of a metric on texts, in words for a reason, and the test of a text."""
    bare = unaliased(metric)
    if bare.settings().get("models", "embedded") != "embedded":
        return []
    expected: list[tuple[str, Callable[[str], bool]]] = []
    if bare.english_only:
        english: dict[str, bool] = reading.once("looks English", dict)

        def is_english(text: str) -> bool:
            if text not in english:
                english[text] = looks_english(text)
            return english[text]

        expected.append(("not in English", is_english))
    if (reader := bare.report_reader()) is not None:
        texts = list(dict.fromkeys(text for case in cases for text in (case.candidate, *case.references)))
        legible = {
            text: read.content_words < MIN_CONTENT_WORDS or not read.coverage < MIN_COVERAGE
            for text, read in zip(texts, reading.of(reader, texts), strict=True)
        }
        expected.append(("hardly understood", legible.__getitem__))
    return expected


def _foreign(case: Case, candidate_fits: bool, n_references: int, what: str) -> str:
    """Return why a case is left out; the candidate is blamed only if a reference shows what was expected."""
    if candidate_fits:
        return "" if n_references or not case.references else f"reference is {what}"
    return f"candidate is {what}" if n_references else f"text is {what}"


def _with_usable_references(metric: Metric, case: Case) -> Case:
    """The case without references that say nothing; settings that judge empty texts drop blank ones only."""
    if metric.judges_empty:
        return case.with_real_references()
    usable = tuple(text for text in case.references if has_words(text))
    return case if len(usable) == len(case.references) else replace(case, references=usable)
