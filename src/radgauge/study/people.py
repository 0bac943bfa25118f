"""Participants: raters, adjudicators, the organiser; and the tokens that let them in.

A token is 256 random bits. The study keeps its SHA-256, which is enough to recognise it and of no use to whoever
reads the file: there is nothing to guess that a slow hash would have to protect.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from radgauge.core.errors import InputError, UsageError
from radgauge.io.tables.cells import check_characters

ROLES = ("rater", "adjudicator", "organiser")
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who takes part; role is rater, adjudicator or organiser."""

    id: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token without its secret; times are ISO 8601 in UTC, `revoked` is "" while it is not."""

    person: str
    created: str
    expires: str
    revoked: str


def everyone(connection: sqlite3.Connection) -> list[Person]:
    """All people in the order in which they came."""
    return [Person(*row) for row in connection.execute("SELECT id, name, role FROM people ORDER BY rowid")]


def add(connection: sqlite3.Connection, name: str, *, role: str) -> Person:
    """A new person. An adjudicator is assigned every real case that more than one rater sees."""
    if role not in ROLES:
        raise UsageError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
    plain = name.strip()
    check_characters(plain, "the name of a person")
    if not plain or len(plain) > LONGEST_NAME:
        raise InputError(f"the name of a person must have 1 to {LONGEST_NAME} characters")
    there = everyone(connection)
    if plain in {other.name for other in there} | {other.id for other in there}:
        raise InputError(f"there is a person called {plain!r} already")
    number = 1 + sum(other.role == role for other in there)
    person = Person(f"{role}-{number}", plain, role)
    created = _iso(datetime.now(UTC))
    connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", (person.id, plain, role, created))
    if role == "adjudicator":
        _assign_shared(connection, person.id)
    return person


def _assign_shared(connection: sqlite3.Connection, person_id: str) -> None:
    rows = connection.execute(
        'SELECT a."case", min(a.systems) FROM assignments a JOIN cases c ON c.key = a."case" '
        "JOIN people p ON p.id = a.person AND p.role = 'rater' WHERE c.training IS NULL "
        'GROUP BY a."case" HAVING count(*) > 1 ORDER BY a."case"'
    ).fetchall()
    for position, (case, systems) in enumerate(rows):
        order = sorted(json.loads(systems))
        secrets.SystemRandom().shuffle(order)
        row = (person_id, position, case, json.dumps(order), 1, 0)
        connection.execute("INSERT INTO assignments VALUES (?, ?, ?, ?, ?, ?)", row)


def new_token(connection: sqlite3.Connection, person_id: str, *, days: float, now: datetime) -> str:
    """A new token of a person, valid for some days."""
    if not 0 < days <= 3660:
        raise UsageError(f"a token must be valid for more than 0 and at most 3660 days, got {days:g}")
    token = secrets.token_urlsafe(32)
    row = (_hash(token), person_id, _iso(now), _iso(now + timedelta(days=days)), None)
    connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?)", row)
    return token


def revoke(connection: sqlite3.Connection, person_id: str, *, now: datetime) -> int:
    """Make a person's tokens invalid; how many were valid."""
    done = connection.execute(
        "UPDATE tokens SET revoked = ? WHERE person = ? AND revoked IS NULL AND expires > ?",
        (_iso(now), person_id, _iso(now)),
    )
    return done.rowcount


def tokens(connection: sqlite3.Connection) -> tuple[TokenInfo, ...]:
    """All tokens, without what opens the door."""
    rows = connection.execute("SELECT person, created, expires, coalesce(revoked, '') FROM tokens ORDER BY rowid")
    return tuple(TokenInfo(*row) for row in rows)


def of_token(connection: sqlite3.Connection, token: str, *, now: datetime) -> Person | None:
    """Whose valid token this is."""
    if not isinstance(token, str) or not 20 <= len(token) <= 100 or not token.isascii():
        return None
    digest = _hash(token)
    row = connection.execute(
        "SELECT t.hash, p.id, p.name, p.role FROM tokens t JOIN people p ON p.id = t.person "
        "WHERE t.hash = ? AND t.revoked IS NULL AND t.expires > ?",
        (digest, _iso(now)),
    ).fetchone()
    if row is None or not hmac.compare_digest(row[0], digest):
        return None
    return Person(*row[1:])


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
