"""Executors: every item once in the results, whoever dies; nothing waits for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scale_runs import wait_for

from radgauge.core.errors import UsageError
from radgauge.run.engines import Engine, WorkerDied, engine_of
from radgauge.run.executors import run, run_in_order

pytestmark = pytest.mark.process

POOL = Engine("pool", 2)


def double(number: int) -> int:
    return 2 * number


def process_of(number: int) -> int:
    return os.getpid()


def fails(number: int) -> int:
    raise KeyError(number)


def dies_once(item: tuple[int, str]) -> int:
    number, marker = item
    if marker and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("engine", [Engine(), POOL])
def test_results_carry_the_number_of_their_item(engine: Engine) -> None:
    assert sorted(run(double, [5, 6, 7], engine=engine)) == [(0, 10), (1, 12), (2, 14)]
    assert list(run_in_order(double, range(9), engine=engine)) == list(range(0, 18, 2))
    assert list(run(double, [], engine=engine)) == []


def test_items_are_taken_as_workers_become_free() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    for done, _ in enumerate(run(double, items(), engine=POOL), start=1):
        assert len(taken) <= done + 2 * 2
    assert len(taken) == 50


def test_workers_are_replaced_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radgauge.run.executors.RENEWED", 3)
    found = sorted(run(process_of, range(14), engine=POOL))
    assert [number for number, _ in found] == list(range(14))
    assert len({process for _, process in found}) >= 3  # 14 items, six to a pool of two


@pytest.mark.parametrize("engine", [Engine(), POOL])
def test_an_exception_of_the_work_ends_the_run(engine: Engine) -> None:
    with pytest.raises(KeyError):
        list(run(fails, [1, 2], engine=engine))


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    items = [(number, str(tmp_path / "killed") if number == 4 else "") for number in range(12)]
    assert sorted(found for _, found in run(dies_once, items, engine=POOL)) == list(range(12))
    assert (tmp_path / "killed").exists()


def test_an_item_that_kills_every_worker_ends_the_run() -> None:
    with pytest.raises(WorkerDied, match="the worker of item 3 died 3 times"):
        list(run(dies, range(8), engine=POOL))


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, sys, time\n"
        "from radgauge.run.executors import Engine, run\n"
        "def told(folder):\n"
        "    open(os.path.join(folder, str(os.getpid())), 'w').close()\n"
        "    time.sleep(600)\n"
        "if __name__ == '__main__':\n"
        "    list(run(told, [sys.argv[1]] * 2, engine=Engine('pool', 2)))\n",
        encoding="utf-8",
    )
    told = tmp_path / "told"
    told.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(told)])
    try:
        wait_for(lambda: len(list(told.iterdir())) == 2)
    finally:
        parent.kill()
        parent.wait()
    workers = [int(path.name) for path in told.iterdir()]
    wait_for(lambda: not any(is_running(worker) for worker in workers))


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_engines_say_what_does_not_fit() -> None:
    assert engine_of(2) == Engine("pool", 2)
    assert engine_of(1) == engine_of() == Engine()
    assert engine_of(address="auto") == Engine("ray", 0, "auto")
    with pytest.raises(UsageError, match=r"engine must be one of .*got 'dask'"):
        Engine("dask")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="jobs must be 0"):
        Engine("pool", -1)
    with pytest.raises(UsageError, match="an address belongs to the engine ray, got 'pool'"):
        Engine("pool", 2, "auto")
    with pytest.raises(UsageError, match="the engine process is one process, got jobs 2"):
        engine_of(2, name="process")
