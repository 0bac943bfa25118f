"""Clients that are silent, drip or ask for too much: both servers go on answering everybody else."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from study_server import StudyServer
from study_support import two_systems

pytest.importorskip("uvicorn", reason="extra `web` is not installed")

import radgauge
from radgauge.study import new_study

pytestmark = pytest.mark.process

SILENT = 1000
TOKEN = "0123456789abcdef0123"
STUCK = "a" * 40 + "b"

METRIC = """
import re
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from radgauge.core.metric import Metric

@dataclass(frozen=True)
class Stuck(Metric):
    name: ClassVar[str] = "stuck"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    summary: ClassVar[str] = "length of the candidate, by a pattern that may never end and holds the interpreter"

    def measure(self, cases, *, reading):
        for case in cases:
            re.match(r"(a+)+$", case.candidate)
        return np.array([[len(case.candidate), 1.0] for case in cases]).reshape(len(cases), 2)

    def case_scores(self, rows):
        return rows[:, :1]

    def corpus_scores(self, totals, counts):
        return totals[..., :1] / np.where(counts > 0, counts, np.nan)[..., :1]
"""


@contextlib.contextmanager
def service(folder: Path, *options: str) -> Iterator[int]:
    """`radgauge serve` with a metric of somebody else, on a port."""
    packages = folder / "packages"
    about = packages / "stuck-1.0.dist-info"
    about.mkdir(parents=True)
    (packages / "stuck_metric.py").write_text(METRIC)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stuck\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[radgauge.metrics]\nstuck = stuck_metric:Stuck\n")
    command = [sys.executable, "-m", "radgauge", "serve", "-m", "stuck", "--reward", "", "--port", "0", *options]
    source = str(Path(radgauge.__file__).parents[1])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((source, str(packages))),
        "RADGAUGE_TOKEN": TOKEN,
        "RADGAUGE_CACHE": str(folder / "cache"),
    }
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"http://127.0.0.1:(\d+)", line):
                break
        else:
            raise AssertionError(said)
        try:
            while ask(int(found[1]), "/ready")[0] != 200:
                time.sleep(0.1)
            yield int(found[1])
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.communicate(timeout=60)[1]
        assert "Traceback" not in rest, rest
        assert process.returncode == 128 + signal.SIGTERM


def ask(port: int, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(connection):
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def judged(port: int, candidate: str) -> tuple[int, bytes]:
    return ask(port, "/score", json.dumps({"cases": [{"candidate": candidate, "reference": "Clear."}]}).encode())


def seconds_of_health(port: int) -> float:
    start = time.monotonic()
    assert ask(port, "/health")[0] == 200
    return time.monotonic() - start


@contextlib.contextmanager
def sockets(port: int, number: int, first: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections from four addresses of this machine, each of which sends as much and then nothing."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * SILENT), hard))
    with contextlib.ExitStack() as stack:
        opened = []
        for n in range(number):
            each = stack.enter_context(socket.socket())
            each.bind((f"127.0.0.{n % 4 + 1}", 0))
            each.settimeout(60)
            each.connect(("127.0.0.1", port))
            with contextlib.suppress(OSError):  # it may have made room for others already
                each.sendall(first)
            opened.append(each)
        yield opened


HEADS = {
    "nothing": b"",
    "half a head": b"GET /health HTTP/1.1\r\nHost: localhost\r\n",
    "a head and half a body": b"POST /join HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 50\r\n\r\n{",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("study")
    new_study(folder / "study.sqlite", two_systems())
    with StudyServer(folder / "study.sqlite") as server:
        yield server.port


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_study_answers_under_a_thousand_silent_connections(
    head: bytes, study: int, record_property: Callable[[str, object], None]
) -> None:
    with sockets(study, SILENT, head):
        heavy = threading.Thread(target=lambda: ask(study, "/join", b'{"token":' + b"[" * 60_000))
        heavy.start()
        slowest = max(seconds_of_health(study) for _ in range(20))
        heavy.join()
        assert ask(study, "/join")[0] == 200
    record_property("slowest `/health` of a study under 1,000 silent connections, seconds", slowest)


def test_silent_connections_are_closed_in_the_end(study: int) -> None:
    with sockets(study, 12, HEADS["half a head"]) as opened:
        assert all(_closed(each) for each in opened)  # by the deadline for headers: clients wait for a minute


def leave_early(port: int, path: str) -> None:
    """Send half a body and close the connection."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{".encode())
        time.sleep(0.2)


def test_clients_that_leave_early_are_no_error(tmp_path: Path) -> None:
    new_study(tmp_path / "study.sqlite", two_systems())
    with StudyServer(tmp_path / "study.sqlite", stderr=subprocess.PIPE) as server:
        for path in ("/join", "/ready", "/api/cases/x/actions"):
            leave_early(server.port, path)
        assert server.process is not None
        server.process.terminate()
        assert "Traceback" not in server.process.communicate(timeout=60)[1]
    with service(tmp_path) as port:  # looks for tracebacks itself
        for path in ("/score", "/get_reward"):
            leave_early(port, path)


def _closed(connection: socket.socket) -> bool:
    """True once the other side has closed the connection."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def test_a_body_that_drips_is_refused_at_its_deadline(study: int) -> None:
    with sockets(study, 1, HEADS["a head and half a body"]) as (connection,):
        answer = b""
        while b"408" not in answer:
            with contextlib.suppress(TimeoutError):
                connection.settimeout(0.5)
                piece = connection.recv(1000)
                assert piece, answer
                answer += piece
            with contextlib.suppress(BrokenPipeError):
                connection.send(b" ")
    assert answer.startswith(b"HTTP/1.1 408")


def test_the_service_answers_under_silence_and_a_request_that_does_not_end(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    slowest = 0.0
    stuck: list[tuple[int, bytes]] = []
    with service(tmp_path, "--timeout", "8") as port:
        assert judged(port, "Clear.")[0] == 200
        asking = threading.Thread(target=lambda: stuck.append(judged(port, STUCK)))
        asking.start()
        with sockets(port, SILENT, HEADS["half a head"]):
            while not stuck:
                slowest = max(slowest, seconds_of_health(port))
                time.sleep(0.2)
        asking.join()
        record_property("slowest `/health` of the service beside a request that does not end, seconds", slowest)
        code, body = stuck[0]
        assert code == 503, body
        assert b"took longer" in body
        code, body = judged(port, "Clear lungs.")  # a new worker, while the old one would still be at it
        assert code == 200, body
        assert json.loads(body)["cases"][0]["values"]["stuck"] == 12.0


HEAVY = {
    "cases without end": b'{"cases":[' + b",".join([b"{}"] * 5_000_000) + b"]}",
    "keys without end": b"{" + b",".join(b'"%d":1' % n for n in range(1_200_000)) + b"}",
    "references without end": b'{"cases":[{"candidate":"a","references":['
    + b",".join([b'"b"'] * 4_000_000)
    + b"]}]}",
}


@pytest.mark.nightly
def test_health_is_answered_within_a_second_while_large_requests_are_read(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    slowest = 0.0
    with service(tmp_path) as port, sockets(port, SILENT, HEADS["half a head"]):
        for name, body in HEAVY.items():
            codes: list[int] = []
            sending = threading.Thread(target=lambda: codes.append(ask(port, "/score", body)[0]))  # noqa: B023
            sending.start()
            while not codes:
                slowest = max(slowest, seconds_of_health(port))
                time.sleep(0.05)
            sending.join()
            assert codes[0] in (400, 413), name
    record_property("slowest `/health` of the service while 15 MB are read beside them, seconds", slowest)
    assert slowest < 1


def test_waiting_requests_are_answered_when_the_stuck_one_is_killed(tmp_path: Path) -> None:
    answers: list[int] = []
    with service(tmp_path, "--timeout", "20") as port:
        first = threading.Thread(target=lambda: answers.append(judged(port, STUCK)[0]))
        first.start()
        time.sleep(5)
        second = threading.Thread(target=lambda: answers.append(judged(port, "Clear.")[0]))
        second.start()
        first.join()
        second.join()
    assert sorted(answers) == [200, 503]
