"""Server of the model: address, model and key, from the environment only.

`RADGAUGE_LLM_URL` and `RADGAUGE_LLM_MODEL` must be set; there is no default server, so nothing leaves the machine
by accident. `RADGAUGE_LLM_KEY` is the key, if the server wants one; `OPENAI_API_KEY` is used in its place only for
the host it was made for. `RADGAUGE_OFFLINE=1` allows servers on this machine and no others.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import urlsplit

from radgauge.core.errors import UsageError
from radgauge.core.storage import offline

URL, MODEL, KEY = "RADGAUGE_LLM_URL", "RADGAUGE_LLM_MODEL", "RADGAUGE_LLM_KEY"
OPENAI = "api.openai.com"


class Secret:
    """A text that shows itself only when asked by name: not in repr, messages, JSON or pickles.

    >>> Secret("sk-1"), f"{Secret('sk-1')}"
    (***, '***')
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def hide_in(self, message: str) -> str:
        """The message without the secret, should a server have repeated it."""
        return message.replace(self._text, "***") if self._text else message

    def __repr__(self) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not written anywhere")


@dataclass(frozen=True)
class Server:
    """An OpenAI-compatible server."""

    url: str  # Base address, up to and including /v1
    model: str  # The model's name there
    # Sent as bearer token; empty where the server wants none
    key: Secret = field(default_factory=lambda: Secret(""))

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{URL} must be an http or https address such as http://127.0.0.1:8080/v1")
        if parts.username or parts.password or parts.query:
            raise UsageError(f"{URL} must hold neither user, password nor query; the key belongs in {KEY}")
        if not self.model:
            raise UsageError(f"{MODEL} must name the model to ask")

    @property
    def host(self) -> str:
        """Name of the machine that is asked."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_local(self) -> bool:
        """True if it runs on this machine.

        >>> Server("http://127.0.0.1:8080/v1", "m").is_local, Server("http://10.0.0.7/v1", "m").is_local
        (True, False)
        """
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def signature(self) -> str:
        """Model and host."""
        return f"{self.model}@{self.host}"

    @property
    def notice(self) -> str:
        """Destination of texts, shown before the first of them is sent."""
        if self.is_local:
            return f"texts go to the model {self.model} on this machine ({self.url}); nothing leaves it"
        plain = ", unencrypted" if self.url.startswith("http:") else ""
        return (
            f"texts of your reports LEAVE THIS MACHINE{plain}: they go to {self.host} (model {self.model}). "
            "Make sure that you may send them there."
        )


def server_from_environment(environment: Mapping[str, str] | None = None) -> Server:
    """The server that the environment names.

    Args:
        environment: Variables; None = those of the process.

    Raises:
        UsageError: None is named, or it is on another machine and `RADGAUGE_OFFLINE` is set.
    """
    variables = os.environ if environment is None else environment
    url, model = variables.get(URL, "").strip(), variables.get(MODEL, "").strip()
    if not url or not model:
        missing = " and ".join(name for name, value in ((URL, url), (MODEL, model)) if not value)
        raise UsageError(
            f"no language model is configured: set {missing} "
            f"(for instance {URL}=http://127.0.0.1:8080/v1), and {KEY} if the server wants a key"
        )
    key = variables.get(KEY, "").strip()
    if not key and (urlsplit(url).hostname or "") == OPENAI:  # never shown to another host
        key = variables.get("OPENAI_API_KEY", "").strip()
    server = Server(url, model, Secret(key))
    if offline() and not server.is_local:
        raise UsageError(
            f"RADGAUGE_OFFLINE forbids asking {server.host}; a server on this machine (127.0.0.1) is allowed"
        )
    return server
