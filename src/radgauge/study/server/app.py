"""The ASGI application: addresses, tokens, limits, and how errors are told."""

from __future__ import annotations

import base64
import binascii
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from jinja2 import Environment, select_autoescape
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from radgauge import __version__
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.log import event
from radgauge.core.scores import Results
from radgauge.study.http.connections import disconnected
from radgauge.study.http.headers import AllowedHosts, SecurityHeaders
from radgauge.study.http.limits import BodyLimit
from radgauge.study.http.server import Place, serve
from radgauge.study.http.tokens import bearer, is_known
from radgauge.study.server.judge import Late, Settings, as_bytes
from radgauge.study.server.requests import Limits, TooMany, options_of, parts_of
from radgauge.study.server.stream import LINES, StreamedScores
from radgauge.study.server.telemetry import Observed, Telemetry
from radgauge.study.server.workers import Broken, Workers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


# The OpenAPI document of the service, and the page that shows it: one file, no script, nothing from elsewhere.

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")

_TEXT, _NUMBER, _TRUTH = {"type": "string"}, {"type": ["number", "null"]}, {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}
_NAMED_NUMBERS = {"type": "object", "additionalProperties": _NUMBER}
_NAMED_TEXTS = {"type": "object", "additionalProperties": _TEXT}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


_SCHEMAS: dict[str, Any] = {
    "Case": {
        **_object(
            id={"type": ["string", "integer"], "description": "Of the study; the row number if it is missing."},
            system={"type": "string", "default": "system", "description": "Who wrote the candidate."},
            candidate={"type": ["string", "null"], "description": "The report that is judged."},
            reference={"type": ["string", "null"], "description": "What the radiologist wrote."},
            references={**_TEXTS, "description": "Instead of reference: alternatives, of which the best counts."},
        ),
        "required": ["candidate"],
    },
    "JudgedCase": _object(
        id=_TEXT,
        system=_TEXT,
        values={**_NAMED_NUMBERS, "description": "One number per output; null = not judged, never 0."},
        not_judged={**_NAMED_TEXTS, "description": "Metric -> why it did not judge this case."},
        explanations={
            "type": "array",
            "items": {"type": "object"},
            "description": "With explain: notes and places.",
        },
        notes={**_TEXTS, "description": "In streams: what is odd about the texts."},
    ),
    "Summary": _object(
        system=_TEXT,
        judge=_TEXT,
        column=_TEXT,
        value=_NUMBER,
        low=_NUMBER,
        high=_NUMBER,
        level={"type": "number"},
        judged={"type": "integer"},
        not_judged={"type": "integer"},
        not_applicable={"type": "integer", "description": "Judged cases that this output says nothing about."},
        reasons={"type": "array", "items": _object(reason=_TEXT, cases={"type": "integer"})},
        higher_is_better=_TRUTH,
        signature=_TEXT,
        truncated={"type": "integer", "description": "Cases with a report longer than an encoder reads."},
        method={"type": "string", "description": "How the interval was made; empty without one."},
    ),
    "Scores": _object(
        cases=_listed("JudgedCase"), summary=_listed("Summary"), metrics={"type": "object"}, notes=_TEXTS
    ),
    "Rewards": _object(
        rewards={
            "type": "array",
            "items": {"type": "number"},
            "description": "The floor if not judged.",
        },
        scores={"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}},
        extra_logs=_object(judged={"type": "array", "items": {"type": "number"}, "description": "1 = judged."}),
    ),
    "Error": _object(error=_TEXT),
}


def description(metrics: Mapping[str, Mapping[str, Any]], limits: Limits, *, reward: str) -> dict[str, Any]:
    """The service as an OpenAPI 3.1 document.

    Args:
        metrics: The metrics that are served, with signature, columns and direction.
        limits: What one request may cost.
        reward: The metric behind `/get_reward`; "" if there is none.
    """
    names = list(metrics)
    chosen = {"type": "array", "items": {"type": "string", "enum": names}, "default": names}
    options = {
        "metrics": {**chosen, "description": "Some of the metrics that are served."},
        "explain": {**_TRUTH, "default": False, "description": "Why each case got its values."},
        "level": {"type": "number", "minimum": 0.5, "maximum": 0.999, "default": 0.95},
        "resamples": {"type": "integer", "minimum": 0, "maximum": 10_000, "default": 1000},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
    }
    request = {**_object(cases={**_listed("Case"), "maxItems": limits.cases}, **options), "required": ["cases"]}
    paths: dict[str, Any] = {
        "/score": {
            "post": {
                "summary": "Judge cases",
                "description": (
                    f"JSON with up to {limits.cases} cases and {limits.body} bytes, answered as one object; or "
                    f"JSON lines, one case per line and up to {limits.streamed_cases} of them, answered line by "
                    "line while they arrive, and at the end by one line with summary, metrics and notes (or "
                    "error). Lines take the options from the address: /score?metrics=errors&explain=true."
                ),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": request,
                            "example": {
                                "cases": [
                                    {"id": "1", "candidate": "No effusion.", "reference": "Small left effusion."}
                                ],
                                "explain": True,
                            },
                        },
                        "application/x-ndjson": {"schema": {"$ref": "#/components/schemas/Case"}},
                    },
                },
                "responses": _responses("Scores", "The values, intervals and reasons."),
            }
        },
        "/version": {"get": {"summary": "Version and signatures", "security": [], "responses": _plain("Both.")}},
        "/metrics": {
            "get": {
                "summary": "Counters for Prometheus: requests, latency, queue, workers",
                "security": [],
                "responses": {"200": {"description": "Text format 0.0.4.", "content": {"text/plain": {}}}},
            }
        },
        "/health": {"get": {"summary": "Is the process alive?", "security": [], "responses": _plain("It is.")}},
        "/ready": {
            "get": {
                "summary": "Are the metrics loaded?",
                "security": [],
                "responses": {**_plain("They are; which, with signatures."), "503": {"description": "Not yet."}},
            }
        },
    }
    if reward:
        paths["/get_reward"] = {
            "post": {
                "summary": f"Rewards for training (OpenRLHF's remote reward), by {reward}",
                "description": (
                    "A query is the prompt and the answer; labels are the references. Rewards lie between 0 and "
                    "1, 1 = best; what cannot be judged gets the floor."
                ),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": _object(query=_TEXTS, prompts=_TEXTS, labels={"type": "array"}),
                            "example": {"query": ["No effusion."], "prompts": [""], "labels": ["No effusion."]},
                        }
                    },
                },
                "responses": _responses("Rewards", "One reward per query, in order."),
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "radgauge",
            "version": __version__,
            "description": "Measures machine-written radiology reports. Served: "
            + "; ".join(f"{name} ({about['signature']})" for name, about in metrics.items()),
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {"schemas": _SCHEMAS, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _plain(about: str) -> dict[str, Any]:
    return {"200": {"description": about, "content": {"application/json": {"schema": {"type": "object"}}}}}


def _responses(schema: str, about: str) -> dict[str, Any]:
    form = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    told = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    reasons = {
        "400": "The request is not as it should be; the message says where, and shows no text of a report.",
        "401": "No token, or a wrong one.",
        "413": "Too large.",
        "503": "Too many requests, or it took longer than it may; come again.",
    }
    return {
        "200": {"description": about, "content": {"application/json": {"schema": form}}},
        **{code: {"description": why, "content": told} for code, why in reasons.items()},
    }


@cache
def _template() -> Any:
    source = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    return Environment(autoescape=select_autoescape(default=True)).from_string(source)


def page(document: Mapping[str, Any]) -> str:
    """The document as a page for people."""
    return str(_template().render(document=document))


log = logging.getLogger(__name__)

OPEN = frozenset({"/", "/style.css", "/openapi.json", "/health", "/ready", "/version", "/metrics"})
"""Addresses that show no token: they take no reports and give none."""


class Busy(RadgaugeError):
    """More requests are waiting than the service holds."""


def build(settings: Settings, place: Place) -> ASGIApp:
    """The application; metrics are loaded at once, and warmed while `/ready` says 503."""
    telemetry = Telemetry()
    workers = Workers(settings, telemetry)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            await workers.start(group)
            event("started", version=__version__, workers=settings.workers, metrics=list(settings.metrics))
            yield
            event("stopping", in_flight=telemetry.in_flight)
            group.cancel_scope.cancel()

    service = _Service(workers)
    routes = [
        Route("/", service.page),
        Route("/style.css", service.style),
        Route("/openapi.json", service.openapi),
        Route("/health", service.health),
        Route("/ready", service.is_ready),
        Route("/version", service.version),
        Route("/metrics", service.metrics),
        Route("/score", service.score, methods=["POST"]),
    ]
    if settings.reward:
        routes.append(Route("/get_reward", service.rewards, methods=["POST"]))
    layers = [
        Middleware(Observed, telemetry=telemetry),
        Middleware(SecurityHeaders, https=place.https),
        Middleware(AllowedHosts, names=place.host_names),
        Middleware(TokenNeeded, hashes=settings.tokens),
        Middleware(BodyLimit, largest=max(settings.limits.body, settings.limits.streamed_bytes)),
    ]
    told = {HTTPException: _http_error, ClientDisconnect: disconnected, Exception: _unexpected}
    for kind, code in (
        (Late, 503),
        (Busy, 503),
        (Broken, 503),
        (TooMany, 413),
        (InputError, 400),
        (UsageError, 400),
        (RadgaugeError, 500),
    ):
        told[kind] = partial(_told, code)
    return Starlette(routes=routes, middleware=layers, exception_handlers=told, lifespan=life)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TokenNeeded:
    """Answers 401 to requests without one of the tokens; no tokens, no question.

    The token is that of `Authorization: Bearer`, or the password of `Basic`: trainers that take a bare address of
    a reward can be given `http://any:TOKEN@host`.
    """

    app: ASGIApp
    hashes: tuple[str, ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.hashes and scope["path"] not in OPEN:
            token = _token(Headers(scope=scope).get("authorization"))
            if token is None or not is_known(token, self.hashes):
                refusal = JSONResponse(
                    {"error": "a token is needed: Authorization: Bearer TOKEN"},
                    status_code=401,
                    headers={"WWW-Authenticate": 'Bearer realm="radgauge"'},
                )
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _token(header: str | None) -> str | None:
    if header and header[:6].lower() == "basic ":
        try:
            return base64.b64decode(header[6:].strip(), validate=True).decode().partition(":")[2] or None
        except (binascii.Error, UnicodeDecodeError):
            return None
    return bearer(header)


class _Service:
    """The addresses."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.judge = judge = workers.judge
        self.limits = judge.settings.limits
        self._description = description(judge.signatures, self.limits, reward=judge.settings.reward)
        self._waiting = 0

    async def page(self, request: Request) -> Response:
        return Response(page(self._description), media_type="text/html")

    async def style(self, request: Request) -> Response:
        return PlainTextResponse(STYLE, media_type="text/css")

    async def openapi(self, request: Request) -> Response:
        return JSONResponse(self._description)

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def version(self, request: Request) -> Response:
        signatures = {name: about["signature"] for name, about in self.judge.signatures.items()}
        return JSONResponse({"radgauge": __version__, "metrics": signatures})

    async def metrics(self, request: Request) -> Response:
        text = self.workers.telemetry.exposition(
            version=__version__,
            waiting=self._waiting,
            workers=self.judge.settings.workers,
            ready=self.workers.ready,
        )
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def is_ready(self, request: Request) -> Response:
        ready = self.workers.ready
        about = {"status": "ready" if ready else "loading", "metrics": self.judge.signatures}
        return JSONResponse(about, status_code=200 if ready else 503)

    async def score(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in LINES:
            options = options_of(_query(request.query_params), self.judge.metrics)
            self._take_place()
            return StreamedScores(self.workers, options, done=self._leave_place)
        if kind != "application/json":
            raise HTTPException(415, f"send application/json, or JSON lines as {' or '.join(LINES)}")
        return await self._in_turn(request, self._answer)

    async def rewards(self, request: Request) -> Response:
        return await self._in_turn(request, self._rewarded)

    async def _answer(self, body: bytes, until: float) -> bytes:
        read = await self.workers.run("request", body, until=until)
        if isinstance(read, bytes):
            return read
        cases, options = read
        results: list[Results] = []
        records: list[bytes] = []
        independent = all(self.judge.metrics[name].independent for name in options.metrics)
        for part in parts_of(cases, self.limits) if independent else [cases]:
            of_part, of_cases = await self.workers.run("part", part, options, until=until)
            results.append(of_part)
            records += of_cases
        closing: bytes = await self.workers.run("closing", results, cases, options, until=until)
        return b'{"cases":[' + b",".join(records) + b"]," + closing.removeprefix(b"{")

    async def _rewarded(self, body: bytes, until: float) -> bytes:
        """Return rewards in the form of OpenRLHF: rewards, the same between 0 and 1, and numbers to log."""
        rewards: list[tuple[float, bool]] = []
        for part in parts_of(await self.workers.run("reward_request", body, until=until), self.limits):
            texts = [case.candidate for case in part], [case.references for case in part]
            rewards += await self.workers.run("rewards", *texts, until=until)
        return as_bytes(
            {
                "rewards": [value for value, _ in rewards],
                "scores": [min(max(value, 0.0), 1.0) for value, _ in rewards],
                "extra_logs": {"judged": [float(judged) for _, judged in rewards]},
            }
        )

    async def _in_turn(self, request: Request, work: Callable[[bytes, float], Awaitable[bytes]]) -> Response:
        """Do what the body of a request asks for, within the time that it has."""
        body = await self._body(request)
        self._take_place()
        try:
            answer = await work(body, time.monotonic() + self.limits.seconds)
            return Response(answer, media_type="application/json")
        finally:
            self._leave_place()

    def _take_place(self) -> None:
        if self._waiting >= self.limits.waiting:
            raise Busy(f"{self._waiting} requests are waiting (--limits waiting=); come again in a moment")
        self._waiting += 1

    def _leave_place(self) -> None:
        self._waiting -= 1

    async def _body(self, request: Request) -> bytes:
        """The JSON of a request; the processes that judge also read it, since its parser holds the interpreter."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise HTTPException(415, "send the body as it is, without compression")
        body = bytearray()
        try:
            with anyio.fail_after(self.limits.upload):
                async for piece in request.stream():
                    body += piece
                    if len(body) > self.limits.body:
                        raise HTTPException(413, f"a JSON request has at most {self.limits.body} bytes")
        except TimeoutError:
            raise HTTPException(408, f"the body took longer than {self.limits.upload:g} seconds") from None
        return bytes(body)


def _query(given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of an address, typed as JSON would have them."""
    known = {"metrics", "explain", "level", "resamples", "seed"}
    if given.keys() - known:
        raise InputError(f"the address has an unknown parameter; it may have: {', '.join(sorted(known))}")
    found: dict[str, Any] = {}
    for name, text in given.items():
        if name == "metrics":
            found[name] = [each.strip() for each in text.split(",")]
        elif name == "explain":
            found[name] = {"true": True, "false": False}.get(text.lower(), text)
        else:
            try:
                found[name] = int(text) if text.isdecimal() and len(text) < 16 else float(text)
            except ValueError:
                found[name] = math.nan
    return found


async def _told(code: int, request: Request, error: Exception) -> Response:
    headers = {"Retry-After": "1"} if isinstance(error, Busy | Late | Broken) else None
    return JSONResponse({"error": str(error)}, status_code=code, headers=headers)


async def _http_error(request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    """An error of ours: its kind alone is told, since its message may hold report text."""
    return JSONResponse({"error": f"internal error ({type(error).__name__})"}, status_code=500)


def run(settings: Settings, place: Place, *, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once requests are taken."""
    serve(build(settings, place), place, ready=ready)
