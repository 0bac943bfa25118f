"""Limits: how large and how slow a request may be, how many a visitor may send, how many may be connected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _TooLarge(Exception):
    """The body of a request grew beyond the limit while it was read."""


@dataclass(frozen=True)
class BodyLimit:
    """Answers 413 to a request whose body has more bytes than `largest`, whatever its length header says.

    With `seconds`, 408 to one whose body is not there by then, however steadily it drips.
    """

    app: ASGIApp
    largest: int
    seconds: float = math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = JSONResponse({"error": f"a request has at most {self.largest} bytes"}, status_code=413)
        claimed = Headers(scope=scope).get("content-length", "0")
        if not claimed.isdecimal() or len(claimed) > 18 or int(claimed) > self.largest:
            await answer(scope, receive, send)
            return
        seen, begun = 0, False
        until, complete = anyio.current_time() + self.seconds, False

        async def receive_counted() -> Message:
            nonlocal seen, complete
            if complete:
                return await receive()
            with anyio.fail_after(until - anyio.current_time()):
                message = await receive()
            complete = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.largest:
                raise _TooLarge
            return message

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive_counted, send_noted)
        except _TooLarge:
            if begun:
                raise
            await answer(scope, receive, send)
        except TimeoutError:
            if begun or complete:
                raise
            late = JSONResponse({"error": f"the body took longer than {self.seconds:g} seconds"}, status_code=408)
            await late(scope, receive, send)


@dataclass
class RateLimiter:
    """A token bucket per visitor: `burst` requests at once, and `per_second` more on average.

    >>> now = 0.0
    >>> limiter = RateLimiter(per_second=1, burst=2, clock=lambda: now)
    >>> [limiter.wait("a") for _ in range(3)], limiter.wait("b")
    ([0.0, 0.0, 1.0], 0.0)
    >>> now = 1.0
    >>> limiter.wait("a")
    0.0
    """

    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    most_visitors: int = 10_000
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)

    def wait(self, visitor: str) -> float:
        """0 if the visitor may go on, which is then counted; else the seconds until the next try can succeed."""
        now = self.clock()
        left, then = self._buckets.pop(visitor, (float(self.burst), now))
        left = min(self.burst, left + (now - then) * self.per_second)
        allowed = left >= 1
        self._buckets[visitor] = (left - allowed, now)  # last in line: the first are those not seen for longest
        if len(self._buckets) > self.most_visitors:
            del self._buckets[next(iter(self._buckets))]
        return 0.0 if allowed else (1 - left) / self.per_second


@dataclass(frozen=True)
class RateLimit:
    """Answers 429 with `Retry-After` to visitors who send more than the limiter allows.

    A visitor is an address, unless `visitor` names another property of the request's scope.
    """

    app: ASGIApp
    limiter: RateLimiter
    visitor: Callable[[Scope], str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            seconds = self.limiter.wait((self.visitor or client_address)(scope))
            if seconds > 0:
                await too_many(seconds)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def too_many(seconds: float) -> JSONResponse:
    """The answer to a visitor who has to wait."""
    headers = {"Retry-After": str(math.ceil(seconds))}
    return JSONResponse({"error": "too many requests; wait a moment"}, status_code=429, headers=headers)


def client_address(scope: Scope) -> str:
    """The address a request came from."""
    return scope["client"][0] if scope.get("client") else "unknown"


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits on connections before they have sent a request."""

    total: int = 1024  # Connections at the same time; beyond it the one that was silent for longest is closed
    per_address: int = 256  # The same for one address (but for that of a proxy)
    # From the first byte of a request, or from the connection, to the end of its headers
    head_seconds: float = 10.0
    idle_seconds: int = 75  # A connection may stay open between two requests
