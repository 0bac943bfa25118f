"""Worker processes of the service: one that does not come to an end can be killed.

A regular expression or a network holds the interpreter for as long as it likes, and with it all other requests and
`/health`. So the process that answers HTTP judges nothing. anyio keeps the pool, hands work out in the order in
which it came, and kills a worker whose request ran out of time; the next one is started and warmed at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
from anyio import to_process, to_thread
from anyio.abc import TaskGroup

from radgauge.core.errors import RadgaugeError
from radgauge.study.server.judge import Judge, Late, Settings
from radgauge.study.server.telemetry import Telemetry


class Broken(RadgaugeError):
    """The process that judged a request ended before it had an answer."""


class Workers:
    """The pool of one service.

    Attributes:
        judge: The judge of this process: it knows the metrics, and judges only where there are no others.
        ready: True once all workers have loaded what they need.
    """

    def __init__(self, settings: Settings, telemetry: Telemetry | None = None) -> None:
        self.telemetry = telemetry or Telemetry()
        self.judge = Judge(settings)
        self.ready = False
        self._settings = settings
        self._turns = anyio.CapacityLimiter(max(1, settings.workers))
        self._group: TaskGroup | None = None

    async def start(self, group: TaskGroup) -> None:
        """Warm the workers; requests that come before wait for their turn."""
        self._group = group
        group.start_soon(self._warm_all)

    async def run(self, task: str, *arguments: Any, until: float) -> Any:
        """Do a task of the judge; Late if it is not done by `until` (monotonic seconds)."""
        try:
            with anyio.fail_after(max(0.0, until - time.monotonic())):
                return await self._do(task, arguments)
        except TimeoutError:
            self.telemetry.replace_worker("timeout")
            if self._settings.workers and self._group is not None:
                self._group.start_soon(self._warm)
            raise Late("the request took longer than it may; send fewer cases") from None
        except anyio.BrokenWorkerProcess:
            self.telemetry.replace_worker("ended")
            raise Broken("the process that judged this ended; come again in a moment") from None

    async def _do(self, task: str, arguments: tuple[Any, ...]) -> Any:
        if self._settings.workers:
            return await to_process.run_sync(
                _judged, self._settings, task, arguments, cancellable=True, limiter=self._turns
            )
        method: Callable[..., Any] = getattr(self.judge, task)
        return await to_thread.run_sync(method, *arguments, abandon_on_cancel=True)

    async def _warm_all(self) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(max(1, self._settings.workers)):
                group.start_soon(self._warm)
        self.ready = True

    async def _warm(self) -> None:
        try:
            await self._do("warm", ())
        except anyio.BrokenWorkerProcess:
            return  # the next request starts another


@cache
def _judge_of(settings: Settings) -> Judge:
    return Judge(settings)


def _judged(settings: Settings, task: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(_judge_of(settings), task)(*arguments)
