"""Choice of the metric that orders the systems, and of the system that leads by it.

Metrics are trusted whose measured agreement with raters is clearly above none
(`show/data/agreement.json`). Every comparison that names no baseline is one with the system that leads, so that a
difference has one p value and one interval wherever it is shown (comparisons with the best: Hsu 1996).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from radgauge.core.metric import sums
from radgauge.core.scores import Results, Scores
from radgauge.render.metric_names import metric_name

MIN_TRUSTED_TAU = 0.1
"""Lower end of the interval of a metric's agreement with raters above which it is trusted."""


def trusted_columns(results: Results) -> list[str]:
    """Headlines that are trusted, the one that agrees best with raters first."""
    measured = {scores.columns[0]: metric_name(scores.columns[0]) for scores in results.judges.values()}
    trusted = {column: name.tau for column, name in measured.items() if (name.low or 0.0) > MIN_TRUSTED_TAU}
    return sorted(trusted, key=lambda column: -(trusted[column] or 0.0))


def leading_judge(results: Results) -> Scores:
    """The judge that the order of the systems rests on: the most trusted, or else the first."""
    trusted = trusted_columns(results)
    by_column = {scores.columns[0]: scores for scores in results.judges.values()}
    return by_column[trusted[0]] if trusted else next(iter(by_column.values()))


def ranked_systems(scores: Scores, systems: Sequence[str]) -> list[str]:
    """Systems by their corpus value, the best first; those without a value last."""
    position = scores.columns.index(scores.system_headline)
    sign = 1.0 if scores.directions[position] else -1.0

    def value(system: str) -> float:
        corpus = sign * float(scores.corpus_scores(*sums(scores.of_system(system).rows))[position])
        return -math.inf if math.isnan(corpus) else corpus

    return sorted(systems, key=lambda system: -value(system))


def leading_system(results: Results, systems: Sequence[str] | None = None) -> str:
    """The best system by the judge that leads."""
    names = systems or list(dict.fromkeys(system for _, system in results.keys_of_cases))
    return ranked_systems(leading_judge(results), names)[0]
