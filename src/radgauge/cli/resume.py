"""The message of an interrupted run: what is on disk, and whether the same command resumes."""

from __future__ import annotations

from collections.abc import Callable

_RESUMABLE: list[Callable[[], bool]] = []


def keeps(anything: Callable[[], bool] = lambda: True) -> None:
    """Tell that this run keeps what it has done.

    Args:
        anything: Whether something is kept by now.
    """
    _RESUMABLE.append(anything)


def what_is_kept() -> str:
    """Message to a person who interrupted the run.

    >>> what_is_kept()
    'nothing of it was kept'
    """
    if any(anything() for anything in _RESUMABLE):
        return "what was done so far is kept, the same command goes on from there"
    return "nothing of it was kept"
