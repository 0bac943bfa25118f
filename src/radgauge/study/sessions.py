"""Sessions: browsers that came in by a person's token, kept in the study and ended there.

A link's token is shown once per browser, and exchanged for a random session of its own, of which the study keeps
the hash. A session ends when its browser signs out or in again, when its token is revoked or expires, and after
`LIFE`. Once an hour its secret is replaced; the former one works until the browser has used the new one, since an
answer may be lost on its way.
"""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from radgauge.study.http.tokens import new_token, token_hash
from radgauge.study.people import Person

LIFE = 12 * 3600.0
ROTATION = 3600.0
OVERLAP = 60.0
"""Seconds after which a former secret ends once the new one was used: requests of other windows are under way."""


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser: who it is, the token that its requests must show, and how it is kept."""

    person: Person
    csrf: str
    hash: str
    rotated: float
    former: bool


def begin(connection: sqlite3.Connection, token: str, *, now: datetime) -> str:
    """Start a session of a valid token; return its secret."""
    secret = new_token()
    connection.execute("DELETE FROM sessions WHERE expires <= ?", (now.timestamp(),))
    row = (token_hash(secret), None, token_hash(token), secrets.token_hex(32), now.timestamp())
    connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", (*row, now.timestamp() + LIFE))
    return secret


def find(connection: sqlite3.Connection, secret: str, *, now: datetime) -> Session | None:
    """Return the session of a secret; None if there is none, or it has ended."""
    digest = token_hash(secret)
    row = connection.execute(
        "SELECT p.id, p.name, p.role, s.csrf, s.hash, s.rotated, s.former FROM sessions s "
        "JOIN tokens t ON t.hash = s.token AND t.revoked IS NULL AND t.expires > ? "
        "JOIN people p ON p.id = t.person WHERE (s.hash = ?2 OR s.former = ?2) AND s.expires > ?3",
        (now.astimezone(UTC).isoformat(timespec="seconds"), digest, now.timestamp()),
    ).fetchone()
    if row is None:
        return None
    by_former = row[4] != digest
    if row[6] and not by_former and now.timestamp() > row[5] + OVERLAP:
        connection.execute("UPDATE sessions SET former = NULL WHERE hash = ?", (digest,))
    return Session(Person(*row[:3]), csrf=row[3], hash=row[4], rotated=row[5], former=by_former)


def rotate(connection: sqlite3.Connection, session: Session, *, now: datetime) -> str | None:
    """Replace the secret of a session if it is time; return the new one."""
    if session.former or now.timestamp() < session.rotated + ROTATION:
        return None
    secret = new_token()
    done = connection.execute(
        "UPDATE sessions SET hash = ?, former = hash, rotated = ? WHERE hash = ?",
        (token_hash(secret), now.timestamp(), session.hash),
    )
    return secret if done.rowcount else None


def end(connection: sqlite3.Connection, session: Session) -> None:
    """End a session: neither of its secrets works any more."""
    connection.execute("DELETE FROM sessions WHERE hash = ?", (session.hash,))
