"""Headers of every answer (no foreign content, no frames, no cached copies), and the host names we answer to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# No inline script or style, nothing from another host, nothing embedded: text of a report cannot become code.
CONTENT_POLICY = MappingProxyType(
    {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
)

HEADERS = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)


@dataclass(frozen=True)
class SecurityHeaders:
    """Adds the headers to every HTTP answer of an ASGI application; an answer's own `Cache-Control` stays.

    With `https` the browser is also told to come back encrypted only (for one year).
    """

    app: ASGIApp
    policy: Mapping[str, str] = field(default_factory=lambda: CONTENT_POLICY)
    https: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["Content-Security-Policy"] = "; ".join(" ".join(pair) for pair in self.policy.items())
                if self.https:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        await self.app(scope, receive, send_with_headers)


LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class AllowedHosts:
    """Refuses requests for other host names: a page elsewhere must not reach us by renaming itself (rebinding).

    The names are those of the `Host` header, without the port.
    """

    app: ASGIApp
    names: Collection[str] = LOOPBACK_NAMES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            name = host_name(Headers(scope=scope).get("host", ""))
            if name not in self.names:
                refusal = PlainTextResponse("This server does not answer to that host name.\n", status_code=421)
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def host_name(host: str) -> str:
    """The name in a `Host` header, in small letters and without the port.

    >>> host_name("LOCALHOST:8000"), host_name("[::1]:8000"), host_name("study.example")
    ('localhost', '[::1]', 'study.example')
    """
    end = host.find("]") + 1 if host.startswith("[") else host.find(":")
    return (host[:end] if end > 0 else host).lower()
