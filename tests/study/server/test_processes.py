"""`radgauge serve` as a process: tokens, Ctrl-C, clients that do not read, and workers that are killed."""

from __future__ import annotations

import contextlib
import doctest
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tracing import network_tracer

pytest.importorskip("uvicorn", reason="extra `web` is not installed")

import radgauge
from radgauge.run.score import score

pytestmark = pytest.mark.process


class _Served:
    """A service that runs."""

    def __init__(self, process: subprocess.Popen[str], address: str, token: str) -> None:
        self.process = process
        self.place = urlsplit(address).netloc
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def post(self, path: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.place, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", path, body, {**self.headers, "Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def score(self, number: int) -> Any:
        case = {"candidate": f"The nodule measures {number} mm.", "reference": "A nodule of 5 mm."}
        code, body = self.post("/score", json.dumps({"cases": [case], "metrics": ["bleu"]}).encode())
        if code == 503:
            raise ConnectionAbortedError("come again")
        assert code == 200, body
        return json.loads(body)["cases"][0]["values"]["bleu_1"]

    def workers(self) -> set[int]:
        """Processes that were started to judge (and not the one that looks after resources)."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return {
            pid for pid in map(int, children) if b"anyio.to_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
        }


@contextlib.contextmanager
def _served(folder: Path, *options: str, before: tuple[str, ...] = ()) -> Iterator[_Served]:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "RADGAUGE_TOKEN"},
        "PYTHONPATH": str(Path(radgauge.__file__).parents[1]),
        "RADGAUGE_CACHE": str(folder / "cache"),
    }
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "radgauge", "serve", "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
        start_new_session=True,  # so that a signal reaches the group, as Ctrl-C does
    )
    assert process.stderr is not None
    token, said = "", []
    try:
        for line in process.stderr:
            said.append(line)
            if found := re.match(r"token: (\S+)", line):
                token = found[1]
            if found := re.search(r"http://\S+", line):
                yield _Served(process, found[0], token)
                break
        else:
            raise AssertionError("".join(said))
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            rest = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
    assert "Traceback" not in rest, rest
    assert process.returncode in (0, 130, -signal.SIGINT)


@pytest.mark.smoke
def test_a_fresh_token_is_needed_and_ctrl_c_ends_the_service_quietly(tmp_path: Path) -> None:
    with _served(tmp_path, "-m", "bleu") as served:
        assert (
            served.score(5)
            == score(candidates=["The nodule measures 5 mm."], references=["A nodule of 5 mm."], metrics="bleu")[
                "bleu"
            ].column("bleu_1")[0]
        )
        served.headers = {}
        assert served.post("/score", b"{}")[0] == 401


def test_the_code_of_the_page_runs_and_prints_what_it_shows(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    with _served(tmp_path, "-m", "errors", "-m", "bleu") as served:
        token = served.headers["Authorization"].removeprefix("Bearer ")
        code = code.replace("http://127.0.0.1:8000", f"http://{served.place}").replace("TOKEN", token)
        test = doctest.DocTestParser().get_doctest(code, {}, "serve.md", "serve.md", 0)
        said: list[str] = []
        result = doctest.DocTestRunner().run(test, out=said.append)
    assert result.failed == 0, "".join(said)
    assert result.attempted >= 10


def test_a_client_that_sends_everything_before_it_reads_is_answered(tmp_path: Path) -> None:
    case = {"candidate": "Small left effusion. The heart is enlarged.", "reference": "No effusion. Normal heart."}
    lines = "".join(json.dumps({**case, "id": number}) + " " * 2000 + "\n" for number in range(3000)).encode()
    with _served(tmp_path, "-m", "errors", "--no-token") as served:
        code, body = served.post("/score?explain=true&resamples=0", lines, "application/x-ndjson")
    assert code == 200
    *answers, last = map(json.loads, body.splitlines())
    assert [answer["id"] for answer in answers] == [str(number) for number in range(3000)]
    assert last["summary"][0]["judged"] == 3000
    assert min(len(lines), len(body)) > 5 << 20  # more than the spool keeps in memory, and than sockets hold


def test_a_killed_worker_loses_no_answered_request(tmp_path: Path) -> None:
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        pytest.skip("needs /proc to find the workers")
    answered: dict[int, float] = {}
    broken: list[int] = []

    def ask(served: _Served, numbers: range) -> None:
        for number in numbers:
            while True:  # what was not answered is asked again
                try:
                    answered[number] = served.score(number)
                    break
                except (OSError, http.client.HTTPException):
                    broken.append(number)
                    time.sleep(0.05)

    with _served(tmp_path, "-m", "bleu", "--workers", "2") as served:
        served.score(0)
        first = served.workers()
        assert len(first) == 2
        threads = [threading.Thread(target=ask, args=(served, range(n, 240, 4))) for n in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 40:
            time.sleep(0.01)
        before = dict(answered)
        os.kill(min(first), signal.SIGKILL)
        for thread in threads:
            thread.join()
        began = time.monotonic()
        while len(served.workers() - {min(first)}) < 2 and time.monotonic() - began < 60:
            time.sleep(0.05)
        assert len(served.workers()) == 2
        assert max(first) in served.workers()
    wanted = score(
        candidates=[f"The nodule measures {n} mm." for n in range(240)],
        references=["A nodule of 5 mm."] * 240,
        metrics="bleu",
    )["bleu"].column("bleu_1")
    assert answered == dict(enumerate(wanted.tolist()))
    assert {number: answered[number] for number in before} == before
    assert len(broken) < 40  # only what was under way, or came before the new worker


def test_nothing_is_connected_to(tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    tracer = network_tracer(log)
    with _served(tmp_path, "-m", "bleu", before=tracer) as served:
        served.score(1)
    calls = log.read_text(errors="replace").splitlines()
    bound = [call for call in calls if "bind(" in call and "AF_INET" in call]
    assert len(bound) == 1
    assert '"127.0.0.1"' in bound[0]
    reached = [call for call in calls if re.search(r"(connect|sendto|sendmsg)\(.*AF_INET", call)]
    assert reached == []
