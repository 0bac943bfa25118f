"""What operators and programs use: metrics, access log, version, request ids, the queue, the Python client."""

from __future__ import annotations

import asyncio
import http.server
import json
import logging
import re
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="extra `web` is not installed")

import uvicorn
from starlette.testclient import TestClient

import radgauge as rg
from radgauge.client import Client, ServiceError
from radgauge.core.cases import Case
from radgauge.core.log import EVENTS, JsonLines
from radgauge.study.http.server import Place
from radgauge.study.server.app import build
from radgauge.study.server.judge import Settings
from radgauge.study.server.requests import Limits

SETTINGS = Settings(metrics=("bleu",), cache=False)
BODY = {"cases": [{"candidate": "No pleural effusion.", "reference": "Large pleural effusion."}], "resamples": 0}


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    written: list[dict[str, object]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(JsonLines().format(record)))

    handler = Keep()
    EVENTS.addHandler(handler)
    EVENTS.setLevel(logging.INFO)
    yield written
    EVENTS.removeHandler(handler)


def test_requests_are_counted_and_logged_without_a_word_of_a_report(lines: list[dict[str, object]]) -> None:
    with TestClient(build(SETTINGS, Place()), base_url="http://localhost") as client:
        assert client.get("/version").json()["radgauge"] == rg.__version__
        answer = client.post("/score", json=BODY, headers={"X-Request-Id": "job-7"})
        assert answer.headers["x-request-id"] == "job-7"
        assert client.post("/score", json={"cases": 3}, headers={"X-Request-Id": "a b\tc"}).status_code == 400
        client.get("/Large-pleural-effusion")
        text = client.get("/metrics").text
    requests = [line for line in lines if line["event"] == "request"]
    answered = [(line["path"], line["status"]) for line in requests[1:4]]
    assert answered == [("/score", 200), ("/score", 400), ("other", 404)]
    assert requests[1]["request_id"] == "job-7"
    assert re.fullmatch("[0-9a-f]{32}", str(requests[2]["request_id"]))
    assert "effusion" not in json.dumps(lines) + text
    assert [line["event"] for line in (lines[0], lines[-1])] == ["started", "stopping"]
    assert 'radgauge_requests_total{path="/score",status="200"} 1' in text
    assert 'radgauge_request_seconds_count{path="/score"} 2' in text
    buckets = [int(n) for n in re.findall(r'seconds_bucket\{path="/score",le="[^"]+"\} (\d+)', text)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 2
    sample = r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.\de]+'
    assert all(line.startswith("# ") or re.fullmatch(sample, line) for line in text.splitlines())


def test_the_queue_is_bounded_and_says_so() -> None:
    full = Settings(metrics=("bleu",), cache=False, limits=Limits(waiting=0))
    with TestClient(build(full, Place()), base_url="http://localhost") as client:
        answer = client.post("/score", json=BODY)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"


def test_every_route_is_described() -> None:
    app = build(Settings(metrics=("bleu",), reward="bleu", cache=False), Place())
    with TestClient(app, base_url="http://localhost") as client:
        document = client.get("/openapi.json").json()
    assert {"/score", "/get_reward", "/health", "/ready", "/version", "/metrics"} == document["paths"].keys()
    rewards = document["paths"]["/get_reward"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert rewards["$ref"].rpartition("/")[2] in document["components"]["schemas"]


def test_the_client_gets_what_the_library_gives() -> None:
    app = build(Settings(metrics=("bleu",), reward="bleu", cache=False), Place())
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        cases = [Case("1", "No large pleural effusion.", ("A large pleural effusion.",))]
        with Client(f"http://127.0.0.1:{port}") as client:
            answer = client.score(cases, resamples=0)
            assert asyncio.run(client.score_async(cases, resamples=0)) == answer
            while not client.ready():
                thread.join(0.01)
            assert client.version()["radgauge"] == rg.__version__
            report = "The lungs are clear today without change."
            good, bad = client.rewards([report, "x y z"], [report] * 2)
            assert good > bad
            with pytest.raises(ServiceError, match="status 400"):
                client.score([{"candidate": 3}])
        assert answer["cases"][0]["values"]["bleu_4"] == rg.score(cases, ["bleu"])["bleu"].values[0][0]
    finally:
        server.should_exit = True
        thread.join()


class _Busy(http.server.BaseHTTPRequestHandler):
    answers: list[int]

    def do_GET(self) -> None:
        status = self.answers.pop(0)
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.mark.parametrize(("answers", "pauses"), [([503, 503, 200], 2), ([503] * 4, 3), ([404], 0)])
def test_busy_services_are_asked_again(answers: list[int], pauses: int) -> None:
    _Busy.answers = list(answers)
    slept: list[float] = []
    with http.server.HTTPServer(("127.0.0.1", 0), _Busy) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        client = Client(f"http://127.0.0.1:{server.server_port}", retries=3, sleep=slept.append)
        if answers[-1] == 200:
            assert client.version() == {}
        else:
            with pytest.raises(ServiceError) as error:
                client.version()
            assert error.value.status == answers[-1]
        client.close()
        server.shutdown()
        thread.join()
    assert len(slept) == pauses
    assert all(pause >= 2 for pause in slept)  # as the service asked
