"""lay_fidelity: is the lay version still right? Facts kept, lost, added and changed, read as a lay person would.

Ours; Zhao et al., Layman's RRG (2024), check lay texts by an LLM and by embedding similarity only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows, ratio
from radgauge.core.readings import Readings
from radgauge.lay.check.compare import Difference, LayCheck, compare_readings
from radgauge.lay.check.reading import EverydayReader, EverydayReading


@dataclass(frozen=True)
class LayFidelity(Metric):
    """Share of facts that a professional reference and its lay version have in common.

    Both texts are read by a reader of everyday wording that knows neither the writer nor its terms
    (`radgauge.lay.check`). A fact is a finding, a device, a normal part or an advice; it is kept if the
    other text tells it alike: yes or no, side, place and level, degree, size, certainty, change, state of a
    device, what is advised, when and how urgently. `lay_fidelity` is
    twice the kept facts over these, twice the changed
    ones, the lost and the added. A pair is only judged if something differs or if everything was read: a text that
    could not be read is never right. Corpus values come from the summed counts; of several references the one with
    the greatest share counts.

    >>> from radgauge.core.cases import Case
    >>> text = "No pleural effusion. Mild cardiomegaly."
    >>> lay = "There is no fluid around your lungs. Your heart is a lot bigger than usual."
    >>> LayFidelity().case_scores(LayFidelity().measure([Case("1", lay, (text,))], reading=Readings()))[0].tolist()
    [0.5, 1.0, 0.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "lay_fidelity"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    summary: ClassVar[str] = "is the lay version still right: facts kept, lost, added, changed"

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
        """The reader of everyday wording."""
        return {"reader": EverydayReader().signature, "references": "best"}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case: kept, changed, lost, added; NaN if the pair is not judged."""
        read = self._read([text for case in cases for text in (case.candidate, *case.references)], reading)
        rows = np.full((len(cases), 4), np.nan)
        for row, case in zip(rows, cases, strict=True):
            best = self._best(case, read)
            if best is not None:
                row[:] = best.counts
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """Share and counts of each case."""
        return self.corpus_scores(rows, np.where(np.isnan(rows), 0.0, 1.0))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """The share of all facts of the set, and counts per report."""
        matched, changed, lost, added = np.moveaxis(totals, -1, 0)
        judged = counts[..., 0]
        return np.stack(
            [
                ratio(2 * matched, 2 * matched + 2 * changed + lost + added),
                *(ratio(total, judged) for total in (matched, lost, added, changed)),
            ],
            axis=-1,
        )

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """List what was lost, added, changed, kept, and what could not be read: one sentence each."""
        rows = self.measure([case], reading=reading)
        values = dict(zip(self.columns, map(float, self.case_scores(rows)[0]), strict=True))
        read = self._read([case.candidate, *case.references], reading)
        best = self._best(case, read)
        return Explanation(self.name, values, _notes(best, case) if best is not None else ())

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Reason why texts were not compared."""
        read = self._read([case.candidate, *case.references], reading)
        checked = [compare_readings(read[text], read[case.candidate]) for text in case.references]
        unread = next((check.unread[0] for check in checked if check.unread), None)
        if not read[case.candidate].facts and not read[case.candidate].advice:
            return "no finding and no normal statement was read in the candidate"
        if unread is not None and not unread.lay:
            return "a sentence of the reference could not be read"
        if unread is not None:
            return "a sentence of the candidate could not be read"
        return "no finding and no normal statement was read in the reference"

    def _read(self, texts: Sequence[str], reading: Readings) -> dict[str, EverydayReading]:
        return dict(zip(texts, reading.of(EverydayReader(), texts), strict=True))

    def _best(self, case: Case, read: Mapping[str, EverydayReading]) -> LayCheck | None:
        candidate = read[case.candidate]
        if not candidate.facts and not candidate.advice:
            return None
        checks = [compare_readings(read[text], candidate) for text in case.references]
        return max((check for check in checks if check.is_judged), key=_order, default=None)


def _order(checked: LayCheck) -> tuple[float, ...]:
    """Greatest share first; among equals the counts, so that the order of references does not matter."""
    matched, changed, lost, added = checked.counts
    return (2 * matched / (2 * matched + 2 * changed + lost + added), matched, -changed, -lost, -added)


def _notes(checked: LayCheck, case: Case) -> tuple[Note, ...]:
    notes = [_note(difference) for difference in checked.differences]
    notes += [
        Note("missing", f"Not read: {difference.professional or difference.lay}", difference.spans)
        for difference in checked.unread
    ]
    for reference_fact, candidate_fact in checked.kept:
        reference = next((text for text in case.references if reference_fact.end <= len(text)), "")
        quote = " ".join(reference[reference_fact.start : reference_fact.end].split())
        notes.append(
            Note(
                "matched",
                f"Kept: {quote}.",
                ((reference_fact.start, reference_fact.end),),
                ((candidate_fact.start, candidate_fact.end),),
            )
        )
    return tuple(notes)


def _note(difference: Difference) -> Note:
    if difference.what == "lost":
        return Note("missing", f"Lost: {difference.professional}.", difference.spans)
    if difference.what == "added":
        return Note("added", f"Added: {difference.lay}.", (), difference.lay_spans)
    text = (
        f"Changed: {difference.what} is {difference.professional or 'not stated'} in the reference, "
        f"{difference.lay or 'not stated'} in the lay text."
    )
    return Note("changed", text, difference.spans, difference.lay_spans)
