"""The cache against damage: it never hands out what was not put in, and it always works again."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from radgauge.core.cache import Cache
from radgauge.core.readings import Readings
from radgauge.reader import ReportReader

pytestmark = pytest.mark.long

TRUE = {f"text {number}": f"payload {number} ".encode() * (number % 40 + 1) for number in range(200)}

Attempts = Callable[[int], Iterator[tuple[str, random.Random]]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled cache."""
    folder = tmp_path_factory.mktemp("whole") / "cache"
    cache = Cache(folder)
    cache.put("reader", TRUE)
    db = sqlite3.connect(cache.path)
    db.execute("pragma application_id = 1")  # as if it had been looked through long ago
    db.close()
    return folder


def damage(data: bytearray, rng: random.Random) -> bytearray:
    kind = rng.randrange(7)
    if kind == 0:  # the header
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(100)] = rng.randrange(256)
    elif kind == 1:  # the schema page
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(min(len(data), 4096))] ^= 1 << rng.randrange(8)
    elif kind == 2:  # anywhere
        for _ in range(rng.randint(1, 200)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 3:  # cut off
        del data[rng.randrange(len(data)) :]
    elif kind == 4:  # a lost page
        start = rng.randrange(len(data))
        data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    elif kind == 5:  # shifted
        at = rng.randrange(len(data))
        data[at:at] = rng.randbytes(rng.randint(1, 500))
    else:  # two pages changed places
        one, two = (4096 * rng.randrange(len(data) // 4096) for _ in range(2))
        data[one : one + 4096], data[two : two + 4096] = data[two : two + 4096], data[one : one + 4096]
    return data


def must_work_again(cache: Cache, where: str) -> None:
    """Nothing false comes out; after one more run everything is there; info and clear answer."""
    cache.info()
    found = cache.get("reader", TRUE)
    assert found.items() <= TRUE.items(), where
    for _ in range(2):  # damage that shows only on writing costs entries once more
        cache.put("reader", {text: payload for text, payload in TRUE.items() if text not in found})
        found = cache.get("reader", TRUE)
    assert found == TRUE, where
    assert not cache.info().damaged, where
    cache.clear()
    assert cache.info().entries == 0, where
    assert cache.get("reader", TRUE) == {}, where


def test_random_damage(whole: Path, tmp_path: Path, attempts: Attempts) -> None:
    for where, rng in attempts(120):
        folder = tmp_path / "cache"
        shutil.copytree(whole, folder)
        cache = Cache(folder)
        cache.path.write_bytes(damage(bytearray(cache.path.read_bytes()), rng))
        if rng.random() < 0.2:
            cache.path.with_name(cache.path.name + rng.choice(["-wal", "-journal"])).write_bytes(
                rng.randbytes(5000)
            )
        must_work_again(cache, where)
        shutil.rmtree(folder)


def foreign(path: Path, script: str) -> None:
    path.unlink()
    db = sqlite3.connect(path)
    db.executescript(script)
    db.close()


OURS = "pragma user_version = 2;"
KINDS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"this is no database" * 500),
    "other tables": lambda path: foreign(path, "create table people (name text);"),
    "other columns": lambda path: foreign(path, OURS + "create table readings (a, b);"),
    "a view": lambda path: foreign(
        path, OURS + "create view readings as select 1 as key, 2 as sum, 3 as payload;"
    ),
    "later version": lambda path: foreign(path, "pragma user_version = 99; create table readings (key, payload);"),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "dangling link": lambda path: (path.unlink(), path.symlink_to(path.with_name("nowhere") / "deeper")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_another_thing_in_its_place(whole: Path, tmp_path: Path, kind: str) -> None:
    shutil.copytree(whole, tmp_path / "cache")
    cache = Cache(tmp_path / "cache")
    for part in cache.folder.glob("readings.sqlite-*"):
        part.unlink()
    KINDS[kind](cache.path)
    must_work_again(cache, kind)


@pytest.mark.parametrize(
    "payload", [b"", b"null", b"[]", b"[1,2,3,4]", b'[[["a"]],[],[],[]]', b"[" * 10_000, b"\xff"]
)
def test_payloads_that_a_reader_did_not_pack_are_read_anew(tmp_path: Path, payload: bytes) -> None:
    text = "No pleural effusion."
    cache = Cache(tmp_path / "cache")
    (expected,) = Readings(cache=cache).of(ReportReader(), [text])
    (signature,) = cache.info().readers
    cache.put(signature, {text: payload})
    assert Readings(cache=cache).of(ReportReader(), [text]) == [expected]


def test_folder_and_files_are_for_the_owner_whatever_they_were(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    shutil.copytree(whole, folder)
    folder.chmod(0o755)
    for part in folder.iterdir():
        part.chmod(0o644)
    (folder / "code-hashes.json").touch(mode=0o600)  # lies there from the first start
    before = os.umask(0)
    try:
        Cache(folder).put("reader", {"new": b"1"})
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {part.stat().st_mode & 0o777 for part in folder.iterdir()} == {0o600}
