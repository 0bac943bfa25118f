"""Connections that cost nothing for long: deadlines for headers, and room for new ones when silent ones are many.

uvicorn has neither, and without them a thousand silent sockets use up the files that a process may open. A
connection is *waiting* while its request is not complete, or while its client does not read the answer; these are
closed when there are too many, first the one that was silent for longest. A request that is being answered is not
cut off.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from radgauge.study.http.limits import ConnectionLimits


async def disconnected(request: Request, error: Exception) -> Response:
    """Answer nobody: the client left before its request was complete, which is no error of the server."""
    return Response(status_code=499)


class Connections:
    """All connections of one server."""

    def __init__(self, limits: ConnectionLimits, *, proxy: str | None = None) -> None:
        self.limits = limits
        self._proxy = proxy
        self._open: Counter[str] = Counter()
        self._waiting: dict[Connection, None] = {}  # in the order of their last byte

    def protocol(self, *args: Any, **settings: Any) -> Connection:
        """Return the protocol of a new connection, as uvicorn asks for it."""
        return Connection(self, *args, **settings)

    def opened(self, connection: Connection) -> None:
        """Count a connection, and close the most silent one if there are too many now."""
        self._open[connection.address] += 1
        self.waits(connection)
        if connection.address != self._proxy and self._open[connection.address] > self.limits.per_address:
            next(waiting for waiting in self._waiting if waiting.address == connection.address).transport.abort()
        elif self._open.total() > self.limits.total:
            next(iter(self._waiting)).transport.abort()

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._waiting.pop(connection, None)
        self._open[connection.address] -= 1
        if not self._open[connection.address]:
            del self._open[connection.address]

    def waits(self, connection: Connection) -> None:
        """Put a connection that waits for its client last in line."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def works(self, connection: Connection) -> None:
        """Take a connection whose request is being answered out of the line."""
        self._waiting.pop(connection, None)


class Connection(H11Protocol):
    """uvicorn's protocol with a deadline for the headers of each request."""

    def __init__(self, connections: Connections, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._all = connections
        self._deadline: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._expect_headers()
        self._all.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        self._all.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        self._all.waits(self)
        super().on_response_complete()
        if not self.cycle.response_complete:  # the next request was there already
            self._look()

    def pause_writing(self) -> None:
        self._all.waits(self)
        super().pause_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering:
            self._stop_clock()
        elif self._deadline is None:
            self._expect_headers()
        if answering and not self.cycle.more_body:
            self._all.works(self)
        else:
            self._all.waits(self)

    def _expect_headers(self) -> None:
        self._deadline = self.loop.call_later(self._all.limits.head_seconds, self.transport.abort)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
