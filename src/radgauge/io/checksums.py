"""Checksums of scores on disk: a value that changed since it was written is an error, not another score.

The digest covers the header and every column by value, so it is the same for JSONL and Parquet. It shows damage
and careless edits; it has no key, so whoever changes a file on purpose can also write a new checksum.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError

log = logging.getLogger(__name__)

CHECKSUM = "checksum"
"""Key of the digest in headers and manifests."""
_LARGEST_EXACT = 2**53
_TRUST: ContextVar[bool] = ContextVar("trust", default=False)


@contextmanager
def trusting(trust: bool = True) -> Iterator[None]:
    """Read files inside the block whose checksum does not fit, with a warning in place of the error."""
    token = _TRUST.set(trust or _TRUST.get())
    try:
        yield
    finally:
        _TRUST.reset(token)


def checksum_of(
    header: Mapping[str, Any], table: Mapping[str, Sequence[Any] | NDArray[np.float64]] | None = None
) -> str:
    """Return the digest of a header, its own checksum left out, and of columns by name.

    >>> checksum_of({"a": 1}, {"x": [0.5, None]}) == checksum_of({"a": 1}, {"x": [0.5, 0.0]})
    False
    """
    digest = hashlib.sha256()
    plain = {key: value for key, value in json.loads(json.dumps(header)).items() if key != CHECKSUM}
    digest.update(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(table or ()):
        packed = _packed((table or {})[name])
        digest.update(json.dumps([name, len(packed)]).encode() + packed)
    return digest.hexdigest()


def _packed(column: Sequence[Any] | NDArray[np.float64]) -> bytes:
    """Numbers as doubles, as Parquet holds them, with a mark for each that is missing; the rest as JSON."""
    if isinstance(column, np.ndarray):
        missing = np.isnan(column)
        return b"n" + np.where(missing, 0.0, column).astype("<f8").tobytes() + np.packbits(missing).tobytes()
    kinds = set(map(type, column))
    if kinds <= {int, float, type(None)} and not (int in kinds and _has_large(column)):
        values = np.array([np.nan if value is None else value for value in column], dtype="<f8")
        missing = np.array([value is None for value in column], dtype=bool)
        return b"n" + np.where(missing, 0.0, values).tobytes() + np.packbits(missing).tobytes()
    return b"j" + json.dumps(list(column), default=str).encode()


def _has_large(column: Sequence[Any]) -> bool:
    return any(type(value) is int and abs(value) > _LARGEST_EXACT for value in column)


def verify(path: Path, stated: object, actual: str) -> None:
    """Compare the checksum that a file states with that of what was read.

    Raises:
        InputError: They differ, outside `trusting`; the message names the file.
    """
    if stated == actual:
        return
    if stated is None:
        log.warning("%s has no checksum: changes since it was written cannot be seen", path)
    elif _TRUST.get():
        log.warning("%s was changed since radgauge wrote it; it is read all the same, as requested", path)
    else:
        raise InputError(
            f"{path} was changed since radgauge wrote it: its checksum does not fit. Write it anew, or read it "
            "as it is with `radgauge --trust VERB ...` (Python: trust=True)"
        )
