"""Oracles searched by several workers: the matches of one."""

from __future__ import annotations

import pytest

from radgauge import oracle
from radgauge.run.engines import Engine

CORPUS = {
    "a": "No pleural effusion.",
    "b": "Large left effusion.",
    "c": "The heart is enlarged.",
    "d": "Lungs are clear.",
    "e": "No pleural effusion.",
}
QUERIES = {str(at): text for at, text in enumerate([*CORPUS.values(), "Small effusion.", "", "Heart is clear."])}


@pytest.mark.parametrize("metric", ["bleu2_cxr", "rouge"])  # with an index, and pair by pair
def test_workers_find_what_one_process_finds(metric: str) -> None:
    alone = oracle(CORPUS, QUERIES, metric=metric, top=2)
    shared = oracle(CORPUS, QUERIES, metric=metric, top=2, engine=Engine("pool", 2))
    assert [match.id for match in shared if match.rank == 1] == list(QUERIES)
    assert str(shared) == str(alone)  # NaN is not equal to itself
