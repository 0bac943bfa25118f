"""Recognition of a file of `radgauge study`; the subject `study` reads it."""

from __future__ import annotations

from pathlib import Path

APPLICATION = 0x72674753
"""SQLite's application id of a study."""


def looks_like_study(path: Path) -> bool:
    """True if a file is a study, by its header."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(72)
    return head[:16] == b"SQLite format 3\0" and int.from_bytes(head[68:72], "big") == APPLICATION
