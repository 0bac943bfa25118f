"""Pictures for a page: small enough to send, and with the depth that a window needs.

A page gets the pixels and nothing else of a file: no header, no name of a patient. What is burned into the pixels
stays in them. PNG, JPEG and the like become a grey JPEG. A DICOM file keeps its depth: its values (after the
modality's slope and intercept) are sent as 16-bit numbers in a PNG, high byte in red and low byte in green, and
the viewer (`radgauge.render.viewer`) windows them in the browser.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import UsageError, require
from radgauge.images.dicom import DicomValues, read_dicom_values
from radgauge.images.files import grey, is_dicom
from radgauge.images.limits import Grey

MAX_SIZE = 1024
"""Pixels of the longer side, unless the caller wants fewer or more."""
_LARGEST = 4096
_QUALITY = 85  # of JPEG
_DEEPEST = 65535


@dataclass(frozen=True, slots=True)
class WebPicture:
    """A picture as a page takes it."""

    data: bytes  # The file that the browser decodes
    media_type: str  # image/jpeg, or image/png for 16-bit values
    width: int  # Of the picture sent, in pixels
    height: int
    full: tuple[int, int]  # Width and height of the picture in the file
    deep: bool = False  # True if `data` holds 16-bit values instead of grey levels
    low: float = 0.0  # The value that 0 stands for
    step: float = 1.0  # What a value grows by per level
    # Centre and width, in values, with which the picture is shown first
    window: tuple[float, float] = (127.5, 255.0)
    inverted: bool = False  # True if high values are shown dark (MONOCHROME1)


def web_picture(path: Path | str, *, max_size: int = MAX_SIZE) -> WebPicture:
    """The picture in a PNG, JPEG, DICOM, TIFF, BMP or WebP file, made ready for a page.

    Args:
        path: The file.
        longest: Pixels that the longer side may have; a smaller picture keeps its size.

    Raises:
        ImageError: There is no such file, it is damaged, no image, or larger than any radiograph.
        UsageError: `longest` is not between 16 and 4096.
    """
    if not 16 <= max_size <= _LARGEST:
        raise UsageError(f"the longer side of a picture must have 16 to {_LARGEST} pixels, got {max_size}")
    path = Path(path)
    if is_dicom(path):
        values = read_dicom_values(path)
        if values is not None:
            return _deep(values, max_size)
    return _eight_bits(grey(path), max_size)


def _eight_bits(picture: Grey, max_size: int) -> WebPicture:
    image = require("PIL.Image", extra="image")
    height, width = picture.shape
    size = _fitting(width, height, max_size)
    shown = image.fromarray(picture)
    if size != (width, height):
        shown = shown.resize(size, image.Resampling.BOX if min(size) * 2 <= min(width, height) else 1)
    file = io.BytesIO()
    shown.save(file, format="JPEG", quality=_QUALITY, optimize=True)
    return WebPicture(file.getvalue(), "image/jpeg", *size, (width, height))


def _deep(dicom: DicomValues, max_size: int) -> WebPicture:
    image = require("PIL.Image", extra="image")
    height, width = dicom.values.shape
    size = _fitting(width, height, max_size)
    values = dicom.values
    if size != (width, height):
        small = image.fromarray(values.astype(np.float32)).resize(size, image.Resampling.BOX)
        values = np.asarray(small, dtype=np.float64)
    low, high = float(values.min()), float(values.max())
    integral = bool(np.array_equal(dicom.values, np.rint(dicom.values)))
    step = 1.0 if integral and high - low <= _DEEPEST else max(high - low, 1e-9) / _DEEPEST
    levels = np.rint((values - low) / step).astype(np.uint16)
    file = io.BytesIO()
    image.fromarray(_two_bytes(levels)).save(file, format="PNG", optimize=True)
    window = dicom.window or ((low + high) / 2, max(high - low, 1e-9))
    return WebPicture(
        file.getvalue(), "image/png", *size, (width, height), True, low, step, window, dicom.inverted
    )


def _two_bytes(levels: NDArray[np.uint16]) -> NDArray[np.uint8]:
    packed = np.zeros((*levels.shape, 3), np.uint8)
    packed[..., 0] = levels >> 8
    packed[..., 1] = levels & 255
    return packed


def _fitting(width: int, height: int, max_size: int) -> tuple[int, int]:
    longer = max(width, height)
    if longer <= max_size:
        return width, height
    return max(1, round(width * max_size / longer)), max(1, round(height * max_size / longer))
