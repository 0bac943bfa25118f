"""Rewards: direction, scale, floor, guards, groups, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import radgauge as rg
from radgauge.rewards import Guards, reward
from radgauge.rewards import reward as reward_module_name

REFERENCE = "Small left pleural effusion. The heart is enlarged. No pneumothorax."
NONE = Guards(longest=0, repetition=1, understood=0)


def test_a_copy_gets_one_and_worse_texts_less() -> None:
    judge = reward("errors")
    copy, omits, contradicts = judge(
        [REFERENCE, "Small left pleural effusion. No pneumothorax.", "No effusion. Heart size is normal."],
        [REFERENCE] * 3,
    )
    assert copy == 1.0
    assert 1 > omits > contradicts >= 0


def test_values_are_those_of_the_metric() -> None:
    texts = ["Small effusion.", "The heart is enlarged.", "Clear."]
    value = rg.score(references=[REFERENCE] * 3, candidates=texts, metrics="rouge")["rouge"].headline
    assert reward("rouge", guards=NONE)(texts, [REFERENCE] * 3) == pytest.approx(value.tolist())


def test_a_metric_where_lower_is_better_is_turned() -> None:
    judge = reward("radcliq", scales={"radcliq": (4.0, -2.0)})
    copy, other = judge([REFERENCE, "Severe pulmonary edema."], [REFERENCE] * 2)
    assert 1 >= copy > other >= 0


def test_a_mixture_weighs_its_parts() -> None:
    texts = ["Small left pleural effusion.", "The heart is enlarged."]
    own = {name: reward(name, guards=NONE)(texts, [REFERENCE] * 2) for name in ("rouge", "errors")}
    mixed = reward({"rouge": 1.0, "errors": 3.0}, guards=NONE).judge(texts, [REFERENCE] * 2)
    for number, verdict in enumerate(mixed):
        assert verdict.value == pytest.approx((own["rouge"][number] + 3 * own["errors"][number]) / 4)
        assert verdict.parts == {name: pytest.approx(values[number]) for name, values in own.items()}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "empty"),
        ("", "empty"),
        ("...", "no words"),
        ("effusion " * 200, "too long"),
        ("Small left pleural effusion. " * 6, "repeated text"),
        ("glorp snarf blimpet quorx vashti dromble fenwick zarn", "not understood"),
    ],
)
def test_what_cannot_be_judged_gets_the_floor_and_is_counted(text: str | None, reason: str) -> None:
    judge = reward("errors", floor=-0.5)
    assert [(v.value, v.reason) for v in judge.judge([text], [REFERENCE])] == [(-0.5, reason)]
    assert judge.counts() == {reason: 1}


def test_a_missing_reference_gets_the_floor_with_its_reason() -> None:
    assert reward("errors").judge(["Small effusion."], [""])[0].reason == "empty reference"


def test_groups_are_judged_together() -> None:
    judge = reward("rouge", guards=NONE)
    groups = [["a b", "a", "c"], ["x", "x"]]
    plain = judge.of_groups(groups, ["a b", "x"])
    assert plain == [[1.0, pytest.approx(2 / 3), 0.0], [1.0, 1.0]]
    assert judge.of_groups(groups, ["a b", "x"], relative="rank") == [[1.0, 0.5, 0.0], [0.5, 0.5]]
    standard = judge.of_groups(groups, ["a b", "x"], relative="standard")
    assert np.mean(standard[0]) == pytest.approx(0)
    assert np.std(standard[0]) == pytest.approx(1)
    assert standard[1] == [0.0, 0.0]


def test_threads_get_what_one_call_gets() -> None:
    texts = [f"Small effusion on the left, {n} mm." for n in range(12)]
    alone = reward("errors")(texts, [REFERENCE] * 12)
    shared = reward("errors")
    found: dict[int, float] = {}

    def ask(number: int) -> None:
        found[number] = shared([texts[number]], [REFERENCE])[0]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(12)] == alone
    assert shared.counts() == {"judged": 12}


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules[reward_module_name.__module__], "KEEP", 3)
    judge = reward("rouge")
    before = judge._reading
    judge.warm([REFERENCE])
    judge(["a"] * 4, [REFERENCE] * 4)
    assert judge._reading is not before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reward("errors", floor=0.1), "floor must be at most 0"),
        (lambda: reward("radcliq"), r"radcliq has no bounds; .*scales=\{'radcliq': \(worst, best\)\}"),
        (lambda: reward("cider"), "cider judges a case by the others"),
        (lambda: reward({"errors": 0.0}), "weights must be above 0"),
        (lambda: reward("rouge", scales={"bleu": (0, 1)}), "scales names 'bleu'"),
        (lambda: reward("rouge")("a", ["a"]), "lists of candidates"),
        (lambda: reward("rouge")(["a"], ["a", "b"]), "equally many, got 1 and 2"),
    ],
)
def test_wrong_calls_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
