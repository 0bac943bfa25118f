"""What is killed, full or late changes no byte: runs that were disturbed end as runs that were not."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scale_metrics import Killed, Late, Words
from scale_runs import content, driver, records, wait_for, write

from radgauge.core.metric import Metric
from radgauge.io.scores_file import read_scores
from radgauge.run.engines import Engine
from radgauge.run.run import Ran, score_to_folder

pytestmark = pytest.mark.process

POOL = Engine("pool", 2)
PARTS = 6


def scored(path: Path, folder: Path, metric: Metric, engine: Engine = Engine()) -> Ran:  # noqa: B008
    return score_to_folder(path, folder, metrics=metric, parts=PARTS, kind="jsonl", engine=engine)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return write(tmp_path / "r.csv", records(120))


@pytest.fixture
def undisturbed(tmp_path: Path, reports: Path) -> dict[str, bytes]:
    scored(reports, tmp_path / "undisturbed", Words())
    return content(tmp_path / "undisturbed")


def test_a_killed_worker(tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]) -> None:
    ran = scored(reports, tmp_path / "s", Killed("s11", str(tmp_path / "once")), POOL)
    assert (tmp_path / "once").exists()
    assert ran.manifest.cases == 120
    assert content(tmp_path / "s") == undisturbed


def test_a_late_worker(tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]) -> None:
    scored(reports, tmp_path / "s", Late("s11", str(tmp_path / "once"), 1.0), POOL)
    assert content(tmp_path / "s") == undisturbed


def test_a_killed_driver_repeats_what_its_workers_had_begun(
    tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]
) -> None:
    folder = tmp_path / "s"
    metric = f"Late('s11', {str(tmp_path / 'once')!r}, 600.0)"
    process = driver(tmp_path, reports, folder, metric, "Engine()")
    try:
        wait_for(lambda: (tmp_path / "once").exists() or process.poll() is not None)
    finally:
        process.kill()
        _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    there = {name: data for name, data in content(folder).items() if name.startswith("part-")}
    ran = scored(reports, folder, Words())
    assert ran.scored == PARTS - len(there)
    assert content(folder) == undisturbed
    assert there.items() <= undisturbed.items()


def test_a_kill_between_write_and_rename(tmp_path: Path, reports: Path, undisturbed: dict[str, bytes]) -> None:
    folder = tmp_path / "s"
    before = (
        "import os, signal, pathlib\n"
        "usual = pathlib.Path.replace\n"
        "def replace(self, target):\n"
        "    if target.name == 'part-00002.jsonl':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return usual(self, target)\n"
        "pathlib.Path.replace = replace\n"
    )
    process = driver(tmp_path, reports, folder, "Words()", "Engine()", before)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    left = [path for path in folder.iterdir() if path.name.startswith(".radgauge-")]
    assert len(left) == 1  # written, not renamed
    assert not (folder / "part-00002.jsonl").exists()
    process = driver(tmp_path, reports, folder, "Words()", "Engine()")
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert content(folder) == undisturbed
    assert not any(path.name.startswith(".radgauge-") for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_keeps_what_is_done(tmp_path: Path, reports: Path) -> None:
    pytest.importorskip("pyarrow")
    import resource

    command = [sys.executable, "-m", "radgauge", "score", str(reports), "-m", "bleu,rouge", "--parts", "4", "-q"]
    subprocess.run([*command, "-o", str(tmp_path / "whole")], check=True, capture_output=True)
    expected = content(tmp_path / "whole")
    limit = max(len(data) for name, data in expected.items() if name.startswith("part-")) - 1

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    stopped = subprocess.run(
        [*command, "-o", str(tmp_path / "s")], preexec_fn=full, capture_output=True, text=True, check=False
    )
    assert stopped.returncode == 3, stopped.stderr
    assert "cannot be written (" in stopped.stderr
    assert "make room, and run the same command again" in " ".join(stopped.stderr.split())
    assert all(expected[name] == data for name, data in content(tmp_path / "s").items() if "part-" in name)
    subprocess.run([*command, "-o", str(tmp_path / "s")], check=True, capture_output=True)
    assert content(tmp_path / "s") == expected


def test_ids_that_come_out_are_those_that_went_in(tmp_path: Path, reports: Path) -> None:
    ran = scored(reports, tmp_path / "s", Words(), POOL)
    keys = read_scores(tmp_path / "s").keys_of_cases
    assert keys == tuple((row["id"], row["system"]) for row in records(120))
    assert ran.manifest.cases == len(set(keys)) == 120
