"""A case that a metric cannot take does not end the run: it fails alone, is counted, and its text stays here."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from radgauge.core.cases import Case
from radgauge.core.errors import ModelError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.run.score import MAX_LENGTH, score

pytestmark = pytest.mark.long

REFERENCE = "Small left pleural effusion. The heart is normal in size."
SECRET = "Mr. Testperson"


@dataclass(frozen=True)
class Fragile(Metric):
    """Length of the candidate; fails on poison, and with the whole batch that holds it."""

    name: ClassVar[str] = "fragile"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    summary: ClassVar[str] = "fails on poison"
    together: bool = False
    error: ClassVar[type[Exception]] = MemoryError

    @property
    def independent(self) -> bool:  # type: ignore[override]
        return not self.together

    def measure(self, cases, *, reading):
        if any("poison" in case.candidate for case in cases):
            raise self.error(f"cannot hold {cases[0].candidate}")
        share = len(cases) if self.together else 1
        return np.array([[len(case.candidate) / share, 1.0] for case in cases]).reshape(len(cases), 2)

    def case_scores(self, rows):
        return rows[:, :1]

    def corpus_scores(self, totals, counts):
        return totals[..., :1] / np.where(counts > 0, counts, np.nan)[..., :1]


def cases(*candidates: str) -> list[Case]:
    return [Case(str(i), text, (REFERENCE,)) for i, text in enumerate(candidates)]


@pytest.mark.parametrize("error", [MemoryError, ValueError, RecursionError, UnicodeEncodeError.__base__])
def test_a_poisonous_case_fails_alone(error, monkeypatch, caplog) -> None:
    monkeypatch.setattr(Fragile, "error", error)
    texts = ["clear lungs"] * 5 + [f"poison of {SECRET}"] + ["no effusion"] * 6
    with caplog.at_level(logging.DEBUG):
        found = score(cases(*texts), Fragile())["fragile"]
    assert np.flatnonzero(np.isnan(found.headline)).tolist() == [5]
    assert found.headline[0] == 11
    assert found.headline[11] == 11
    reason = found.reasons.pop(("5", "system"))
    assert reason.startswith(f"fragile failed on this case ({error.__name__} in test_poison.py, line ")
    assert found.reasons == {}
    assert SECRET not in caplog.text
    assert sum(record.levelno >= logging.WARNING for record in caplog.records) == 1


def test_an_infinite_value_is_no_value() -> None:
    def ratio(candidate: str, reference: str) -> float:
        return float("inf") if candidate == "clear" else 1.0

    found = score(cases("no effusion", "clear"), ratio)["ratio"]
    np.testing.assert_array_equal(found.headline, [1.0, np.nan])
    assert found.reasons == {("1", "system"): "ratio returned an infinite value"}


def test_what_a_metric_must_measure_together_is_measured_without_the_poison() -> None:
    found = score(cases("clear", "poison", "clear"), Fragile(together=True))["fragile"]
    assert found.headline[[0, 2]].tolist() == [2.5, 2.5]
    assert np.isnan(found.headline[1])


def test_a_run_of_nothing_but_poison_has_no_value_and_every_reason() -> None:
    found = score(cases("poison", "poison too"), Fragile())["fragile"]
    assert np.isnan(found.headline).all()
    assert len(found.reasons) == 2


def test_what_radgauge_refuses_still_ends_the_run(monkeypatch) -> None:
    monkeypatch.setattr(Fragile, "error", ModelError)
    with pytest.raises(ModelError):
        score(cases("poison"), Fragile())


def test_a_text_over_the_limit_is_not_judged_and_says_so() -> None:
    found = score(cases("no effusion " * 20, "no effusion"), "bleu", longest=100)["bleu"]
    assert np.isnan(found.headline[0])
    assert found.headline[1] >= 0
    assert found.reasons == {("0", "system"): "candidate longer than 100 characters"}
    long_reference = [Case("0", "no effusion", ("no effusion " * 20,))]
    assert score(long_reference, "bleu", longest=100)["bleu"].reasons == {
        ("0", "system"): "reference longer than 100 characters"
    }


@pytest.mark.parametrize("name", ["bertscore", "ratescore", "errors", "rouge", "radgraph", "chexbert"])
def test_a_megabyte_in_both_cells_ends_no_run(name: str) -> None:
    huge = "Small left effusion. " * 50_000
    assert len(huge) > MAX_LENGTH
    found = score([Case("0", huge, (huge,)), Case("1", REFERENCE, (REFERENCE,))], name)[name]
    assert np.isnan(found.headline[0])
    assert not np.isnan(found.headline[1])
    assert found.reasons[("0", "system")] == f"candidate longer than {MAX_LENGTH:,} characters"


def test_bertscore_in_blocks_is_bertscore(monkeypatch) -> None:
    from radgauge.encoders.text import token_vectors

    texts = [
        "heart",
        "lung",
        "left",
        "right",
        "effusion",
        "edema",
        "mass",
        "nodule",
        "clear",
        "normal",
        "small",
        "large",
    ]
    pair = [Case("0", " ".join(texts[::2] * 3), (" ".join(texts),))]
    whole = load("bertscore").measure(pair, reading=Readings())
    monkeypatch.setattr(token_vectors, "CELLS", 24)
    assert load("bertscore").measure(pair, reading=Readings()) == pytest.approx(whole, abs=1e-5)


def test_ratescore_in_blocks_is_ratescore(monkeypatch) -> None:
    from radgauge.metrics.ratescore import pairing

    mine = "Small left effusion. Large right effusion. No edema. Heart is normal. Left rib fracture. Clear lungs."
    pair = [Case("0", mine, (f"{REFERENCE} No left rib fracture. Pulmonary edema. Heart is normal.",))]
    whole = load("ratescore").measure(pair, reading=Readings())
    monkeypatch.setattr(pairing, "_NUMBERS_AT_ONCE", 8)
    assert load("ratescore").measure(pair, reading=Readings()) == pytest.approx(whole, abs=1e-6)


def test_the_command_line_has_the_same_limit() -> None:
    from radgauge.cli import options

    assert options.MAX_LENGTH == MAX_LENGTH
