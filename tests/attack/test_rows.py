"""What a case gets depends on the case alone: shuffled, split or repeated rows change no value by more than 1e-12.

CIDEr weighs words by the references of the run, so only shuffling is asked of it and of any other metric that says
`independent = False`; repeating or leaving out rows changes its numbers by definition.
"""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hostile_texts import REPORTS, hostile_text
from lay_entries import knowing_readings

from radgauge.core.cases import Case
from radgauge.core.readings import Readings
from radgauge.core.registry import load, metric_names
from radgauge.run.score import score

pytestmark = pytest.mark.long

TOLERANCE = 1e-12
LEFT_OUT = ("meteor", "vlscore", "spice", "medcon")
"""They need Java, pictures, or files under the user's own licence; the contract suite holds them to the same with
its own tolerance."""


def _cases() -> list[Case]:
    rng = random.Random(5)
    hostile = [
        hostile_text(rng).encode("utf-8", "replace").decode() for _ in range(9)
    ]  # half characters are refused
    texts = [*REPORTS, *hostile]
    return [Case(str(i), text, (texts[(i + 1) % len(texts)], REPORTS[i % 3])) for i, text in enumerate(texts)]


@pytest.mark.parametrize("name", [name for name in metric_names() if name not in LEFT_OUT])
def test_rows_do_not_touch_each_other(name: str, request: pytest.FixtureRequest) -> None:
    if name == "llm_errors":
        request.getfixturevalue("judging")
    metric, tolerance = load(name), TOLERANCE
    fresh = knowing_readings if name == "layman" else Readings
    cases = _cases()

    def values(judged: list[Case]) -> np.ndarray:
        return score(judged, metric, reading=fresh())[name].values

    whole = values(cases)
    order = np.random.default_rng(1).permutation(len(cases))
    np.testing.assert_allclose(values([cases[i] for i in order]), whole[order], rtol=0, atol=tolerance)
    if not metric.independent:
        return
    split = np.vstack([values(cases[:5]), values(cases[5:6]), values(cases[6:])])
    np.testing.assert_allclose(split, whole, rtol=0, atol=tolerance)
    again = [dataclasses.replace(case, id=f"again {case.id}") for case in cases]
    np.testing.assert_allclose(values([*cases, *again]), np.vstack([whole, whole]), rtol=0, atol=tolerance)
