"""Progress bars on stderr, only where a person looks and only when there is something to wait for."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from radgauge.reading import Progress

PATIENCE = 0.5  # seconds before a bar appears


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


def bars(doing: str = "reading") -> Progress | None:
    """A progress callback that says what is being done, or None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        return None
    started: dict[str, float] = {}

    def show(what: str, done: int, total: int) -> None:
        began = started.setdefault(what, time.monotonic())
        spent = time.monotonic() - began
        if spent < PATIENCE and done < total:
            return
        if done >= total:
            started.pop(what)
            if spent >= PATIENCE:
                sys.stderr.write("\r\x1b[K")
            return
        left = spent / done * (total - done)
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\x1b[K{line(f'{doing} {what}'.strip(), done, total, left=left, columns=columns)}")
        sys.stderr.flush()

    return show
