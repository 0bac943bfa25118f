"""Held-out studies that are judged again and again while a model trains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from radgauge.analysis.collapse import distinct_texts
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.core.metric import Metric, sums
from radgauge.core.readings import Readings
from radgauge.core.scores import Results
from radgauge.run.score import score

KEEP = 50_000
"""Reports after which readings in memory are dropped."""

DETECTION = ("errors_f1", "errors_precision", "errors_recall")
"""Outputs logged beside the headlines: quality rises with "normal" for everybody, and these fall to 0."""

Table = Callable[[Results, int, Mapping[str, float]], None]
"""Gets the values of every case, the step, and what `judge` returns; see `radgauge.lab.integrations.tables`."""


class HeldOut:
    """References that a model's reports are held against at every evaluation, with the readings kept between.

    Args:
        references: What the radiologists wrote, one entry (or a list of alternatives) per study.
        metrics: As in `radgauge.score`.
        ids: Of the studies; row numbers if there are none.
        models: Profile for metrics given by name.
        tables: Called after each evaluation with the values of every case, the step, and the corpus values.

    >>> held_out = HeldOut(["No effusion.", "Clear lungs."], "rouge")
    >>> held_out.judge(["No effusion.", ""], step=10)
    {'rouge_l': 1.0, 'rouge_not_judged': 1.0, 'distinct_reports': 1.0}
    """

    def __init__(
        self,
        references: Sequence[str | Sequence[str]],
        metrics: Sequence[str | Metric] | str | Metric = "errors",
        *,
        ids: Sequence[str] | None = None,
        models: str = "embedded",
        tables: Sequence[Table] = (),
    ) -> None:
        names = list(ids) if ids is not None else [str(number) for number in range(1, len(references) + 1)]
        if len(names) != len(references):
            raise InputError(f"ids and references must be equally many, got {len(names)} and {len(references)}")
        self._studies = [
            (name, (reference,) if isinstance(reference, str) else tuple(reference))
            for name, reference in zip(names, references, strict=True)
        ]
        self._metrics, self._models, self._tables = metrics, models, tuple(tables)
        self._reading = Readings()
        self._written = 0

    def judge(self, candidates: Sequence[str], *, step: int) -> dict[str, float]:
        """Corpus values of the reports that a model now writes, one per study in the order of the references.

        Besides the headlines: F1, precision and recall of significant findings if `errors` is among the metrics,
        `<metric>_not_judged`, the number of reports without a value, and `distinct_reports`, which falls when a
        model begins to write the same for everyone.
        """
        if len(candidates) != len(self._studies):
            raise InputError(f"{len(self._studies)} studies are held out, got {len(candidates)} reports")
        cases = [
            Case(name, text, references)
            for (name, references), text in zip(self._studies, candidates, strict=True)
        ]
        self._written += len(cases)
        if self._written > KEEP:  # models write new texts for ever
            self._reading, self._written = self._reading.fork(), 0
        results = score(cases, self._metrics, models=self._models, reading=self._reading, progress=False)
        distinct = float(distinct_texts([text for text in candidates if text.strip()]))
        values = {**values_of(results), "distinct_reports": distinct}
        for table in self._tables:
            table(results, step, values)
        return values


def values_of(results: Results) -> dict[str, float]:
    """Corpus values of every metric's headline and of detection, and how many cases it could not judge."""
    values: dict[str, float] = {}
    for scores in results.judges.values():
        corpus = scores.corpus_scores(*sums(scores.rows))
        for index, (column, value) in enumerate(zip(scores.columns, corpus, strict=True)):
            if not index or column.endswith(DETECTION):
                values[column] = float(value)
        values[f"{scores.judge}_not_judged"] = float(np.isnan(scores.headline).sum())
    return values
