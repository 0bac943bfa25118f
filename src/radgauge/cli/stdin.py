"""`-` as a file name: a table from standard input, kept in a file of the owner's for as long as it is read."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from radgauge.core.errors import InputError


@contextmanager
def standing_in(path: Path | None) -> Iterator[Path | None]:
    """The path itself, or for `-` a file with what standard input holds; its beginning tells the format."""
    if path is None or str(path) != "-":
        yield path
        return
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InputError("standard input is empty; pipe a table of reports into it")
    with tempfile.TemporaryDirectory(prefix="radgauge-") as folder:
        file = Path(folder) / f"stdin{_suffix(content)}"
        file.touch(mode=0o600)
        file.write_bytes(content)
        yield file


def _suffix(content: bytes) -> str:
    """The ending that names the format.

    >>> _suffix(b'{"id": 1}'), _suffix(b"[1]"), _suffix(b"id,reference")
    ('.jsonl', '.json', '.csv')
    """
    start = content.lstrip()[:1]
    if start == b"[":
        return ".json"
    if start == b"{":
        return ".jsonl" if b"}" in content.lstrip().split(b"\n", 1)[0] else ".json"
    return ".csv"
