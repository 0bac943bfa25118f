"""URLs where files belong: file:// without any package, memory:// through fsspec, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import radgauge as rg
from radgauge.core.errors import InputError, MissingExtra, UsageError
from radgauge.core.files import make_folder, replacing, write_file
from radgauge.core.storage import StorageError, Store, local_copy, plain, put_file, shown_path, url_of
from radgauge.io.tables import read_table

TABLE = b"id,reference,candidate\n1,no effusion,small effusion\n2,clear lungs,clear lungs\n"


def test_paths_of_this_machine_are_no_urls(tmp_path: Path) -> None:
    assert [url_of(each) for each in ("a.csv", tmp_path, "c:/data/a.csv", "x=s3", "stdin=-")] == [None] * 5
    assert url_of(Path("s3://bucket/key/")) == url_of("S3://bucket/key") == "s3://bucket/key"
    assert shown_path(Path("gs://b/k.csv")) == "gs://b/k.csv"
    assert plain("file:///a/b.csv") == Path("/a/b.csv")
    with local_copy(tmp_path) as here:
        assert here == tmp_path


def test_files_behind_file_urls_need_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADGAUGE_OFFLINE")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    (tmp_path / "a b.csv").write_bytes(TABLE)
    url = (tmp_path / "a b.csv").as_uri()
    assert "%20" in url
    cases = rg.read_cases(url).cases
    assert [case.candidate for case in cases] == ["small effusion", "clear lungs"]
    rg.write_scores(f"file://{tmp_path}/s.jsonl", rg.score(cases, "bleu", progress=False))
    assert rg.read_scores(f"file://{tmp_path}/s.jsonl").keys_of_cases == tuple(case.key for case in cases)
    with pytest.raises(MissingExtra, match=r"'radgauge\[storage\]'"):
        rg.read_cases("s3://bucket/a.csv")


def test_reading_and_writing_through_fsspec(tmp_path: Path) -> None:
    memory = pytest.importorskip("fsspec", reason="the extra storage is not installed").filesystem("memory")
    memory.pipe_file("/files/a.csv", TABLE)
    table = read_table("memory://files/a.csv")
    assert table.source.name == "a.csv"
    assert [record.values["id"] for record in table.records] == ["1", "2"]
    cases = rg.read_cases("memory://files/a.csv").cases
    results = rg.score(cases, "bleu", progress=False)
    rg.write_scores("memory://files/s.jsonl", results)
    assert (rg.read_scores("memory://files/s.jsonl")["bleu"].rows == results["bleu"].rows).all()
    with local_copy("memory://files") as here:
        assert (here / "a.csv").read_bytes() == TABLE
        assert here.stat().st_mode & 0o077 == 0
        kept = here
    assert not kept.exists()
    store = Store("memory://files")
    assert store.names() == ["a.csv", "s.jsonl"]
    with pytest.raises(FileNotFoundError):
        store.get("b.csv", tmp_path / "b.csv")


def test_a_write_that_fails_puts_nothing() -> None:
    memory = pytest.importorskip("fsspec", reason="the extra storage is not installed").filesystem("memory")
    write_file("memory://failed/x.txt", "before")
    with suppress(RuntimeError), replacing("memory://failed/x.txt") as beside:
        beside.write_text("half")
        raise RuntimeError
    assert memory.cat_file("/failed/x.txt") == b"before"


def test_a_large_file_goes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec", reason="the extra storage is not installed").filesystem("memory")
    (tmp_path / "x").write_bytes(b"0123456789")
    monkeypatch.setattr("radgauge.core.storage.ONE_PUT", 4)
    put_file(tmp_path / "x", "memory://pieces/x")
    assert memory.cat_file("/pieces/x") == b"0123456789"


def test_what_cannot_be_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra storage is not installed")
    with pytest.raises(InputError, match=r"memory://nothing/a\.csv does not exist"):
        rg.read_cases("memory://nothing/a.csv")
    with pytest.raises(UsageError, match="s3:// is not reached while RADGAUGE_OFFLINE"):
        rg.read_cases("s3://bucket/a.csv")
    monkeypatch.setenv("RADGAUGE_OFFLINE", "false")  # off, as for models
    with pytest.raises(UsageError, match="nowhere:// is no storage that is known here"):
        rg.read_cases("nowhere://a.csv")
    with pytest.raises(UsageError, match="must not hold credentials, which end up in logs"):
        rg.read_cases("s3://key:secret@bucket/a.csv")
    with pytest.raises(UsageError, match="memory://x: a folder of this machine is needed here"):
        make_folder("memory://x")

    def missing(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    usual = fsspec.core.url_to_fs
    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(MissingExtra, match=r"'radgauge\[storage\]'"):
        rg.read_cases("s3://bucket/a.csv")
    with pytest.raises(MissingExtra, match="install that package"):
        rg.read_cases("abfs://bucket/a.csv")
    monkeypatch.setattr("fsspec.core.url_to_fs", usual)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", refused)
    (tmp_path / "x").write_bytes(b"1")
    with pytest.raises(StorageError, match=r"cannot be written \(PermissionError: Access Denied\); credentials"):
        put_file(tmp_path / "x", "memory://refused/x")

    def gone(*_: object, **__: object) -> None:
        raise FileNotFoundError("The specified bucket does not exist")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", gone)
    with pytest.raises(StorageError, match="there is no such bucket or folder; make it first"):
        put_file(tmp_path / "x", "memory://gone/x")
    results = rg.score([rg.Case("1", "a b", ("a b",))], "bleu", progress=False)
    with pytest.raises(StorageError, match=r"the scores are kept in .*unsaved"):
        rg.write_scores("memory://gone/s.jsonl", results)


def test_copies_lie_in_the_cache_folder_and_can_be_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    from radgauge.core.storage import remove_runs

    monkeypatch.setenv("RADGAUGE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "reports.csv").write_text("id\n1\n")
    put_file(tmp_path / "reports.csv", "memory://copies/reports.csv")
    with local_copy("memory://copies/reports.csv") as copy:
        assert (tmp_path / "cache" / "runs") in copy.parents
        assert copy.read_text() == "id\n1\n"
        assert (tmp_path / "cache" / "runs").stat().st_mode & 0o777 == 0o700
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert not copy.exists()
    assert remove_runs() == 0
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    killed = copy.parent.with_name(copy.parent.name.replace(f"-{os.getpid()}-", f"-{int(gone.stdout)}-"))
    killed.mkdir()
    (killed / "reports.csv").write_text("id\n1\n")
    with local_copy("memory://copies/reports.csv") as first, local_copy("memory://copies/reports.csv") as second:
        assert not killed.exists()  # what a killed process left
        assert first.exists()  # and not what one at work has
        assert first != second
    left = tmp_path / "cache" / "runs" / "of-a-url"
    left.mkdir()
    (left / "reports.csv").write_text("id\n1\n")
    assert remove_runs() == 1
    assert not left.exists()
