"""The errors a radiologist would count, from the embedded reader's findings; no model, no LLM.

Categories 1 to 6: Yu et al. (2022), Evaluating progress in automatic chest X-ray radiology report generation.
Categories 7, 8: Calamida et al. (2023), Radiology-aware model-based evaluation metric for report generation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from radgauge.cases import Case
from radgauge.error_categories import count_columns
from radgauge.errors import UsageError
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import Findings, Knowledge, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.findings.notes import notes_of
from radgauge.findings.profile import Arithmetic, Profile, counts_of, profile_of
from radgauge.findings.rules import NO_CONTEXT, Context, context_of
from radgauge.findings.weights import load_weights
from radgauge.metric import Explanation, Metric, Rows
from radgauge.reading import Readings
from radgauge.report_reader import ReportReader, load_lexicon


@dataclass(frozen=True)
class Errors(Metric):
    """Error counts in eight categories and a quality value made of them.

    `errors_quality` is 1 for a report without errors, about 0 for a normal template, negative down to -1 for one
    that misleads. The counts follow, lower is better: all errors, clinically significant ones, each category, each
    category's significant ones. A set's values are the means of its cases. Of several references the one that
    gives the best quality counts.

    Attributes:
        weights: "default" (learned from RadPref), "prior" (set by hand), or a JSON file of `radgauge fit errors`.
        context: Whether age and indication in a case's meta shift significance.
        lexicon: A TOML file of your own concepts, merged over the reader's lexicon; "" = none.

    >>> from radgauge.cases import Case
    >>> from radgauge.reading import Readings
    >>> case = Case("1", candidate="Lungs are clear.", references=("Small left effusion. Lungs are clear.",))
    >>> quality, total, significant, *_ = Errors(weights="prior").measure([case], reading=Readings())[0]
    >>> round(float(quality), 6), int(total), int(significant)
    (0.0, 1, 1)
    """

    name: ClassVar[str] = "errors"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    summary: ClassVar[str] = "errors a radiologist would count: eight categories, significance, quality"

    weights: str = "default"
    context: bool = True
    lexicon: str = ""

    def __post_init__(self) -> None:
        if self.lexicon and not Path(self.lexicon).is_file():
            raise UsageError(f"errors: lexicon must be a TOML file, there is no {self.lexicon}")
        load_weights(self.weights)

    @property
    def columns(self) -> tuple[str, ...]:
        """Quality first, then the counts."""
        return ("errors_quality", *count_columns())

    @property
    def directions(self) -> tuple[bool, ...]:
        """More quality, fewer errors."""
        return (True, *(False for _ in count_columns()))

    def parts(self) -> Mapping[str, str]:
        """The reader, and the numbers behind the name of the weights."""
        return {
            "reader": self._reader().signature,
            "weights_hash": _hash(self.weights),
            "references": "best",
        }

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Quality and counts of each case."""
        rows = np.full((len(cases), len(self.columns)), np.nan)
        known = self.knowledge()
        arithmetic = Arithmetic(load_weights(self.weights))
        read = self._findings([text for case in cases for text in (case.candidate, *case.references)], reading)
        done: dict[tuple[str, tuple[str, ...], Context], list[float]] = {}
        for index, case in enumerate(cases):
            context = self._context(case)
            key = (case.candidate, tuple(sorted(case.references)), context)
            row = done.get(key)
            if row is None:
                row = done[key] = self._best(case, read, context, known, arithmetic)
            rows[index] = row
        return rows

    def profile(self, case: Case, *, reading: Readings) -> tuple[Profile, int] | None:
        """The errors of a case and which reference they are counted against; None if it cannot be judged."""
        read = self._findings([case.candidate, *case.references], reading)
        candidate = read[case.candidate]
        if not _says_something(candidate):
            return None
        arithmetic, known, context = Arithmetic(load_weights(self.weights)), self.knowledge(), self._context(case)
        found = [
            (_profile(read[text], candidate, known, context), index)
            for index, text in enumerate(case.references)
            if _says_something(read[text])
        ]
        return max(found, key=lambda each: _order(arithmetic, each[0]), default=None)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """What was missed, added or changed, where, and how significant: one sentence each."""
        row = self.measure([case], reading=reading)[0]
        values = dict(zip(self.columns, map(float, row), strict=True))
        best = None if math.isnan(row[0]) else self.profile(case, reading=reading)
        if best is None:
            return Explanation(self.name, values)
        read = self._findings([case.candidate, case.references[best[1]]], reading)
        reference, candidate = read[case.references[best[1]]], read[case.candidate]
        aligned = align_findings(reference, candidate, self.knowledge())
        arithmetic = Arithmetic(load_weights(self.weights))
        notes = notes_of(aligned, best[0], self.knowledge(), arithmetic, which=best[1])
        return Explanation(self.name, values, notes)

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Which side says nothing that can be read."""
        candidate = self._findings([case.candidate], reading)[case.candidate]
        side = "reference" if _says_something(candidate) else "candidate"
        return f"no finding and no normal statement was read in the {side}"

    def knowledge(self) -> Knowledge:
        """Lexicon, similarity and rules behind the numbers."""
        return knowledge_for(load_lexicon(self._files()))

    def _files(self) -> tuple[Path, ...]:
        return (Path(self.lexicon),) if self.lexicon else ()

    def _reader(self) -> ReportReader:
        return ReportReader(self._files())

    def _context(self, case: Case) -> Context:
        return context_of(case.meta) if self.context and case.meta else NO_CONTEXT

    def _findings(self, texts: Sequence[str], reading: Readings) -> dict[str, Findings]:
        """Findings of each distinct text, derived once per run."""
        reader = self._reader()
        store: dict[str, Findings] = reading.once(("findings", reader.signature), dict)
        wanted = [text for text in dict.fromkeys(texts) if text not in store]
        known = self.knowledge()
        for text, read in zip(wanted, reading.of(reader, wanted), strict=True):
            store[text] = findings_of(read, known)
        return store

    def _best(
        self, case: Case, read: Mapping[str, Findings], context: Context, known: Knowledge, arithmetic: Arithmetic
    ) -> list[float]:
        candidate = read[case.candidate]
        usable = [text for text in case.references if _says_something(read[text])]
        if not usable or not _says_something(candidate):
            return [math.nan] * len(self.columns)
        profiles = [_profile(read[text], candidate, known, context) for text in usable]
        best = profiles[0] if len(profiles) == 1 else max(profiles, key=lambda each: _order(arithmetic, each))
        return [arithmetic.quality(best), *counts_of(best)]


def _profile(reference: Findings, candidate: Findings, known: Knowledge, context: Context) -> Profile:
    aligned = align_findings(reference, candidate, known)
    return profile_of(aligned, reference, candidate, known, context)


def _order(arithmetic: Arithmetic, profile: Profile) -> tuple[float, ...]:
    """Best quality first; among equals the fewest errors, so that the order of references does not matter."""
    return (arithmetic.quality(profile), *(-count for count in counts_of(profile)))


def _says_something(findings: Findings) -> bool:
    return bool(findings.present or findings.denied)


@lru_cache(maxsize=16)
def _hash(weights: str) -> str:
    import hashlib

    return hashlib.sha256(repr(load_weights(weights)).encode()).hexdigest()[:8]
