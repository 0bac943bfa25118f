"""Collection of reference cycles, made rarer."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Look for circles seldom in this process: readings are many small objects, and none is part of one.

    A seventh of the time of `errors` and more goes there otherwise. What is no longer used is freed at once, as
    before. For processes that are radgauge's own: the command and the workers, never the user's program.
    """
    gc.set_threshold(100_000, 20, 10)
