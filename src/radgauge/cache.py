"""The on-disk cache of readings: content-addressed, shared by processes, never believed blindly.

One SQLite file in the user's cache folder. An entry is found by a hash of the reader's signature and the
text, so a changed setting, model revision or version never meets an old reading. Texts themselves are not
stored; readings may hold fragments of them, which is why the folder is readable by its owner only.
SQLite is used because it is in the standard library, survives kill -9, and lets processes share a file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

# Raised when the tables or what readers pack changes; a cache of another number is started anew. Before 2 the
# readings held the words of the reports.
_SCHEMA = 2
_TABLES = """
create table if not exists readers (id integer primary key, signature text unique not null);
create table if not exists readings (
  key blob primary key, reader integer not null, sum blob not null, payload blob not null
) without rowid;
create index if not exists by_reader on readings (reader);
"""


def default_cache_dir() -> Path:
    """Where readings are kept: $RADGAUGE_CACHE, or the platform's cache folder."""
    if chosen := os.environ.get("RADGAUGE_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "radgauge"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "radgauge"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "radgauge"


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What `radgauge cache info` shows."""

    path: Path
    bytes: int
    entries: int
    readers: Mapping[str, int]


class Cache:
    """Packed readings on disk, keyed by reader signature and text.

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()))
    >>> cache.put("reader-1", {"no effusion": b"packed"})
    >>> cache.get("reader-1", ["no effusion", "never read"])
    {'no effusion': b'packed'}
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else default_cache_dir()
        self.path = self.folder / "readings.sqlite"

    def get(self, signature: str, texts: Iterable[str]) -> dict[str, bytes]:
        """The packed readings that are there and whole; damaged ones are left out and so get rebuilt."""
        if not self.path.exists():
            return {}
        found: dict[str, bytes] = {}
        keys = {_key(signature, text): text for text in texts}
        with self._open() as db:
            for chunk in _chunks(list(keys), 500):
                marks = ",".join("?" * len(chunk))
                for key, check, payload in db.execute(
                    f"select key, sum, payload from readings where key in ({marks})",
                    chunk,
                ):
                    if check == _checksum(key, payload):
                        found[keys[key]] = payload
                    else:
                        log.warning("a damaged entry of the reading cache is read anew")
        return found

    def put(self, signature: str, readings: Mapping[str, bytes]) -> None:
        """Store packed readings; what is committed survives a kill."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._open() as db, db:
            db.execute("insert or ignore into readers (signature) values (?)", (signature,))
            (reader,) = db.execute("select id from readers where signature = ?", (signature,)).fetchone()
            entries = ((_key(signature, text), reader, payload) for text, payload in readings.items())
            db.executemany(
                "insert or replace into readings values (?, ?, ?, ?)",
                ((key, reader, _checksum(key, payload), payload) for key, reader, payload in entries),
            )

    def info(self) -> CacheInfo:
        """Size and content of the cache."""
        if not self.path.exists():
            return CacheInfo(self.path, 0, 0, {})
        with self._open() as db:
            readers = dict(
                db.execute(
                    "select signature, count(*) from readings join readers on reader = id "
                    "group by signature order by signature"
                ).fetchall()
            )
        size = sum(part.stat().st_size for part in self._files())
        return CacheInfo(self.path, size, sum(readers.values()), readers)

    def clear(self) -> int:
        """Remove every entry; returns how many there were."""
        entries = self.info().entries
        for part in self._files():
            part.unlink(missing_ok=True)
        return entries

    def _files(self) -> list[Path]:
        return [
            part
            for suffix in ("", "-wal", "-shm")
            if (part := self.path.with_name(self.path.name + suffix)).exists()
        ]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A connection per call: cheap next to reading, and safe across threads and forks.
        try:
            db = self._connect()
        except sqlite3.OperationalError:
            raise  # locked, no space, no permission: the file itself may be fine
        except sqlite3.DatabaseError:
            log.warning("the reading cache is damaged or of another version and is started anew")
            for part in self._files():
                part.unlink(missing_ok=True)
            db = self._connect()
        with closing(db):
            yield db

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=60)
        try:
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = normal")
            (schema,) = db.execute("pragma user_version").fetchone()
            (tables,) = db.execute("select count(*) from sqlite_master").fetchone()
            if schema != _SCHEMA and tables:
                raise sqlite3.DatabaseError("another schema")
            db.executescript(_TABLES + f"pragma user_version = {_SCHEMA};")
        except BaseException:
            db.close()
            raise
        return db


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
