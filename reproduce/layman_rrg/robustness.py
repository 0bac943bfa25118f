"""How metrics behave on raw and on lay text: same meaning in other words, other meaning in similar words.

Zhao et al., Layman's RRG (2024), section 3.4 and table 2. The shipped test beds are written for this project; on
pairs by others expect less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Rows, sums
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.lay.metrics.layman import Layman

FOLDER = Path(__file__).parent


class Row(NamedTuple):
    """One line of table 2: a metric's corpus value on each test bed, raw and lay."""

    name: str
    same_raw: float
    same_lay: float
    other_raw: float
    other_lay: float


@dataclass(frozen=True, slots=True)
class Robustness:
    """Table 2 and what follows from it.

    Attributes:
        rows: One per output.
        ranking: For each output, raw and lay, the share of all couples of one pair of the same meaning and one of
            another meaning in which the first scores better; ties count half.
        same: Number of pairs of the same meaning.
        other: Number of pairs of another meaning.
    """

    rows: tuple[Row, ...]
    ranking: Mapping[str, float]
    same: int
    other: int


BEDS = ("same_meaning", "other_meaning")
UNSEEN = ("same_meaning_unseen", "other_meaning_unseen")
"""Test beds written after the encoder and the sentence set; nothing was adjusted to them."""


def pairs_of(name: str) -> tuple[Case, ...]:
    """The pairs of a test bed, one of `BEDS` or `UNSEEN`, as cases."""
    if name not in (*BEDS, *UNSEEN):
        raise UsageError(f"a test bed must be one of {', '.join((*BEDS, *UNSEEN))}, got {name!r}")
    lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    pairs = [line.split("\t") for line in lines]
    return tuple(Case(f"{name}-{number}", pair[0], (pair[1],)) for number, pair in enumerate(pairs))


@working("testing metrics on lay text")
def robustness(
    metrics: Sequence[str] = ("bleu", "rouge"),
    *,
    models: str = "embedded",
    unseen: bool = False,
    same: Sequence[Case] | None = None,
    other: Sequence[Case] | None = None,
    layman: Layman | None = None,
    reading: Readings | None = None,
) -> Robustness:
    """Table 2: every output of the metrics, and lay semantics, on both test beds, raw and lay.

    Args:
        metrics: Registry names, with settings if need be.
        models: Model profile of the metrics.
        unseen: Whether to take the beds that nothing was adjusted to.
        same: Pairs of your own that mean the same in other words: candidate and first reference.
        other: Pairs of your own that mean something else in similar words.
        layman: Lay replacement with a sentence set or an encoder of your own.
        reading: Shared readings.
    """
    if (same is None) != (other is None):
        raise UsageError("own pairs must be given of both kinds: the same meaning, and another meaning")
    reading = reading if reading is not None else Readings()
    semantics = layman or Layman()
    beds: list[Sequence[Case]] = [pairs_of(name) for name in (UNSEEN if unseen else BEDS)]
    if same is not None and other is not None:
        beds = [same, other]
    for bed in beds:
        if not bed or any(not case.references for case in bed):
            raise InputError("each kind of pairs must have one pair or more, each with two texts")
    states = [bed for raw in beds for bed in (raw, _lay(raw, semantics, reading))]
    rows, ranking = [], {}
    for name in metrics:
        metric = load(name, models=models)
        measured = [metric.measure(bed, reading=reading) for bed in states]
        corpus = [metric.corpus_scores(*sums(each)) for each in measured]
        cases = [metric.case_scores(each) for each in measured]
        for place, column in enumerate(metric.columns):
            rows.append(Row(column, *(float(each[place]) for each in corpus)))
            sign = 1 if metric.directions[place] else -1
            for state, start in (("raw", 0), ("lay", 1)):
                alike, unlike = cases[start][:, place], cases[start + 2][:, place]
                ranking[f"{column} {state}"] = _share_above(sign * alike, sign * unlike)
    first, second = (semantics.case_scores(semantics.measure(bed, reading=reading)) for bed in beds)
    columns = semantics.columns
    bare = [column.removesuffix("_embedded") for column in columns]
    raw, lay, near = (bare.index(f"layman_{name}") for name in ("raw_semantics", "semantics", "similarity"))
    values = (_mean(found[:, place]) for found in (first, second) for place in (raw, lay))
    rows.append(Row(columns[lay], *values))
    for name, place in (("raw", raw), ("lay", lay), ("lay, by similarity", near)):
        ranking[f"{columns[lay]} {name}"] = _share_above(first[:, place], second[:, place])
    return Robustness(tuple(rows), ranking, len(beds[0]), len(beds[1]))


def _lay(cases: Sequence[Case], layman: Layman, reading: Readings) -> tuple[Case, ...]:
    """The cases with every sentence replaced."""
    lay_text = layman.replaced(cases, reading=reading).lay_text
    return tuple(Case(case.id, lay_text(case.candidate), tuple(map(lay_text, case.references))) for case in cases)


def _mean(values: Rows) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _share_above(first: Rows, second: Rows) -> float:
    """Share of couples in which the first is above the second, ties half; NaN is left out.

    >>> _share_above(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    if not len(first) or not len(second):
        return float("nan")
    ranks = rankdata(np.concatenate([first, second]))[: len(first)].sum()
    return float((ranks - len(first) * (len(first) + 1) / 2) / (len(first) * len(second)))
