"""Many raters at once on a served study: how long an action takes, and whether anything is lost.

Starts `radgauge study serve` in a process of its own, lets raters in through their links, and has each of them
judge case after case, an action about every `--pause` seconds, as the page would send them. The server is killed
with SIGKILL in the middle and started again, and once more after the last answer; every action that was
acknowledged must then be in the file, once, and the file must prove itself (`study check`).

    python benchmarks/study_load.py [--raters 50] [--events 20000] [--pause 1.0]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import radgauge
from radgauge.io.case_files import read_cases
from radgauge.samples import sample_reports_path
from radgauge.study import Action, NewStudy, Store, new_study
from radgauge.study.check import check_study

CASES = 25


def make(folder: Path, raters: int) -> NewStudy:
    """A study whose raters have read the instructions and practised."""
    cases = [case for case in read_cases(sample_reports_path()).cases if case.candidate.strip()]
    study = new_study(folder / "study.sqlite", cases, raters=raters, number=CASES)
    with Store(study.path) as store:
        for person in store.people(role="rater"):
            store.record(person.id, Action("", "ready", client_id="ready"))
            for place in store.places(person.id):
                if place.training:
                    reason = {"candidate": "", "reason": "practised before"}
                    store.record(person.id, Action(place.key, "cannot_judge", reason, 0, f"{place.key}-1"))
                    store.record(person.id, Action(place.key, "submit", {}, 1, f"{place.key}-2"))
    return study


class Server:
    """The server, killed and started on the same port."""

    def __init__(self, path: Path) -> None:
        self.path, self.port = path, 0

    def start(self) -> None:
        command = [sys.executable, "-m", "radgauge", "study", "serve", str(self.path), "--port", str(self.port)]
        environment = {**os.environ, "PYTHONPATH": str(Path(radgauge.__file__).parents[1])}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.port = int(line.partition("http://127.0.0.1:")[2].split()[0])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Rater:
    """One browser: keeps its connection, repeats what was not answered."""

    def __init__(self, server: Server, token: str, number: int) -> None:
        self.server, self.token, self.number = server, token, number
        self.cookie = self.csrf = ""
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.taken: list[float] = []
        self.interrupted: list[float] = []
        self.acknowledged: list[str] = []

    async def request(self, method: str, path: str, said: object = None) -> tuple[int, bytes, bool]:
        """Status, body, and whether it had to be sent again."""
        body = json.dumps(said).encode() if said is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/json\r\n"
        head += f"Cookie: {self.cookie}\r\nX-CSRF-Token: {self.csrf}\r\n\r\n"
        again = False
        while True:
            try:
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                self.writer.write(head.encode() + body)
                await self.writer.drain()
                return (*await self.answer(), again)
            except (OSError, asyncio.IncompleteReadError):
                again, self.writer = True, None
                await asyncio.sleep(0.3)

    async def answer(self) -> tuple[int, bytes]:
        assert self.reader is not None
        status = int((await self.reader.readuntil(b"\r\n")).split()[1])
        length = 0
        while (line := await self.reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode().strip().partition(": ")
            if name.lower() == "content-length":
                length = int(value)
            if name.lower() == "set-cookie":
                self.cookie = value.split(";")[0]
        return status, await self.reader.readexactly(length)

    async def enter(self) -> None:
        status, _, _ = await self.request("POST", "/join", {"token": self.token})
        assert status == 200, status
        _, page, _ = await self.request("GET", "/start")
        self.csrf = page.decode().split('data-csrf="')[1].split('"')[0]

    async def act(self, key: str, kind: str, payload: dict[str, object], version: int) -> int:
        """One action; the version of the case after it."""
        client_id = f"{self.number}-{len(self.acknowledged)}"
        said = {"kind": kind, "payload": payload, "based_on": version, "client_id": client_id}
        start = time.perf_counter()
        status, body, again = await self.request("POST", f"/api/cases/{key}/actions", said)
        assert status == 200, (status, body)
        (self.interrupted if again else self.taken).append(time.perf_counter() - start)
        self.acknowledged.append(client_id)
        return int(json.loads(body)["state"]["version"])

    async def work(self, actions: int, pause: float, chance: random.Random) -> None:
        """Judge case after case; every action is based on the one before."""
        await asyncio.sleep(chance.random() * pause)
        _, body, _ = await self.request("GET", "/api/study")
        keys = [case["key"] for case in json.loads(body)["cases"] if not case["training"]]
        parts = ["omission/significant", "location/insignificant", "severity/significant"]
        share = -(-actions // len(keys))
        for key in keys:
            shown = json.loads((await self.request("GET", f"/api/cases/{key}"))[1])
            version, labels = shown["state"]["version"], [each["label"] for each in shown["candidates"]]
            for number in range(min(share, actions - len(self.acknowledged))):
                label, part = labels[number % len(labels)], parts[number % 3]
                payload: dict[str, object] = {"candidate": label, "field": "errors", "part": part}
                version = await self.act(key, "set", {**payload, "value": chance.randrange(1, 9)}, version)
                await asyncio.sleep(chance.uniform(0.5, 1.5) * pause)


async def load(server: Server, study: NewStudy, options: argparse.Namespace) -> list[Rater]:
    """All raters at work; the server dies once on the way."""
    tokens = [token for person, token in study.tokens.items() if person.startswith("rater")]
    raters = [Rater(server, token, number) for number, token in enumerate(tokens)]
    for rater in raters:
        await rater.enter()
        await asyncio.sleep(0.06)
    each = options.events // len(raters)
    working = asyncio.gather(*(rater.work(each, options.pause, random.Random(rater.number)) for rater in raters))
    while not working.done() and sum(len(rater.acknowledged) for rater in raters) < options.events / 2:
        await asyncio.sleep(0.2)
    server.kill()
    await asyncio.to_thread(server.start)
    await working
    return raters


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--pause", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = make(Path(folder), options.raters)
        server = Server(study.path)
        server.start()
        try:
            start = time.perf_counter()
            raters = asyncio.run(load(server, study, options))
            spent = time.perf_counter() - start
        finally:
            server.kill()  # without a chance to tidy up
        acknowledged = {(f"rater-{rater.number + 1}", each) for rater in raters for each in rater.acknowledged}
        with Store(study.path) as store:
            stored = [(event.person, event.client_id) for event in store.events()]
        found = check_study(study.path)
        lost, twice = len(acknowledged - set(stored)), len(stored) - len(set(stored))
        taken = 1000 * np.array([each for rater in raters for each in rater.taken])
        waited = [each for rater in raters for each in rater.interrupted]
    print(f"raters at once            {len(raters)}, an action every {options.pause:g} s each")
    print(
        f"actions acknowledged      {len(acknowledged)} in {spent:.0f} s ({len(acknowledged) / spent:.0f} per s)"
    )
    print(
        f"answered within, ms       median {np.median(taken):.1f}, 95 % {np.percentile(taken, 95):.1f}, "
        f"99 % {np.percentile(taken, 99):.1f}, all {taken.max():.0f}"
    )
    print(
        f"sent again after the kill {len(waited)}, the last of them answered after {max(waited, default=0):.1f} s"
    )
    print(f"events in the file        {len(stored)}; acknowledged and lost {lost}; twice {twice}")
    print(f"study check               {len(found.problems)} problems")
    if lost or twice or found.problems:
        sys.exit(1)


if __name__ == "__main__":
    main()
