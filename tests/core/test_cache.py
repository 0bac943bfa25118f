"""The reading cache: shared, durable, never believed blindly."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command import SOURCE

from radgauge.core.cache import Cache, default_cache_dir


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "readings")


def test_what_is_put_can_be_got_again(cache: Cache) -> None:
    cache.put("reader-1", {"a": b"1", "b": b"2"})
    assert cache.get("reader-1", ["b", "a", "c"]) == {"a": b"1", "b": b"2"}


def test_another_signature_does_not_see_it(cache: Cache) -> None:
    cache.put("reader-1", {"a": b"1"})
    assert cache.get("reader-2", ["a"]) == {}


def test_signature_and_text_are_kept_apart(cache: Cache) -> None:
    cache.put("reader", {"1text": b"x"})
    assert cache.get("reader1", ["text"]) == {}


def test_lone_surrogates_have_a_key(cache: Cache) -> None:
    cache.put("reader-1", {"\ud800": b"1"})
    assert cache.get("reader-1", ["\ud800"]) == {"\ud800": b"1"}


def test_more_texts_than_one_query_takes(cache: Cache) -> None:
    texts = {f"text {i}": str(i).encode() for i in range(1203)}
    cache.put("reader-1", texts)
    assert cache.get("reader-1", list(texts)) == texts


def test_a_damaged_entry_is_left_out(cache: Cache) -> None:
    cache.put("reader-1", {"a": b"good", "b": b"good"})
    with sqlite3.connect(cache.path) as db:
        db.execute("update readings set payload = ? where key = (select min(key) from readings)", (b"evil",))
    db.close()
    assert list(cache.get("reader-1", ["a", "b"]).values()) == [b"good"]


def test_a_damaged_file_is_started_anew(cache: Cache) -> None:
    cache.put("reader-1", {"a": b"1"})
    cache.path.write_bytes(b"this is no database" * 100)
    assert cache.get("reader-1", ["a"]) == {}
    cache.put("reader-1", {"a": b"2"})
    assert cache.get("reader-1", ["a"]) == {"a": b"2"}


def test_texts_are_not_stored(cache: Cache) -> None:
    cache.put("reader-1", {"Mrs. Smith has a left effusion": b"1"})
    assert all(b"Smith" not in part.read_bytes() for part in cache.folder.iterdir())


def test_only_the_owner_can_look_into_the_folder(cache: Cache) -> None:
    cache.put("reader-1", {"a": b"1"})
    assert cache.folder.stat().st_mode & 0o077 == 0


def test_info_and_clear(cache: Cache) -> None:
    assert cache.info().entries == 0
    cache.put("reader-1", {"a": b"1", "b": b"2"})
    cache.put("reader-2", {"a": b"1"})
    info = cache.info()
    assert (info.entries, dict(info.readers)) == (3, {"reader-1": 2, "reader-2": 1})
    assert info.bytes > 0
    assert cache.clear() == 3
    assert cache.get("reader-1", ["a"]) == {}


FILL = """
import sys
from pathlib import Path
from radgauge.core.cache import Cache
cache = Cache(Path(sys.argv[1]))
for number in range(20):
    cache.put("reader-1", {f"{sys.argv[2]}-{number}": b"x", "shared": b"y"})
"""


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    commands = [[sys.executable, "-W", "error", "-c", FILL, str(tmp_path), worker] for worker in "ab"]
    workers = [subprocess.Popen(command, env=environment) for command in commands]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert Cache(tmp_path).info().entries == 41


def test_a_new_file_that_another_process_has_locked_is_waited_for(cache: Cache) -> None:
    """SQLite refuses to change the journal of a locked file at once, whatever its timeout."""
    cache.folder.mkdir()
    holder = sqlite3.connect(cache.path, check_same_thread=False)
    holder.execute("create table other (id)")
    holder.execute("drop table other")
    holder.commit()
    holder.execute("begin immediate")
    release = threading.Timer(0.3, holder.rollback)
    release.start()
    cache.put("reader-1", {"a": b"1"})
    release.join()
    holder.close()
    assert cache.get("reader-1", ["a"]) == {"a": b"1"}


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RADGAUGE_CACHE", str(tmp_path))
    assert default_cache_dir() == tmp_path
