"""Packing of readings that are vectors, for the cache."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class VectorReader:
    """The part of a reader that packs a vector: little-endian 32-bit numbers."""

    def pack(self, reading: Vectors, text: str) -> bytes | None:
        """The vector as bytes."""
        return np.asarray(reading, dtype="<f4").tobytes()

    def unpack(self, packed: bytes, text: str) -> Vectors:
        """The vector; ValueError if the bytes are not one."""
        return np.frombuffer(packed, dtype="<f4").astype(np.float32)
