"""Telemetry for operators: counters in Prometheus' text format, and an access log without any text.

Written here and not with prometheus_client: one process answers all requests, so counters in memory suffice.
"""

from __future__ import annotations

import re
import time
import uuid
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from radgauge.core.log import event

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the latency histogram in seconds."""
KNOWN = frozenset(
    {"/", "/style.css", "/openapi.json", "/health", "/ready", "/version", "/metrics", "/score", "/get_reward"}
)
_ID = re.compile(r"[\w.:-]{1,64}")


class Telemetry:
    """Counters of one service."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.buckets: dict[str, list[int]] = {}
        self.seconds: Counter[str] = Counter()
        self.in_flight = 0
        self.replaced = 0

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self.requests[path, status] += 1
        self.buckets.setdefault(path, [0] * (len(BUCKETS) + 1))[bisect_left(BUCKETS, seconds)] += 1
        self.seconds[path] += seconds  # type: ignore[assignment]

    def replace_worker(self, reason: str) -> None:
        """Count and log a worker that was replaced."""
        self.replaced += 1
        event("worker replaced", reason=reason)

    def exposition(self, *, version: str, waiting: int, workers: int, ready: bool) -> str:
        """Return all counters in Prometheus' text format."""
        lines = _family("radgauge_requests_total", "counter", "Requests by address and status.")
        lines += [
            f'radgauge_requests_total{{path="{path}",status="{status}"}} {count}'
            for (path, status), count in sorted(self.requests.items())
        ]
        lines += _family("radgauge_request_seconds", "histogram", "Seconds from request to answer.")
        for path, counts in sorted(self.buckets.items()):
            for bound, total in zip([*map(str, BUCKETS), "+Inf"], accumulate(counts), strict=True):
                lines.append(f'radgauge_request_seconds_bucket{{path="{path}",le="{bound}"}} {total}')
            lines.append(f'radgauge_request_seconds_sum{{path="{path}"}} {self.seconds[path]:.6f}')
            lines.append(f'radgauge_request_seconds_count{{path="{path}"}} {sum(counts)}')
        for name, kind, about, value in (
            ("radgauge_requests_in_flight", "gauge", "Requests being answered.", self.in_flight),
            ("radgauge_requests_waiting", "gauge", "Requests for scores or rewards, waiting or judged.", waiting),
            ("radgauge_workers", "gauge", "Processes that judge.", workers),
            ("radgauge_workers_replaced_total", "counter", "Workers that ended or were killed.", self.replaced),
            ("radgauge_ready", "gauge", "1 if the metrics are loaded.", int(ready)),
        ):
            lines += [*_family(name, kind, about), f"{name} {value}"]
        lines += [*_family("radgauge_info", "gauge", "The version."), f'radgauge_info{{version="{version}"}} 1']
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


@dataclass(frozen=True)
class Observed:
    """Counts and logs every request; gives it an id, or keeps the id that a proxy gave it."""

    app: ASGIApp
    telemetry: Telemetry
    clock: Callable[[], float] = time.monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        proposed = Headers(scope=scope).get("x-request-id", "")
        identifier = proposed if _ID.fullmatch(proposed) else uuid.uuid4().hex
        began, status, size = self.clock(), 499, 0  # the client left before an answer

        async def observed_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = identifier
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        self.telemetry.in_flight += 1
        try:
            await self.app(scope, receive, observed_send)
        finally:
            self.telemetry.in_flight -= 1
            seconds = self.clock() - began
            path = scope["path"] if scope["path"] in KNOWN else "other"
            self.telemetry.observe(path, status, seconds)
            event(
                "request",
                request_id=identifier,
                method=scope["method"],
                path=path,
                status=status,
                milliseconds=round(1000 * seconds, 1),
                bytes=size,
            )
