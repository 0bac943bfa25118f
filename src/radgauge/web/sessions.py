"""Signed cookies: who a browser is, and the proof that a request comes from our own page."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itsdangerous import BadSignature, URLSafeTimedSerializer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

CSRF_HEADER = "X-CSRF-Token"


@dataclass(frozen=True)
class Session:
    """One signed-in browser: who it is, and the token its requests must show."""

    who: str
    id: str
    csrf: str


@dataclass(frozen=True)
class Sessions:
    """Cookies signed with `secret`; each is good for `seconds` and for one `role` only.

    Sessions are not stored: whoever was revoked must be refused by the application, on every request.
    """

    secret: str
    role: str
    seconds: int = 12 * 3600
    https: bool = False

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers take `__Host-` cookies over HTTPS from this very host alone."""
        return ("__Host-" if self.https else "") + f"radgauge-{self.role}"

    def start(self, response: Response, who: str) -> Session:
        """Sign a browser in: the answer carries its cookie."""
        id = secrets.token_urlsafe(16)
        response.set_cookie(
            self.cookie,
            self._serializer().dumps([who, id]),
            max_age=self.seconds,
            path="/",
            secure=self.https,
            httponly=True,
            samesite="lax",  # a link in a mail must arrive signed in; what changes data also shows the CSRF token
        )
        return Session(who, id, self._csrf(id))

    def end(self, response: Response) -> None:
        """Sign a browser out."""
        response.delete_cookie(self.cookie, path="/", secure=self.https, httponly=True, samesite="lax")

    def read(self, request: Request) -> Session | None:
        """Who sends the request; None if its cookie is missing, too old, or not signed by us for this role."""
        try:
            who, id = self._serializer().loads(request.cookies.get(self.cookie, ""), max_age=self.seconds)
        except BadSignature:
            return None
        return Session(who, id, self._csrf(id))

    def is_own(self, request: Request, session: Session) -> bool:
        """Whether a request that changes something was sent by our own page and not by one elsewhere."""
        shown = request.headers.get(CSRF_HEADER, "")
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        return hmac.compare_digest(shown.encode(), session.csrf.encode()) and site in ("same-origin", "none")

    def _serializer(self) -> URLSafeTimedSerializer:
        hashing = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}
        return URLSafeTimedSerializer(self.secret, salt=f"radgauge-{self.role}", signer_kwargs=hashing)

    def _csrf(self, id: str) -> str:
        return hmac.new(self.secret.encode(), f"csrf {self.role} {id}".encode(), "sha256").hexdigest()
