"""Answers keyed by number: what is clear is taken, what is not is asked again, nothing is guessed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_llm import FakeClock, Reply, Request, ScriptedServer, numbered

from radgauge.llm.account import BudgetReached
from radgauge.llm.answers import parse_numbered
from radgauge.llm.client import LanguageModel, LlmError
from radgauge.llm.journal import Journal
from radgauge.llm.limits import Limits
from radgauge.llm.numbered import Outcome, Question, as_numbered, ask_all
from radgauge.llm.server import server_from_environment

BROKEN, CUT = "the JSON is broken", "the JSON breaks off"


@pytest.mark.parametrize(
    ("answer", "values", "fault"),
    [
        ('{"0": "a", "1": "b"}', {0: "a", 1: "b"}, ""),
        ('Sure!\n```json\n{"0": "a", "1": "b"}\n```\nAnything else?', {0: "a", 1: "b"}, ""),
        ('{"1": "b", "0": "a"}', {0: "a", 1: "b"}, ""),
        ('{"0": "a"}', {0: "a"}, ""),
        ("{}", {}, ""),
        ('{"0": "a", "1": "b', {0: "a"}, CUT),
        ('{"0": "a", "1": "b"', {0: "a"}, CUT),
        ('{"0": "a", "1"', {0: "a"}, CUT),
        ('{"0": "a",', {0: "a"}, CUT),
        ('{"0": "a" "1": "b"}', {}, BROKEN),
        ('{"0": "he said "no" to it", "1": "b"}', {}, BROKEN),
        ("{'0': 'a'}", {}, "there is no JSON object in it"),
        ("I cannot help with medical texts.", {}, "there is no JSON object in it"),
        ("", {}, "there is no JSON object in it"),
        ('["a", "b"]', {}, "there is no JSON object in it"),
        ('{"1": "a", "2": "b"}', {}, "it answers a number that was not asked: 2"),
        ('{"Task 1": {"0": "a"}}', {}, "it answers a number that was not asked: Task 1"),
        ('{"00": "a"}', {}, "it answers a number that was not asked: 00"),
        ('{"-1": "a"}', {}, "it answers a number that was not asked: -1"),
        ('{"0": "a"} {"0": "b"}', {}, "there is more than one JSON object in it"),
        ('{"0": "a", "1": ' + "9" * 5000 + "}", {0: "a"}, BROKEN),
        ('{"0": "a", "1": ' + "[" * 100000, {0: "a"}, BROKEN),
    ],
)
def test_parsing(answer: str, values: dict[int, str], fault: str) -> None:
    parsed = parse_numbered(answer, 2)
    assert parsed.values == values
    assert parsed.fault == fault


def test_a_number_answered_twice_counts_for_nothing() -> None:
    parsed = parse_numbered('{"0": "a", "1": "b", "0": "c", "0": "d"}', 2)
    assert parsed.values == {1: "b"}
    assert parsed.faults == {0: "it is answered twice"}


@given(st.dictionaries(st.integers(0, 30), st.text(), min_size=1), st.randoms(use_true_random=False), st.data())
def test_an_answer_cut_anywhere_gives_a_part_of_the_truth(
    truth: dict[int, str], rng: random.Random, data: st.DataObject
) -> None:
    order = list(truth)
    rng.shuffle(order)
    whole = json.dumps({str(number): truth[number] for number in order}, ensure_ascii=rng.random() < 0.5)
    assert parse_numbered(whole, 31).values == truth
    length = data.draw(st.integers(0, len(whole) - 1))
    parsed = parse_numbered(whole[:length], 31)
    assert parsed.fault
    assert parsed.values.items() <= truth.items()


@given(st.text(), st.integers(1, 5))
def test_no_text_breaks_the_parser(text: str, count: int) -> None:
    parsed = parse_numbered(text, count)
    assert all(0 <= number < count for number in parsed.values)


def _accept(items: Sequence[tuple[str, ...]], values: Mapping[int, str]) -> Mapping[int, str]:
    return {number: "it is rude" for number, text in values.items() if "rude" in text}


QUESTION = Question(
    name="test",
    system="Make it plain.",
    render=lambda items: "Texts:\n" + as_numbered([item[0] for item in items]),
    accept=_accept,
    max_tokens=lambda items: 100 * len(items),
)


class Run:
    """Asks a scripted server about texts, with a journal that outlives the model."""

    def __init__(self, server: ScriptedServer, path: Path) -> None:
        self.server, self.path = server, path

    def __call__(self, texts: Sequence[str], *, limits: Limits | None = None, **more: int) -> list[Outcome]:
        with Journal(self.path) as journal:
            model = LanguageModel(
                server_from_environment(self.server.environment),
                limits=limits or Limits(attempts=1),
                clock=FakeClock(),
                past=journal.costs(),
                ledger=lambda record: journal.add({}, costs=[record]),
            )
            try:
                return ask_all(QUESTION, [(text,) for text in texts], model=model, journal=journal, **more)
            finally:
                self.usage = model.usage
                model.close()

    def asked(self) -> Counter[str]:
        return Counter(text for request in self.server.requests for text in request.items.values())


@pytest.fixture
def run(llm_server: ScriptedServer, tmp_path: Path) -> Run:
    pytest.importorskip("openai", reason="the extra llm is not installed")
    return Run(llm_server, tmp_path / "journal.jsonl")


TEXTS = [f"text {number}" for number in range(10)]
PLAIN = [Outcome(f"plain text {number}") for number in range(10)]


def test_batches(run: Run) -> None:
    assert run(TEXTS, batch=4) == PLAIN
    assert [len(request.items) for request in run.server.requests] == [4, 4, 2]


@pytest.mark.parametrize("parallel", [1, 3])
def test_nothing_is_asked_twice(run: Run, parallel: int) -> None:
    run(TEXTS[:6], batch=2, parallel=parallel)
    assert run([*TEXTS, *TEXTS], batch=3, parallel=parallel) == PLAIN * 2
    assert set(run.asked().values()) == {1}


def _but(**changes: object):
    """An honest answer with some values replaced; None leaves them out."""

    def behave(request: Request) -> Reply:
        said: dict[str, object] = {key: f"plain {text}" for key, text in request.items.items()}
        for key, value in changes.items():
            said[key.removeprefix("n")] = value
        return Reply(json.dumps({key: value for key, value in said.items() if value is not None}))

    return behave


def _shuffled(request: Request) -> Reply:
    return Reply(numbered({key: f"plain {text}" for key, text in reversed(request.items.items())}))


def _cut(request: Request) -> Reply:
    return Reply(numbered({key: f"plain {text}" for key, text in request.items.items()})[:-40], finish="length")


def _from_one(request: Request) -> Reply:
    return Reply(numbered({str(int(key) + 1): f"plain {text}" for key, text in request.items.items()}))


def _twice(request: Request) -> Reply:
    honest = numbered({key: f"plain {text}" for key, text in request.items.items()})
    return Reply(honest[:-1] + ', "0": "another"}')


@pytest.mark.parametrize(
    ("trouble", "asked_again"),
    [
        (_shuffled, 0),
        (_but(n3=None), 1),
        (_but(n3=None, n7=None), 2),
        (_but(n3=["plain"]), 1),
        (_but(n3=7), 1),
        (_but(n3="  "), 1),
        (_but(n3="rude"), 1),
        (_but(n3="\ud800"), 1),
        (_twice, 1),
        (_cut, 2),
        (_from_one, 10),
        (lambda request: Reply("I am sorry, I cannot."), 10),
        (lambda request: Reply("", finish="content_filter"), 10),
    ],
)
def test_only_what_is_not_clear_is_asked_again(run: Run, trouble, asked_again: int) -> None:
    run.server.script(trouble)
    assert run(TEXTS, batch=10) == PLAIN
    assert sum(run.asked().values()) == 10 + asked_again


def test_in_the_end_the_reason_is_told_and_not_paid_for_again(run: Run) -> None:
    honest = run.server.behaviour
    run.server.behaviour = lambda request: (
        Reply("I cannot.") if "text 4" in request.items.values() else honest(request)
    )
    found = run(TEXTS, batch=5)
    assert found[:4] + found[9:] == PLAIN[:4] + PLAIN[9:]
    assert found[4] == Outcome("", "asked 3 times: there is no JSON object in it")
    assert run.asked()["text 4"] == 3
    before = len(run.server.requests)
    assert run(TEXTS, batch=5) == found
    assert len(run.server.requests) == before
    run.server.behaviour = honest
    assert run(TEXTS, batch=5, retry_failed=True) == PLAIN
    assert len(run.server.requests) == before + 1


def test_a_batch_that_does_not_fit_is_parted(run: Run) -> None:
    honest = run.server.behaviour
    run.server.behaviour = lambda request: (
        Reply("too many for the context", 400) if len(request.items) > 3 else honest(request)
    )
    assert run(TEXTS, batch=10) == PLAIN
    run.server.behaviour = lambda request: Reply("context exceeded", 400)
    [found] = run(["one more"])
    assert "does not fit the model" in found.why


def test_a_failing_server_leaves_what_was_answered(run: Run) -> None:
    honest = run.server.behaviour
    run.server.behaviour = lambda request: honest(request) if request.number < 2 else Reply("down", 500)
    with pytest.raises(LlmError, match="the same command goes on"):
        run(TEXTS, batch=3)
    run.server.behaviour = honest
    assert run(TEXTS, batch=3) == PLAIN
    assert run.asked() == Counter({text: 1 if number not in (6, 7, 8) else 2 for number, text in enumerate(TEXTS)})


def test_the_budget_ends_a_run_cleanly_and_a_larger_one_goes_on(run: Run) -> None:
    limits = {"price_in": 1000.0, "price_out": 1000.0}
    with pytest.raises(BudgetReached):
        run(TEXTS, batch=1, limits=Limits(**limits, max_cost=1.0))
    first = len(run.server.requests)
    assert 0 < first < 10
    assert run.usage.cost == pytest.approx(0.15 * first)
    assert run(TEXTS, batch=1, limits=Limits(**limits, max_cost=10.0)) == PLAIN
    assert set(run.asked().values()) == {1}
    assert run.usage.cost == pytest.approx(1.5)


@pytest.mark.parametrize("seed", range(4))
def test_in_a_storm_of_trouble_nothing_is_wrong_and_nothing_is_lost(run: Run, seed: int) -> None:
    """Four requests at a time to a server that fails in every way at random."""
    rng = random.Random(seed)
    honest = run.server.behaviour

    def stormy(request: Request) -> Reply:
        whole = honest(request).content
        cut = rng.randrange(len(whole))
        return rng.choice(
            [
                honest(request),
                _shuffled(request),
                _cut(request),
                _from_one(request),
                _twice(request),
                _but(n0=None)(request),
                _but(n0=3)(request),
                Reply(whole[:cut]),
                Reply(whole[:cut] + '"' + whole[cut:]),
                Reply(f"```json\n{whole}\n```"),
                Reply("I cannot."),
                Reply("busy", 429, {"retry-after": "2"}),
                Reply("down", 503),
                Reply(body=whole.encode()[:cut]),
            ]
        )

    run.server.behaviour = stormy
    texts = [f"text {number}" for number in range(60)]
    found = run(texts, batch=8, parallel=4, limits=Limits(attempts=50))
    for text, outcome in zip(texts, found, strict=True):
        assert outcome.value == f"plain {text}" or (not outcome.value and "asked 3 times" in outcome.why)
    assert sum(bool(outcome.value) for outcome in found) > 30
    answered = {text for text, outcome in zip(texts, found, strict=True) if outcome.value}
    before = run.asked()
    run.server.behaviour = honest
    assert [each.value for each in run(texts, batch=8, retry_failed=True)] == [f"plain {text}" for text in texts]
    assert all(run.asked()[text] == before[text] for text in answered)
