"""Engines: where work that can be divided is done, as a record of settings."""

from __future__ import annotations

import os
from dataclasses import dataclass

from radgauge.core.choices import EngineName
from radgauge.core.errors import RadgaugeError, UsageError

PATIENCE = 3
"""How often the worker of one item may die before the run ends."""

RENEWED = 50
"""Items after which a worker is replaced, so that what its caches gather does not grow with the run."""

AHEAD = 2
"""Items under way per worker: one that is worked on, one that waits."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Engine that does the work."""

    name: EngineName = "process"  # "process" (this one), "pool" (processes on this machine) or "ray"
    jobs: int = 1  # Workers; 0 = as many as there are processors (Ray: as the cluster has)
    address: str = ""  # Of a Ray cluster; "" starts Ray on this machine for the run
    gpus: float = 0.0  # Of each Ray worker; published models use them

    def __post_init__(self) -> None:
        if self.name not in ("process", "pool", "ray"):
            raise UsageError(f"engine must be one of process, pool, ray, got {self.name!r}")
        if self.jobs < 0:
            raise UsageError(f"jobs must be 0 (as many as there are processors) or more, got {self.jobs}")
        if self.address and self.name != "ray":
            raise UsageError(f"an address belongs to the engine ray, got {self.name!r}")

    @property
    def workers(self) -> int:
        """Number of workers, where it is known before the run."""
        return 1 if self.name == "process" else self.jobs or processors()


HERE = Engine()
"""This process."""


def engine_of(jobs: int | None = None, *, name: EngineName | None = None, address: str = "") -> Engine:
    """The engine that options describe: several jobs mean a pool, an address means Ray.

    >>> engine_of(2).name, engine_of().name, engine_of(name="ray").jobs
    ('pool', 'process', 0)
    """
    if name is None:
        name = "ray" if address else "process" if jobs in (None, 1) else "pool"
    if name == "process" and jobs not in (None, 1):
        raise UsageError(f"the engine process is one process, got jobs {jobs}; take the engine pool")
    return Engine(name, (1 if name == "process" else 0) if jobs is None else jobs, address)


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerDied(RadgaugeError):
    """The worker of an item died again and again."""

    def __init__(self, number: int, times: int) -> None:
        super().__init__(
            f"the worker of item {number} died {times} times: out of memory, or killed; what is done is kept. "
            "Take fewer jobs or smaller parts, and run the same command again"
        )
