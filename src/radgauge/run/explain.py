"""explain: why one report got its score, with both texts, so that a notebook can mark them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Explanation, Metric, Note
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.io.records import as_cases
from radgauge.run.score import score


def explain(
    case: Case | Mapping[str, object] | None = None,
    metric: str | Metric = "errors",
    *,
    candidate: str | None = None,
    reference: str | None = None,
    reading: Readings | None = None,
    models: str = "embedded",
) -> Explanation:
    """Why a case gets its score.

    Args:
        case: A Case, or a dict with candidate and reference.
        metric: A name, a specification, or a Metric.
        candidate: Instead of a case: the text under judgment.
        reference: With it: what the radiologist wrote.
        reading: Shared readings.
        models: Profile for a metric given by name.

    Raises:
        InputError: The case cannot be judged; the message says why.

    >>> explain(candidate="Small left effusion.", reference="No effusion.").notes[0].kind
    'contradicted'
    """
    if (case is None) == (candidate is None):
        raise UsageError("give a case, or candidate and reference")
    if case is None:
        case = Case("1", candidate or "", (reference,) if reference is not None else ())
    elif not isinstance(case, Case):
        case = as_cases([case])[0]
    judge = load(metric, models=models) if isinstance(metric, str) else metric
    shared = reading if reading is not None else Readings()
    scores = next(iter(score([case], judge, reading=shared).judges.values()))
    if why := scores.reasons.get(case.key):
        raise InputError(f"{judge.name} cannot judge this case: {why}")
    real = case.with_real_references()
    explanation = judge.explain(real, reading=shared)
    if explanation is None:
        values = dict(zip(scores.columns, map(float, scores.values[0]), strict=True))
        explanation = Explanation(judge.name, values, (Note("info", f"{judge.name} gives values and no reasons"),))
    return replace(explanation, candidate=real.candidate, references=real.references)
