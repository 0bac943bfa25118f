"""URLs among the arguments of a command: copies that last as long as the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import overload

_open: list[ExitStack] = []


@contextmanager
def copies() -> Iterator[None]:
    """For the time of a command: what `local` copies is removed at its end."""
    with ExitStack() as stack:
        _open.append(stack)
        try:
            yield
        finally:
            _open.remove(stack)


@overload
def local(path: Path) -> Path: ...
@overload
def local(path: None) -> None: ...
def local(path: Path | None) -> Path | None:
    """The path itself, or a copy of what a URL names until the command ends."""
    from radgauge.core.storage import local_copy

    return None if path is None else _open[-1].enter_context(local_copy(path))


def here_or_name(text: str | None) -> str | None:
    """A text that may name a file: if it is a URL, the copy of what it names."""
    from radgauge.core.storage import url_of

    return str(local(Path(text))) if text is not None and url_of(text) is not None else text
