"""The on-disk cache of readings: content-addressed, shared by processes, checked when read.

One SQLite file in the user's cache folder. An entry is found by a hash of the reader's signature and the
text, so a changed setting, model revision or version never meets an old reading. Texts are not stored, and
readings are sealed by their texts (see `packing`); folder and file are for their owner only.
SQLite is used because it is in the standard library, survives kill -9, and lets processes share a file. A file
that is damaged, or that is none of ours, is removed and started anew: it holds nothing that cannot be read again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from radgauge.core.files import make_folder, tighten
from radgauge.core.packing import seal, unseal
from radgauge.core.storage import default_cache_dir as default_cache_dir

T = TypeVar("T")

log = logging.getLogger(__name__)

# Raised when the tables or what readers pack changes; a cache of another number is started anew. Before 2 the
# readings held the words of the reports; since 4 they are sealed.
_SCHEMA = 4
_TABLES = """
create table if not exists readers (id integer primary key, signature text unique not null);
create table if not exists readings (
  key blob primary key, reader integer not null, sum blob not null, payload blob not null
) without rowid;
create index if not exists by_reader on readings (reader);
"""


_STATE = "select user_version, (select count(*) from sqlite_master) from pragma_user_version"
_OWN = re.compile(r"readings\.sqlite.*|lexicon|models|unsaved|runs|code-hashes\.json|\.radgauge-.*")

_TROUBLE = (sqlite3.Error, UnicodeError)  # messages about a damaged file quote it, and need not be UTF-8

_PATIENCE = 60.0  # seconds to wait for a file that another process has locked

# Trouble of the machine, not of the file: locked, no memory, interrupted, no space
_PASSING = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_FULL,
    )
)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Entries and size of a cache; a damaged file has no entries and is started anew by the next run."""

    path: Path
    bytes: int
    entries: int
    readers: Mapping[str, int]
    damaged: bool = False


class Cache:
    """Packed readings on disk, keyed by reader signature and text.

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()) / "cache")
    >>> cache.put("reader-1", {"no effusion": b"packed"})
    >>> cache.get("reader-1", ["no effusion", "never read"])
    {'no effusion': b'packed'}
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else default_cache_dir()
        self.path = self.folder / "readings.sqlite"
        self._open: tuple[int, int, sqlite3.Connection] | None = None
        self.used = 0  # readings found or stored so far: what a run that is stopped need not do again

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep a connection open for this thread's requests; a cache that cannot be opened is none."""
        try:
            db = self._connect() if self.path.exists() else None
        except (*_TROUBLE, OSError):
            db = None
        if db is None:
            yield
            return
        self._open = (os.getpid(), threading.get_ident(), db)
        try:
            yield
        finally:
            self._open = None
            db.close()

    def get(self, signature: str, texts: Iterable[str]) -> dict[str, bytes]:
        """The packed readings that are there and whole; damaged ones are left out and so get rebuilt."""
        if not self.path.exists():
            return {}
        keys = {_key(signature, text): text for text in texts}
        payloads, damaged = self._with_file(lambda db: _look_up(db, list(keys)))
        if damaged:
            log.warning("%d damaged entries of the reading cache are read anew", damaged)
        self.used += len(payloads)
        return {keys[key]: unseal(payload, key=signature + keys[key]) for key, payload in payloads.items()}

    def put(self, signature: str, readings: Mapping[str, bytes]) -> None:
        """Store packed readings; what is committed survives a kill."""
        entries = [
            (_key(signature, text), seal(payload, key=signature + text)) for text, payload in readings.items()
        ]

        def store(db: sqlite3.Connection) -> None:
            _check_daily(db)
            with db:
                db.execute("insert or ignore into readers (signature) values (?)", (signature,))
                (reader,) = db.execute("select id from readers where signature = ?", (signature,)).fetchone()
                db.executemany(
                    "insert or replace into readings values (?, ?, ?, ?)",
                    ((key, reader, _checksum(key, payload), payload) for key, payload in entries),
                )

        self._with_file(store)
        self.used += len(entries)

    def info(self) -> CacheInfo:
        """Size and content of the cache."""
        size = sum(part.lstat().st_size for part in self._files())
        if not self.path.exists():
            return CacheInfo(self.path, size, 0, {})
        query = (
            "select signature, count(*) from readings join readers on reader = id "
            "group by signature order by signature"
        )
        try:
            with closing(self._connect()) as db:
                readers = {str(signature): int(count) for signature, count in db.execute(query)}
        except (*_TROUBLE, OSError):
            return CacheInfo(self.path, size, 0, {}, damaged=True)
        return CacheInfo(self.path, size, sum(readers.values()), readers)

    def clear(self) -> int:
        """Remove every entry, whatever state the file is in; returns how many there were."""
        entries = self.info().entries
        self._remove()
        return entries

    def _files(self) -> list[Path]:
        return [
            part
            for suffix in ("", "-wal", "-shm", "-journal")
            if os.path.lexists(part := self.path.with_name(self.path.name + suffix))
        ]

    def _remove(self) -> None:
        for part in self._files():
            if part.is_dir() and not part.is_symlink():
                part.rmdir()
            else:
                part.unlink(missing_ok=True)

    def _with_file(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `use` on the open file; a file that proves damaged is started anew, once."""
        # A connection per call unless one is open: cheap next to reading, and safe across threads and forks.
        if self._open is not None and self._open[:2] == (os.getpid(), threading.get_ident()):
            with suppress(*_TROUBLE):
                return use(self._open[2])
        try:
            with closing(self._connect()) as db:
                return use(db)
        except _TROUBLE as error:
            if _is_passing(error) or not self._may_be_replaced():
                raise
            log.warning("the reading cache is damaged or of another version and is started anew")
        self._remove()
        with closing(self._connect()) as db:
            return use(db)

    def _may_be_replaced(self) -> bool:
        """True if the file is ours to read and write, so that trouble with it is its own."""
        return os.access(self.folder, os.W_OK | os.X_OK) and (
            not self.path.is_file() or os.access(self.path, os.R_OK | os.W_OK)
        )

    def _connect(self) -> sqlite3.Connection:
        if self.path.exists() and not self.path.is_file():  # a pipe would wait for ever
            raise sqlite3.DatabaseError("not a file")
        make_folder(self.folder)
        if all(_OWN.fullmatch(name) for name in os.listdir(self.folder)):  # else it is not ours alone
            tighten(self.folder)
        # SQLite gives its other files the mode of this one.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        for part in self._files():
            tighten(part)
        db = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            db.execute("pragma trusted_schema = off")
            _use_wal(db)
            db.execute("pragma synchronous = normal")
            # One statement each, so that two processes that begin together see no half-made file.
            schema, tables = db.execute(_STATE).fetchone()
            if schema != _SCHEMA and tables:
                raise sqlite3.DatabaseError("another schema")
            db.executescript(f"begin immediate; {_TABLES} pragma user_version = {_SCHEMA}; commit;")
        except BaseException:
            db.close()
            raise
        return db


def _use_wal(db: sqlite3.Connection) -> None:
    """Let readers and a writer work beside one another.

    SQLite does not wait for its timeout here: of two processes that change a new file, one is refused at once.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            db.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if not _is_passing(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _look_up(db: sqlite3.Connection, keys: list[bytes]) -> tuple[dict[bytes, bytes], int]:
    """Payloads of the keys that are there and whole, and how many are damaged."""
    payloads: dict[bytes, bytes] = {}
    requested = set(keys)
    damaged = 0
    for chunk in _chunks(keys, 500):
        marks = ",".join("?" * len(chunk))
        query = f"select key, sum, payload from readings where key in ({marks})"
        for key, check, payload in db.execute(query, chunk):
            if isinstance(payload, bytes) and key in requested and check == _checksum(key, payload):
                payloads[key] = payload
            else:
                damaged += 1
    return payloads, damaged


def _check_daily(db: sqlite3.Connection) -> None:
    """Look once a day for damage that gives no error: entries in the wrong place, which are never found again.

    It takes seconds per gigabyte, so it waits for a run that reads something anyway, and the file notes the day.
    """
    today = int(time.time() // 86_400)
    if db.execute("pragma application_id").fetchone() == (today,):
        return
    (verdict,) = db.execute("pragma integrity_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
    db.execute(f"pragma application_id = {today}")


def _is_passing(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _PASSING


def _key(signature: str, text: str) -> bytes:
    # surrogatepass: any string Python can hold has a key
    return hashlib.blake2b(
        signature.encode() + b"\0" + text.encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def _checksum(key: bytes, payload: bytes) -> bytes:
    return hashlib.blake2b(key + payload, digest_size=8).digest()


def _chunks(items: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
