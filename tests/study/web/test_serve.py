"""`radgauge study serve`: the command that a user types, and the demo from its link to a table of agreement."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tracing import network_tracer
from typer.testing import CliRunner

import radgauge
from radgauge.cli import app
from radgauge.core.errors import MissingExtra, UsageError
from radgauge.study import NewStudy, Store
from radgauge.study.check import check_study
from radgauge.study.demo import demo_study

pytestmark = pytest.mark.process

Opened = Callable[..., tuple[Store, Callable[[str], Any]]]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(radgauge.__file__).parents[1]), "RADGAUGE_OFFLINE": "1"}


@contextmanager
def serving(folder: Path, *arguments: str, before: tuple[str, ...] = ()) -> Iterator[tuple[list[str], Any]]:
    """The lines that the command prints until it has said everybody's link, and its process."""
    command = [*before, sys.executable, "-m", "radgauge", "study", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,  # with its tracer, if it has one
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            while "adjudicator" not in lines[-1] and "--links" not in lines[-1]:
                lines.append(process.stdout.readline())
                assert lines[-1], process.communicate()[1]
            yield lines, process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_the_demo_starts_says_every_link_and_stops_with_what_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path, "--demo", "--no-browser") as (lines, process):
        links = re.findall(r"(http://127\.0\.0\.1:\d+)/join#(\S+)", "".join(lines))
        assert len(links) == 4
        with Store(tmp_path / "study-demo.sqlite") as store:
            known = [store.person_of_token(token) for _, token in links]
            assert [person.role for person in known if person] == ["organiser", "rater", "rater", "adjudicator"]
        with urllib.request.urlopen(f"{links[0][0]}/join", timeout=60) as answer:
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "what was done so far is kept" in errors
        assert "Traceback" not in errors
    with serving(tmp_path, "--demo", "--no-browser") as (again, _), Store(tmp_path / "study-demo.sqlite") as store:
        fresh = re.findall(r"/join#(\S+)", "".join(again))
        assert all(store.person_of_token(token) for token in fresh)
        assert not any(store.person_of_token(token) for _, token in links)


def test_a_study_keeps_its_tokens_unless_new_links_are_asked_for(tmp_path: Path) -> None:
    made = demo_study(tmp_path / "s.sqlite")
    with serving(tmp_path, "s.sqlite") as (lines, _), Store(made.path) as store:
        assert "/join#TOKEN" in "".join(lines)
        assert all(store.person_of_token(token) for token in made.tokens.values())
    with serving(tmp_path, "s.sqlite", "--links") as (_, _), Store(made.path) as store:
        assert not any(store.person_of_token(token) for token in made.tokens.values())


def test_a_served_study_binds_this_machine_alone_and_calls_nobody(tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    tracer = network_tracer(log)
    with serving(tmp_path, "--demo", "--no-browser", before=tracer) as (lines, process):
        address = re.findall(r"http://127\.0\.0\.1:\d+", "".join(lines))[0]
        with urllib.request.urlopen(f"{address}/join", timeout=60) as answer:
            assert answer.status == 200
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)
    calls = [line for line in log.read_text(errors="replace").splitlines() if "AF_INET" in line]
    bound = [line for line in calls if " bind(" in line]
    assert len(bound) == 1
    assert 'inet_addr("127.0.0.1")' in bound[0]
    assert not [line for line in calls if " connect(" in line or " sendto(" in line]


def test_tls_with_a_certificate_of_its_own_whose_fingerprint_is_printed(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    demo_study(tmp_path / "s.sqlite")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    prints = []
    for _ in range(2):  # the second start takes the same certificate
        with serving(tmp_path, "s.sqlite", "--tls", "--links", "--port", str(port)) as (lines, process):
            assert process.stdout is not None
            while "SHA-256" not in lines[-1]:
                lines.append(process.stdout.readline())
            said = "".join(lines)
            assert f"https://127.0.0.1:{port}/join#" in said
            certificate = ssl.get_server_certificate(("127.0.0.1", port))
            digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest().upper()
            assert digest in said.replace(":", "")
            prints.append(digest)
            trusted = ssl.create_default_context(cadata=certificate)
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/join", context=trusted) as answer:
                assert answer.status == 200
    assert prints[0] == prints[1]
    assert (tmp_path / "s.sqlite.127.0.0.1.key").stat().st_mode & 0o077 == 0
    done = CliRunner().invoke(app, ["study", "serve", str(tmp_path / "s.sqlite"), "--tls", "--host", "0.0.0.0"])
    assert isinstance(done.exception, UsageError)
    assert "--tls needs the address" in str(done.exception)


def test_what_cannot_be_served_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    assert isinstance(run(app, ["study", "serve"]).exception, UsageError)
    refused = run(app, ["study", "serve", "--demo", "--host", "0.0.0.0"]).exception
    assert isinstance(refused, UsageError)
    assert "lets other machines in" in str(refused)
    assert {path.name for path in tmp_path.iterdir()} == {"cache"}
    missing = run(app, ["study", "serve", "nothing.sqlite"]).exception
    assert "no such file: nothing.sqlite" in str(missing)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    absent = run(app, ["study", "serve", "--demo"]).exception
    assert isinstance(absent, MissingExtra)
    assert "pip install 'radgauge[web]'" in str(absent)


def _judge_all(enter: Callable[[str], Any], person: str, generous: bool) -> int:
    """Give every candidate as many errors as its words differ from the reference's; how many candidates."""
    rater = enter(person)
    rater.train()
    judged = 0
    for key in rater.case_keys():
        shown = rater.case(key).json()
        wanted = set(shown["reference"]["text"].lower().split())
        for candidate in shown["candidates"]:
            missing = len(wanted - set(candidate["text"].lower().split())) // (6 if generous else 4)
            part = {"candidate": candidate["label"], "field": "errors", "part": "omission/significant"}
            if missing:
                assert rater.act(key, "set", **part, value=missing).status_code == 200
            judged += 1
        assert rater.submit(key).status_code == 200
    return judged


def test_the_demo_goes_from_the_page_through_align_to_a_table(
    tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study: NewStudy = demo_study(tmp_path / "study-demo.sqlite")
    _, enter = opened(study)
    judged = _judge_all(enter, "rater-1", generous=False)
    assert _judge_all(enter, "rater-2", generous=True) == judged
    page = enter("organiser-1").http.get("/organiser").text
    assert "<b>12</b> of 12 assigned cases submitted" in page
    assert check_study(study.path).problems == ()
    run = CliRunner().invoke
    assert run(app, ["study", "export", "study-demo.sqlite", "-o", "judgments.csv"]).exit_code == 0
    for judgments in ("judgments.csv", "study-demo.sqlite"):
        done = run(app, ["agree", "--judgments", judgments, "-m", "rouge", "-m", "errors", "--resamples", "50"])
        assert done.exit_code == 0, done.output
        assert f"{judged} " in done.output or str(judged) in done.output
        row = next(line for line in done.output.splitlines() if "rouge" in line and re.search(r"\d\.\d", line))
        value = re.search(r"-?\d?\.\d+", row)
        assert value is not None
        assert float(value[0]) > 0.2  # raters who count missing words agree with a measure of shared words
