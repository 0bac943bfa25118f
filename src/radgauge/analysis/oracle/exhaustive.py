"""Every pair measured with the metric itself: for metrics without an index, and to check those that have one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from radgauge.analysis.oracle.ranking import Found, best, not_judged
from radgauge.core.cases import Case
from radgauge.core.errors import UsageError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings

MOST_PAIRS = 5_000_000
BLOCK = 20_000  # pairs measured at once


def search_exhaustively(
    metric: Metric, corpus: Sequence[str], *, queries: Sequence[str], top: int, reading: Readings
) -> Iterator[Found]:
    """The best corpus texts for each query; time grows with corpus times queries.

    Args:
        metric: Any metric that needs a reference only and judges a case by itself.
        corpus: Distinct texts that are not blank.
        queries: Texts that are not blank.
        top: How many are wanted.
        reading: For the metric.
    """
    if not metric.independent or metric.needs != frozenset({"reference"}):
        raise UsageError(f"{metric.name} cannot be searched: it needs more than a candidate and its reference")
    if len(corpus) * len(queries) > MOST_PAIRS:
        raise UsageError(
            f"{metric.name} has no index, and {len(corpus)} x {len(queries)} pairs are more than {MOST_PAIRS:,}; "
            "search a sample, or use bleu2_cxr, radgraph, chexbert_similarity or bertscore"
        )
    everything = np.arange(len(corpus))
    for text in queries:
        cases = [Case(str(number), candidate, (text,)) for number, candidate in enumerate(corpus)]
        values = np.concatenate(
            [
                metric.case_scores(metric.measure(cases[start : start + BLOCK], reading=reading))[:, 0]
                for start in range(0, len(cases), BLOCK)
            ]
        )
        matches = best(everything, values if metric.higher_is_better else -values, top=top)
        if not len(matches.indices):
            yield not_judged(metric.why_not(cases[0], reading=reading))
        else:
            yield Found(matches.indices, values[matches.indices])
