"""Runs into stores: the bytes of a run into a folder, whatever is cut, refused or killed; no text leaves."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scale_metrics import Words
from scale_runs import content, driver, records, wait_for, write

from radgauge.core.cache import default_cache_dir
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.io.scores_file import read_scores
from radgauge.run import executors
from radgauge.run.engines import HERE, Engine
from radgauge.run.run import Ran, score_to_folder

PARTS = 6


@pytest.fixture
def memory() -> Iterator[Any]:
    files = pytest.importorskip("fsspec", reason="the extra storage is not installed").filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write(tmp_path / "r.csv", records(120))


@pytest.fixture
def expected(tmp_path: Path, reports: Path) -> dict[str, bytes]:
    scored(reports, tmp_path / "folder")
    return content(tmp_path / "folder")


def scored(source: Path | str, folder: Path | str, **more: Any) -> Ran:
    return score_to_folder(source, folder, **{"metrics": Words(), "parts": PARTS, "kind": "jsonl", **more})


def stored(files: Any, folder: str) -> dict[str, bytes]:
    return {path.rpartition("/")[2]: files.cat_file(path) for path in files.find(folder)}


def same_run(there: dict[str, bytes], expected: dict[str, bytes], *, source: str) -> None:
    """Parts are equal in every byte; manifests name where the reports were read, and are sealed with that."""
    about, other = (json.loads(files["manifest.json"]) for files in (there, expected))
    assert about["input"].pop("spec") == {"reports": source}
    assert other["input"].pop("spec") == {"reports": "r.csv"}
    assert {**about, "checksum": ""} == {**other, "checksum": ""}
    assert there.keys() == expected.keys()
    assert all(there[name] == data for name, data in expected.items() if name != "manifest.json")


def test_a_run_from_and_into_a_store(memory: Any, reports: Path, expected: dict[str, bytes]) -> None:
    memory.pipe_file("/in/r.csv", reports.read_bytes())
    ran = scored("memory://in/r.csv", "memory://out/")
    there = stored(memory, "/out")  # scores and manifest, and nothing that holds a text
    same_run(there, expected, source="memory://in/r.csv")
    assert ran.scored == PARTS
    assert not list((default_cache_dir() / "runs").iterdir())  # the texts that were divided here
    again = scored("memory://in/r.csv", "memory://out")
    assert (again.scored, again.manifest.parts) == (0, ran.manifest.parts)
    assert read_scores("memory://out").keys_of_cases == tuple((row["id"], row["system"]) for row in records(120))


def test_a_folder_of_tables_in_a_store(memory: Any, tmp_path: Path) -> None:
    rows = records(60)
    for number, some in enumerate((rows[:30], rows[30:])):
        memory.pipe_file(f"/in/{number}.jsonl", write(tmp_path / f"{number}.jsonl", some).read_bytes())
    assert scored("memory://in", "memory://out").manifest.cases == 60


def test_a_part_that_was_cut_is_scored_again(memory: Any, reports: Path, expected: dict[str, bytes]) -> None:
    class Stopped(Exception):
        pass

    def stop(what: str, done: int, total: int) -> None:
        if what == "scoring" and done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        scored(reports, "memory://out", progress=stop)
    parts = [path for path in memory.find("/out") if "part-" in path]
    assert len(parts) == 3
    memory.pipe_file(parts[0], memory.cat_file(parts[0])[:-30])  # as a store without whole puts would leave it
    memory.pipe_file(parts[1], b"")
    assert scored(reports, "memory://out").scored == PARTS - 1
    assert stored(memory, "/out") == expected


def test_a_store_that_refuses_keeps_what_is_done(
    memory: Any, reports: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = type(memory).pipe_file

    def full(self: Any, path: str, value: bytes, **more: Any) -> None:
        if path.endswith("part-00004.jsonl"):
            raise OSError(28, "No space left on device")
        usual(self, path, value, **more)

    with monkeypatch.context() as patched:
        patched.setattr(type(memory), "pipe_file", full)
        with pytest.raises(RadgaugeError, match="done are kept: mend it, and run the same command again"):
            scored(reports, "memory://out")
    ran = scored(reports, "memory://out")
    assert 0 < ran.scored < PARTS
    assert stored(memory, "/out") == expected


def test_a_store_with_something_else_is_refused(memory: Any, reports: Path) -> None:
    memory.pipe_file("/out/letter.txt", b"Dear")
    with pytest.raises(InputError, match=r"\(letter\.txt\) and no manifest"):
        scored(reports, "memory://out")
    scored(reports, "memory://other")
    with pytest.raises(InputError, match="memory://other holds the scores of another run: other metrics"):
        scored(reports, "memory://other", metrics="bleu")


def test_machines_that_see_no_common_disk_get_their_bucket_with_the_job(
    memory: Any, reports: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("run", "run_in_order"):
        usual = getattr(executors, name)

        def here(work: Any, items: Any, *, engine: Engine, usual: Any = usual) -> Any:
            return usual(work, items, engine=HERE)

        monkeypatch.setattr(f"radgauge.run.run.{name}", here)
    monkeypatch.setattr("radgauge.run.run.session", lambda engine: executors.session(HERE))
    monkeypatch.setattr("radgauge.run.work.read_bucket", None)  # the disk of the driver
    cluster = Engine("ray", 2, "auto")
    scored(reports, "memory://out", engine=cluster)
    assert stored(memory, "/out") == expected
    with pytest.raises(UsageError, match="write to such a folder instead of memory://cider"):
        scored(reports, "memory://cider", metrics="cider", engine=cluster)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server of the S3 protocol on this machine, with an empty bucket."""
    pytest.importorskip("s3fs", reason="the extra storage is not installed")
    pytest.importorskip("moto.server", reason="moto, a server of the S3 protocol, is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("RADGAUGE_OFFLINE")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: answers(port) or server.poll() is not None)
        assert server.poll() is None
        import s3fs

        files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        files.mkdir("bucket")
        yield files
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def radgauge(*words: str | Path) -> str:
    command = [sys.executable, "-m", "radgauge", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.cloud
@pytest.mark.filterwarnings("default")  # of the packages behind s3fs
def test_s3_with_a_killed_driver(s3: Any, tmp_path: Path, reports: Path, expected: dict[str, bytes]) -> None:
    # Seconds go into a server and three processes; the rest of the module has no real protocol.
    s3.pipe_file("bucket/in/r.csv", reports.read_bytes())
    metric = f"Late('s11', {str(tmp_path / 'once')!r}, 600.0)"
    process = driver(tmp_path, "s3://bucket/in/r.csv", "s3://bucket/out", metric, "Engine('pool', 2)")
    try:
        wait_for(lambda: (tmp_path / "once").exists() or process.poll() is not None)
    finally:
        process.kill()
        _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    there = {name: data for name, data in stored(s3, "bucket/out").items() if "part-" in name}
    assert there.items() <= expected.items()
    assert scored("s3://bucket/in/r.csv", "s3://bucket/out").scored == PARTS - len(there)
    same_run(stored(s3, "bucket/out"), expected, source="s3://bucket/in/r.csv")
    told = ("--permutations", "50", "--resamples", "50", "-q")
    assert radgauge("compare", "s3://bucket/out", *told) == radgauge("compare", tmp_path / "folder", *told)
    assert not list((Path(os.environ["RADGAUGE_CACHE"]) / "runs").iterdir())
