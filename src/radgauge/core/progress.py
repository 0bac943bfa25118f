"""Progress for display: one line of rich in a terminal or a notebook, a line every ten seconds in a log.

Every function that can take long says what it is doing with `working`; whoever knows how far it is calls `tell`.
A line appears after two seconds and goes when the outermost work ends. Rich draws it in a thread, so that a step
without news for a minute is seen to run.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from radgauge.core.wording import visible

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 2.0
"""Seconds before a line appears."""
LOG_EVERY = 10.0
"""Seconds between two lines of a log."""


def _console() -> Console | None:
    """Return the console on which a person would see a line, or None."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None else None
    in_notebook = shell is not None and hasattr(shell, "kernel")
    # in a notebook rich draws by ipywidgets, and warns where they are missing
    if find_spec("ipywidgets") is None if in_notebook else sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True)


class _Work:
    """The work of this moment, and the line that shows it."""

    def __init__(self, doing: str, console: Console, patience: float) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.doing = [doing]
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(28),
            TextColumn("{task.fields[count]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.progress.add_task(doing, total=None, count="")
        self._timer = threading.Timer(patience, self.progress.start)
        self._timer.daemon = True
        self._timer.start()

    def step(self, what: str = "", done: int = 0, total: int | None = None) -> None:
        """Show how far a step is; without numbers, that the work goes on."""
        task = self.progress.tasks[0]
        count = f"{done:,}/{total:,}" if total else ""
        text = f"{self.doing[-1]} {what}".strip()
        if total != task.total or done < task.completed:
            self.progress.reset(self.task, total=total)
        self.progress.update(self.task, description=text, completed=done, total=total, count=count)

    def end(self) -> None:
        """Remove the line, which may not have appeared."""
        self._timer.cancel()
        self._timer.join()
        self.progress.stop()


class _Log:
    """The work of this moment in a log: a line on stderr every ten seconds."""

    def __init__(self, doing: str) -> None:
        self.doing = [doing]
        self._step = ""
        self._ended = threading.Event()
        self._began = self._written = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(max(LOG_EVERY / 10, 0.1)):
            self._write()

    def _write(self) -> None:
        now = time.monotonic()
        if now - self._written >= LOG_EVERY:
            self._written = now
            sys.stderr.write(visible(f"{self.doing[-1]} {self._step}".strip()) + f"  {now - self._began:.0f} s\n")
            sys.stderr.flush()

    def step(self, what: str = "", done: int = 0, total: int | None = None) -> None:
        """Note how far a step is."""
        self._step = f"{what} {done:,}/{total:,}".strip() if total else what
        self._write()

    def end(self) -> None:
        """Write no more lines."""
        self._ended.set()
        self._thread.join()


_current: _Work | _Log | None = None
_silent = 0
_logged = 0


@contextmanager
def working(
    doing: str, *, on: Console | None = None, patience: float | None = None
) -> Iterator[Callable[..., None]]:
    """Show what is being done for as long as the block lasts; blocks inside it change what is shown.

    Args:
        doing: "scoring", "comparing".
        on: Where to draw; by default wherever a person looks, and nowhere if nobody does.
        patience: Seconds before a line appears; None is `PATIENCE`.
    """
    global _current
    if threading.current_thread() is not threading.main_thread():
        yield _nothing  # threads of a trainer: no line of their own
        return
    if _current is not None:
        outer = _current
        outer.doing.append(doing)
        outer.step()
        try:
            yield tell
        finally:
            outer.doing.pop()
            outer.step()
        return
    console = None if _silent else on or _console()
    if console is None and (_silent or not _logged):
        yield _nothing
        return
    _current = (
        _Log(doing) if console is None else _Work(doing, console, PATIENCE if patience is None else patience)
    )
    try:
        yield tell
    finally:
        work, _current = _current, None
        work.end()


def tell(what: str, done: int, total: int) -> None:
    """Show how far a step is; nothing happens outside `working`."""
    if _current is not None:
        _current.step(what, done, total)


@contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """Show no lines inside this block.

    >>> with silence():
    ...     pass
    """
    global _silent
    _silent += wanted
    try:
        yield
    finally:
        _silent -= wanted


@contextmanager
def logged() -> Iterator[None]:
    """Write a line every ten seconds inside this block where nobody would see one of rich."""
    global _logged
    _logged += 1
    try:
        yield
    finally:
        _logged -= 1


def _nothing(what: str, done: int, total: int) -> None:
    """Do nothing: nobody looks."""
