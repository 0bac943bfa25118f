"""The shared parts of web pages: headers, limits, tokens, cookies, and where a server listens."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

pytest.importorskip("starlette", reason="extra `web` is not installed")

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from radgauge.core.errors import InputError, UsageError
from radgauge.study.http.headers import AllowedHosts, SecurityHeaders
from radgauge.study.http.limits import BodyLimit, RateLimit, RateLimiter
from radgauge.study.http.server import Place, serve
from radgauge.study.http.tokens import bearer, is_known, new_token, token_hash


async def _length(request: Request) -> Response:
    return JSONResponse({"length": len(await request.body())})


def _client(*middleware: Middleware, base_url: str = "http://localhost", **more: Any) -> TestClient:
    routes = [Route("/", _length, methods=["GET", "POST"]), *more.pop("routes", [])]
    return TestClient(Starlette(routes=routes, middleware=list(middleware)), base_url=base_url, **more)


def test_every_answer_carries_the_headers_errors_too() -> None:
    client = _client(Middleware(SecurityHeaders, https=True))
    for path, code in (("/", 200), ("/nothing", 404)):
        answer = client.get(path)
        assert answer.status_code == code
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert "strict-transport-security" not in _client(Middleware(SecurityHeaders)).get("/").headers


def test_an_answer_may_choose_how_it_is_cached() -> None:
    async def file(request: Request) -> Response:
        return PlainTextResponse("x", headers={"Cache-Control": "max-age=60"})

    client = _client(Middleware(SecurityHeaders), routes=[Route("/file", file)])
    assert client.get("/file").headers["cache-control"] == "max-age=60"


@pytest.mark.parametrize(
    ("host", "code"),
    [("localhost", 200), ("127.0.0.1:80", 200), ("[::1]:8000", 200), ("evil.example", 421), ("", 421)],
)
def test_other_host_names_are_refused(host: str, code: int) -> None:
    assert _client(Middleware(AllowedHosts)).get("/", headers={"Host": host}).status_code == code


def test_bodies_beyond_the_limit_are_refused_with_and_without_a_length() -> None:
    client = _client(Middleware(BodyLimit, largest=100))
    assert client.post("/", content=b"x" * 100).json() == {"length": 100}
    refused = client.post("/", content=b"x" * 101)
    assert (refused.status_code, refused.json()) == (413, {"error": "a request has at most 100 bytes"})
    streamed = client.post("/", content=iter([b"x" * 60, b"x" * 60]))
    assert streamed.status_code == 413
    assert client.post("/", content=iter([b"x" * 60])).json() == {"length": 60}
    assert client.post("/", content=b"x", headers={"Content-Length": "1e3"}).status_code == 413


def test_who_sends_too_much_waits_and_others_do_not() -> None:
    now = 0.0
    limiter = RateLimiter(per_second=2, burst=3, clock=lambda: now)
    client = _client(Middleware(RateLimit, limiter=limiter, visitor=lambda scope: dict(scope["headers"])[b"user"]))
    codes = [client.get("/", headers={"User": "a"}).status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    refused = client.get("/", headers={"User": "a"})
    assert refused.headers["retry-after"] == "1"
    assert client.get("/", headers={"User": "b"}).status_code == 200
    now = 0.5
    assert [client.get("/", headers={"User": "a"}).status_code for _ in range(2)] == [200, 429]


def test_the_limiter_remembers_a_bounded_number_of_visitors() -> None:
    limiter = RateLimiter(per_second=1, burst=1, most_visitors=100)
    for number in range(1000):
        limiter.wait(str(number))
    assert len(limiter._buckets) == 100
    assert limiter.wait("999") > 0


def test_tokens_are_random_and_known_by_their_hash() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    hashes = [token_hash(token) for token in tokens]
    assert all(is_known(token, hashes) for token in tokens)
    assert not is_known(hashes[0], hashes)
    assert not is_known("", hashes)
    assert not is_known("\udc80", hashes)
    assert bearer("Bearer ") is None
    assert bearer("Bearer a b") is None


def test_other_machines_come_in_only_under_a_named_address() -> None:
    with pytest.raises(UsageError, match=r"lets other machines in: name the address"):
        Place(host="0.0.0.0")
    with pytest.raises(UsageError, match=r"without a path"):
        Place(url="https://study.example/path")
    with pytest.raises(UsageError, match=r"https://name"):
        Place(url="study.example")
    place = Place(host="0.0.0.0", url="https://Study.example:8443")
    assert place.https
    assert place.host_names == {"localhost", "127.0.0.1", "[::1]", "study.example"}
    assert not Place().https


def test_a_taken_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is taken"):
            serve(_client().app, Place(port=port), ready=lambda address: None)
    with pytest.raises(InputError, match=r"is not an address of this machine"):
        serve(_client().app, Place(host="no such host", url="http://a"), ready=lambda address: None)


SERVER = """
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from radgauge.study.http.server import Place, serve

async def hello(request):
    return PlainTextResponse("hello")

def broken(request):
    raise ValueError("effusion of " + "Mary Smith")

routes = [Route("/secret-token", hello), Route("/broken", broken)]
serve(Starlette(routes=routes), Place(), ready=lambda address: print(address, flush=True))
"""


@pytest.mark.process
def test_a_server_says_its_address_answers_and_logs_nothing_of_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(f"{address}/secret-token", timeout=30) as answer:
                assert answer.read() == b"hello"
                assert "server" not in answer.headers
            with pytest.raises(urllib.error.HTTPError, match="500"):
                urllib.request.urlopen(f"{address}/broken", timeout=30)
        finally:
            process.terminate()
        out, errors = process.communicate(timeout=30)
    assert out == b""
    assert b"secret-token" not in errors
    assert b"Mary Smith" not in errors  # an error's message may be a report; its kind and line are for the log
    assert b"in broken" in errors
    assert errors.strip().endswith(b"ValueError")


NODELAY = """
import socket
from radgauge.study.http.server import Place, serve

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        return
    transport = send.__self__.transport
    said = str(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": said})

serve(app, Place(), ready=lambda address: print(address, flush=True))
"""


@pytest.mark.process
def test_small_answers_are_sent_at_once() -> None:
    """Without TCP_NODELAY an answer in two parts waits 40 ms for the other side's acknowledgment."""
    with subprocess.Popen([sys.executable, "-c", NODELAY], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            with urllib.request.urlopen(address, timeout=30) as answer:
                assert answer.read() != b"0"
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        (None, False),
        ("https://study.example", False),
        ("http://localhost:80", False),
        ("http://study.example", True),
    ],
)
def test_plain_http_on_a_network_is_warned_of(url: str | None, warned: bool) -> None:
    assert ("plain HTTP" in Place(url=url).warning) is warned
