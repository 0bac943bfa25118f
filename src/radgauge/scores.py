"""Scores: what a judge said about cases. Metrics and radiologists both give Scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.cases import Case, Key, as_cases
from radgauge.errors import RadgaugeError, UsageError
from radgauge.metric import Metric, Rows, mean
from radgauge.reading import Readings
from radgauge.registry import load


@dataclass(frozen=True, eq=False)
class Scores:
    """One judge's verdict on every case, in the order of the cases.

    Attributes:
        judge: Name of the metric or the rater.
        signature: Settings, models and versions behind the numbers.
        keys: (study id, system) of each row.
        rows: Sufficient statistics, (n, k); NaN = could not be judged.
        values: Values per case, (n, m), one column per output.
        columns: Names of the outputs, the headline first.
        higher_is_better: Direction of the headline.
        reasons: Why a case could not be judged.
        metric: The metric, if the judge is one: it knows how rows become a corpus value.
        directions: For each column whether higher is better; by default all go the headline's way.
    """

    judge: str
    signature: str
    keys: tuple[Key, ...]
    rows: Rows
    values: Rows
    columns: tuple[str, ...]
    higher_is_better: bool
    reasons: Mapping[Key, str] = field(default_factory=dict)
    metric: Metric | None = None
    directions: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.keys) == len(self.rows) == len(self.values):
            raise RadgaugeError(
                f"{self.judge}: {len(self.keys)} keys, {len(self.rows)} rows and {len(self.values)} values "
                "must be equally many"
            )
        if len(set(self.keys)) != len(self.keys):
            raise RadgaugeError(f"{self.judge}: the (id, system) keys must be unique")
        if not self.directions:
            object.__setattr__(self, "directions", (self.higher_is_better,) * len(self.columns))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems judged, in order of first appearance."""
        return tuple(dict.fromkeys(system for _, system in self.keys))

    @property
    def headline(self) -> NDArray[np.float64]:
        """The first output, one value per case."""
        return self.values[:, 0]

    def column(self, name: str) -> NDArray[np.float64]:
        """One output, one value per case."""
        if name not in self.columns:
            raise UsageError(f"{self.judge} has no column {name!r}; it has: {', '.join(self.columns)}")
        return self.values[:, self.columns.index(name)]

    def oriented(self, name: str) -> NDArray[np.float64]:
        """One output, turned so that larger is better."""
        values = self.column(name)
        return values if self.directions[self.columns.index(name)] else -values

    def take(self, index: NDArray[Any] | Sequence[int]) -> Scores:
        """The cases at these positions (or under this mask)."""
        where = np.asarray(index)
        positions = np.flatnonzero(where) if where.dtype == bool else where.astype(np.intp)
        keys = tuple(self.keys[i] for i in positions)
        kept = set(keys)
        return replace(
            self,
            keys=keys,
            rows=self.rows[positions],
            values=self.values[positions],
            reasons={key: why for key, why in self.reasons.items() if key in kept},
        )

    def of_system(self, system: str) -> Scores:
        """The cases of one system."""
        return self.take(np.array([name == system for _, name in self.keys], dtype=bool))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Corpus values from column sums of `rows`; see Metric.corpus_scores."""
        return mean(totals, counts) if self.metric is None else self.metric.corpus_scores(totals, counts)


@dataclass(frozen=True, eq=False)
class Results(Mapping[str, Scores]):
    """What `score` returns: every judge's Scores on the same cases, by name.

    Attributes:
        judges: Scores by judge name, all with the same keys.
        meta: Column name -> one value per case, as the input had it.
    """

    judges: Mapping[str, Scores]
    meta: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __getitem__(self, judge: str) -> Scores:
        return self.judges[judge]

    def __iter__(self) -> Iterator[str]:
        return iter(self.judges)

    def __len__(self) -> int:
        return len(self.judges)

    @property
    def keys_of_cases(self) -> tuple[Key, ...]:
        """(id, system) of every case."""
        return next(iter(self.judges.values())).keys if self.judges else ()

    def records(self) -> list[dict[str, Any]]:
        """One flat record per case: id, system, one value per column; None = could not be judged."""
        table = self.to_dict()
        names = list(table)
        return [dict(zip(names, row, strict=True)) for row in zip(*table.values(), strict=True)]

    def to_dict(self) -> dict[str, list[Any]]:
        """The same as columns."""
        keys = self.keys_of_cases
        table: dict[str, list[Any]] = {
            "id": [study for study, _ in keys],
            "system": [system for _, system in keys],
        }
        for scores in self.values():
            for name, values in zip(scores.columns, scores.values.T, strict=True):
                table[name] = [None if np.isnan(value) else float(value) for value in values]
        return table

    def to_pandas(self) -> Any:
        """A pandas DataFrame (pandas must be installed)."""
        return _frame_library("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars DataFrame (polars must be installed)."""
        return _frame_library("polars").DataFrame(self.to_dict())


def score(
    cases: object,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    *,
    reading: Readings | None = None,
    models: str = "embedded",
) -> Results:
    """Judge every case with every metric. Rows in = rows out.

    Args:
        cases: A sequence of Case or of dicts (id, candidate, reference, ...), or a pandas or polars frame.
        metrics: Names ("bleu"), specifications ("bleu:variant=cxr") or Metric objects; None = the defaults.
        reading: Shared readings, so that several calls read each text once.
        models: Profile for metrics given by name: "embedded", "published" or a folder of checkpoints.

    >>> results = score([{"id": "1", "candidate": "no effusion", "reference": "no effusion"}], ["bleu"])
    >>> results.records()[0]["bleu_1"]
    1.0
    """
    listed = as_cases(cases)
    judges = _load_all(metrics, models=models)
    shared = reading if reading is not None else Readings()
    names = [metric.name for metric in judges]
    labels = [metric.name if names.count(metric.name) == 1 else metric.columns[0] for metric in judges]
    results = {label: _judge(metric, listed, shared, label) for label, metric in zip(labels, judges, strict=True)}
    meta_names = dict.fromkeys(name for case in listed for name in case.meta)
    return Results(results, {name: [case.meta.get(name, "") for case in listed] for name in meta_names})


def _load_all(metrics: Sequence[str | Metric] | str | Metric | None, *, models: str) -> list[Metric]:
    if metrics is None:
        from radgauge.registry import DEFAULTS

        metrics = DEFAULTS
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    judges = [load(item, models=models) if isinstance(item, str) else item for item in given]
    seen: dict[str, str] = {}
    for metric in judges:
        for column in metric.columns:
            if column in seen:
                raise UsageError(
                    f"two metrics would both write the column {column!r} ({seen[column]} and {metric.name}); "
                    f"give one a name of its own: '{metric.name}:... as NAME'"
                )
            seen[column] = metric.name
    return judges


def _judge(metric: Metric, cases: Sequence[Case], reading: Readings, label: str) -> Scores:
    reasons: dict[Key, str] = {}
    able: list[int] = []
    for index, case in enumerate(cases):
        if why := _unable(metric, case):
            reasons[case.key] = why
        else:
            able.append(index)
    judged = [cases[index].with_real_references() for index in able]
    measured = metric.measure(judged, reading=reading)
    if measured.ndim != 2 or len(measured) != len(judged):
        raise RadgaugeError(
            f"metric {metric.name!r} must return one row per case, "
            f"got shape {measured.shape} for {len(judged)} cases"
        )
    if np.isinf(measured).any():
        raise RadgaugeError(f"metric {metric.name!r} returned an infinite value; NaN means cannot be judged")
    rows = np.full((len(cases), measured.shape[1]), np.nan)
    rows[able] = measured
    values = np.full((len(cases), len(metric.columns)), np.nan)
    values[able] = metric.case_scores(measured)
    for index, case in zip(able, judged, strict=True):
        if np.isnan(values[index, 0]):
            reasons[case.key] = metric.why_not(case, reading=reading)
    return Scores(
        judge=label,
        signature=metric.signature(),
        keys=tuple(case.key for case in cases),
        rows=rows,
        values=values,
        columns=metric.columns,
        higher_is_better=metric.higher_is_better,
        reasons=reasons,
        metric=metric,
        directions=metric.directions,
    )


def _unable(metric: Metric, case: Case) -> str:
    if case.missing:
        return case.missing
    if not case.candidate.strip() and not metric.judges_empty:
        return "empty candidate"
    if "reference" in metric.needs and not any(text.strip() for text in case.references):
        return "empty reference" if case.references else "no reference"
    if "image" in metric.needs and not case.images:
        return "no image"
    return ""


def _frame_library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed; run: pip install {name}") from None
