"""A study served by a process of its own, which can be killed and started again on the same port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import radgauge

CODE = """
import sys
from radgauge.study import Store
from radgauge.study.web.app import Limits, create_app
from radgauge.study.http.server import Place, serve
with Store(sys.argv[1]) as store:
    place = Place(port=int(sys.argv[2]))
    app = create_app(store, address=place, limits=Limits(burst=100_000))
    serve(app, place, ready=lambda address: print(address, flush=True))
"""


class StudyServer:
    """`radgauge study serve` without its command line: no limit on the number of requests."""

    def __init__(self, path: Path, *, stderr: int | None = None) -> None:
        self.path, self.port, self.address, self.stderr = path, 0, "", stderr
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> StudyServer:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, str(self.path), str(self.port)],
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(radgauge.__file__).parents[1])},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address, "the server did not start"
        self.port = int(self.address.rpartition(":")[2])
        return self

    def kill(self, how: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(timeout=60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    def __enter__(self) -> StudyServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.kill(signal.SIGTERM)

    def link(self, token: str) -> str:
        return f"{self.address}/join#{token}"
