"""Is the lay version easier? Readability of professional originals and their lay versions, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.metrics.readability import ReadabilityIndices
from radgauge.stats import Interval, interval
from radgauge.stats.resampling import USUAL, Resampling

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EaseLine:
    """One index of one system.

    Attributes:
        system: Who wrote the lay versions.
        index: The readability index.
        higher_is_easier: Which way is easy.
        professional: Mean of the originals.
        lay: Mean of the lay versions of the same reports.
        difference: Lay less professional, mean over reports, with an interval that draws studies.
        easier: Share of reports whose lay version is easier.
    """

    system: str
    index: str
    higher_is_easier: bool
    professional: float
    lay: float
    difference: Interval
    easier: float


@dataclass(frozen=True, slots=True, eq=False)
class Ease:
    """Both sides of every report.

    Attributes:
        lines: Per system and index.
        keys: (id, system) of every report.
        indices: Names of the indices, Flesch and Kincaid's grade first.
        professional: (reports, indices); NaN where a text has no word.
        lay: The same for the lay versions.
    """

    lines: tuple[EaseLine, ...]
    keys: tuple[Key, ...]
    indices: tuple[str, ...]
    professional: Array
    lay: Array

    def records(self) -> list[dict[str, str | float]]:
        """One flat record per report: id, system, and three columns per index."""
        found = []
        for key, before, after in zip(self.keys, self.professional, self.lay, strict=True):
            record: dict[str, str | float] = {"id": key[0], "system": key[1]}
            for name, first, second in zip(self.indices, before.tolist(), after.tolist(), strict=True):
                record |= {
                    f"{name}_professional": first,
                    f"{name}_lay": second,
                    f"{name}_difference": second - first,
                }
            found.append(record)
        return found


@working("measuring readability")
def compare_ease(
    cases: Sequence[Case],
    professional: Mapping[Key, str],
    *,
    reading: Readings | None = None,
    resampling: Resampling = USUAL,
) -> Ease:
    """Readability of lay versions beside their originals.

    Args:
        cases: The lay versions (candidates).
        professional: The original of each case.
        reading: Shared readings.
        resampling: Coverage, resamples and seed of the intervals; studies are drawn.
    """
    missing = [case.key for case in cases if case.key not in professional]
    if missing:
        raise InputError(f"{len(missing)} of {len(cases)} lay versions have no original, first: {missing[0]}")
    metric, shared = ReadabilityIndices(), reading if reading is not None else Readings()
    after = metric.measure(cases, reading=shared)
    before = metric.measure([Case(case.id, professional[case.key]) for case in cases], reading=shared)
    names = tuple(column.removeprefix("readability_") for column in metric.columns)
    lines = []
    for system in dict.fromkeys(case.system for case in cases):
        rows = np.array([number for number, case in enumerate(cases) if case.system == system])
        change = after[rows] - before[rows]
        both = ~np.isnan(change)
        if resampling.resamples:
            groups = [cases[number].id for number in rows]
            found = interval(change, groups=groups, judged=both, **resampling.draw())
        else:
            found = _without_bounds(change, both, resampling.level)
        for place, (name, easy) in enumerate(zip(names, metric.directions, strict=True)):
            known = both[:, place]
            turned = change[known, place] * (1 if easy else -1)
            lines.append(
                EaseLine(
                    system,
                    name,
                    easy,
                    _mean(before[rows, place][known]),
                    _mean(after[rows, place][known]),
                    found[place],
                    _mean((turned > 0).astype(np.float64)),
                )
            )
    return Ease(tuple(lines), tuple(case.key for case in cases), names, before, after)


def _without_bounds(change: Array, judged: NDArray[np.bool_], level: float) -> list[Interval]:
    nan = float("nan")
    return [
        Interval(_mean(column[known]), nan, nan, level, "percentile", int(known.sum()), int((~known).sum()))
        for column, known in zip(change.T, judged.T, strict=True)
    ]


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")
