"""Runs on Ray: the bytes of one process, whatever Ray loses; nothing listens beyond this machine.

Starting Ray takes seconds, so there are few of these, each with several questions.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scale_metrics import Killed, Words
from scale_runs import content, driver, records, wait_for, write

from radgauge.errors import MissingExtra, RadgaugeError
from radgauge.scale.engines import Engine
from radgauge.scale.run import score_to_folder

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
def test_a_killed_worker_of_ray(tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]) -> None:
    pytest.importorskip("ray", reason="the extra scale is not installed")
    reached: list[str] = []

    def told(what: str, done: int, total: int) -> None:
        if what == "scoring" and done == 1:
            reached.extend(beyond_loopback(os.getpid()))

    ran = score_to_folder(
        reports,
        tmp_path / "s",
        metrics=Killed("s11", str(tmp_path / "once")),
        parts=6,
        kind="jsonl",
        engine=RAY,
        progress=told,
    )
    assert (tmp_path / "once").exists()
    assert (ran.scored, ran.manifest.cases) == (6, 120)
    assert content(tmp_path / "s") == undisturbed
    assert reached == []
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ  # was set for Ray alone


@needs_ray
@pytest.mark.slow  # on a busy machine Ray itself can take minutes to notice that its raylet is gone
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
        process.communicate()
    assert process.returncode != 0
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
