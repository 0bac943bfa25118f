"""Scores: what a judge said about cases. Metrics and radiologists both give Scores."""

from __future__ import annotations

import logging
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
from radgauge.text.words import has_words

log = logging.getLogger(__name__)

LONGEST = 200_000
"""Characters of the longest text that is judged unless told otherwise; reports have some thousands."""


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
    longest: int = LONGEST,
) -> Results:
    """Judge every case with every metric. Rows in = rows out.

    Args:
        cases: A sequence of Case or of dicts (id, candidate, reference, ...), or a pandas or polars frame.
        metrics: Names ("bleu"), specifications ("bleu:variant=cxr") or Metric objects; None = the defaults.
        reading: Shared readings, so that several calls read each text once.
        models: Profile for metrics given by name: "embedded", "published" or a folder of checkpoints.
        longest: Characters of the longest text that is judged; a case with a longer one is not, with this reason.
            It bounds the memory of metrics that compare every word of one text with every word of another.

    >>> results = score([{"id": "1", "candidate": "no effusion", "reference": "no effusion"}], ["bleu"])
    >>> results.records()[0]["bleu_1"]
    1.0
    """
    listed = as_cases(cases)
    judges = _load_all(metrics, models=models)
    shared = reading if reading is not None else Readings()
    names = [metric.name for metric in judges]
    labels = [metric.name if names.count(metric.name) == 1 else metric.columns[0] for metric in judges]
    results = {
        label: _judge(metric, listed, shared, label, longest) for label, metric in zip(labels, judges, strict=True)
    }
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


def _judge(metric: Metric, cases: Sequence[Case], reading: Readings, label: str, longest: int) -> Scores:
    reasons: dict[Key, str] = {}
    able: list[int] = []
    for index, case in enumerate(cases):
        if why := _unable(metric, case, longest):
            reasons[case.key] = why
        else:
            able.append(index)
    judged = [_with_usable_references(metric, cases[index]) for index in able]
    measured, failed = _measure(metric, judged, reading)
    reasons.update(failed)
    if np.isinf(measured).any():
        raise RadgaugeError(f"metric {metric.name!r} returned an infinite value; NaN means cannot be judged")
    rows = np.full((len(cases), measured.shape[1]), np.nan)
    rows[able] = measured
    values = np.full((len(cases), len(metric.columns)), np.nan)
    values[able] = metric.case_scores(measured)
    for index, case in zip(able, judged, strict=True):
        if np.isnan(values[index, 0]) and case.key not in failed:
            reasons[case.key] = _why_not(metric, case, reading)
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


def _measure(metric: Metric, cases: Sequence[Case], reading: Readings) -> tuple[Rows, dict[Key, str]]:
    """Rows of the cases, and why some of them have none: a case that makes the metric fail fails alone.

    What radgauge itself refuses (a missing model, a wrong setting) still ends the run: it concerns every case.
    """
    try:
        return _measured(metric, cases, reading), {}
    except RadgaugeError:
        raise
    except Exception as error:
        why = f"{metric.name} failed on this case ({_kind(error)})"
        log.warning("%s failed on %d cases (%s); they are tried in smaller parts", metric.name, len(cases), why)
    if len(cases) == 1:
        return np.full((1, _measured(metric, (), reading).shape[1]), np.nan), {cases[0].key: why}
    middle = len(cases) // 2
    halves = [_measure(metric, part, reading) for part in (cases[:middle], cases[middle:])]
    failed = {**halves[0][1], **halves[1][1]}
    rows: Rows = np.vstack([half for half, _ in halves])
    if failed and not metric.independent:  # what is left is measured together, as its definition wants
        kept = [index for index, case in enumerate(cases) if case.key not in failed]
        rows = np.full_like(rows, np.nan)
        if kept:
            again, more = _measure(metric, [cases[index] for index in kept], reading)
            rows[kept] = again
            failed.update(more)
    return rows, failed


def _measured(metric: Metric, cases: Sequence[Case], reading: Readings) -> Rows:
    measured = metric.measure(cases, reading=reading)
    if measured.ndim != 2 or len(measured) != len(cases):
        raise RadgaugeError(
            f"metric {metric.name!r} must return one row per case, "
            f"got shape {measured.shape} for {len(cases)} cases"
        )
    return measured


def _why_not(metric: Metric, case: Case, reading: Readings) -> str:
    try:
        return metric.why_not(case, reading=reading)
    except RadgaugeError:
        raise
    except Exception as error:
        return f"cannot be judged ({_kind(error)})"


def _kind(error: Exception) -> str:
    """What kind of error it is; its message may hold report text and is not repeated."""
    return "MemoryError" if isinstance(error, MemoryError) else type(error).__name__


def _unable(metric: Metric, case: Case, longest: int) -> str:
    if case.missing:
        return case.missing
    if not metric.judges_empty and not has_words(case.candidate):
        return "candidate has no words" if case.candidate.strip() else "empty candidate"
    if "reference" in metric.needs and not _with_usable_references(metric, case).references:
        blank = not any(text.strip() for text in case.references)
        return "no reference" if not case.references else "empty reference" if blank else "reference has no words"
    if "image" in metric.needs and not case.images:
        return "no image"
    if len(case.candidate) > longest:
        return f"candidate longer than {longest:,} characters"
    if "reference" in metric.needs and any(len(text) > longest for text in case.references):
        return f"reference longer than {longest:,} characters"
    return ""


def _with_usable_references(metric: Metric, case: Case) -> Case:
    """The case without references that say nothing; settings that judge empty texts drop blank ones only."""
    if metric.judges_empty:
        return case.with_real_references()
    kept = tuple(text for text in case.references if has_words(text))
    return case if len(kept) == len(case.references) else replace(case, references=kept)


def _frame_library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed; run: pip install {name}") from None
