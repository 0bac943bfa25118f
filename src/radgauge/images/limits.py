"""The grey picture that every file becomes, and the size above which none is read."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ImageError

Grey = NDArray[np.uint8]
"""A picture, (height, width), 0 black to 255 white."""

MOST_PIXELS = 1 << 26
"""Larger pictures are refused by what their header says, before anything is decoded: four times the largest
radiographs (mammograms of 4096 x 3328)."""
MOST_BYTES = 8 * MOST_PIXELS  # of a file: 16 bits in three channels, and room for what is around them


def check_size(path: Path, *sides: int) -> None:
    """Refuse a picture before it is decoded.

    Args:
        path: The file, for the message.
        sides: Width, height and, where there are any, channels and frames; their product counts.

    Raises:
        ImageError: It has more than `MOST_PIXELS`, or none.
    """
    if min(sides) < 1:
        raise ImageError(f"{path.name} claims a picture without pixels")
    if math.prod(sides) > MOST_PIXELS:
        raise ImageError(f"{path.name} claims more than {MOST_PIXELS:,} pixels ({' x '.join(map(str, sides))})")


def first_line(error: Exception) -> str:
    """First line of an error, or its name."""
    return str(error).partition("\n")[0] or type(error).__name__
