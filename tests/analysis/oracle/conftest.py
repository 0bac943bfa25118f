"""What the searches must find, by measuring every pair with the metric and sorting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pytest

from radgauge.analysis.oracle.ranking import DECIMALS
from radgauge.core.cases import Case
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings

Ranked = list[tuple[str, float]]


def _brute_force(
    metric: Metric, corpus: dict[str, str], query: str, *, top: int, decimals: int = DECIMALS
) -> Ranked:
    """(id, score) of the best texts: by score, then frequency, then smallest id."""
    often = Counter(corpus.values())
    smallest: dict[str, str] = {}
    for identifier, text in corpus.items():
        smallest[text] = min(identifier, smallest.get(text, identifier))
    texts = [text for text in often if text.strip()]
    cases = [Case(str(number), text, (query,)) for number, text in enumerate(texts)]
    values = metric.case_scores(metric.measure(cases, reading=Readings()))[:, 0].tolist()
    judged = [(text, value) for text, value in zip(texts, values, strict=True) if not math.isnan(value)]
    judged.sort(key=lambda pair: (-round(pair[1], decimals), -often[pair[0]], smallest[pair[0]]))
    return [(smallest[text], value) for text, value in judged[:top]]


@pytest.fixture(scope="session")
def brute_force() -> Callable[..., Ranked]:
    """The search that cannot be wrong."""
    return _brute_force
