"""Metrics that misbehave on purpose, for the tests of runs in parts; workers import them from here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Metric, Rows
from radgauge.core.readings import Readings


@dataclass(frozen=True)
class Words(Metric):
    """Words of the candidate; at the case `at` something happens, once if `marker` is a file."""

    name: ClassVar[str] = "words"
    higher_is_better: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (0.0, 1e9)

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        for case in cases:
            self.meet(case)
        return np.array([[float(len(case.candidate.split()))] for case in cases]).reshape(len(cases), 1)

    def meet(self, case: Case) -> None:
        """Nothing happens."""

    def signature(self) -> str:
        """The same for all of them: what happens does not change a number."""
        return "words"

    def settings(self) -> dict[str, object]:
        return {}


@dataclass(frozen=True)
class Killed(Words):
    """Its process is killed at a case: once, or every time without a marker."""

    at: str = ""
    marker: str = ""

    def meet(self, case: Case) -> None:
        if case.id == self.at and _first(self.marker):
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Late(Words):
    """Its process sleeps at a case: once."""

    at: str = ""
    marker: str = ""
    seconds: float = 1.0

    def meet(self, case: Case) -> None:
        if case.id == self.at and _first(self.marker):
            time.sleep(self.seconds)


@dataclass(frozen=True)
class Poisoned(Words):
    """Raises at a case."""

    at: str = ""

    def meet(self, case: Case) -> None:
        if case.id == self.at:
            raise ZeroDivisionError("a secret report")


def _first(marker: str) -> bool:
    if not marker:
        return True
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@dataclass(frozen=True)
class Ranked(Words):
    """A metric whose values depend on all cases of a run."""

    name: ClassVar[str] = "ranked"
    independent: ClassVar[bool] = False


def process_of(item: int) -> tuple[int, int]:
    """Which process does the work, and at what priority."""
    return os.getpid(), os.nice(0)
