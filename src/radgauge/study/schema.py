"""The SQLite file of a study: its tables, how it is opened, closed and made.

One file for its owner only, with synchronous=FULL: what was acknowledged is on disk. While it is open for writing
it is in WAL mode, which SQLite notes in the file's header, and new answers stand in the log beside it; whoever
closes it last moves them into the file and takes the note away. A file with the note but no log was copied while
it was open, and is refused.

Events are only ever appended, which triggers enforce; each carries a hash over itself and the one before it, or
with a key outside the file (`KEY_VARIABLE`) an HMAC, so that a line that was changed or removed shows to whoever
has an anchor, or the key (see `check`). States are what replaying the events gives, kept for speed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from radgauge.core.errors import InputError
from radgauge.core.files import check_folder, sync_folder, tighten
from radgauge.io.judgments.study_file import APPLICATION
from radgauge.study.state import Event

FORMAT = 2
KEY_VARIABLE = "RADGAUGE_STUDY_KEY"
MIN_KEY = 32
BUSY = 20.0  # seconds that a writer waits for another

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cases (
    key TEXT PRIMARY KEY, id TEXT NOT NULL, reference TEXT NOT NULL, sentences TEXT NOT NULL,
    context TEXT NOT NULL, images TEXT NOT NULL, meta TEXT NOT NULL, training TEXT);
CREATE TABLE candidates (
    "case" TEXT NOT NULL REFERENCES cases(key), system TEXT NOT NULL, text TEXT NOT NULL,
    sentences TEXT NOT NULL, suggestions TEXT NOT NULL, PRIMARY KEY ("case", system));
CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created TEXT NOT NULL);
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES people(id), created TEXT NOT NULL,
    expires TEXT NOT NULL, revoked TEXT);
CREATE TABLE assignments (
    person TEXT NOT NULL REFERENCES people(id), position INTEGER NOT NULL,
    "case" TEXT NOT NULL REFERENCES cases(key), systems TEXT NOT NULL, shared INTEGER NOT NULL,
    assisted INTEGER NOT NULL, PRIMARY KEY (person, "case"));
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, person TEXT NOT NULL REFERENCES people(id),
    "case" TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL, design TEXT NOT NULL,
    client_id TEXT NOT NULL, based_on INTEGER NOT NULL, hash TEXT NOT NULL, UNIQUE (person, client_id));
CREATE INDEX events_of_case ON events (person, "case", seq);
CREATE TABLE states (
    person TEXT NOT NULL, "case" TEXT NOT NULL, version INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (person, "case"));
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
"""

SESSIONS = """
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, former TEXT, token TEXT NOT NULL REFERENCES tokens(hash), csrf TEXT NOT NULL,
    rotated REAL NOT NULL, expires REAL NOT NULL);
"""
"""Since format 2; older files get it when they are opened for writing."""

EVENT_COLUMNS = 'seq, time, person, "case", kind, payload, design, client_id, based_on, hash'


def plain_json(value: object) -> str:
    """JSON in its one form: sorted keys, no blanks."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def chained(previous: str, event: Event, *, key: bytes = b"") -> str:
    """Return the hash of an event, or its HMAC: over the hash before it and all that the event says."""
    content = [event.seq, event.time, event.person, event.case, event.kind, event.payload]
    line = plain_json([previous, *content, event.design, event.client_id, event.based_on])
    return sealed(line.encode("utf-8"), key=key)


def sealed(content: bytes, *, key: bytes) -> str:
    """Return the SHA-256 of some bytes; with a key their HMAC."""
    return (hmac.new(key, content, "sha256") if key else hashlib.sha256(content)).hexdigest()


def key_from_environment() -> bytes:
    """Return the key of the chain of events; empty if the environment has none."""
    key = os.environ.get(KEY_VARIABLE, "").encode()
    if key and len(key) < MIN_KEY:
        raise InputError(f"{KEY_VARIABLE} must have {MIN_KEY} characters and more (openssl rand -hex 32)")
    return key


def fingerprint(key: bytes) -> str:
    """Return what a file keeps of its key, to recognise it; empty without a key."""
    return sealed(b"radgauge study key", key=key)[:16] if key else ""


def event_of(row: tuple[Any, ...]) -> Event:
    """An event from its row; the hash is left out."""
    seq, time, person, case, kind, payload, design, client_id, based_on = row[:9]
    return Event(seq, time, person, case, kind, json.loads(payload), design, client_id, based_on)


def create(path: Path) -> sqlite3.Connection:
    """A new file with empty tables; an existing one is never touched."""
    check_folder(path)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise InputError(f"{path} is there already; a study is never overwritten, choose another name") from None
    path.chmod(0o600)
    connection = _connect(path, "rw")
    connection.executescript(TABLES + SESSIONS)
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={FORMAT}")
    sync_folder(path.absolute().parent)
    return connection


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection to a study, or an error that says what else the file is."""
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    with path.open("rb") as file:
        head = file.read(72)
    in_wal_mode, form = head[18:20] == b"\x02\x02", int.from_bytes(head[60:64], "big")
    if in_wal_mode and form >= 2 and not path.with_name(path.name + "-wal").exists():
        raise InputError(
            f"{path.name} was copied while the study was open, without its log {path.name}-wal: answers may be "
            "missing; copy a study with `radgauge study backup`"
        )
    if not readonly:
        tighten(path)
    try:
        connection = _connect(path, "ro" if readonly else "rw")
        try:
            (kind,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            if not readonly:
                raise
            connection.close()  # a folder that cannot be written to: nobody else is writing either
            connection = _connect(path, "ro&immutable=1")
            (kind,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
    except (sqlite3.DatabaseError, UnicodeError):
        raise InputError(f"{path.name} is damaged or no study of radgauge") from None
    if kind != APPLICATION:
        connection.close()
        raise InputError(f"{path.name} is no study of radgauge (made by `radgauge study new`)")
    if version > FORMAT:
        connection.close()
        raise InputError(f"{path.name} was made by a newer radgauge (format {version}); update radgauge")
    if not readonly:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")  # with this the log is there, which the header now promises
        if version < FORMAT:
            connection.execute(SESSIONS)
            connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("COMMIT")
    return connection


def close(connection: sqlite3.Connection) -> None:
    """Close a connection; the last one leaves a file that is complete without its log."""
    with suppress(sqlite3.OperationalError):  # others have it open, or it is read only
        connection.execute("PRAGMA busy_timeout=0")
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


def content_hash(connection: sqlite3.Connection, *, key: bytes = b"") -> str:
    """Hash over what raters are shown and which candidate is whose: cases, candidates, raters' assignments."""
    digest = hmac.new(key, digestmod="sha256") if key else hashlib.sha256()
    for query in (
        "SELECT key, id, reference, sentences, context, images, meta, training FROM cases ORDER BY key",
        'SELECT "case", system, text, sentences, suggestions FROM candidates ORDER BY "case", system',
        'SELECT a.person, a.position, a."case", a.systems, a.shared, a.assisted FROM assignments a '
        "JOIN people p ON p.id = a.person AND p.role = 'rater' ORDER BY a.person, a.\"case\"",
    ):
        for row in connection.execute(query):
            digest.update(plain_json(row).encode("utf-8"))
    return digest.hexdigest()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def about(connection: sqlite3.Connection) -> dict[str, Any]:
    """Metadata of the study."""
    return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM about")}


def write_about(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Keep facts about the study."""
    rows = [(key, plain_json(value)) for key, value in values.items()]
    connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)
