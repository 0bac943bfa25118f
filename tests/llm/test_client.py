"""The client against a server on this machine that misbehaves."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import random
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from scripted_llm import KEY, FakeClock, Reply, Request, ScriptedServer

from radgauge.core.errors import UsageError
from radgauge.llm.account import BudgetReached
from radgauge.llm.client import LanguageModel, LlmError, TooLong
from radgauge.llm.limits import MINUTE, Limits, Stopped, SystemClock, Window
from radgauge.llm.server import server_from_environment

pytest.importorskip("openai", reason="the extra llm is not installed")


def _model(server: ScriptedServer, **limits: float) -> tuple[LanguageModel, FakeClock, list[dict[str, object]]]:
    clock, ledger = FakeClock(), []
    model = LanguageModel(
        server_from_environment(server.environment),
        limits=Limits(**{"timeout": 5.0, **limits}),  # type: ignore[arg-type]
        clock=clock,
        rng=random.Random(0),
        ledger=ledger.append,
    )
    return model, clock, ledger


@pytest.fixture
def ask(llm_server: ScriptedServer):
    """Ask a scripted server once; closes the connections afterwards."""
    made = []

    def ask(*replies: Reply, **limits: float):
        llm_server.script(*replies)
        model, clock, _ = _model(llm_server, **limits)
        made.append(model)
        return model, clock, lambda: model.ask("system", 'user {"0": "a"}', max_tokens=100)

    yield ask
    for model in made:
        model.close()


OK = Reply('{"0": "plain a"}')


def test_an_answer_and_its_cost(ask, llm_server: ScriptedServer) -> None:
    model, clock, put = ask(OK, price_in=10.0, price_out=20.0)
    answer = put()
    assert (answer.text, answer.cut) == ('{"0": "plain a"}', "")
    assert model.usage[:4] == (1, 0, 100, 50)
    assert model.usage.cost == pytest.approx(100 * 10e-6 + 50 * 20e-6)
    assert llm_server.requests[0].key == KEY
    assert llm_server.requests[0].body["temperature"] == 0
    assert clock.slept == []


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_busy_servers_are_asked_again_after_growing_pauses(ask, status: int) -> None:
    model, clock, put = ask(*[Reply("busy", status)] * 3, OK)
    assert put().text == OK.content
    assert len(clock.slept) == 3
    for pause, full in zip(clock.slept, (1, 2, 4), strict=True):
        assert full / 2 <= pause <= full
    assert (model.usage.requests, model.usage.retries) == (1, 3)


def test_the_server_says_how_long_to_wait(ask) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    replies = [Reply("busy", 429, {"retry-after": "17"}), Reply("busy", 503, {"retry-after": later})]
    replies.append(Reply("busy", 429, {"retry-after": "nonsense"}))
    _, clock, put = ask(*replies, OK)
    put()
    assert clock.slept[0] == 17
    assert 80 < clock.slept[1] <= 90
    assert 2 <= clock.slept[2] <= 4


def test_a_wait_that_is_too_long_ends_the_run(ask) -> None:
    _, clock, put = ask(Reply("busy", 429, {"retry-after": "86400"}))
    with pytest.raises(LlmError, match="asks to wait 86400 s"):
        put()
    assert clock.slept == []


def test_patience_ends(ask, llm_server: ScriptedServer) -> None:
    _, _, put = ask(*[Reply("down", 500)] * 9, attempts=4)
    with pytest.raises(LlmError, match=r"did not answer after 4 attempts \(status 500\)"):
        put()
    assert len(llm_server.requests) == 4


def test_time_outs_are_retried_and_counted_as_possibly_charged(ask) -> None:
    model, _, put = ask(Reply(hang=60), OK, timeout=2.0, price_in=1.0, price_out=1.0)
    assert put().text == OK.content
    assert model.usage.retries == 1
    assert 0 < model.usage.unsure < 0.001


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>busy</html>"),
        Reply(body=b""),
        Reply(body=b'{"choices": []}'),
        Reply(body=b'{"choices": [{"index": 0}]}'),
        Reply(body=b"[1, 2]"),
        Reply(body=b"<html>", headers={"content-type": "text/html"}),
    ],
)
def test_replies_that_are_no_completion_are_retried(ask, reply: Reply) -> None:
    model, _, put = ask(reply, OK)
    assert put().text == OK.content
    assert model.usage.retries == 1


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    server = server_from_environment({"RADGAUGE_LLM_URL": url, "RADGAUGE_LLM_MODEL": "m"})
    model = LanguageModel(server, limits=Limits(attempts=2), clock=FakeClock())
    with pytest.raises(LlmError, match="connection failed"):
        model.ask("s", "u", max_tokens=1)
    assert model.usage.unsure == 0
    model.close()


@pytest.mark.parametrize(("status", "hint"), [(401, "RADGAUGE_LLM_KEY"), (404, "RADGAUGE_LLM_URL"), (400, "400")])
def test_refusals_end_the_run_and_hide_the_key(
    ask, llm_server: ScriptedServer, caplog: pytest.LogCaptureFixture, status: int, hint: str
) -> None:
    caplog.set_level(logging.DEBUG)
    _, _, put = ask(Reply(f"wrong key {KEY} given", status))
    with pytest.raises(LlmError, match=hint) as raised:
        put()
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None
    assert KEY not in caplog.text
    assert len(llm_server.requests) == 1


def test_an_empty_account_is_not_asked_again(ask, llm_server: ScriptedServer) -> None:
    _, _, put = ask(Reply("no credit", 429, error={"code": "insufficient_quota"}))
    with pytest.raises(LlmError, match="insufficient_quota"):
        put()
    assert len(llm_server.requests) == 1


def test_a_question_that_does_not_fit(ask) -> None:
    _, _, put = ask(Reply("maximum context length is 4096", 400, error={"code": "context_length_exceeded"}))
    with pytest.raises(TooLong):
        put()


def test_settings_that_a_model_dislikes_are_left_out(ask, llm_server: ScriptedServer) -> None:
    _, _, put = ask(
        Reply("use 'max_completion_tokens' instead", 400, error={"param": "max_tokens"}),
        Reply("only the default", 400, error={"param": "temperature"}),
        OK,
    )
    assert put().text == OK.content
    last = llm_server.requests[-1].body
    assert last["max_completion_tokens"] == 100
    assert not {"max_tokens", "temperature"} & last.keys()


def test_redirects_are_not_followed(ask, llm_server: ScriptedServer) -> None:
    _, _, put = ask(Reply("moved", 307, {"location": llm_server.url + "/elsewhere"}))
    with pytest.raises(LlmError, match="307"):
        put()
    assert len(llm_server.requests) == 1


def test_no_proxy_stands_between_us_and_this_machine(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    _, _, put = ask(OK)
    assert put().text == OK.content


def test_other_secrets_of_the_environment_are_not_sent(
    ask, llm_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"secret-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Own: secret-header")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    _, _, put = ask(OK)
    put()
    assert "secret" not in llm_server.requests[0].headers
    assert KEY in llm_server.requests[0].headers


def test_the_budget_is_never_exceeded(ask, llm_server: ScriptedServer) -> None:
    llm_server.behaviour = lambda request: Reply('{"0": "x"}', usage=(70, 100))
    model, _, put = ask(price_in=1000.0, price_out=1000.0, max_cost=1.0)
    with pytest.raises(BudgetReached, match="stopped before max_cost"):
        [put() for _ in range(100)]
    assert model.usage.requests == len(llm_server.requests) > 2
    assert model.usage.cost <= 1.0
    assert model.usage.cost + 0.25 > 1.0  # one more could have brought it above


def test_a_budget_counts_earlier_runs_and_what_they_may_owe(llm_server: ScriptedServer) -> None:
    past = [
        {"id": 0, "bound": 0.5},
        {"id": 0, "in": 10, "out": 10, "cost": 0.3},
        {"id": 1, "bound": 0.4},  # killed while this was under way
        {"id": 2, "bound": 0.4},
        {"id": 2, "void": True},
    ]
    model = LanguageModel(
        server_from_environment(llm_server.environment), limits=Limits(price_in=1.0, max_cost=0.7), past=past
    )
    assert (model.usage.cost, model.usage.unsure) == (0.3, 0.4)
    with pytest.raises(BudgetReached, match=r"0\.3000 of 0\.7 is spent \(up to 0\.4000"):
        model.ask("s", "u", max_tokens=1)
    assert llm_server.requests == []


def test_tokens_that_a_server_does_not_count_are_unsure(ask) -> None:
    model, _, put = ask(Reply("{}", usage=None), price_in=1.0, price_out=1.0)
    put()
    assert (model.usage.requests, model.usage.tokens_in, model.usage.cost) == (1, 0, 0.0)
    assert model.usage.unsure > 0


def test_what_is_under_way_is_on_record_before_it_is_sent(llm_server: ScriptedServer) -> None:
    seen = []
    model, _, ledger = _model(llm_server, price_in=1.0, price_out=1.0)
    llm_server.behaviour = lambda request: (seen.extend(ledger), Reply('{"0": "x"}'))[1]
    answer = model.ask("s", 'u {"0": "a"}', max_tokens=10)
    assert seen[0]["id"] == 0
    assert seen[0]["bound"] > 0
    assert answer.cost["id"] == 0
    assert answer.cost["in"] == 100
    model.close()


@pytest.mark.parametrize(("requests", "tokens"), [(7, 0), (0, 1000), (7, 1000)])
def test_rates_hold_in_every_minute(requests: int, tokens: int) -> None:
    clock, rng = FakeClock(), random.Random(1)
    window = Window(Limits(requests_per_minute=requests, tokens_per_minute=tokens), clock)
    entered = []
    for _ in range(200):
        size = rng.randrange(1, 400)
        window.enter(size)
        entered.append((clock.now(), size))
        clock.time += rng.random() * 3
    for start, _ in entered:
        inside = [size for time, size in entered if start <= time < start + MINUTE]
        assert not requests or len(inside) <= requests
        assert not tokens or sum(inside) <= tokens
    assert len(clock.slept) > 10


def test_a_request_above_the_rate_goes_alone() -> None:
    clock = FakeClock()
    window = Window(Limits(tokens_per_minute=10), clock)
    window.enter(50)
    window.enter(50)
    assert sum(clock.slept) >= MINUTE


def test_stopping_wakes_sleepers() -> None:
    clock = SystemClock()
    woken = threading.Event()

    def sleep() -> None:
        with pytest.raises(Stopped):
            clock.sleep(60)
        woken.set()

    thread = threading.Thread(target=sleep)
    thread.start()
    clock.stop()
    assert woken.wait(300)
    thread.join()


def test_limits_are_checked() -> None:
    with pytest.raises(UsageError, match="price_in"):
        Limits(max_cost=1.0)
    with pytest.raises(UsageError, match="negative"):
        Limits(price_in=-1)
    with pytest.raises(UsageError, match="time-out"):
        Limits(timeout=0)


def test_requests_name_the_model(ask, llm_server: ScriptedServer) -> None:
    _, _, put = ask(OK)
    put()
    request: Request = llm_server.requests[0]
    assert request.body["model"] == "scripted"
    assert request.body["messages"][0] == {"role": "system", "content": "system"}


def _served(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads a question and then does as it likes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        def talk(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                connection.recv(1 << 16)
                answer(connection)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):  # what is left unread would reset the connection
                    pass

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            done.set()
            listening.shutdown(socket.SHUT_RDWR)


served = contextlib.contextmanager(_served)


def _asks(url: str, **limits: float) -> LanguageModel:
    named = {"RADGAUGE_LLM_URL": url, "RADGAUGE_LLM_MODEL": "m"}
    wanted = Limits(**{"attempts": 1, **limits})  # type: ignore[arg-type]
    return LanguageModel(server_from_environment(named), limits=wanted, clock=FakeClock())


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n"


@pytest.mark.timeout(60)  # it would be for ever
@pytest.mark.parametrize("first", [HEAD + b"\r\n", HEAD], ids=["body", "head"])
def test_a_server_that_drips_is_given_up_in_time(first: bytes) -> None:
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(first)
        while not over.wait(0.05):
            connection.sendall(b"x")

    with served(drip) as url:
        model = _asks(url, timeout=0.5)
        with pytest.raises(LlmError, match="did not answer after 1"):
            model.ask("s", "u", max_tokens=10)
        assert model.usage.unsure == 0.0  # no prices
        over.set()
        model.close()


def _whole(content: bytes, packing: str = "") -> bytes:
    packed = f"content-encoding: {packing}\r\n".encode() if packing else b""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n".encode()
    return head + packed + b"connection: close\r\n\r\n" + content


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (_whole(b" " * 5_000_000 + b"{}"), "an answer of more than 4,000,000 bytes"),
        (_whole(gzip.compress(b" " * 300_000_000), "gzip"), "an answer of more than 4,000,000 bytes"),
        (_whole(b"abc", "br"), "an answer packed as 'br', which was not asked for"),
        (_whole(b"no gzip at all", "gzip"), "connection failed|no JSON"),
        (_whole(b"[" * 1_000_000), "no JSON"),
    ],
    ids=["long", "bomb", "unknown packing", "broken packing", "nested"],
)
def test_answers_have_a_largest_size_after_unpacking(answer: bytes, why: str) -> None:
    with served(lambda connection: connection.sendall(answer)) as url:
        model = _asks(url, timeout=60.0)
        with pytest.raises(LlmError, match=rf"did not answer after 1 attempts \(.*({why})"):
            model.ask("s", "u", max_tokens=10)
        model.close()


def test_a_packed_answer_is_read() -> None:
    message = {"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}
    body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [message]})
    answer = _whole(gzip.compress(body.encode()), "gzip")
    with served(lambda connection: connection.sendall(answer)) as url:
        model = _asks(url, timeout=60.0)
        assert model.ask("s", "u", max_tokens=10).text == "fine"
        model.close()


def test_stopping_at_once_does_not_wait_for_answers(llm_server: ScriptedServer) -> None:
    llm_server.script(Reply(hang=600))
    model, _, ledger = _model(llm_server, timeout=600, price_in=1.0, price_out=1.0)
    stopper = threading.Timer(0.3, lambda: model.stop(at_once=True))
    stopper.start()
    with pytest.raises(Stopped):
        model.ask("system", "user", max_tokens=100)
    assert ledger[-1]["void"] is False  # it may be charged
    assert model.usage.unsure > 0
    stopper.join()
    model.close()
