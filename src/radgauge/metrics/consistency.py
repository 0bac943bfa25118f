"""Contradictions within one report: findings against impression and denials, sides, sizes, comparison, advice.

No reference is needed: the claims of a report are held against what the same report denies, calls normal, compares
with and concludes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows
from radgauge.core.parsing import shipped_toml
from radgauge.core.readings import Readings
from radgauge.core.signature import component
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import Findings, Knowledge, Span, knowledge_for
from radgauge.metrics._contradictions import (
    KINDS,
    Inconsistency,
    between_sections,
    denied_findings,
    unfounded_statements,
)
from radgauge.reader import ReportReader, load_lexicon
from radgauge.text.sections import split_sections

COLUMNS = (
    "consistency",
    "consistency_total",
    *(f"consistency_{kind}" for kind in KINDS),
    "consistency_statements",
)
_TABLE = shipped_toml(__file__, "consistency.toml")


@dataclass(frozen=True)
class Consistency(Metric):
    """Share of reports that do not contradict themselves, with the contradictions by kind.

    `consistency` is 1 for a report without a contradiction, else 0; of a set, the share of consistent reports. The
    counts per report follow: a finding that the report denies elsewhere; a significant finding of a structure that
    it calls normal, or beside "no acute abnormality"; a significant finding of the impression that the findings
    section lacks, or an urgent one that the impression leaves out; a side or a size that differs between the two
    sections; a comparison although there is no prior; a recommendation without a finding or another reason.
    `consistency_statements` is the number of claims and denials that were checked: a report that says little
    contradicts itself little.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="Findings: Large left effusion. Impression: Large right effusion.")
    >>> row = Consistency().measure([case], reading=Readings())[0]
    >>> {name: int(value) for name, value in zip(COLUMNS, row, strict=True) if value}
    {'consistency_total': 1, 'consistency_side': 1, 'consistency_statements': 2}
    """

    name: ClassVar[str] = "consistency"
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    summary: ClassVar[str] = "one report against itself: denials, impression, sides, sizes, comparison, advice"

    @property
    def columns(self) -> tuple[str, ...]:
        """The share of consistent reports, the counts, and their support."""
        return COLUMNS

    @property
    def directions(self) -> tuple[bool, ...]:
        """Fewer contradictions in more statements."""
        return (True, *(False,) * (1 + len(KINDS)), True)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Counts from 0 on."""
        return (self.range, *((0.0, np.inf),) * (len(COLUMNS) - 1))

    def parts(self) -> Mapping[str, str]:
        """The reader and the comparison of findings."""
        return {"reader": ReportReader().signature, "comparison": component("findings")}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Return the contradictions of each candidate."""
        rows = np.full((len(cases), len(COLUMNS)), np.nan)
        _findings([text for case in cases for text in _texts(case.candidate)], reading)
        for row, case in zip(rows, cases, strict=True):
            (report,) = _findings([case.candidate], reading)
            if not _reason_not_to_judge(report):
                issues = self.inconsistencies(case, reading=reading)
                counts = [sum(issue.kind == kind for issue in issues) for kind in KINDS]
                row[:] = [not issues, len(issues), *counts, len(report.present) + len(report.denied)]
        return rows

    def inconsistencies(self, case: Case, *, reading: Readings) -> tuple[Inconsistency, ...]:
        """Return the contradictions of a candidate, in the order of KINDS."""
        text, knowledge = case.candidate, _knowledge()
        report, *parts = _findings(_texts(text), reading)
        issues = [
            *denied_findings(report, knowledge),
            *unfounded_statements(report, text, case.meta.get("comparison", ""), knowledge),
        ]
        if parts:
            offsets = [start for start, _ in _sections(text)]
            issues += between_sections((parts[0], parts[1]), (offsets[0], offsets[1]), knowledge)
        ordered = [[issue for issue in issues if issue.kind == kind] for kind in KINDS]
        return tuple(issue for group in ordered for issue in group[: _TABLE["reading"]["per_kind"]])

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Return each contradiction as a sentence, with the statements that do not fit together."""
        (row,) = self.measure([case], reading=reading)
        values = dict(zip(COLUMNS, row.tolist(), strict=True))
        if np.isnan(row[0]):
            return Explanation(self.name, values)
        issues = self.inconsistencies(case, reading=reading)
        notes = (Note("contradicted", each.text, (), each.spans, {"kind": each.kind}) for each in issues)
        return Explanation(self.name, values, tuple(notes))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Return the reason, which is the reading."""
        return _reason_not_to_judge(_findings([case.candidate], reading)[0])


def _knowledge() -> Knowledge:
    return knowledge_for(load_lexicon())


def _findings(texts: Sequence[str], reading: Readings) -> list[Findings]:
    knowledge = _knowledge()
    return reading.derive(ReportReader(), texts, lambda read: findings_of(read, knowledge), key="findings")


def _reason_not_to_judge(report: Findings) -> str:
    if not (report.present or report.denied):
        return "no finding and no normal statement was read in the candidate"
    if report.known_words < _TABLE["reading"]["coverage"] * report.content_words:
        return "too little of the text was understood"
    return ""


def _sections(text: str) -> list[Span]:
    """Return the spans of findings and impression; empty if the report has not one of each."""
    spans = [
        [(part.start, part.end) for part in split_sections(text) if part.name == name and part.start < part.end]
        for name in ("findings", "impression")
    ]
    return [span for (span,) in spans] if all(len(each) == 1 for each in spans) else []


def _texts(text: str) -> list[str]:
    return [text, *(text[start:end] for start, end in _sections(text))]
