"""Answers that end: bounded in time and in size, whatever the server does.

An HTTP client's time-out counts from one byte to the next, so a server that drips bytes holds it for ever; and a
small compressed answer may unpack to any size. Both are checked here while the answer comes in.
"""

from __future__ import annotations

import functools
import importlib
import queue
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from radgauge.core.errors import require
from radgauge.llm.limits import Stopped

R = TypeVar("R")

DEADLINE = "radgauge_deadline"
_STEP = 1 << 16


class TooLarge(Exception):
    """The answer is longer than allowed, or packed in a way that cannot be checked."""


def http_client(*, timeout: float, max_bytes: int, trust_env: bool) -> Any:
    """An HTTP client for the OpenAI library whose answers end by the time and size given.

    Args:
        timeout: Seconds for request and answer together.
        max_bytes: Bytes of an unpacked answer.
        trust_env: Whether proxies of the environment are used.
    """
    openai = require("openai", extra="llm")
    # Which HTTP library it stands on, and so its name, depends on the release.
    httpx = importlib.import_module(openai.DefaultHttpxClient.__base__.__module__.partition(".")[0])

    def begin(request: Any) -> None:
        request.extensions[DEADLINE] = time.monotonic() + timeout
        request.headers["accept-encoding"] = "gzip"

    def bound(response: Any) -> None:
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        deadline = response.request.extensions[DEADLINE]
        response.stream = stream(response.stream, packing, deadline)

    class Bounded(httpx.SyncByteStream):  # type: ignore[misc,name-defined]  # imported when used
        def __init__(self, source: Any, packing: str, deadline: float) -> None:
            self._source, self._packing, self._deadline = source, packing, deadline

        def __iter__(self) -> Iterator[bytes]:
            total = 0
            for part in unpacked(self._in_time(), self._packing):
                total += len(part)
                if total > max_bytes:
                    raise TooLarge(f"an answer of more than {max_bytes:,} bytes")
                yield part

        def _in_time(self) -> Iterator[bytes]:
            for part in self._source:
                if time.monotonic() > self._deadline:
                    raise httpx.ReadTimeout("the answer did not end in time")
                yield part

        def close(self) -> None:
            self._source.close()

    stream = Bounded
    # No redirects: the key and the texts go where the user said.
    return openai.DefaultHttpxClient(
        follow_redirects=False,
        trust_env=trust_env,
        timeout=timeout,
        event_hooks={"request": [begin], "response": [bound]},
    )


def unpacked(parts: Iterator[bytes], packing: str) -> Iterator[bytes]:
    """The content of an answer in small pieces, so that its size can be counted before it is held."""
    if packing in ("", "identity"):
        yield from parts
        return
    if packing not in ("gzip", "x-gzip"):
        raise TooLarge(f"an answer packed as {packing[:20]!r}, which was not asked for")
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for part in parts:
            while part:
                yield unpack.decompress(part, _STEP)
                part = unpack.unconsumed_tail
        yield unpack.flush(_STEP)
    except zlib.error:
        raise ValueError("an answer that cannot be unpacked") from None


class Errand:
    """Runs calls in threads of their own and waits for them, until a time has passed or `stop` is called.

    A call that is given up goes on in its thread, which does not keep the process alive. Each call has a queue of
    its own, so that a thousand of them do not wake each other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[queue.SimpleQueue[Callable[[], Any]]] = set()
        self._stopped = False

    def stop(self) -> None:
        """Give up every call, now and later."""
        with self._lock:
            self._stopped = True
            for waiter in self._waiting:
                waiter.put(_stopped)

    def run(self, call: Callable[[], R], *, seconds: float) -> R:
        """The value of the call, or its exception.

        Raises:
            TimeoutError: The time has passed.
            Stopped: `stop` was called.
        """
        news: queue.SimpleQueue[Callable[[], R]] = queue.SimpleQueue()

        def work() -> None:
            try:
                value = call()
            except BaseException as error:  # handed to whoever waits
                news.put(functools.partial(_raised, error))
            else:
                news.put(lambda: value)

        with self._lock:
            if self._stopped:
                _stopped()
            self._waiting.add(news)
        try:
            threading.Thread(target=work, daemon=True, name="llm-request").start()
            answer = news.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        finally:
            with self._lock:
                self._waiting.discard(news)
        return answer()


def _raised(error: BaseException) -> NoReturn:
    raise error


def _stopped() -> NoReturn:
    raise Stopped("stopped")
