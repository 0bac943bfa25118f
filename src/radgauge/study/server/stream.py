"""JSON lines in, JSON lines out: a case is answered while the next ones arrive.

Many HTTP clients read nothing before they have sent everything. So what is answered waits in a spool (in memory,
and beyond that in a file without a name, for the owner only) and never holds up the reading of the request.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import anyio
from starlette.responses import JSONResponse, Response

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError, RadgaugeError
from radgauge.core.parsing import parse_json
from radgauge.core.scores import Results
from radgauge.study.server.judge import Late
from radgauge.study.server.requests import Limits, RequestOptions, case_of, parts_of
from radgauge.study.server.workers import Broken, Workers

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LINES = ("application/x-ndjson", "application/jsonl")
IN_MEMORY = 4 << 20
PIECE = 64 << 10


class _Gone(Exception):
    """The client has closed the connection."""


class _Spool:
    """Bytes that were answered and not yet sent."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # closed with the answer
        self._sent = self._written = 0
        self._news = anyio.Event()
        self.ended = False

    def add(self, records: list[bytes]) -> None:
        text = b"".join(record + b"\n" for record in records)
        self._file.seek(self._written)
        self._file.write(text)
        self._written += len(text)
        self._tell()

    def end(self) -> None:
        self.ended = True
        self._tell()

    async def next(self) -> bytes:
        """The next bytes; b"" at the end."""
        while self._sent == self._written and not self.ended:
            await self._news.wait()
        self._file.seek(self._sent)
        piece = self._file.read(PIECE)
        self._sent += len(piece)
        if self._sent == self._written:  # all of it is sent: begin anew, so that the file does not grow
            self._file.seek(0)
            self._file.truncate()
            self._sent = self._written = 0
        return piece

    def close(self) -> None:
        self._file.close()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


class StreamedScores(Response):
    """Answers every line with a line, in order, and at the end with one line `{"summary": [...], ...}`.

    What is wrong before the first answer is an HTTP error; after it, a last line `{"error": ...}`.
    """

    def __init__(self, workers: Workers, options: RequestOptions, *, done: Callable[[], None]) -> None:
        super().__init__()
        self._workers = workers
        self._judge = workers.judge
        self._options = options
        self._done = done
        self._limits = workers.judge.settings.limits
        self._problem: RadgaugeError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        spool = _Spool()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._work, receive, spool)
                await self._send(scope, receive, send, spool)
        except* _Gone:
            pass
        finally:
            spool.close()
            self._done()

    async def _send(self, scope: Scope, receive: Receive, send: Send, spool: _Spool) -> None:
        piece = await spool.next()
        if not piece and self._problem is not None:
            code = 503 if isinstance(self._problem, Late | Broken) else 400
            await JSONResponse({"error": str(self._problem)}, status_code=code)(scope, receive, send)
            return
        kind = [(b"content-type", LINES[0].encode())]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        while piece:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await spool.next()
        if self._problem is not None:
            last = json.dumps({"error": str(self._problem)}, ensure_ascii=False).encode() + b"\n"
            await send({"type": "http.response.body", "body": last, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _work(self, receive: Receive, spool: _Spool) -> None:
        try:
            await self._answer(receive, spool)
        except RadgaugeError as error:
            self._problem = error
        except Exception as error:
            if isinstance(error, _Gone):
                raise
            self._problem = RadgaugeError(f"internal error ({type(error).__name__})")
        finally:
            spool.end()

    async def _answer(self, receive: Receive, spool: _Spool) -> None:
        for name in self._options.metrics:
            if not self._judge.metrics[name].independent:
                raise InputError(f"{name} weighs a case by the others: send all cases as one JSON request")
        cases = _Cases(self._limits)
        parts: list[Results] = []
        lines = _Lines(self._limits.line)
        more = True
        while more:
            body, more = await self._next(receive)
            fresh, problem = cases.of(lines.of(body, last=not more))
            for part in parts_of(fresh, self._limits):
                until = time.monotonic() + self._limits.seconds
                results, records = await self._workers.run("part", part, self._options, True, until=until)
                parts.append(results)
                spool.add(records)
            if problem is not None:
                raise problem
        if not parts:
            raise InputError("the request has no cases")
        until = time.monotonic() + self._limits.seconds
        spool.add([await self._workers.run("closing", parts, [], self._options, until=until)])

    async def _next(self, receive: Receive) -> tuple[bytes, bool]:
        try:
            with anyio.fail_after(self._limits.idle):
                message = await receive()
        except TimeoutError:
            raise Late(f"nothing was sent for {self._limits.idle:g} seconds") from None
        if message["type"] == "http.disconnect":
            raise _Gone
        return message.get("body", b""), bool(message.get("more_body", False))


class _Cases:
    """Cases as they come, each key once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._keys: set[Key] = set()

    def of(self, lines: Iterator[tuple[int, bytes]]) -> tuple[list[Case], InputError | None]:
        """The cases of the lines up to the first that is none, and what is wrong with it."""
        found: list[Case] = []
        try:
            for number, line in lines:
                found.append(self._add(number, line))
        except InputError as error:
            return found, error
        return found, None

    def _add(self, number: int, line: bytes) -> Case:
        most = self._limits.streamed_cases
        if len(self._keys) >= most:
            raise InputError(f"a stream has at most {most} cases; send the others in another request")
        case = case_of(_parsed(line, number), f"line {number}", number=number, limits=self._limits)
        if case.key in self._keys:
            raise InputError(f"line {number} repeats the id {case.id!r} of system {case.system!r}")
        self._keys.add(case.key)
        return case


class _Lines:
    """Whole lines out of pieces of a body."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._number = 0

    def of(self, piece: bytes, *, last: bool) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of every line that is now whole; blank ones are left out."""
        self._rest += piece
        *whole, rest = self._rest.split(b"\n")
        self._rest = rest
        if last and rest:
            whole.append(rest)
        for line in whole:
            self._number += 1
            self._check(line)
            if line.strip():
                yield self._number, bytes(line)
        self._check(rest)

    def _check(self, line: bytearray) -> None:
        if len(line) > self._longest:
            raise InputError(f"line {self._number} has more than {self._longest} bytes")


def _parsed(line: bytes, number: int) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = parse_json(line)
    except UnicodeDecodeError:
        raise InputError(f"line {number} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"line {number} is not JSON ({error.msg})") from None
    return found
