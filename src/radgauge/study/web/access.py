"""Sender of a request: raters and adjudicators by one cookie, the organiser by another.

A cookie holds the secret of a session that the study keeps (`study.sessions`), nothing else. It is looked up on
every request: whoever signed out, is revoked or has expired is out at once.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.requests import Request

from radgauge.study import sessions
from radgauge.study.http.limits import client_address
from radgauge.study.http.tokens import token_hash
from radgauge.study.people import Person
from radgauge.study.sessions import Session
from radgauge.study.store import Store

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

CSRF_HEADER = "X-CSRF-Token"
MAX_VISITORS = 10_000
_COOKIES = {"rater": "rater", "adjudicator": "rater", "organiser": "organiser"}


class Access:
    """The doors of one study."""

    def __init__(
        self, store: Store, *, https: bool, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._https = https
        self._clock = clock
        self._visitors: OrderedDict[str, None] = OrderedDict()

    def sign_in(self, request: Request, response: Response, person: Person, token: str) -> None:
        """Exchange a person's valid token for a session; one that this browser had before ends."""
        before = self._session(request, _COOKIES[person.role])
        with self._store._writing() as connection:
            if before is not None:
                sessions.end(connection, before)
            secret = sessions.begin(connection, token, now=self._clock())
        self._set_cookie(response, person.role, secret)

    def sign_out(self, request: Request, response: Response) -> bool:
        """End the session of a request of our own page; True if there was one."""
        for session in (self.rater(request), self.organiser(request)):
            if session is not None and self.is_own(request, session):
                with self._store._writing() as connection:
                    sessions.end(connection, session)
                name = self._cookie(session.person.role)
                response.delete_cookie(name, path="/", secure=self._https, httponly=True, samesite="lax")
                return True
        return False

    def rater(self, request: Request) -> Session | None:
        """Return the session of the rater or adjudicator who sends a request."""
        return self._session(request, "rater")

    def organiser(self, request: Request) -> Session | None:
        """Return the session of the organiser, if it is the organiser who sends a request."""
        return self._session(request, "organiser")

    def refresh(self, response: Response, session: Session) -> None:
        """Give the browser a new secret with a page, if it is time."""
        with self._store._writing() as connection:
            secret = sessions.rotate(connection, session, now=self._clock())
        if secret is not None:
            self._set_cookie(response, session.person.role, secret)

    def is_due(self, session: Session) -> bool:
        """True if a session's secret is to be replaced."""
        return not session.former and self._clock().timestamp() >= session.rotated + sessions.ROTATION

    @staticmethod
    def is_own(request: Request, session: Session) -> bool:
        """True if a request that changes something was sent by our own page and not by one elsewhere."""
        shown = request.headers.get(CSRF_HEADER, "")
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        return hmac.compare_digest(shown.encode(), session.csrf.encode()) and site in ("same-origin", "none")

    def visitor(self, scope: Scope) -> str:
        """Return whose requests are counted together: those of a cookie that was valid, else of an address."""
        request = Request(scope)
        for role in ("rater", "organiser"):
            digest = token_hash(request.cookies.get(self._cookie(role), ""))
            if digest in self._visitors:  # not the study: this runs between requests, and must not wait for a disk
                return digest
        return client_address(scope)

    def _session(self, request: Request, role: str) -> Session | None:
        secret = request.cookies.get(self._cookie(role), "")
        if not secret:
            return None
        with self._store._reading() as connection:
            session = sessions.find(connection, secret, now=self._clock())
        if session is None or _COOKIES[session.person.role] != role:
            return None
        self._visitors[token_hash(secret)] = None
        if len(self._visitors) > MAX_VISITORS:
            self._visitors.popitem(last=False)
        return session

    def _cookie(self, role: str) -> str:
        """Return the cookie's name; browsers take `__Host-` cookies over HTTPS from this very host alone."""
        return ("__Host-" if self._https else "") + f"radgauge-{_COOKIES[role]}"

    def _set_cookie(self, response: Response, role: str, secret: str) -> None:
        response.set_cookie(
            self._cookie(role),
            secret,
            max_age=int(sessions.LIFE),
            path="/",
            secure=self._https,
            httponly=True,
            samesite="lax",  # a link in a mail must arrive signed in; what changes data also shows the CSRF token
        )
