"""Running an application: on this machine alone unless told otherwise, without a word of its traffic in a log."""

from __future__ import annotations

import errno
import ipaddress
import logging
import signal
import socket
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn

from radgauge.core.errors import InputError, UsageError
from radgauge.study.http.certificate import Certificate
from radgauge.study.http.connections import Connections
from radgauge.study.http.headers import LOOPBACK_NAMES, host_name
from radgauge.study.http.limits import ConnectionLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp


OTHER_FILES = 128
"""Files that a server has open besides its connections: databases, images, pipes, modules that load."""


@dataclass(frozen=True)
class Place:
    """Address that a server listens on, and the URL at which people reach it.

    `url` is needed behind a proxy and for every host that is not this machine itself. `proxy` is the address from
    which the proxy connects; only its `X-Forwarded-For` is believed. With `certificate` the server itself speaks
    TLS.
    """

    host: str = "127.0.0.1"
    port: int = 0
    url: str | None = None
    proxy: str | None = None
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and self.url is None:
            raise UsageError(
                f"host {self.host!r} lets other machines in: name the address under which they come with "
                "url='https://...' (see SECURITY.md on running behind a proxy with TLS), or stay on 127.0.0.1"
            )
        if self.url is not None:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
                raise UsageError("url must be of the form https://name or https://name:port, without a path")

    @property
    def https(self) -> bool:
        """True if browsers connect encrypted (through a proxy: the server itself speaks HTTP)."""
        return (self.url or "").startswith("https:")

    @property
    def warning(self) -> str:
        """Reason why the address is unsafe; empty if it is safe."""
        if self.url is None or self.https or is_loopback(urlsplit(self.url).hostname or ""):
            return ""
        return (
            f"{self.url} is plain HTTP: whoever is on the network reads tokens and reports; use a proxy with TLS "
            "and an https address"
        )

    @property
    def host_names(self) -> frozenset[str]:
        """The names under which the server answers."""
        return LOOPBACK_NAMES | ({host_name(urlsplit(self.url).netloc)} if self.url else set())


def is_loopback(host: str) -> bool:
    """True if a host is this machine and no other can reach it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def without_message(record: logging.LogRecord) -> bool:
    """Keep of a logged exception its kind and where it was raised: its message may hold report text."""
    if record.exc_info and record.exc_info[0] is not None:
        kind, _, frames = record.exc_info
        record.exc_text = "".join(traceback.format_tb(frames)) + kind.__name__
    return True


class _Server(uvicorn.Server):
    """uvicorn, with a call once it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()


def serve(
    app: ASGIApp,
    place: Place,
    *,
    ready: Callable[[str], None],
    workers_wait: int = 10,
    limits: ConnectionLimits | None = None,
) -> None:
    """Answer requests until interrupted or terminated; `ready` gets the address, once the server listens.

    Both end in an exception, so that callers close what they have open: uvicorn, when it has stopped, raises the
    signal again, and the usual SIGTERM would end the process there and then.

    `workers_wait`: seconds that requests under way may take when the server is stopped. `limits`: on connections;
    as many files are allowed to the process as they need, or else fewer connections.
    """
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(without_message)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
    with listen(place) as listening:
        address = address_of(listening, place)
        config = configuration(app, place, workers_wait=workers_wait, limits=limits or ConnectionLimits())
        _Server(config, lambda: ready(address)).run(sockets=[listening])


def _terminated(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def configuration(app: ASGIApp, address: Place, *, workers_wait: int, limits: ConnectionLimits) -> uvicorn.Config:
    """Return uvicorn's configuration for an app."""
    limits = replace(limits, total=min(limits.total, allow_files(limits.total + OTHER_FILES) - OTHER_FILES))
    return uvicorn.Config(
        app,
        http=Connections(limits, proxy=address.proxy).protocol,  # type: ignore[arg-type]  # called, never subclassed
        log_config=None,
        access_log=False,  # addresses hold study ids and tokens
        server_header=False,
        proxy_headers=address.proxy is not None,
        forwarded_allow_ips=address.proxy,
        timeout_graceful_shutdown=workers_wait,
        timeout_keep_alive=limits.idle_seconds,
        lifespan="on",
        ws="none",
        ssl_certfile=address.certificate.certificate if address.certificate is not None else None,
        ssl_keyfile=address.certificate.key if address.certificate is not None else None,
    )


def allow_files(number: int) -> int:
    """Let this process open as many files, if the system lets it; return how many it may open."""
    try:
        import resource
    except ImportError:  # Windows: no such limit
        return number
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number:
        soft = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return number if soft == resource.RLIM_INFINITY else soft


def address_of(listening: socket.socket, address: Place) -> str:
    """The address under which people reach a server that listens."""
    host, port = listening.getsockname()[:2]
    return (address.url or f"http://{f'[{host}]' if ':' in host else host}:{port}").rstrip("/")


def listen(place: Place) -> socket.socket:
    """A socket at a place, ready for connections."""
    try:
        addresses = socket.getaddrinfo(place.host.strip("[]"), place.port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        raise InputError(f"host {place.host!r} is not an address of this machine") from None
    family, _, _, _, address = addresses[0]
    # With the protocol named, asyncio sends small answers at once instead of waiting 40 ms for more (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {place.port} is taken: another server runs there, choose another port"
            ) from None
        raise InputError(f"cannot listen on {place.host} port {place.port}: {error.strerror}") from None
    return listening
