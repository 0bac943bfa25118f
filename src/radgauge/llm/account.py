"""Cost of questions, and permission for the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from radgauge.core.errors import RadgaugeError
from radgauge.llm.journal import Record
from radgauge.llm.limits import Limits, Stopped, Usage

J = TypeVar("J")
R = TypeVar("R")


class BudgetReached(RadgaugeError):
    """The next question could cost more than the user allows; what was answered before is kept."""


class Account:
    """Keeps the cost of all questions below the limit, those of earlier runs included; for several threads.

    A question is on record, with the most that it can cost, before it is asked: a run that was killed knows what
    it may owe.

    Args:
        limits: Prices, and the greatest cost.
        past: Records of earlier runs.
        ledger: Takes records.
    """

    def __init__(self, limits: Limits, past: Iterable[Record], ledger: Callable[[Record], None]) -> None:
        self._limits, self._ledger = limits, ledger
        self._lock = threading.Condition()  # notified when a question is settled
        self._open: dict[int, float] = {}  # questions on their way -> the most they may cost
        self._usage = Usage()
        self._next = 0
        for record in past:
            self._count(record)
        self._usage = self._usage._replace(unsure=self._usage.unsure + sum(self._open.values()))
        self._open.clear()

    @property
    def usage(self) -> Usage:
        """Usage so far."""
        with self._lock:
            return self._usage

    @property
    def under_way(self) -> int:
        """Questions without an answer yet."""
        with self._lock:
            return len(self._open)

    def reserve(self, tokens_in: int, tokens_out: int) -> int:
        """Set the most aside that a question can cost, and return its number.

        What is set aside for questions under way is more than they will cost: where only that stands in the way,
        their answers are waited for.

        Args:
            tokens_in: Most tokens of the question.
            tokens_out: Most tokens of the answer.

        Raises:
            BudgetReached: It could cost more than is left.
        """
        bound = self._limits.cost(tokens_in, tokens_out)
        with self._lock:
            ceiling = self._limits.max_cost
            while (
                ceiling is not None and self._open and self._spent() + sum(self._open.values()) + bound > ceiling
            ):
                if self._spent() + bound > ceiling:
                    break  # it will not become less
                self._lock.wait()
            used = self._usage
            if ceiling is not None and self._spent() + bound > ceiling:
                raise BudgetReached(
                    f"stopped before max_cost: {used.cost:.4f} of {ceiling:g} is spent"
                    + (f" (up to {used.unsure:.4f} more is unsure)" if used.unsure else "")
                    + f" and the next question could cost up to {bound:.4f}"
                )
            number = self._next
            self._next += 1
            self._open[number] = bound
        self._ledger({"id": number, "bound": bound})
        return number

    def _spent(self) -> float:
        return self._usage.cost + self._usage.unsure

    def failed(self, number: int, *, may_be_charged: bool) -> None:
        """A question came to nothing."""
        record = {"id": number, "void": not may_be_charged}
        with self._lock:
            self._count(record)
            self._lock.notify_all()
        self._ledger(record)

    def answered(self, number: int, tokens: tuple[int, int] | None) -> Record:
        """A question was answered; returns the record, to be written together with what the answer is worth.

        Args:
            number: Of the question.
            tokens: Of question and answer as the server counts them; None if it does not say.
        """
        record: Record = {"id": number, "unknown": True}
        if tokens is not None:
            record = {"id": number, "in": tokens[0], "out": tokens[1], "cost": self._limits.cost(*tokens)}
        with self._lock:
            self._count(record)
            self._lock.notify_all()
        return record

    def retried(self) -> None:
        """A question is put again."""
        with self._lock:
            self._usage = self._usage._replace(retries=self._usage.retries + 1)

    def _count(self, record: Record) -> None:
        number = int(record["id"])
        self._next = max(self._next, number + 1)
        if "bound" in record:
            self._open[number] = float(record["bound"])
            return
        bound = self._open.pop(number, 0.0)
        used = self._usage
        if "in" in record:
            self._usage = used._replace(
                requests=used.requests + 1,
                tokens_in=used.tokens_in + int(record["in"]),
                tokens_out=used.tokens_out + int(record["out"]),
                cost=used.cost + float(record["cost"]),
            )
        elif record.get("unknown"):
            self._usage = used._replace(requests=used.requests + 1, unsure=used.unsure + bound)
        elif not record.get("void"):
            self._usage = used._replace(unsure=used.unsure + bound)


def in_parallel(
    jobs: Iterable[J],
    work: Callable[[J], R],
    *,
    done: Callable[[J, R | BudgetReached], None],
    stop: Callable[..., None],
    parallel: int,
) -> None:
    """Do jobs in threads, at most `parallel` at a time; the iterator is asked for one when a thread is free.

    Args:
        jobs: What to do.
        work: Does one job.
        done: Takes a job and its result, or the budget that it would exceed.
        stop: Ends requests under way; with `at_once` without waiting for their answers.
        parallel: Maximum number of jobs at the same time.

    Raises:
        LlmError: A job failed; those under way were finished first.
    """
    waiting = iter(jobs)
    running: dict[Future[R], J] = {}
    trouble: BaseException | None = None
    with ThreadPoolExecutor(max(1, parallel), thread_name_prefix="llm") as pool:
        try:
            while True:
                free = max(1, parallel) - len(running) if trouble is None else 0
                running.update((pool.submit(work, job), job) for job in islice(waiting, free))
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    error = future.exception()
                    if error is None:
                        done(job, future.result())
                    elif isinstance(error, BudgetReached):
                        done(job, error)
                    elif trouble is None or isinstance(trouble, Stopped):
                        trouble = error
                        stop()
        except BaseException:
            stop(at_once=True)
            raise
    if trouble is not None:
        raise trouble
