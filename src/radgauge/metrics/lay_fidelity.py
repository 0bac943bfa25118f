"""lay_fidelity: is the lay version still right? Findings kept, lost, added and changed, read with plain words.

Ours; Zhao et al., Layman's RRG (2024), check lay texts by an LLM and by embedding similarity only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from radgauge.cases import Case
from radgauge.findings.findings import Denial, Finding, Findings
from radgauge.findings.notes import describe
from radgauge.metric import Explanation, Metric, Note, Rows, ratio
from radgauge.plain_language.fidelity import Fidelity, compare_lay, lay_findings, lay_knowledge
from radgauge.plain_language.lay_reader import LayReader
from radgauge.reading import Readings

RULES = "2"  # counts up when the same reader gives other numbers


@dataclass(frozen=True)
class LayFidelity(Metric):
    """Share of statements that a professional reference and its lay version have in common.

    With the statements (findings made, findings denied) of both texts, `lay_fidelity` is those that the other text
    makes as well and tells alike, over all of both: an F1. A finding whose side, severity, change or certainty
    differs, or whose place or size is told differently, counts as not kept on both sides. Corpus values come from
    the summed counts. The other columns are statements per report. Of several references the one with the greatest
    share counts.

    >>> from radgauge.cases import Case
    >>> text = "No pleural effusion. Mild cardiomegaly."
    >>> lay = "There is no fluid around the lung. The heart is severely enlarged."
    >>> LayFidelity().case_scores(LayFidelity().measure([Case("1", lay, (text,))], reading=Readings()))[0].tolist()
    [0.5, 1.0, 0.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "lay_fidelity"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    summary: ClassVar[str] = "is the lay version still right: findings kept, lost, added, changed"

    @property
    def columns(self) -> tuple[str, ...]:
        """The share, then counts per report."""
        return (
            "lay_fidelity",
            "lay_fidelity_kept",
            "lay_fidelity_lost",
            "lay_fidelity_added",
            "lay_fidelity_changed",
        )

    @property
    def directions(self) -> tuple[bool, ...]:
        """More kept; less lost, added and changed."""
        return (True, True, False, False, False)

    def parts(self) -> Mapping[str, str]:
        """The reader of lay texts."""
        return {"reader": LayReader().signature, "rules": RULES, "references": "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case: kept in the reference, kept in the candidate, changed, lost, added."""
        read = self._findings([text for case in cases for text in (case.candidate, *case.references)], reading)
        rows = np.full((len(cases), 5), np.nan)
        for row, case in zip(rows, cases, strict=True):
            best = self._best(case, read)
            if best is not None:
                row[:] = best[0].counts
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """Share and counts of each case."""
        return self.corpus_scores(rows, np.where(np.isnan(rows), 0.0, 1.0))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The share of all statements of the set, and counts per report."""
        in_reference, in_candidate, changed, lost, added = np.moveaxis(totals, -1, 0)
        statements = in_reference + in_candidate + 2 * changed + lost + added
        judged = counts[..., 0]
        return np.stack(
            [
                ratio(in_reference + in_candidate, statements),
                *(ratio(each, judged) for each in (in_reference, lost, added, changed)),
            ],
            axis=-1,
        )

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """What was lost, added, changed and kept: one sentence each."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, self.case_scores(rows)[0]), strict=True))
        best = self._best(case, self._findings([case.candidate, *case.references], reading))
        return Explanation(self.name, values, _notes(best[0]) if best is not None else ())

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Which side says nothing that can be read."""
        candidate = self._findings([case.candidate], reading)[case.candidate]
        side = "reference" if _says_something(candidate) else "candidate"
        return f"no finding and no normal statement was read in the {side}"

    def _findings(self, texts: Sequence[str], reading: Readings) -> dict[str, Findings]:
        found = reading.derive(LayReader(), texts, lay_findings, key=("lay findings", RULES))
        return dict(zip(texts, found, strict=True))

    def _best(self, case: Case, read: Mapping[str, Findings]) -> tuple[Fidelity, int] | None:
        candidate = read[case.candidate]
        if not _says_something(candidate):
            return None
        found = [
            (compare_lay(read[text], candidate), index)
            for index, text in enumerate(case.references)
            if _says_something(read[text])
        ]
        return max(found, key=lambda each: _order(each[0]), default=None)


def _order(fidelity: Fidelity) -> tuple[float, ...]:
    """Greatest share first; among equals the counts, so that the order of references does not matter."""
    in_reference, in_candidate, changed, lost, added = fidelity.counts
    kept = in_reference + in_candidate
    return (kept / (kept + 2 * changed + lost + added), kept, -changed, -lost)


def _says_something(findings: Findings) -> bool:
    return bool(findings.present or findings.denied)


def _notes(fidelity: Fidelity) -> tuple[Note, ...]:
    notes = [
        *(Note("missing", f"Lost: {_said(each)}.", each.spans) for each in fidelity.lost),
        *(Note("missing", f"Lost: {_denied(each)}.", (each.span,)) for each in fidelity.denials_lost),
        *(Note("added", f"Added: {_said(each)}.", (), each.spans) for each in fidelity.added),
        *(Note("added", f"Added: {_denied(each)}.", (), (each.span,)) for each in fidelity.denials_added),
    ]
    for reference, candidate, differences in fidelity.changed:
        what = "; ".join(
            f"{each.attribute} is {each.reference or 'not stated'} in the reference, "
            f"{each.candidate or 'not stated'} in the lay text"
            for each in differences
        )
        notes.append(Note("changed", f"Changed: {_said(reference)}: {what}.", reference.spans, candidate.spans))
    notes += [Note("matched", f"Kept: {_said(r)}.", r.spans, c.spans) for r, c in fidelity.kept]
    notes += [Note("matched", f"Kept: {_denied(each)}.", (each.span,)) for each in fidelity.denials_kept]
    return tuple(notes)


def _said(finding: Finding) -> str:
    return describe(finding, lay_knowledge())


def _denied(denial: Denial) -> str:
    lexicon = lay_knowledge().lexicon
    names = sorted(lexicon[each].name if each in lexicon else each for each in denial.concepts)
    return "no " + " or ".join(names) if len(names) < 4 else f"no {', '.join(names[:3])} and so on"
