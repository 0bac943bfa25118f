"""Temporal F1: agreement on what two reports say has changed since the prior study, finding by finding."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows, Span, ratio
from radgauge.core.readings import Readings
from radgauge.metrics._settings import wordless
from radgauge.reader import ReportReader, ReportReading, load_lexicon

STUDY = "study"
"""The concept of a statement about the study as a whole: "No interval change." """
CHANGES = ("new", "increased", "decreased", "stable", "resolved")
_NO_CHANGE = re.compile(r"\b(no|without)\s+(\w+[\s,]+){0,3}(interval\s+)?changes?\b|\bunchanged\b", re.IGNORECASE)
_NOT_YET = re.compile(r"\bno\s+(\w+\s+){0,2}(prior|previous|comparison)s?\b", re.IGNORECASE)


class Statement(NamedTuple):
    """A change that a report states."""

    concept: str
    side: str  # left, right, or "" (also for both)
    change: str  # one of CHANGES
    span: Span

    def describe(self) -> str:
        """Return the statement in a few words."""
        return " ".join(filter(None, (self.change, self.side, self.concept.replace("_", " "))))


@dataclass(frozen=True)
class Temporal(Metric):
    """F1 of change statements; sums over sums in a set. Reports that compare nothing are not judged.

    A statement is a finding, device or structure and what became of it: new, increased, decreased, stable or
    resolved; "no interval change" is one about the study. Two agree if they name the same finding (or a more
    general one), neither side contradicts, and the change is the same; a stable study agrees with any stable
    finding. Of several references the one that gives the best F1 counts.

    Attributes:
        prior: "seen", or "none" if the systems were shown no prior study: what the reference says about changes
            is then not asked of them and counted apart, and every change that the candidate states is invented.

    >>> case = Case("1", "Stable cardiomegaly. New effusion.", ("Unchanged cardiomegaly. Larger effusion.",))
    >>> metric = Temporal()
    >>> metric.case_scores(metric.measure([case], reading=Readings())).tolist()
    [[0.5, 0.5, 0.5, 2.0]]
    """

    name: ClassVar[str] = "temporal"
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "agreement on what is new, larger, smaller, stable or resolved since the prior study"

    prior: Literal["seen", "none"] = "seen"

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # a fact about the setting
        """Agreement; fewer invented comparisons."""
        return self.prior == "seen"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """Of F1, or of a count."""
        return (0.0, 1.0) if self.prior == "seen" else (0.0, math.inf)

    @property
    def columns(self) -> tuple[str, ...]:
        """F1 with its parts and support; without a prior, invented statements and those of the reference."""
        if self.prior == "none":
            return ("temporal_invented", "temporal_n")
        return ("temporal_f1", "temporal_precision", "temporal_recall", "temporal_n")

    @property
    def directions(self) -> tuple[bool, ...]:
        """The support has none; it is the reference's."""
        return (*(self.higher_is_better,) * (len(self.columns) - 1), True)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Shares and counts."""
        return (*(self.range,) * (len(self.columns) - 1), (0.0, math.inf))

    def parts(self) -> Mapping[str, str]:
        """The reader."""
        return {"reader": ReportReader().signature, "references": "best"}

    def report_reader(self) -> ReportReader:
        """Return the reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Return agreed statements, those of the candidate and those of the reference."""
        self._statements([text for case in cases for text in (case.candidate, *case.references)], reading)
        rows = np.full((len(cases), 3), np.nan)
        for row, case in zip(rows, cases, strict=True):
            if wordless(case.candidate, case.references):
                continue
            candidate, *references = self._statements([case.candidate, *case.references], reading)
            counts = [
                (len(agreed(reference, candidate)), len(candidate), len(reference)) for reference in references
            ]
            best = max(counts, key=lambda n: (n[0] / max(n[1] + n[2], 1), -n[2]))
            if self.prior == "none" or best[1] + best[2]:
                row[:] = best
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """Return the outputs of each case."""
        return self.corpus_scores(rows, np.where(np.isnan(rows), 0.0, 1.0))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Return sums over sums; invented statements per report."""
        n_agreed, n_candidate, n_reference = (totals[..., part] for part in range(3))
        judged = np.where(counts[..., 0] > 0, 1.0, np.nan)
        if self.prior == "none":
            return np.stack([ratio(n_candidate, counts[..., 0]), n_reference * judged], axis=-1)
        f1 = ratio(2 * n_agreed, n_candidate + n_reference)
        parts = (ratio(n_agreed, n_candidate), ratio(n_agreed, n_reference))
        return np.stack([f1, *parts, n_reference * judged], axis=-1)

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Name the side without words, or say that there is nothing to compare."""
        return wordless(case.candidate, case.references) or "neither report compares with a prior study"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Return a sentence per statement: agreed, missing or added."""
        row = self.case_scores(self.measure([case], reading=reading))[0]
        values = dict(zip(self.columns, map(float, row), strict=True))
        candidate, *references = self._statements([case.candidate, *case.references], reading)
        sizes = [
            len(agreed(statements, candidate)) / max(len(candidate) + len(statements), 1)
            for statements in references
        ]
        index = int(np.argmax(sizes)) if sizes else 0
        reference = references[index] if self.prior == "seen" and references else []
        pairs = agreed(reference, candidate)
        data = {"reference": index}
        notes = [
            Note("matched", f"Both: {reference[r].describe()}.", (reference[r].span,), (candidate[c].span,), data)
            for r, c in pairs
        ]
        for at, statement in enumerate(reference):
            if at not in {r for r, _ in pairs}:
                notes.append(
                    Note("missing", f"Not in the candidate: {statement.describe()}.", (statement.span,), (), data)
                )
        for at, statement in enumerate(candidate):
            if at not in {c for _, c in pairs}:
                notes.append(
                    Note("added", f"Not in the reference: {statement.describe()}.", (), (statement.span,), data)
                )
        return Explanation(self.name, values, tuple(notes))

    @staticmethod
    def _statements(texts: Sequence[str], reading: Readings) -> list[list[Statement]]:
        return reading.derive(ReportReader(), texts, change_statements, key="change statements")


def change_statements(report: ReportReading) -> list[Statement]:
    """Return every change that a report states, each finding and change once.

    >>> from radgauge.reader import read_report
    >>> [each.describe() for each in change_statements(read_report("No interval change. New left effusion."))]
    ['new left pleural effusion', 'stable study']
    """
    statements: dict[tuple[str, str, str], Statement] = {}
    with_change: set[int] = set()
    for mention in report.mentions:
        attributes = mention.attributes
        if attributes.change not in CHANGES or attributes.context not in ("current", "history"):
            continue
        with_change.add(mention.sentence)
        side = attributes.laterality if attributes.laterality in ("left", "right") else ""
        key = (mention.concept, side, attributes.change)
        statements.setdefault(key, Statement(*key, (mention.start, mention.end)))
    for number, (start, end, _) in enumerate(report.sentences):
        text = report.text[start:end]
        if number in with_change or _NOT_YET.search(text):
            continue
        if (match := _NO_CHANGE.search(text)) is not None:
            key = (STUDY, "", "stable")
            statements.setdefault(key, Statement(*key, (start + match.start(), start + match.end())))
    return list(statements.values())


def agreed(reference: Sequence[Statement], candidate: Sequence[Statement]) -> list[tuple[int, int]]:
    """Return positions of statements that agree, one to one, as many as there can be."""
    if not reference or not candidate:
        return []
    same = np.array([[_agree(r, c) for c in candidate] for r in reference], dtype=float)
    rows, columns = linear_sum_assignment(same, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if same[r, c]]


def _agree(one: Statement, other: Statement) -> bool:
    if one.change != other.change or (one.side and other.side and one.side != other.side):
        return False
    if STUDY in (one.concept, other.concept):
        return one.change == "stable"
    if one.concept == other.concept:
        return True
    lexicon = load_lexicon()
    if one.concept not in lexicon or other.concept not in lexicon:
        return False  # an open claim: words of no lexicon
    return lexicon.is_a(one.concept, other.concept) or lexicon.is_a(other.concept, one.concept)
