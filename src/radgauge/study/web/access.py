"""Who sends a request: raters and adjudicators by one cookie, the organiser by another.

A cookie holds the token of the person's link, signed and for twelve hours. The token is looked up on every
request: whoever is revoked or has expired is out at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from starlette.requests import Request

from radgauge.study.people import Person
from radgauge.study.store import Store
from radgauge.web.limits import client_address
from radgauge.web.sessions import Session, Sessions
from radgauge.web.tokens import token_hash

if TYPE_CHECKING:
    from starlette.types import Scope


class Access:
    """The doors of one study."""

    def __init__(self, store: Store, https: bool) -> None:
        self._store = store
        self._https = https

    @cached_property
    def raters(self) -> Sessions:
        """Cookies of raters and adjudicators."""
        return Sessions(self._store.secret.hex(), "rater", https=self._https)

    @cached_property
    def organisers(self) -> Sessions:
        """Cookies of the organiser."""
        return Sessions(self._store.secret.hex(), "organiser", https=self._https)

    def sessions(self, role: str) -> Sessions:
        """The cookies of a role."""
        return self.organisers if role == "organiser" else self.raters

    def rater(self, request: Request) -> tuple[Person, Session] | None:
        """The rater or adjudicator who sends a request."""
        return self._known(request, self.raters, ("rater", "adjudicator"))

    def organiser(self, request: Request) -> tuple[Person, Session] | None:
        """The organiser, if it is the organiser who sends a request."""
        return self._known(request, self.organisers, ("organiser",))

    def visitor(self, scope: Scope) -> str:
        """Whose requests are counted together: those of a signed cookie, else of an address."""
        request = Request(scope)
        for sessions in (self.raters, self.organisers):
            session = sessions.read(request)
            if session is not None:
                return token_hash(session.who)
        return client_address(scope)

    def _known(
        self, request: Request, sessions: Sessions, roles: tuple[str, ...]
    ) -> tuple[Person, Session] | None:
        session = sessions.read(request)
        if session is None:
            return None
        person = self._store.person_of_token(session.who)
        return (person, session) if person is not None and person.role in roles else None
