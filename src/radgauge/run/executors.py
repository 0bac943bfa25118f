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

import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from radgauge.core.garbage import collect_seldom
from radgauge.run.engines import AHEAD, PATIENCE, RENEWED, WorkerDied
from radgauge.run.engines import HERE as HERE
from radgauge.run.engines import Engine as Engine
from radgauge.run.engines import engine_of as engine_of

T = TypeVar("T")
R = TypeVar("R")


def run(
    work: Callable[[T], R], items: Iterable[T], *, engine: Engine = HERE, cost: float = 1.0
) -> Iterator[tuple[int, R]]:
    """What `work` returns for each item, with the item's number, in the order in which it comes.

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
        from radgauge.run.ray_engine import on_ray

        yield from on_ray(work, items, engine=engine, cost=cost)


@contextmanager
def session(engine: Engine) -> Iterator[None]:
    """Keep what the engine needs between several calls of `run`: a Ray that is started once, not each time."""
    if engine.name != "ray":
        yield
        return
    from radgauge.run.ray_engine import connected

    with connected(engine):
        yield


def run_in_order(work: Callable[[T], R], items: Iterable[T], *, engine: Engine = HERE) -> Iterator[R]:
    """What `work` returns for each item, in the order of the items.

    >>> list(run_in_order(len, ["ab", "c"]))
    [2, 1]
    """
    early: dict[int, R] = {}
    wanted = 0
    for number, found in run(work, items, engine=engine):
        early[number] = found
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


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
                    found = future.result()  # BrokenProcessPool if a worker died
                    del under_way[future], again[number]
                    yield number, found
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
