"""Executors: one function over many items, in this process, in a pool of processes, or on Ray.

`run` yields results as they come, each with the number of its item. Items are taken from their iterator only as
workers become free, so at most a few per worker are under way. An exception of the function ends the run. A worker
that dies (killed, out of memory) is replaced, and its item is tried again; an item whose workers died `PATIENCE`
times ends the run with its number. A function must therefore bear being called twice for the same item.

concurrent.futures gives up its whole pool when one worker dies, and its workers outlive a killed parent; both are
put right here, which is why this is more than a call of `map`. `RENEWED` stands in for its `max_tasks_per_child`,
which can hang.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from radgauge.core.errors import RadgaugeError, require
from radgauge.core.files import tighten
from radgauge.core.garbage import collect_seldom
from radgauge.run.engines import AHEAD, PATIENCE, RENEWED, WorkerDied, processors
from radgauge.run.engines import HERE as HERE
from radgauge.run.engines import Engine as Engine
from radgauge.run.engines import engine_of as engine_of

# Ray as an executor: tasks on the workers of a cluster, or of this machine for the time of a run.
#
# Ray schedules, places and retries; it is never asked what is done (see the package's text). What is set, and why:
#
# - Tasks are plain functions. A Ray worker process outlives a task, so readers, lexicon and weights that its first
#   task loaded serve the next ones; an actor would hold the same, and die with everything that waits for it.
# - `max_retries` covers a worker or node that dies; exceptions of the function are not retried, they end the run.
# - A worker process is replaced after as many tasks as one of a pool, so that what its caches gather does not grow
#   with the run (with GPUs Ray would replace it after every task, and load the weights again).
# - A raylet that is killed can leave a driver waiting without end: while nothing comes, the driver asks every few
#   seconds whether Ray is still there, and gives the run up if it is not or does not answer in a minute.
# - As many tasks are under way as there are processors, and one more each that waits: back-pressure is ours.
# - Arguments and results are small (the number of a bucket, counts): reports go through the folder, never through
#   Ray's object store, so no object is larger than a block.
# - A Ray that we start listens on this machine only, without dashboard and without usage statistics; its workers
#   find the modules that the program finds. The nodes of a cluster must have radgauge and one's own metrics.

STORE_BYTES = 128 << 20
"""Ray's object store on this machine; next to nothing is put into it."""

LOOK_EVERY = 5.0
"""Seconds without a result after which the driver asks whether Ray is still there."""

ANSWER_WITHIN = 60.0
"""Seconds that Ray has for an answer."""

STATISTICS = "RAY_USAGE_STATS_ENABLED"
TOKEN = Path.home() / ".ray" / "auth_token"
"""Ray makes it when it is started, and lets everybody on the machine read it."""
LOCAL = {STATISTICS: "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
"""No usage statistics, no socket that other machines reach, and workers that rank as those of a pool do (Ray would
give them the lowest priority but four, so that a busy machine leaves them nothing)."""


def on_ray(
    work: Callable[[T], R], items: Iterable[T], *, engine: Engine, cost: float = 1.0
) -> Iterator[tuple[int, R]]:
    """As `executors.run`, on Ray.

    Raises:
        WorkerDied: The worker of an item died again and again.
        RadgaugeError: The cluster was lost.
    """

    def in_worker(item: T) -> R:
        collect_seldom()
        return work(item)

    with connected(engine) as ray:
        task = ray.remote(max_calls=RENEWED)(in_worker).options(
            num_cpus=cost, num_gpus=engine.gpus, max_retries=PATIENCE - 1, retry_exceptions=False
        )
        waiting = enumerate(items)
        under_way: dict[Any, int] = {}
        while True:
            room = AHEAD * (engine.jobs or max(1, int(ray.cluster_resources().get("CPU", 1) // max(cost, 0.01))))
            while len(under_way) < room:
                taken = next(waiting, None)
                if taken is None:
                    break
                under_way[task.remote(taken[1])] = taken[0]
            if not under_way:
                return
            done: list[Any] = []
            while not done:
                done, _ = ray.wait(list(under_way), num_returns=1, timeout=LOOK_EVERY)
                if not done:
                    check_alive(ray)
            for reference in done:
                number = under_way.pop(reference)
                yield number, _result(ray, reference, number)


def check_alive(ray: Any) -> None:
    """Ask whether Ray is still there.

    Raises:
        RadgaugeError: A process of the Ray that was started here is gone, no node is alive, or nobody answers.
    """
    node = getattr(importlib.import_module("ray._private.worker"), "_global_node", None)
    gone = [str(kind) for kind, _ in node.dead_processes()] if node is not None else []
    lost = next((kind for kind in gone if kind in ("raylet", "gcs_server")), "")
    answers: list[bool] = []

    def ask() -> None:
        with suppress(Exception):  # an answer that is an error is none
            answers.append(any(node["Alive"] for node in ray.nodes()))

    if not lost:
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(ANSWER_WITHIN)
        if not answers:
            lost = f"no answer within {ANSWER_WITHIN:.0f} s"
        elif not answers[0]:
            lost = "no node is alive"
    if lost:
        raise _lost(lost)


def _lost(why: str) -> RadgaugeError:
    return RadgaugeError(f"the Ray cluster was lost ({why}); what is done is kept: run the same command again")


def _result(ray: Any, reference: Any, number: int) -> Any:
    errors = ray.exceptions
    try:
        return ray.get(reference, timeout=ANSWER_WITHIN)  # it is there: small, and in the driver
    except errors.RayTaskError as error:  # the function's own exception, in Ray's clothes
        cause = error.cause if isinstance(getattr(error, "cause", None), BaseException) else error
        raise cause from None
    except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError):
        raise WorkerDied(number, PATIENCE) from None
    except errors.RayError as error:
        raise _lost(type(error).__name__) from None


@contextmanager
def connected(engine: Engine) -> Iterator[Any]:
    """Ray, connected to a cluster or started here; one that the program already has is left as it is.

    A Ray that is started here keeps sockets, logs and tokens in a folder for its owner only, removed at the end.
    Ray itself would use one that everybody may read.
    """
    here = ExitStack()
    with _settings(LOCAL if not engine.address else {STATISTICS: "0"}):
        ray = require("ray", extra="scale")
        if ray.is_initialized():
            yield ray
            return
        try:
            if engine.address:
                ray.init(address=engine.address, log_to_driver=False, logging_level=logging.ERROR)
            else:
                _stay_here()
                folder = here.enter_context(_private_folder())
                ray.init(
                    _temp_dir=folder,
                    num_cpus=engine.jobs or processors(),
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    object_store_memory=STORE_BYTES,
                    runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
                )
                for path in (TOKEN, TOKEN.parent):
                    tighten(path)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            here.close()
            raise RadgaugeError(f"Ray cannot be started or reached: {error}") from None
    with here:
        try:
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def _private_folder() -> Iterator[str]:
    """A folder in one that this user alone can enter; Ray opens its own to everybody.

    It lies near the root, since the names of sockets have at most 107 bytes.
    """
    folder = tempfile.mkdtemp(prefix="rg-", dir="/tmp" if os.path.isdir("/tmp") else None)
    try:
        yield os.path.join(folder, "ray")
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a process of Ray may still be writing its last line


@contextmanager
def _settings(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables while Ray is imported and started: it asks nobody else. Put back afterwards."""
    usual = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, before in usual.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before


def _stay_here() -> None:
    """Listen on the loopback interface, as Ray does on a Mac; the variable is too late if Ray is imported."""
    constants: Any = importlib.import_module("ray._private.ray_constants")
    if hasattr(constants, "ENABLE_RAY_CLUSTER"):
        constants.ENABLE_RAY_CLUSTER = False


T = TypeVar("T")
R = TypeVar("R")


def run(
    work: Callable[[T], R], items: Iterable[T], *, engine: Engine = HERE, cost: float = 1.0
) -> Iterator[tuple[int, R]]:
    """Yield the result of `work` for each item, with the item's number, in order of completion.

    Args:
        work: A function of a module (workers import it); must bear being called twice for an item.
        items: Taken lazily.
        engine: Where.
        cost: Processors that one call occupies; Ray schedules by it.

    >>> sorted(run(len, ["ab", "c"]))
    [(0, 2), (1, 1)]
    """
    if engine.name == "process":
        yield from ((number, work(item)) for number, item in enumerate(items))
    elif engine.name == "pool":
        yield from _pool(work, items, engine)
    else:
        yield from on_ray(work, items, engine=engine, cost=cost)


@contextmanager
def session(engine: Engine) -> Iterator[None]:
    """Keep what the engine needs between several calls of `run`: a Ray that is started once, not each time."""
    if engine.name != "ray":
        yield
        return

    with connected(engine):
        yield


def run_in_order(work: Callable[[T], R], items: Iterable[T], *, engine: Engine = HERE) -> Iterator[R]:
    """Yield the result of `work` for each item, in the order of the items.

    >>> list(run_in_order(len, ["ab", "c"]))
    [2, 1]
    """
    early: dict[int, R] = {}
    next_number = 0
    for number, result in run(work, items, engine=engine):
        early[number] = result
        while next_number in early:
            yield early.pop(next_number)
            next_number += 1


def _pool(work: Callable[[T], R], items: Iterable[T], engine: Engine) -> Iterator[tuple[int, R]]:
    waiting = enumerate(items)
    again: dict[int, T] = {}  # items whose worker died, tried before new ones
    deaths: Counter[int] = Counter()
    while True:
        suspects = {number: again.pop(number) for number in list(again) if deaths[number] >= PATIENCE - 1}
        for number, item in suspects.items():
            yield number, _alone(work, number, item)
        retry, again = list(again.items()), {}
        under_way: dict[Future[R], tuple[int, T]] = {}
        begun = 0
        ended = False
        pool = _new_pool(engine.workers)
        try:
            while True:
                while len(under_way) < engine.workers * AHEAD and begun < engine.workers * RENEWED:
                    taken = retry.pop(0) if retry else next(waiting, None)
                    if taken is None:
                        ended = True
                        break
                    begun += 1
                    again[taken[0]] = taken[1]  # until it is done
                    under_way[pool.submit(work, taken[1])] = taken
                if not under_way:
                    break
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    number, _ = under_way[future]
                    outcome = future.result()  # BrokenProcessPool if a worker died
                    del under_way[future], again[number]
                    yield number, outcome
        except BrokenProcessPool:
            deaths.update(list(again))
            again.update(retry)
            ended = False
        finally:
            _end(pool, idle=not under_way)
        if ended:
            return


def _alone(work: Callable[[T], R], number: int, item: T) -> R:
    """The result of an item whose workers died beside others: was it the item?"""
    pool = _new_pool(1)
    try:
        return pool.submit(work, item).result()
    except BrokenProcessPool:
        raise WorkerDied(number, PATIENCE) from None
    finally:
        _end(pool)


def _new_pool(workers: int) -> ProcessPoolExecutor:
    kinds = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in kinds else "spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)


def _end(pool: ProcessPoolExecutor, *, idle: bool = False) -> None:
    """Stop a pool; what its workers are doing is not wanted any more."""
    if idle:
        pool.shutdown()
        return
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError, AttributeError):
            process.terminate()
    for process in processes:
        with suppress(OSError, ValueError, AssertionError):
            process.join(10)


def _begin() -> None:
    """In a worker: end when the parent does, leave Ctrl-C to it, and use one thread, as jobs share the machine."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()
    collect_seldom()
    parent = multiprocessing.parent_process()
    if parent is not None:

        def follow() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()


def one_thread() -> None:
    """Let linear algebra of this process use one thread: jobs share the processors."""
    for library in ("OMP", "OPENBLAS", "MKL"):  # read when numpy is imported, which this process has still to do
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
