"""CheXbert F1: how far two reports agree on the 14 CheXpert conditions.

Smit et al. (2020), CheXbert: combining automatic labelers and expert annotations for accurate radiology report
labeling using BERT, EMNLP. Rows are counts, so the value of a set comes from sums, as published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows, best_reference, ratio, reference_pairs
from radgauge.core.readings import Readings
from radgauge.encoders.text.chexbert_labels import (
    BLANK,
    CONDITIONS,
    FIVE,
    POSITIVE,
    STATES,
    UNCERTAIN,
    Codes,
    condition_codes,
    labeler_signature,
)
from radgauge.metrics._settings import EMBEDDED, label_columns, wordless
from radgauge.reader import ReportReader
from radgauge.text.words import has_words

COUNT = len(CONDITIONS)
_AVERAGES = ("14_micro", "14_macro", "14_weighted", "5_micro", "5_macro", "5_weighted")


@dataclass(frozen=True)
class Chexbert(Metric):
    """F1 over the 14 CheXpert conditions and over the five of the competition.

    The headline is the micro F1 over 14: it alone has a meaning for single cases and for small sets, where
    most conditions do not occur. The value of a set comes from summed counts. For a single case, macro and
    weighted averages go over the conditions that occur in either text.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="Pneumothorax. Edema.", references=("Edema. No pneumothorax.",))
    >>> metric = Chexbert()
    >>> metric.case_scores(metric.measure([case], reading=Readings())).round(3)[0, 0]  # 1 right, 1 too many
    np.float64(0.667)
    """

    name: ClassVar[str] = "chexbert"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "agreement on the 14 CheXpert conditions (micro, macro, weighted F1; 14 and 5)"
    one_range: ClassVar[bool] = True

    models: str = EMBEDDED  # "embedded", "published", or a folder or file with the authors' checkpoint
    # What "uncertain" counts as: "positive" (f1chexbert, RadEval), "negative" (R2Gen), "class" (a class of its
    # own: it matches only itself), "ignore" (a condition that is uncertain in either text is left out of that
    # case)
    uncertain: Literal["positive", "negative", "class", "ignore"] = "positive"
    # What an unmentioned condition counts as: "negative" (as published) or "ignore" (a condition that the
    # reference does not mention is left out of that case)
    blank: Literal["negative", "ignore"] = "negative"
    # What a condition without any positive in either text adds to the macro average of a set: "zero" (as scikit-
    # learn and so all published tables) or "skip"
    absent: Literal["zero", "skip"] = "zero"
    per_condition: bool = False  # Also give the F1 of every condition
    # "nan": a text without words is not judged; "read": it is labelled like any other
    empty: Literal["nan", "read"] = "nan"

    @property
    def columns(self) -> tuple[str, ...]:
        """Six averages, the share of cases whose five conditions all agree, and the conditions if wanted."""
        names = [f"chexbert_{average}_f1" for average in _AVERAGES] + ["chexbert_5_exact"]
        if self.per_condition:
            names += [f"chexbert_{name.lower().replace(' ', '_')}_f1" for name in CONDITIONS]
        return label_columns(tuple(names), self.models)

    @property
    def judges_empty(self) -> bool:
        """True if an empty candidate is labelled too."""
        return self.empty == "read"

    def parts(self) -> Mapping[str, str]:
        """The labeler."""
        return {"labeler": labeler_signature(self.models), "references": "best"}

    def checkpoints(self) -> tuple[str, ...]:
        """Return the labeler."""
        return ("chexbert",) if self.models == "published" else ()

    def report_reader(self) -> ReportReader:
        """Return the embedded reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Per case: right, too many and missed for each condition, and whether the five agree."""
        candidates, references, owner = reference_pairs(cases)
        codes = condition_codes([*candidates, *references], reading=reading, models=self.models)
        rows = self._count(codes[: len(candidates)], codes[len(candidates) :])
        if self.empty == "nan":
            able = [has_words(a) and has_words(b) for a, b in zip(candidates, references, strict=True)]
            rows[~np.array(able, dtype=bool)] = np.nan
        result = np.full((len(cases), 3 * COUNT + 1), np.nan)
        # F1, and fewer errors where F1 does not tell (no positive condition in either text); NaN stays NaN.
        errors = rows[:, COUNT : 3 * COUNT].sum(axis=1)
        key = np.nan_to_num(self.case_scores(rows)[:, 0], nan=0.0) - 1e-6 * errors
        key -= 1e-9 * (rows @ np.arange(rows.shape[1]))  # ties go by content, not by order
        best = best_reference(key[:, None], owner, cases=len(cases), higher_is_better=True)
        result[best >= 0] = rows[best[best >= 0]]
        return result

    def case_scores(self, rows: Rows) -> Rows:
        """The same formulas on one case; absent conditions are skipped."""
        return self._scores(rows, np.ones_like(rows[..., -1]), absent="skip")

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """F1 from summed counts."""
        return self._scores(np.where(counts > 0, totals, np.nan), counts[..., -1], absent=self.absent)

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """No words, or no positive condition anywhere."""
        missing = "" if self.empty == "read" else wordless(case.candidate, case.references)
        return missing or "no condition is positive in either text"

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """The conditions that either text mentions, and what each says of them."""
        values = self.case_scores(self.measure([case], reading=reading))[0]
        codes = condition_codes([case.candidate, case.references[0]], reading=reading, models=self.models)
        notes = []
        for name, candidate_code, reference_code in zip(CONDITIONS, codes[0], codes[1], strict=True):
            if candidate_code == reference_code == BLANK:
                continue
            kind = "matched" if candidate_code == reference_code else "changed"
            if BLANK in (candidate_code, reference_code):
                kind = "missing" if candidate_code == BLANK else "added"
            notes.append(
                Note(
                    kind,
                    f"{name}: {STATES[reference_code]} in the reference, "
                    f"{STATES[candidate_code]} in the candidate",
                )
            )
        return Explanation(self.name, dict(zip(self.columns, map(float, values), strict=True)), tuple(notes))

    def _count(self, candidate: Codes, reference: Codes) -> Rows:
        classes: list[tuple[int, ...]] = [(POSITIVE, UNCERTAIN)] if self.uncertain == "positive" else [(POSITIVE,)]
        if self.uncertain == "class":
            classes.append((UNCERTAIN,))
        heeded: NDArray[np.bool_] = np.ones(candidate.shape, dtype=bool)
        if self.uncertain == "ignore":
            heeded &= (candidate != UNCERTAIN) & (reference != UNCERTAIN)
        if self.blank == "ignore":
            heeded &= reference != BLANK
        right, added, missed = (np.zeros(candidate.shape) for _ in range(3))
        same = np.ones(candidate.shape, dtype=bool)
        for members in classes:
            in_candidate, in_reference = np.isin(candidate, members), np.isin(reference, members)
            right += heeded & in_candidate & in_reference
            added += heeded & in_candidate & ~in_reference
            missed += heeded & ~in_candidate & in_reference
            same &= ~heeded | (in_candidate == in_reference)
        exact = same[:, list(FIVE)].all(axis=1, keepdims=True)
        return np.hstack([right, added, missed, exact])

    def _scores(self, sums: Rows, cases: Rows, *, absent: str) -> Rows:
        right, added, missed = np.split(sums[..., : 3 * COUNT], 3, axis=-1)
        by_condition: Rows = _f1(right, added, missed)
        columns: list[Rows] = []
        for chosen in (list(range(COUNT)), list(FIVE)):
            total = [part[..., chosen].sum(axis=-1) for part in (right, added, missed)]
            selected, support = by_condition[..., chosen], right[..., chosen] + missed[..., chosen]
            occurs = ~np.isnan(selected)
            defined = np.where(occurs, selected, 0.0)
            size = len(chosen) if absent == "zero" else occurs.sum(axis=-1)
            macro: Rows = ratio(defined.sum(axis=-1), np.where(occurs.any(axis=-1), size, 0))
            columns += [_f1(*total), macro, ratio((defined * support).sum(axis=-1), support.sum(axis=-1))]
        columns.append(ratio(sums[..., -1], cases))
        if self.per_condition:
            columns += list(np.moveaxis(by_condition, -1, 0))
        return np.stack(columns, axis=-1)


def _f1(right: Rows, added: Rows, missed: Rows) -> Rows:
    return ratio(2 * right, 2 * right + added + missed)
