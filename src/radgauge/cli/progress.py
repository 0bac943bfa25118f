"""Progress bars on stderr, only where a person looks and only when there is something to wait for."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from radgauge.core.progress import line as line

if TYPE_CHECKING:
    from radgauge.core.readings import Progress

PATIENCE = 0.5  # seconds before a bar appears


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
