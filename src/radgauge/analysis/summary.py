"""Summary: one line per system and output: value, interval, how many cases were and were not judged."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from radgauge.analysis.tables import headline_outputs, summary_rows, system_rows
from radgauge.core.choices import RESAMPLES, ValueMethod
from radgauge.core.metric import sums
from radgauge.core.notebook import Grid, Shown, none_if_nan
from radgauge.core.progress import working
from radgauge.core.scores import Results, Scores
from radgauge.core.wording import arrow, number
from radgauge.core.wording import interval as interval_text
from radgauge.render.tables import Table
from radgauge.stats.resample import interval
from radgauge.stats.resampling import Resampling


@dataclass(frozen=True, slots=True)
class Summary:
    """One output of one judge on one system."""

    system: str  # Who wrote the candidates
    judge: str  # Name of the metric or rater
    column: str  # Name of the output
    value: float  # Corpus value; NaN if no case could be judged
    low: float  # Lower end of the interval
    high: float  # Upper end of the interval
    level: float  # Coverage of the interval, 0 to 1
    judged: int  # Number of cases behind the value
    not_judged: int  # Number of cases that could not be judged
    reasons: tuple[tuple[str, int], ...]  # Why, with counts, most frequent first
    higher_is_better: bool  # Direction
    signature: str  # Settings behind the value
    method: str = ""  # How the interval was made: percentile, bca, t, wilson or normal; "" without one
    # Number of judged cases that this output says nothing about (recall of a normal study)
    not_applicable: int = 0
    truncated: int = 0  # Number of cases with a report that was longer than an encoder reads


class Summaries(Shown, list[Summary]):
    """Lines of `summarise`: a list that shows itself as a table and becomes a frame."""

    def to_dict(self) -> dict[str, list[Any]]:
        """One row per system and output; None where there is no value."""
        names = [f.name for f in fields(Summary) if f.name != "reasons"]
        return {name: [none_if_nan(getattr(line, name)) for line in self] for name in names}

    def table(self) -> Table:
        """Return the headline outputs by system, or every output of one system."""
        several = len({line.system for line in self}) > 1
        return system_rows(headline_outputs(self)) if several else summary_rows(self)

    def grid(self) -> Grid:
        """One row per output and system."""
        rows = [
            (
                f"{line.column} {arrow(line.higher_is_better)}",
                line.system,
                number(line.value),
                interval_text(line.low, line.high),
                str(line.judged),
                str(line.not_judged),
            )
            for line in self
        ]
        return Grid("", ("metric", "system", "value", "interval", "judged", "not judged"), rows)


def summarise(
    results: Results,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    method: ValueMethod = "auto",
    seed: int = 0,
    resampling: Resampling | None = None,
) -> Summaries:
    """Corpus values with intervals, per system and output.

    The same seed is used for every system and metric, so that equal data get equal intervals whatever
    else was scored in the run.

    Args:
        results: What `score` returned.
        level: Coverage of the intervals.
        resamples: Bootstrap resamples; 0 gives no intervals (NaN).
        method: "auto", "percentile", "bca", "t" or "yu2022"; see `radgauge.stats.interval`.
        seed: Seed of the resampling.
        resampling: These four as one record, instead of them.
    """
    how = resampling or Resampling(level, resamples, method, seed)
    with working("computing intervals") as tell:
        lines = Summaries()
        for number_done, scores in enumerate(results.judges.values()):
            tell(scores.judge, number_done, len(results))
            for system in scores.systems:
                lines += _lines(scores.of_system(system), system, how)
    return lines


def _lines(scores: Scores, system: str, how: Resampling) -> list[Summary]:
    judged = ~np.isnan(scores.values)
    values = scores.corpus_scores(*sums(scores.rows))
    bounds = [(math.nan, math.nan, "")] * len(values)
    if how.resamples:
        intervals = interval(
            scores.rows,
            scores.corpus_scores,
            method=how.interval,
            groups=[study for study, _ in scores.keys],
            judged=judged,
            ranges=scores.ranges,
            **how.draw(),
        )
        bounds = [(ends.low, ends.high, ends.method) for ends in intervals]
    reasons = tuple(Counter(scores.reasons.values()).most_common())
    return [
        Summary(
            system=system,
            judge=scores.judge,
            column=column,
            value=float(values[i]),
            low=bounds[i][0],
            high=bounds[i][1],
            level=how.level,
            judged=int(judged[:, i].sum()),
            not_judged=int((~judged[:, 0] & ~judged[:, i]).sum()),
            reasons=reasons,
            higher_is_better=scores.directions[i],
            signature=scores.signature,
            method=bounds[i][2],
            not_applicable=int((judged[:, 0] & ~judged[:, i]).sum()),
            truncated=len(scores.truncated),
        )
        for i, column in enumerate(scores.columns)
    ]
