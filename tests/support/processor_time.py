"""A test without a marker that uses more than a processor second fails: its tier is for what is cheap."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol

MARKERS = ("process", "models", "browser", "java", "cloud", "long", "nightly", "smoke")
LIMIT = 1.0
"""Processor seconds of a test and the processes it started, on a machine that counts in COUNTING_TIME."""
COUNTING_TIME = 0.018


def processor_seconds() -> float:
    """Return the time that this process and its finished children have computed."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def slowness() -> float:
    """Return how many times longer than COUNTING_TIME this machine counts now; at least 1."""
    start = time.process_time()
    sum(number * number for number in range(400_000))
    return max(1.0, (time.process_time() - start) / COUNTING_TIME)


class ProcessorTime:
    """Measures tests and their own fixtures; what a module or session shares counts for no test."""

    def __init__(self) -> None:
        self.used = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        start = processor_seconds()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.used -= processor_seconds() - start

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
        self.used = -processor_seconds()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        self.used += processor_seconds()
        return reports

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if any(item.get_closest_marker(name) for name in MARKERS):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = self._run(item, nextitem)
        if self.used > LIMIT and all(report.passed for report in reports):
            # The first run may have imported packages and filled caches of the process, which no later test pays.
            reports = self._run(item, nextitem)
            if self.used > LIMIT * slowness():
                call = next(report for report in reports if report.when == "call")
                call.outcome = "failed"
                call.longrepr = (
                    f"{self.used:.1f} processor seconds; above {LIMIT} a test needs a marker: {MARKERS}"
                )
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime(), "processor-time-of-tests")
