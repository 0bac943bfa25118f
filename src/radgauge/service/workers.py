"""Several processes behind one address: one that dies is replaced, and what it had answered stays answered.

An answer is sent whole or the connection breaks, so a client that got no answer sends its request again; nothing
is kept in a worker but readings, which the others find in the cache on disk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from radgauge.errors import RadgaugeError
from radgauge.service.app import build
from radgauge.service.judge import Settings
from radgauge.web.server import Place, address_of, configuration, listen, serve

LEAST_LIFE = 5.0
"""Seconds; a worker that dies sooner, again and again, has a reason that a new one will not mend."""

MOST_EARLY_DEATHS = 5


def run(settings: Settings, place: Place, *, workers: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once requests are taken."""
    app = build(settings, place)  # in the parent too: what is wrong with the settings is said at once
    if workers == 1:
        serve(app, place, ready=ready)
        return
    context = multiprocessing.get_context("spawn")
    early = 0
    with listen(place) as listening:
        listening.listen()

        def start() -> tuple[BaseProcess, float]:
            process = context.Process(target=_work, args=(settings, place, listening), daemon=True)
            # Ctrl-C reaches the whole group: a worker that is still loading must not end with a traceback
            asked = signal.signal(signal.SIGINT, signal.SIG_IGN)
            process.start()
            signal.signal(signal.SIGINT, asked)
            return process, time.monotonic()

        stopped = _Stopped()
        alive = [start() for _ in range(workers)]
        ready(address_of(listening, place))
        try:
            while not stopped.wanted:
                wait([process.sentinel for process, _ in alive], timeout=0.5)
                for at, (process, began) in enumerate(alive):
                    if process.exitcode is None or stopped.wanted:
                        continue
                    early = early + 1 if time.monotonic() - began < LEAST_LIFE else 0
                    if early > MOST_EARLY_DEATHS:
                        raise RadgaugeError("the workers end as soon as they are started; see their messages")
                    alive[at] = start()
        finally:
            for process, _ in alive:
                process.terminate()
            for process, _ in alive:
                process.join()


class _Stopped:
    """Whether the parent was asked to end."""

    def __init__(self) -> None:
        self.wanted = False
        for asked in (signal.SIGINT, signal.SIGTERM):
            signal.signal(asked, self._stop)

    def _stop(self, number: int, frame: object) -> None:
        self.wanted = True


def _work(settings: Settings, place: Place, listening: socket.socket) -> None:
    import uvicorn

    threading.Thread(target=_end_with_parent, daemon=True).start()
    uvicorn.Server(configuration(build(settings, place), place)).run(sockets=[listening])


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
