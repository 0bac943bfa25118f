"""Progress where a person looks: a line in a terminal, a line in a notebook, nothing in pipes and logs.

Every function that can take long says what it is doing with `working`; whoever knows how far it is calls `tell`.
A line appears after two seconds and goes when the outermost work ends. A thread draws it, so that a step which
says nothing for a minute is seen to run.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

PATIENCE = 2.0
"""Seconds before a line appears."""

TICK = 0.25
"""Seconds between two drawings."""


class Surface(Protocol):
    """Where a line is drawn."""

    def draw(self, text: str) -> None:
        """Replace the line."""

    def clear(self) -> None:
        """Remove it."""


class Terminal:
    """The last line of standard error."""

    def draw(self, text: str) -> None:
        """Replace the line; one that wraps could not be drawn over."""
        sys.stderr.write(f"\r\x1b[K{text[: max(shutil.get_terminal_size().columns - 1, 0)]}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove it."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class Notebook:
    """An output of a notebook's cell."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, text: str) -> None:
        """Replace the line."""
        shown = {"text/plain": text}
        if self._handle is None:
            from IPython.display import display

            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def clear(self) -> None:
        """Remove it."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def surface() -> Surface | None:
    """Where a person would see a line; None where nobody looks."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None else None
    if shell is not None and hasattr(shell, "kernel"):
        return Notebook()
    return Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


def line(what: str, done: int, total: int, *, left: float, columns: int) -> str:
    """One line of progress that fits: a line that wraps cannot be drawn over. The bar gives way first.

    >>> line("reading", 1, 4, left=3.2, columns=36)
    'reading  ━━━╌╌╌╌╌╌╌╌  1/4  3 s left'
    """
    numbers = f"{done:,}/{total:,}  {left:.0f} s left"
    width = min(28, columns - len(what) - len(numbers) - 5)
    if width < 4:
        return f"{what}  {numbers}"[: max(columns - 1, 0)]
    filled = round(width * done / total)
    return f"{what}  {'━' * filled}{'╌' * (width - filled)}  {numbers}"


class _Work:
    """What is going on at this moment, and the thread that draws it."""

    def __init__(self, doing: str, place: Surface, patience: float) -> None:
        self.doing = [doing]
        self.step: tuple[str, int, int] | None = None
        self.began = self.step_began = time.monotonic()
        self.place = place
        self._patience = patience
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="radgauge-progress", daemon=True)
        self._thread.start()

    def text(self) -> str:
        now = time.monotonic()
        columns = shutil.get_terminal_size().columns
        step = self.step
        if step is None or not 0 < step[1] < step[2]:
            what = f" {step[0]}" if step is not None and step[1] < step[2] else ""
            return f"{self.doing[-1]}{what}  {now - self.began:.0f} s"[: max(columns - 1, 0)]
        what, done, total = step
        left = (now - self.step_began) / done * (total - done)
        return line(f"{self.doing[-1]} {what}".strip(), done, total, left=left, columns=columns)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        drawn = False
        wait = self._patience
        while not self._ended.wait(wait):
            self.place.draw(self.text())
            drawn, wait = True, TICK
        if drawn:
            self.place.clear()


_current: _Work | None = None
_silent = 0


@contextmanager
def working(doing: str, *, on: Surface | None = None, patience: float = PATIENCE) -> Iterator[Callable[..., None]]:
    """Say what is being done for as long as the block lasts; blocks inside it change what is said.

    Args:
        doing: "scoring", "comparing".
        on: Where to draw; by default wherever a person looks, and nowhere if nobody does.
        patience: Seconds before a line appears.
    """
    global _current
    if threading.current_thread() is not threading.main_thread():
        yield _nothing  # threads of a trainer: no line of their own
        return
    if _current is not None:
        outer = _current
        outer.doing.append(doing)
        outer.step = None
        try:
            yield tell
        finally:
            outer.doing.pop()
            outer.step = None
        return
    place = None if _silent else on or surface()
    if place is None:
        yield _nothing
        return
    _current = _Work(doing, place, patience)
    try:
        yield tell
    finally:
        work, _current = _current, None
        work.end()


def tell(what: str, done: int, total: int) -> None:
    """Say how far a step is; nothing happens outside `working`."""
    work = _current
    if work is not None:
        if work.step is None or work.step[0] != what:
            work.step_began = time.monotonic()
        work.step = (what, done, total)


@contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """No lines inside this block.

    >>> with silence():
    ...     pass
    """
    global _silent
    _silent += wanted
    try:
        yield
    finally:
        _silent -= wanted


def _nothing(what: str, done: int, total: int) -> None:
    """Nobody looks."""
