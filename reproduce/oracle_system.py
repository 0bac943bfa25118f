"""The metric oracle as one more system: for each metric its highest-scoring reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from radgauge.analysis.oracle.corpus import Corpus
from radgauge.analysis.oracle.find import oracle
from radgauge.core.cases import MISSING, Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Metric
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.scores import Results, Scores
from radgauge.run.score import score

ORACLE = "metric oracle"


@working("searching the best reports")
def score_with_oracles(
    cases: Sequence[Case],
    metrics: Sequence[str | Metric] | None,
    *,
    corpus: Sequence[Case],
    reading: Readings | None = None,
    models: str = "embedded",
    system: str = ORACLE,
) -> Results:
    """What `score` returns, with a system whose candidates were chosen by the very metric that judges them.

    It is what retrieval from this corpus could reach at best (first row of supplementary table 4 of Yu et al.).

    Args:
        cases: The cases of all systems.
        metrics: As `score` takes them.
        corpus: Reports to choose from, as cases with a reference.
        reading: Shared readings.
        models: Profile of metrics given by name.
        system: What to call the oracle.
    """
    if any(case.system == system for case in cases):
        raise UsageError(f"there is a system named {system!r} already; rename it to add the oracle")
    shared = reading if reading is not None else Readings()
    plain = score(cases, metrics, reading=shared, models=models)
    texts = Corpus.of(corpus)
    studies: dict[str, Case] = {}
    for case in cases:
        studies.setdefault(case.id, case)
    judges: dict[str, Scores] = {}
    for name, scores in plain.judges.items():
        if scores.metric is None:  # cannot be: these scores come from metrics
            raise UsageError(f"{name} is no metric")
        matches = oracle(texts, list(studies.values()), metric=scores.metric, reading=shared)
        by_id = {match.id: match.text for match in matches}
        chosen = [_chosen(case, by_id[case.id], system) for case in studies.values()]
        (judged,) = score([*cases, *chosen], [scores.metric], reading=shared).judges.values()
        judges[name] = replace(judged, judge=name)
    meta: Mapping[str, Sequence[str]] = {
        name: [*values, *(case.meta.get(name, "") for case in studies.values())]
        for name, values in plain.meta.items()
    }
    return Results(judges, meta)


def _chosen(case: Case, text: str, system: str) -> Case:
    meta = {name: value for name, value in case.meta.items() if name != MISSING}
    return replace(case, candidate=text, system=system, meta=meta)
