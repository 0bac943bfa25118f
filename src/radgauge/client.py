"""Client of `radgauge serve`: scores and rewards over HTTP, with retries; needs nothing but the standard library.

with Client("http://127.0.0.1:8000", token=TOKEN) as judge:
    answer = judge.score([{"candidate": "No effusion.", "reference": "Small effusion."}])
"""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, RadgaugeError

RETRIED = (502, 503, 504)
MAX_WAIT = 30.0


class ServiceError(RadgaugeError):
    """The service refused a request, or could not be reached after all retries."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A connection per thread to one service.

    Args:
        url: Address of the service, for instance http://127.0.0.1:8000.
        token: Its token, unless it was started with --no-token.
        retries: How often a busy or unreachable service is asked again, after a growing random pause.
        timeout: Seconds to wait for an answer.
        sleep: How to pause; for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        retries: int = 6,
        timeout: float = 120.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = urlsplit(url)
        if self._url.scheme not in ("http", "https") or not self._url.netloc:
            raise InputError(f"url must be http://host:port or https://host, got {url!r}")
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._retries, self._timeout, self._sleep = retries, timeout, sleep
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []  # of every thread

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the next request opens another."""
        while self._open:
            self._open.pop().close()
        self._local = threading.local()

    def score(self, cases: Sequence[Case | Mapping[str, Any]], **options: Any) -> dict[str, Any]:
        """Judge cases: `cases`, `summary`, `metrics` and `notes` as the service answers.

        Args:
            cases: Case objects, or dicts with candidate and reference.
            options: metrics, explain, level, resamples, seed.
        """
        return self._call("POST", "/score", {"cases": [_as_record(case) for case in cases], **options})

    def rewards(self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]) -> list[float]:
        """Return one reward per candidate."""
        body = {"query": list(candidates), "prompts": [""] * len(candidates), "labels": list(references)}
        rewards: list[float] = self._call("POST", "/get_reward", body)["rewards"]
        return rewards

    def version(self) -> dict[str, Any]:
        """Return the version of the service and the signatures of its metrics."""
        return self._call("GET", "/version", None)

    def ready(self) -> bool:
        """True once the metrics are loaded."""
        try:
            return bool(self._once("GET", "/ready", b"")[0] == 200)
        except OSError:
            return False

    async def score_async(self, cases: Sequence[Case | Mapping[str, Any]], **options: Any) -> dict[str, Any]:
        """Judge cases without blocking the event loop; see `score`."""
        return await asyncio.to_thread(self.score, cases, **options)

    async def rewards_async(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Return rewards without blocking the event loop; see `rewards`."""
        return await asyncio.to_thread(self.rewards, candidates, references)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body, allow_nan=False).encode()
        problem = ServiceError("the service was not asked")
        for attempt in range(self._retries + 1):
            pause = 0.0
            try:
                status, wait, answer = self._once(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                problem = ServiceError(f"{self._url.netloc} cannot be reached ({type(error).__name__})")
            else:
                if status == 200:
                    result: dict[str, Any] = json.loads(answer)
                    return result
                problem = ServiceError(f"{path}: {_message(answer)} (status {status})", status)
                if status not in RETRIED:
                    raise problem
                pause = wait
            if attempt < self._retries:
                # full jitter: clients that were refused together do not come back together
                self._sleep(max(pause, random.uniform(0, min(MAX_WAIT, 0.25 * 2**attempt))))
        raise problem

    def _once(self, method: str, path: str, data: bytes) -> tuple[int, float, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
            connection = self._local.connection = kind(self._url.netloc, timeout=self._timeout)
            self._open.append(connection)
        try:
            connection.request(method, self._url.path.rstrip("/") + path, data, self._headers)
            answer = connection.getresponse()
            wait = answer.getheader("Retry-After") or "0"
            return answer.status, float(wait) if wait.isdigit() else 0.0, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()  # http.client opens it again for the next request
            raise


def _as_record(case: Case | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(case, Case):
        return dict(case)
    return {
        "id": case.id,
        "system": case.system,
        "candidate": case.candidate,
        "references": list(case.references),
    }


def _message(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return "no message"
