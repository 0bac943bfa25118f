"""Scores and Results: what judges said about cases. Metrics and radiologists both give Scores."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import UNANSWERED, Key
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.core.metric import PRECISION, Metric, Rows, mean, sums
from radgauge.core.notebook import Grid, Shown
from radgauge.core.wording import arrow, number

SYSTEMS_SHOWN = 4
"""Systems that a `repr` shows; tables have them all."""


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
        truncated: Cases with a report that was longer than an encoder reads.
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
    truncated: frozenset[Key] = frozenset()
    output: int | None = None

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

    def __repr__(self) -> str:
        judged = int((~np.isnan(self.headline)).sum())
        return f"<Scores of {self.judge}: {judged} of {len(self)} cases judged; columns {', '.join(self.columns)}>"

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems judged, in order of first appearance."""
        return tuple(dict.fromkeys(system for _, system in self.keys))

    @property
    def headline(self) -> NDArray[np.float64]:
        """The first output, one value per case."""
        return self.values[:, 0]

    @property
    def precision(self) -> float:
        """Difference up to which two values are equal; see Metric.precision."""
        return PRECISION if self.metric is None else self.metric.precision

    @property
    def system_headline(self) -> str:
        """Name of the output that systems are ordered by."""
        whole = self.metric is not None and self.output is None
        return self.metric.system_headline if whole and self.metric is not None else self.columns[0]

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest possible value of each output, infinite where nobody knows it."""
        unknown = ((-math.inf, math.inf),) * len(self.columns)
        known = self.metric.ranges if self.metric is not None else unknown
        return known if len(known) == len(self.columns) else unknown

    def behind(self) -> NDArray[np.bool_]:
        """Cases behind the corpus value of each output, (n, m).

        Corpus values are made of `rows`; a case can be part of them although its own value is 0 / 0.
        """
        judged = ~np.isnan(self.rows)
        if self.metric is None or not len(self.rows):
            return ~np.isnan(self.values)
        uses = _used_statistics(self.corpus_scores, *sums(self.rows))
        behind = judged @ uses
        return np.where(uses.any(axis=0), behind, ~np.isnan(self.values))

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
        taken = set(keys)
        return replace(
            self,
            keys=keys,
            rows=self.rows[positions],
            values=self.values[positions],
            reasons={key: why for key, why in self.reasons.items() if key in taken},
            truncated=self.truncated & taken,
        )

    def of_system(self, system: str) -> Scores:
        """The cases of one system."""
        return self.take(np.array([name == system for _, name in self.keys], dtype=bool))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Corpus values from column sums of `rows`; see Metric.corpus_scores."""
        values = mean(totals, counts) if self.metric is None else self.metric.corpus_scores(totals, counts)
        return values if self.output is None else values[..., [self.output]]

    def only(self, name: str) -> Scores:
        """Return the same with one output."""
        values = self.column(name)[:, None]
        place = self.columns.index(name)
        better = self.directions[place]
        return replace(
            self, values=values, columns=(name,), directions=(better,), higher_is_better=better, output=place
        )


def _used_statistics(corpus_scores: Callable[[Rows, Rows], Rows], totals: Rows, counts: Rows) -> NDArray[np.bool_]:
    """Statistics (k, m) that each output depends on: those whose sum moves it, where the data are or nearby."""
    width = len(totals)
    number = np.maximum(counts, 1.0)
    uses = np.zeros((width, 1), dtype=bool)
    for base in (totals, np.abs(totals) + counts + 1.0):
        moved = corpus_scores(base + np.diag(0.01 * np.abs(base) + 0.01), np.tile(number, (width, 1)))
        still = corpus_scores(base, number)
        uses = uses | ~((moved == still) | (np.isnan(moved) & np.isnan(still)))
    return uses


@dataclass(frozen=True, eq=False, repr=False)
class Results(Shown):
    """Results of `score`: every judge's Scores on the same cases, by name.

    Attributes:
        judges: Scores by judge name, all with the same keys.
        meta: Column name -> one value per case, as the input had it.
        header: How the results came about: what was read and how, seed, versions; of a file its header.
    """

    judges: Mapping[str, Scores]
    meta: Mapping[str, Sequence[str]] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Scores:
        """Return the scores of a judge, or of one output: results["bleu"], results["bleu_4"]."""
        if name in self.judges:
            return self.judges[name]
        for scores in self.judges.values():
            if name in scores.columns:
                return scores.only(name)
        columns = [column for scores in self.judges.values() for column in scores.columns]
        near = difflib.get_close_matches(name, [*self.judges, *columns], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join([*self.judges, *columns])}"
        raise KeyError(f"no judge or output {name!r}{hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.judges)

    def __len__(self) -> int:
        return len(self.judges)

    def __contains__(self, name: object) -> bool:
        return name in self.judges or any(name in scores.columns for scores in self.judges.values())

    def values(self, system: str | None = None) -> dict[str, float]:
        """Return the corpus value of every output of one system: {"bleu_4": 0.31, ...}.

        Args:
            system: Which; may be left out if there is one.
        """
        systems = list(dict.fromkeys(name for _, name in self.keys_of_cases))
        if system is None and len(systems) > 1:
            raise UsageError(f"there are {len(systems)} systems; choose one: values(system={systems[0]!r})")
        if system is not None and system not in systems:
            raise UsageError(f"there is no system {system!r}; there are: {', '.join(systems)}")
        return {
            column: float(value)
            for scores in self.judges.values()
            for column, value in zip(scores.columns, self._corpus(scores, system or systems[0]), strict=True)
        }

    @staticmethod
    def _corpus(scores: Scores, system: str) -> Rows:
        return scores.corpus_scores(*sums(scores.of_system(system).rows))

    @property
    def keys_of_cases(self) -> tuple[Key, ...]:
        """(id, system) of every case."""
        return next(iter(self.judges.values())).keys if self.judges else ()

    @property
    def unanswered(self) -> frozenset[Key]:
        """Cases whose candidate is absent, empty or without a word, as the judges that refuse such texts said."""
        return frozenset(
            key
            for scores in self.judges.values()
            for key, reason in scores.reasons.items()
            if reason in UNANSWERED
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the input."""
        return tuple((self.header.get("input") or {}).get("warnings", ()))

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
        for scores in self.judges.values():
            for name, values in zip(scores.columns, scores.values.T, strict=True):
                table[name] = [None if np.isnan(value) else float(value) for value in values]
        return table

    def grid(self) -> Grid:
        """Headline values by system, without intervals: `summarise` has those."""
        keys = self.keys_of_cases
        systems = tuple(dict.fromkeys(system for _, system in keys))
        shown = systems[:SYSTEMS_SHOWN]
        rows = []
        for scores in self.judges.values():
            values = [
                number(float(part.corpus_scores(*sums(part.rows))[0])) for part in map(scores.of_system, shown)
            ]
            lost = int(np.isnan(scores.headline).sum())
            rows.append((f"{scores.columns[0]} {arrow(scores.higher_is_better)}", *values, str(lost)))
        more = len(systems) - len(shown)
        numbers = {"metric": len(self), "case": len(keys), "system": len(systems)}
        title = "Results: " + ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in numbers.items())
        notes = tuple(f"note: {note}" for note in self.notes)
        if more:
            notes = (f"and {more} systems more", *notes)
        return Grid(title, ("metric", *shown, "not judged"), rows, notes)
