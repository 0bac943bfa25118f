"""Values, intervals and tests of a folder of scores, part by part, in bounded memory.

Folders of up to `IN_MEMORY` cases are read as a whole and give the numbers that one file would give. Of larger
ones the rows go once to memory-mapped arrays in a temporary folder; then

- values come from sums over parts;
- a bootstrap draws first how many studies each part gives (multinomial), then that many inside the part: the same
  distribution as drawing studies from the whole, with one part in memory at a time;
- a permutation test swaps systems inside parts and adds up what the swaps move;
- what needs every case of one output (effect sizes, jackknife) has one column in memory, 8 bytes a case.

The draws of a part depend on the seed and the part's place alone: neither engine nor order matters.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from radgauge.io.score_folder import iter_score_folder, read_manifest
from radgauge.metric import Rows
from radgauge.results import Results, Scores
from radgauge.show.progress import working
from radgauge.stats.products import product
from radgauge.stats.proportions import wilson_interval
from radgauge.stats.resample import (
    LEAST,
    bca_bounds,
    chosen_method,
    percentile_bounds,
    simulation_bounds,
    t_bounds,
)
from radgauge.stats.resampling import Resampling
from radgauge.studies.summary import Summaries, Summary

IN_MEMORY = 100_000
"""Cases of a folder that is read as a whole."""

BLOCK_BYTES = 32 << 20
"""Of weights at a time."""

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Judge:
    """One judge of a folder: how it computes (scores without cases) and where its arrays are."""

    name: str
    empty: Scores
    rows: int
    values: int


class Gathered:
    """The rows of a folder as arrays on disk, and what sums say of them. A context: the arrays go at its end.

    Attributes:
        systems: By first appearance.
        judges: In the order of the manifest.
        counts: Cases by part and system.
        reasons: (judge, system) -> why cases could not be judged, with counts.
        cases: How many.
        studies: How many.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder)
        self.systems: list[str] = []
        self.judges: list[Judge] = []
        self.reasons: dict[tuple[str, str], Counter[str]] = {}
        self.cases = self.manifest.cases
        self.studies = 0
        self._place = Path(tempfile.mkdtemp(prefix="radgauge-"))
        counts: list[dict[str, int]] = []
        try:
            with working("reading scores") as tell:
                for number, results in enumerate(iter_score_folder(self.folder)):
                    tell(self.folder.name, number, len(self.manifest.parts))
                    counts.append(self._keep(number, results))
        except BaseException:
            self.close()
            raise
        self.counts: Index = np.array(
            [[found.get(system, 0) for system in self.systems] for found in counts], dtype=np.int64
        ).reshape(len(counts), len(self.systems))

    def __enter__(self) -> Gathered:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the arrays."""
        shutil.rmtree(self._place, ignore_errors=True)

    @property
    def parts(self) -> range:
        """Numbers of the parts."""
        return range(len(self.counts))

    def rows(self, judge: Judge, part: int, system: int) -> Rows:
        """Statistics of one system's cases in a part."""
        found: Rows = np.load(self._array(judge, part, "rows"), mmap_mode="r")[self._of(part, system)]
        return found

    def values(self, judge: Judge, part: int, system: int) -> Rows:
        """Values of one system's cases in a part."""
        found: Rows = np.load(self._array(judge, part, "values"), mmap_mode="r")[self._of(part, system)]
        return found

    def shared(self, part: int, system: int, other: int) -> tuple[Index, Index]:
        """Positions, among the cases of each of two systems in a part, of the studies that both have."""
        studies = self._studies(part)
        _, mine, theirs = np.intersect1d(
            studies[self._of(part, system)],
            studies[self._of(part, other)],
            assume_unique=True,
            return_indices=True,
        )
        order = np.argsort(mine, kind="stable")
        return mine[order], theirs[order]

    def _keep(self, number: int, results: Results) -> dict[str, int]:
        keys = results.keys_of_cases
        for _, system in keys:
            if system not in self.systems:
                self.systems.append(system)
        places = {system: at for at, system in enumerate(self.systems)}
        codes: dict[str, int] = {}
        studies = np.array([codes.setdefault(study, len(codes)) for study, _ in keys], dtype=np.int32)
        self.studies += len(codes)
        np.save(self._place / f"{number}-studies.npy", studies)
        np.save(
            self._place / f"{number}-systems.npy", np.array([places[system] for _, system in keys], dtype=np.int32)
        )
        for at, (name, scores) in enumerate(results.items()):
            if len(self.judges) <= at:
                empty = replace(scores, keys=(), rows=scores.rows[:0], values=scores.values[:0], reasons={})
                self.judges.append(Judge(name, empty, scores.rows.shape[1], scores.values.shape[1]))
            np.save(self._array(self.judges[at], number, "rows"), scores.rows)
            np.save(self._array(self.judges[at], number, "values"), scores.values)
            for (_, system), why in scores.reasons.items():
                self.reasons.setdefault((name, system), Counter())[why] += 1
        return Counter(system for _, system in keys)

    def _array(self, judge: Judge, part: int, kind: str) -> Path:
        number = next(at for at, each in enumerate(self.judges) if each is judge)
        return self._place / f"{part}-{number}-{kind}.npy"

    def _of(self, part: int, system: int) -> Index:
        return np.flatnonzero(np.load(self._place / f"{part}-systems.npy") == system)

    def _studies(self, part: int) -> NDArray[np.int32]:
        found: NDArray[np.int32] = np.load(self._place / f"{part}-studies.npy")
        return found


def is_large(folder: Path | str) -> bool:
    """Whether a folder holds more cases than are read as a whole."""
    return read_manifest(folder).cases > IN_MEMORY


def summarise_parts(gathered: Gathered, *, resampling: Resampling) -> Summaries:
    """As `radgauge.summarise`, of a folder that need not fit into memory."""
    found: dict[tuple[int, int], list[Summary]] = {}
    with working("computing intervals") as tell:
        for place, system in enumerate(gathered.systems):
            tell(system, place, len(gathered.systems))
            drawn = _drawn(gathered, place, resampling) if resampling.resamples else None
            for at, judge in enumerate(gathered.judges):
                replicates = None if drawn is None else drawn[at]
                found[at, place] = _lines(gathered, judge, place, replicates, resampling)
    order = [(at, place) for at in range(len(gathered.judges)) for place in range(len(gathered.systems))]
    return Summaries(line for key in order for line in found[key])


def weights(sizes: Index, *, resamples: int, seed: int) -> Iterator[tuple[int, int, Rows]]:
    """Part, first resample and a block (b, units) of how often each unit of the part is drawn.

    >>> blocks = list(weights(np.array([2, 3]), resamples=4, seed=0))
    >>> sum(block.sum() for _, _, block in blocks) / 4
    5.0
    """
    total = int(sizes.sum())
    if not total:
        return
    given = np.random.default_rng([seed, 0]).multinomial(total, sizes / total, size=resamples)
    for part, size in enumerate(sizes.tolist()):
        if not size:
            continue
        rng = np.random.default_rng([seed, 1, part])
        block = max(1, BLOCK_BYTES // (8 * size))
        for start in range(0, resamples, block):
            mine = given[start : start + block, part]
            units = rng.integers(0, size, size=int(mine.sum()))
            units += np.repeat(np.arange(len(mine)), mine) * size
            flat = np.bincount(units, minlength=len(mine) * size)
            yield part, start, flat.reshape(len(mine), size).astype(np.float64)


def sums_of(rows: Rows) -> Rows:
    """Rows with 0 where there is no judgment, and beside them whether there is one: (n, 2k)."""
    judged = ~np.isnan(rows)
    return np.hstack([np.where(judged, rows, 0.0), judged.astype(np.float64)])


def _drawn(gathered: Gathered, system: int, how: Resampling) -> list[Rows]:
    """Scores (resamples, m) of every judge on resampled studies of a system."""
    widths = [2 * judge.rows for judge in gathered.judges]
    totals = np.zeros((how.resamples, sum(widths)))
    table, held = np.empty((0, 0)), -1
    for part, start, block in weights(gathered.counts[:, system], resamples=how.resamples, seed=how.seed):
        if part != held:
            table = np.hstack([sums_of(gathered.rows(judge, part, system)) for judge in gathered.judges])
            held = part
        totals[start : start + len(block)] += product(block, table)
    found, left = [], 0
    for judge, width in zip(gathered.judges, widths, strict=True):
        mine = totals[:, left : left + width]
        found.append(judge.empty.corpus_scores(mine[:, : width // 2], mine[:, width // 2 :]))
        left += width
    return found


def _lines(
    gathered: Gathered, judge: Judge, system: int, replicates: Rows | None, how: Resampling
) -> list[Summary]:
    scores = judge.empty
    totals = np.zeros(2 * judge.rows)
    judged = np.zeros(judge.values, dtype=np.int64)
    not_judged = np.zeros(judge.values, dtype=np.int64)
    share = np.ones(judge.rows, dtype=bool)
    for part in gathered.parts:
        rows = gathered.rows(judge, part, system)
        totals += sums_of(rows).sum(axis=0)
        known = ~np.isnan(gathered.values(judge, part, system))
        judged += known.sum(axis=0)
        not_judged += (~known & ~known[:, :1]).sum(axis=0)
        share &= (np.isnan(rows) | (rows == 0) | (rows == 1)).all(axis=0)
    sums, counts = totals[: judge.rows], totals[judge.rows :]
    cases = int(gathered.counts[:, system].sum())
    values = scores.corpus_scores(sums, counts)
    bounds = [(math.nan, math.nan, "")] * len(values)
    if replicates is not None:
        bounds = [
            _bounds(gathered, judge, system, at, values, replicates, int(judged[at]), how)
            for at in range(len(values))
        ]
        if how.method == "auto" and judge.rows == judge.values:
            for at in range(len(values)):
                if share[at] and judged[at] and values[at] == sums[at] / counts[at]:
                    hits = round(float(values[at]) * int(judged[at]))
                    low, high = wilson_interval(hits, int(judged[at]), level=how.level)
                    bounds[at] = (low, high, "wilson") if judged[at] >= LEAST else (math.nan, math.nan, "wilson")
        if scores.metric is not None and len(scores.metric.ranges) == len(bounds):
            bounds = [
                (max(low, least), min(high, most), name)
                for (low, high, name), (least, most) in zip(bounds, scores.metric.ranges, strict=True)
            ]
    name = gathered.systems[system]
    reasons = tuple(gathered.reasons.get((judge.name, name), Counter()).most_common())
    return [
        Summary(
            system=name,
            judge=judge.name,
            column=column,
            value=float(values[at]),
            low=bounds[at][0],
            high=bounds[at][1],
            level=how.level,
            judged=int(judged[at]),
            not_judged=int(not_judged[at]),
            reasons=reasons,
            higher_is_better=scores.directions[at],
            signature=scores.signature,
            method=bounds[at][2],
            not_applicable=cases - int(judged[at]) - int(not_judged[at]),
        )
        for at, column in enumerate(scores.columns)
    ]


def _bounds(
    gathered: Gathered,
    judge: Judge,
    system: int,
    output: int,
    values: Rows,
    replicates: Rows,
    judged: int,
    how: Resampling,
) -> tuple[float, float, str]:
    method = chosen_method(how.interval, judged)
    mine = replicates[:, [output]]
    if method in ("t", "bca"):
        left_out = _left_out(gathered, judge, system, output)
        if method == "t":
            found = t_bounds(values[[output]], left_out, level=how.level)
        else:
            found = bca_bounds(mine, values[[output]], left_out, level=how.level)
    elif method == "yu2022":
        found = simulation_bounds(mine, level=how.level)
    else:
        found = percentile_bounds(mine, level=how.level)
    if judged < LEAST:
        return math.nan, math.nan, method
    return float(found[0, 0]), float(found[1, 0]), method


def _left_out(gathered: Gathered, judge: Judge, system: int, output: int) -> Rows:
    """Scores (units, 1) of one output with each study left out in turn; NaN for studies that were not judged."""
    whole = sum((sums_of(gathered.rows(judge, part, system)).sum(axis=0) for part in gathered.parts), np.zeros(()))
    found = []
    for part in gathered.parts:
        rest = whole - sums_of(gathered.rows(judge, part, system))
        scores = judge.empty.corpus_scores(rest[:, : judge.rows], np.rint(rest[:, judge.rows :]))[:, output]
        judged = ~np.isnan(gathered.values(judge, part, system)[:, output])
        found.append(np.where(judged, scores, np.nan))
    return np.concatenate(found)[:, None]


def column_of(gathered: Gathered, judge: Judge, output: int, pairs: Sequence[Index], system: int) -> Rows:
    """One output of a system on the cases at these positions of each part, all parts together."""
    return np.concatenate(
        [
            gathered.values(judge, part, system)[where, output]
            for part, where in zip(gathered.parts, pairs, strict=True)
        ]
    )
