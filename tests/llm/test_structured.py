"""Questions with a structured answer: paid once, killed at any moment, a thousand at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_judge import complaint, is_repair, judge, reports
from scripted_llm import FakeClock, Reply, Request, ScriptedServer

import radgauge
from radgauge.core.cases import Case
from radgauge.core.errors import InputError
from radgauge.llm import Limits, session
from radgauge.llm.journal import Journal
from radgauge.llm.sessions import open_session
from radgauge.run.score import score

SOURCE = str(Path(radgauge.__file__).parents[1])


def _cases(number: int) -> list[Case]:
    return [Case(str(n), f"Nodule of {n} mm.", ("Nodule. No effusion.",)) for n in range(number)]


def _study(request: Request) -> str:
    return reports(request)["candidate"][0]


@pytest.mark.process
def test_a_killed_run_goes_on_and_pays_nothing_twice(judging: ScriptedServer, tmp_path: Path) -> None:
    """kill -9 while a repair is under way: what was answered is not asked again, the draft goes to its repair."""
    cases = _cases(24)
    rows = "".join(f"{case.id},{case.references[0]},{case.candidate}\n" for case in cases)
    (tmp_path / "reports.csv").write_text(f"id,reference,candidate\n{rows}")
    held = threading.Event()

    def behave(request: Request) -> Reply:
        if "of 7 mm" in _study(request) and not is_repair(request):
            return Reply("{")  # sent back
        if is_repair(request) and not held.is_set():
            held.set()
            return Reply(hang=60)
        if len(judging.requests) > 14 and not killed.is_set():
            return Reply(hang=60)
        return judge(request)

    killed = threading.Event()
    judging.behaviour = behave
    command = [sys.executable, "-m", "radgauge", "score", "reports.csv", "-m", "llm_errors", "--json", "-q"]
    command += ["--llm", "parallel=3", "--resamples", "0"]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (held.is_set() and len(judging.requests) >= 16) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    killed.set()
    journal = next((tmp_path / "cache").rglob("*.jsonl"))
    kept = {line["key"]: line for line in map(json.loads, journal.read_text().splitlines()) if "key" in line}
    answered = sum("packed" in line for line in kept.values())
    assert 8 < answered < 24
    assert sum("draft" in line for line in kept.values()) == 1
    first = len(judging.requests)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    later = judging.requests[first:]
    account = json.loads(done.stdout)["accounts"]["llm_errors"]
    assert (account["judged"], account["reused"], account["failed"]) == (24, answered, 0)
    assert len(later) == 24 - answered
    repairs = [request for request in later if is_repair(request)]
    assert ["of 7 mm" in _study(request) for request in repairs] == [True]
    assert "there is no JSON object in it" in complaint(repairs[0])
    assert max(Counter(_study(request) for request in later).values()) == 1


class _Crowd:
    """Holds requests until a number of them is under way at once."""

    def __init__(self, wanted: int) -> None:
        self.most = self._now = 0
        self._wanted, self._lock, self._full = wanted, threading.Lock(), threading.Event()

    def __call__(self, request: Request) -> Reply:
        """Wait for the others, then judge."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now >= self._wanted:
                self._full.set()
        self._full.wait(800)
        with self._lock:
            self._now -= 1
        return judge(request)


def _resident() -> int:
    """Bytes of memory that this process holds."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the system does not say how much memory a process holds")
    return int(status.read_text().partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.nightly
def test_a_thousand_cases_at_a_time_in_bounded_memory(judging: ScriptedServer) -> None:
    judging.behaviour = crowd = _Crowd(1000)
    before = _resident()
    with session(parallel=1000, limits=Limits(timeout=900.0)):
        results = score(_cases(1000), "llm_errors")
    assert not np.isnan(results["llm_errors"].headline).any()
    assert crowd.most >= 1000
    account = results.header["accounts"]["llm_errors"]
    assert (account["judged"], account["requests"]) == (1000, 1000)
    assert _resident() - before < 400_000_000  # both ends are in this process


def test_no_more_requests_at_a_time_than_allowed(judging: ScriptedServer) -> None:
    judging.behaviour = crowd = _Crowd(20)
    with session(parallel=20):
        score(_cases(60), "llm_errors")
    assert (crowd.most, len(judging.requests)) == (20, 60)


def test_equal_questions_are_asked_once(judging: ScriptedServer) -> None:
    cases = [Case(str(n), "Nodule.", ("Nodule. No effusion.",)) for n in range(5)]
    scores = score(cases, "llm_errors")
    assert len(judging.requests) == 1
    assert scores.header["accounts"]["llm_errors"]["questions"] == 1
    assert len(set(scores["llm_errors"].headline)) == 1


def test_texts_go_is_said_once_and_only_if_they_go(
    judging: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    with session():
        for seed in (1, 2, 3):
            score(_cases(2), f"llm_errors:seed={seed}")
    said = [record.getMessage() for record in caplog.records if "texts" in record.getMessage()]
    assert said == [f"texts go to the model scripted on this machine ({judging.url}); nothing leaves it"]
    caplog.clear()
    with session():
        score(_cases(2), "llm_errors:seed=1")  # from the journal
    assert [record for record in caplog.records if "texts" in record.getMessage()] == []


def test_an_answer_that_todays_checks_refuse_is_asked_again(judging: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with session(journal=path):
        score(_cases(1), "llm_errors")
    with Journal(path) as journal:
        (key,) = (line["key"] for line in map(json.loads, path.read_text().splitlines()) if "key" in line)
        journal.add({key: {"packed": '{"errors":[]}', "model": "m"}})
    with session(journal=path):
        score(_cases(1), "llm_errors")
    assert len(judging.requests) == 2


def test_one_run_at_a_time_on_a_journal(judging: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path), session(journal=path), pytest.raises(InputError), open_session():
        pass


def test_nothing_is_kept_if_nothing_may_be(judging: ScriptedServer, tmp_path: Path) -> None:
    with session(keep=False):
        score(_cases(2), "llm_errors")
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []


@pytest.mark.parametrize("text", ["No", '{"a": 1} {"a": 1}', '{"rating": 1e999}', "[" * 100_000, '{"a":' * 5000])
def test_no_shape_of_answer_is_a_number(text: str, judging: ScriptedServer) -> None:
    judging.behaviour = lambda request: Reply(text)
    for variant in ("findings", "rating", "entailment"):
        with session(clock=FakeClock()):
            scores = score(_cases(1), f"llm_errors:variant={variant}")["llm_errors"]
        assert np.isnan(scores.values).all()


def test_a_server_cannot_put_its_words_into_accounts(judging: ScriptedServer) -> None:
    def behave(request: Request) -> Reply:
        reply: dict[str, Any] = json.loads('{"choices": [{"index": 0, "finish_reason": "stop"}]}')
        reply["choices"][0]["message"] = {"role": "assistant", "content": judge(request).content}
        reply |= {"id": "1", "object": "chat.completion", "created": 0, "model": "m" * 5000}
        reply["system_fingerprint"] = "fp\x1b[31m"
        return Reply(body=json.dumps(reply).encode())

    judging.behaviour = behave
    account = score(_cases(1), "llm_errors").header["accounts"]["llm_errors"]
    assert account["models"] == {"": 1}
    assert account["unsure"] == 0.0
