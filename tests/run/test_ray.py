"""Runs on Ray: the bytes of one process, whatever Ray loses; nothing listens beyond this machine.

Starting Ray takes seconds, so there are few of these, each with several questions.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scale_metrics import Killed, Words, process_of
from scale_runs import content, driver, records, wait_for, write

from radgauge.core.errors import MissingExtra, RadgaugeError
from radgauge.run.engines import Engine
from radgauge.run.executors import check_alive, run, session
from radgauge.run.run import score_to_folder

pytestmark = pytest.mark.cloud

RAY = Engine("ray", 2)
needs_ray = pytest.mark.skipif(sys.platform != "linux", reason="processes and sockets are looked up in /proc")


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write(tmp_path / "r.csv", records(120))


@pytest.fixture
def undisturbed(tmp_path: Path, reports: Path) -> dict[str, bytes]:
    score_to_folder(reports, tmp_path / "undisturbed", metrics=Words(), parts=6, kind="jsonl")
    return content(tmp_path / "undisturbed")


@needs_ray
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_of_ray(
    tmp_path: Path, reports: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    reached: list[str] = []

    def told(what: str, done: int, total: int) -> None:
        if what == "scoring" and done == 1:
            reached.extend(beyond_loopback(os.getpid()))

    with session(RAY):
        ran = score_to_folder(
            reports,
            tmp_path / "s",
            metrics=Killed("s11", str(tmp_path / "once")),
            parts=6,
            kind="jsonl",
            engine=RAY,
            progress=told,
        )
        monkeypatch.setattr("radgauge.run.executors.RENEWED", 1)
        workers = [found for _, found in run(process_of, range(3), engine=RAY)]
    assert len({process for process, _ in workers}) == 3  # a worker is replaced, and what it gathered goes with it
    assert {priority for _, priority in workers} == {os.nice(0)}  # Ray's own choice starves on a busy machine
    assert (tmp_path / "once").exists()
    assert (ran.scored, ran.manifest.cases) == (6, 120)
    assert content(tmp_path / "s") == undisturbed
    assert reached == []
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ  # was set for Ray alone


@needs_ray
@pytest.mark.filterwarnings("default")
def test_what_ray_writes_is_for_its_owner_only_and_goes_with_it() -> None:
    ray = pytest.importorskip("ray", reason="the extra scale is not installed")
    before = os.umask(0)
    try:
        with session(RAY):
            folder = Path(ray._private.worker._global_node.get_session_dir_path()).parents[1]
            assert folder.stat().st_mode & 0o777 == 0o700
            assert folder.stat().st_uid == os.getuid()
            assert list(folder.iterdir())
            token = Path.home() / ".ray" / "auth_token"
            assert [path for path in (token, token.parent) if path.exists() and path.stat().st_mode & 0o077] == []
    finally:
        os.umask(before)
    assert not folder.exists()


@needs_ray
@pytest.mark.nightly  # two drivers and a Ray: half a minute, and minutes on a busy machine
def test_a_killed_raylet_ends_the_run_and_the_next_goes_on(
    tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]
) -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    metric = f"Late('s11', {str(tmp_path / 'once')!r}, 600.0)"
    process = driver(tmp_path, reports, tmp_path / "s", metric, "Engine('ray', 2)")
    try:
        wait_for(lambda: (tmp_path / "once").exists() or process.poll() is not None)
        assert process.poll() is None
        raylets = [each for each in descendants(process.pid) if name_of(each) == "raylet"]
        assert len(raylets) == 1
        os.kill(raylets[0], signal.SIGKILL)
        wait_for(lambda: process.poll() is not None)  # it must not wait for workers that are gone
    finally:
        process.kill()
        _, said = process.communicate()
    assert process.returncode != 0
    assert (b"lost" in said and b"run the same command again" in said) or b"Raylet" in said, said
    there = list((tmp_path / "s").glob("part-*"))
    ran = score_to_folder(reports, tmp_path / "s", metrics=Words(), parts=6, kind="jsonl")
    assert ran.scored == 6 - len(there)
    assert content(tmp_path / "s") == undisturbed


def test_ray_that_is_not_installed_is_named(
    tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'radgauge\[scale\]'"):
        score_to_folder(reports, tmp_path / "s", metrics="bleu", engine=RAY)


@needs_ray
@pytest.mark.filterwarnings("default")
def test_a_cluster_that_is_not_there_is_said(tmp_path: Path, reports: Path) -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    with pytest.raises(RadgaugeError, match="Ray cannot be started or reached"):
        score_to_folder(reports, tmp_path / "s", metrics="bleu", engine=Engine("ray", 0, "auto"))


class Cluster:
    """What `check_alive` asks of Ray."""

    def __init__(self, alive: list[bool], late: float = 0.0) -> None:
        self.alive, self.late = alive, late

    def nodes(self) -> list[dict[str, bool]]:
        time.sleep(self.late)
        return [{"Alive": each} for each in self.alive]


def test_a_driver_does_not_wait_for_a_ray_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    check_alive(Cluster([False, True]))
    with pytest.raises(RadgaugeError, match=r"lost \(no node is alive\); what is done is kept: run the same"):
        check_alive(Cluster([False]))
    monkeypatch.setattr("radgauge.run.executors.ANSWER_WITHIN", 0.01)
    with pytest.raises(RadgaugeError, match=r"lost \(no answer within 0 s\)"):
        check_alive(Cluster([True], late=0.5))

    class Node:
        def dead_processes(self) -> list[tuple[str, object]]:
            return [("log_monitor", None), ("raylet", None)]

    monkeypatch.setattr("ray._private.worker._global_node", Node())
    with pytest.raises(RadgaugeError, match=r"lost \(raylet\)"):
        check_alive(Cluster([True]))


def descendants(process: int) -> Iterator[int]:
    """Processes that a process started, and those that they started."""
    parents = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    waiting = [process]
    while waiting:
        one = waiting.pop()
        for child, parent in parents.items():
            if parent == one:
                yield child
                waiting.append(child)


def name_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def beyond_loopback(process: int) -> list[str]:
    """Sockets of a process and its descendants that listen on more than the loopback interface."""
    mine = set()
    for each in (process, *descendants(process)):
        try:
            mine |= {os.readlink(link) for link in Path(f"/proc/{each}/fd").iterdir()}
        except OSError:
            continue
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            cells = line.split()
            address = cells[1].partition(":")[0]
            listens, here = cells[3] == "0A", address.endswith(("0100007F", "00000001000000"))
            if listens and f"socket:[{cells[9]}]" in mine and not here:
                found.append(cells[1])
    return found
