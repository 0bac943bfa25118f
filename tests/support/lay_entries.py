"""Readings for `layman` that already know the vectors of the embedded sentence set, which take seconds."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from radgauge.core.readings import Readings
from radgauge.lay.metrics.layman import Layman


def knowing_readings() -> Readings:
    """Readings that have read no text of a test, only the entries of the set, once per process."""
    reading = Readings()
    for key, vectors in _entries().items():
        reading.give(key, vectors)
    return reading


@cache
def _entries() -> dict[Hashable, object]:
    reading = Readings()
    Layman().replaced([], reading=reading)
    return dict(reading._derived)
