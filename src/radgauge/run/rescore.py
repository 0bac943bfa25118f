"""Scoring again what changed: metrics whose behaviour or settings differ, and metrics that are new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from radgauge.core.errors import InputError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.registry import load, specs
from radgauge.core.scores import Results, Scores
from radgauge.io.case_files.read import read_again
from radgauge.io.scores_file import read_scores
from radgauge.run.score import score


def rescore(
    path: Path,
    metrics: Sequence[str] | None = None,
    *,
    models: str = "embedded",
    reports: Sequence[Path] = (),
    reading: Readings | None = None,
) -> tuple[Results, list[str]]:
    """Return the scores of a file, brought up to date, and the names of the metrics that were scored again.

    Args:
        path: The older scores. The reports behind them are found by their hash.
        metrics: Specifications to bring up to date or to add; None = every metric of the file.
        models: Profile of metrics given by name.
        reports: Where the reports are now, if they have moved.
        reading: Shared readings.

    Raises:
        InputError: The reports are not there or have changed.
    """
    older = read_scores(path)
    requested: list[Metric] = [load(spec, models=models) for item in metrics or () for spec in specs(item)]
    if metrics is None:
        for name, scores in older.judges.items():
            if scores.metric is None:
                raise InputError(f"{path.name}: the metric {name!r} is not known here; name those to score again")
            requested.append(scores.metric)
    changed = [metric for metric in requested if not _is_current(metric, older)]
    if not changed:
        return older, []
    file = read_again(older.header.get("input", {}), folder=path.parent, moved=reports)
    if {case.key for case in file.cases} < set(older.keys_of_cases):
        raise InputError(
            f"{path.name} also judges cases that are not in its reports (baselines?); score them anew"
        )
    order = {key: i for i, key in enumerate(case.key for case in file.cases)}
    cases = [file.cases[order[key]] for key in older.keys_of_cases]
    newer = score(cases, changed, reading=reading)
    judges: dict[str, Scores] = {**older.judges, **newer.judges}
    return Results(judges, older.meta, older.header), list(newer)


def _is_current(metric: Metric, older: Results) -> bool:
    return any(scores.signature == metric.signature() for scores in older.judges.values())
