"""The oracle as a system: chosen by the metric that judges, joined by study."""

from __future__ import annotations

import pytest
from oracle_system import ORACLE, score_with_oracles

from radgauge.core.cases import Case
from radgauge.core.errors import UsageError

CASES = [
    Case("1", "nothing", ("mild edema now",), meta={"split": "test"}),
    Case("2", "nothing", ("no acute fracture seen",)),
]
CORPUS = [Case("a", "", ("mild edema",)), Case("b", "", ("no fracture seen",))]


def test_each_metric_judges_its_own_choice() -> None:
    results = score_with_oracles(CASES, ["bleu:variant=cxr", "rouge"], corpus=CORPUS)
    assert list(results) == ["bleu", "rouge"]
    for scores in results.judges.values():
        assert scores.keys == (("1", "system"), ("2", "system"), ("1", ORACLE), ("2", ORACLE))
        assert (scores.headline[2:] > 0.4).all()
    assert results.meta["split"] == ["test", "", "test", ""]


def test_a_system_of_that_name() -> None:
    with pytest.raises(UsageError, match="a system named 'metric oracle' already"):
        score_with_oracles([Case("1", "x", ("y",), system=ORACLE)], ["rouge"], corpus=CORPUS)
