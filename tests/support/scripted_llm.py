"""An OpenAI-compatible server on 127.0.0.1 that behaves as a test tells it to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-4f1d9c0b7e"


@dataclass
class Reply:
    """What the server sends.

    Attributes:
        content: Text of the answer.
        status: HTTP status; other than 200, `content` is the error's message.
        headers: More headers.
        finish: Why the answer ended.
        usage: Tokens of question and answer; None = not told.
        body: Sent in place of everything else.
        hang: Seconds to wait first, or until the server is closed.
        error: Fields of the error, if the status is one.
        message: More fields of the message: a refusal, tool calls.
        fingerprint: Of the model.
    """

    content: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 50)
    body: bytes | None = None
    hang: float = 0.0
    error: dict[str, Any] = field(default_factory=dict)
    message: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = "fp_1"


Behaviour = Callable[["Request"], Reply]


@dataclass(frozen=True)
class Request:
    """A question as it came.

    Attributes:
        number: Counted from 0.
        items: The JSON object in the question: number -> text, or number -> object.
        body: The whole body.
        key: The bearer token.
        headers: All of them.
    """

    number: int
    items: dict[str, Any]
    body: dict[str, Any]
    key: str
    headers: str


def numbered(items: dict[str, str]) -> str:
    """An honest answer."""
    return json.dumps(items)


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        """Seconds."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.slept.append(seconds)
        self.time += seconds


class _Http(ThreadingHTTPServer):
    request_queue_size = 1024  # a thousand may come at once


class ScriptedServer:
    """Answers by `behaviour`; remembers every request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.behaviour: Behaviour = lambda request: Reply(
            numbered({k: f"plain {v}" for k, v in request.items.items()})
        )
        self.closed = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                text = body["messages"][1]["content"] if len(body["messages"]) > 1 else ""
                start = re.search(r'\{\s*"', text)
                items, _ = json.JSONDecoder().raw_decode(text, start.start()) if start else ({}, 0)
                with outer._lock:
                    key = (self.headers.get("authorization") or "").removeprefix("Bearer ")
                    request = Request(len(outer.requests), items, body, key, str(self.headers))
                    outer.requests.append(request)
                reply = outer.behaviour(request)
                if reply.hang:
                    outer.closed.wait(reply.hang)
                try:
                    self._send(reply)
                except OSError:  # the client did not wait
                    self.close_connection = True

            def _send(self, reply: Reply) -> None:
                if reply.body is not None:
                    content = reply.body
                elif reply.status != 200:
                    content = json.dumps({"error": {"message": reply.content, **reply.error}}).encode()
                else:
                    message = {"role": "assistant", "content": reply.content, **reply.message}
                    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
                    answer: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
                    answer |= {"choices": [choice], "system_fingerprint": reply.fingerprint}
                    if reply.usage is not None:
                        asked, said = reply.usage
                        answer["usage"] = {
                            "prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said,
                        }  # fmt: skip
                    content = json.dumps(answer).encode()
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = _Http(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that name this server."""
        return {"RADGAUGE_LLM_URL": self.url, "RADGAUGE_LLM_MODEL": "scripted", "RADGAUGE_LLM_KEY": KEY}

    @contextmanager
    def running(self) -> Iterator[ScriptedServer]:
        """Serve until the block ends."""
        self._thread.start()
        try:
            yield self
        finally:
            self.closed.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()

    def script(self, *replies: Reply | Behaviour) -> None:
        """Answer the first requests so, and the later ones honestly."""
        honest = self.behaviour
        start = len(self.requests)

        def behave(request: Request) -> Reply:
            place = request.number - start
            chosen = replies[place] if place < len(replies) else honest
            return chosen if isinstance(chosen, Reply) else chosen(request)

        self.behaviour = behave
