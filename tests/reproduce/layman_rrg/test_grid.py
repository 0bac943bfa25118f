"""Models, prompts and corpora side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from layman_rrg.grid import lay_grid, lay_versions
from layman_rrg.tables import grid_tables

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import sums
from radgauge.llm.numbered import Outcome
from radgauge.metrics.bleu import Bleu
from radgauge.render.tables import to_records
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling

FEW = Resampling(resamples=20)
TEXTS = {
    "1": "Small left pleural effusion. No pneumothorax.",
    "2": "Cardiomegaly.",
    "3": "Right upper lobe pneumonia.",
}
LAY = {
    "1": "There is a little fluid around the left lung. There is no air leak around the lung.",
    "2": "The heart is too big.",
    "3": "",
}


def cases(system: str, lay: dict[str, str]) -> list[Case]:
    return [Case(study, lay[study], (text,), system) for study, text in TEXTS.items()]


class Once:
    """A translator that counts what it is asked."""

    has_more = False
    chunk = 2
    signature = "once"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def translate(self, sentences: Sequence[str]) -> list[Outcome]:
        self.asked += sentences
        return [Outcome(each.upper()) if "effusion" in each else Outcome("", "no answer") for each in sentences]

    def revise(self, items: Sequence[tuple[str, str, str]]) -> list[Outcome]:
        raise AssertionError("versions are not refined")


def test_each_distinct_report_is_asked_once() -> None:
    once = Once()
    found = lay_versions(
        {"a": "No  effusion.", "b": "No effusion.", "c": "Mass.", "d": "..", "e": "Effusion."}, once
    )
    assert once.asked == ["No effusion.", "Mass.", "Effusion."]
    assert {study: each.value for study, each in found.items()} == {
        "a": "NO EFFUSION.",
        "b": "NO EFFUSION.",
        "c": "",
        "d": "",
        "e": "",
    }
    assert (found["c"].why, found["d"].why) == ("no answer", "the report is empty")


@pytest.mark.long
def test_values_are_those_of_the_metrics_and_missing_versions_are_counted() -> None:
    pytest.importorskip("pyphen", reason="the extra lay is not installed")
    mine = cases("model + plain", LAY)
    found = lay_grid({"chest": [*mine, *cases("copy", TEXTS)]}, resampling=FEW)
    first, copy = found.lines
    assert (first.writer, first.reports, first.without) == ("model + plain", 3, 1)
    scores = score(mine[:2], [Bleu()])["bleu"]
    assert first.values["bleu_4"].value == pytest.approx(float(scores.corpus_scores(*sums(scores.rows))[0]))
    assert list(first.values) == [
        *("chexbert_5_exact_embedded", "chexbert_14_micro_f1_embedded", "chexbert_14_macro_f1_embedded"),
        *("radgraph_simple_embedded", "radgraph_partial_embedded", "radgraph_complete_embedded"),
        *("bleu_4", "rouge_l", "layman_raw_semantics_embedded"),
    ]
    assert first.values["layman_raw_semantics_embedded"].value == 1.0  # every sentence is in the report
    assert copy.values["radgraph_complete_embedded"].value == 1.0
    right, easy = (to_records(each) for each in grid_tables(found))
    assert {row["without"] for row in right if row["writer"] == "model + plain"} == {1}
    assert [row["writer"] for row in easy] == ["(original)", "model + plain", "copy"]
    assert easy[1]["flesch_reading_ease"] > easy[0]["flesch_reading_ease"]  # type: ignore[operator]


def test_what_cannot_be_used() -> None:
    with pytest.raises(UsageError, match="a table needs a corpus"):
        lay_grid({})
    with pytest.raises(InputError, match=r"\('1', 'a'\)"):
        lay_grid({"chest": [Case("1", "Fluid.", (), "a")]})


@pytest.mark.long
def test_writers_are_compared_on_common_reports_and_no_resamples_give_no_interval() -> None:
    pytest.importorskip("pyphen", reason="the extra lay is not installed")
    found = lay_grid({"chest": [*cases("few", LAY), *cases("copy", TEXTS)]}, resampling=Resampling(resamples=0))
    assert [(line.without, line.compared) for line in found.lines] == [(1, 2), (0, 2)]
    for line in found.lines:
        assert all(np.isnan(value.low) and not np.isnan(value.value) for value in line.values.values())
    with pytest.raises(InputError, match="no report has a lay version of each of"):
        lay_grid({"chest": [Case("1", "Fluid.", ("Effusion.",), "a"), Case("2", "Fluid.", ("Effusion.",), "b")]})
