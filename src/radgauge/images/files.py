"""Any image file to a grey picture of 8 bits: what a viewer shows, 0 black to 255 white.

Eight bits are what the published image-text encoders were trained on; more depth is brought down to them here,
once. The kind of a file is told by its first bytes, never by its name.
"""

from __future__ import annotations

import stat
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ImageError, require
from radgauge.core.files import sha256_of
from radgauge.images.dicom import read_dicom
from radgauge.images.limits import MOST_BYTES, MOST_PIXELS, Grey, check_size, first_line

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "JPEG2000", "PPM")
"""Of pillow's decoders those for pictures; others start programs or are rarely tried."""
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error)
"""What pillow raises on files that are cut or garbled."""


def grey(path: Path | str) -> Grey:
    """The picture in a PNG, JPEG, DICOM, TIFF, BMP or WebP file.

    Colours become luma (ITU-R 601); transparency is ignored; an EXIF orientation is applied. Pictures of more
    than 8 bits without a stated depth (16-bit PNG, often 10 or 12 bits in truth) are scaled by the smallest
    power of two that holds their brightest value. DICOM files are shown by their window, see `dicom`.

    Args:
        path: The file.

    Raises:
        ImageError: There is no such file, it is damaged, it is no image, or it is larger than any radiograph; the
            message names the file.
        MissingExtra: pillow or pydicom is not installed.
    """
    path = Path(path)
    start = _start(path)
    if _holds_dicom(path, start):
        return read_dicom(path)
    image = require("PIL.Image", extra="image")
    turned = require("PIL.ImageOps", extra="image").exif_transpose
    with warnings.catch_warnings():
        warnings.simplefilter("error", image.DecompressionBombWarning)
        warnings.simplefilter("ignore", UserWarning)  # remarks on metadata; the pixels are what counts
        try:
            with image.open(path, formats=_FORMATS) as opened:
                check_size(path, *opened.size)
                opened.load()
                return _eight_bits(turned(opened))
        except image.UnidentifiedImageError:
            if _common(start):
                raise ImageError(f"{path.name} is cut off or damaged near its beginning") from None
            kind = "is empty" if not start else "is not an image (PNG, JPEG, DICOM, TIFF, BMP or WebP)"
            raise ImageError(f"{path.name} {kind}") from None
        except (image.DecompressionBombError, image.DecompressionBombWarning):
            raise ImageError(f"{path.name} claims more than {MOST_PIXELS:,} pixels") from None
        except ImageError:
            raise
        except _DAMAGE as error:
            raise ImageError(f"{path.name} is cut off or damaged: {first_line(error)}") from error


def is_dicom(path: Path | str) -> bool:
    """True if a file is read as DICOM.

    Raises:
        ImageError: The file is not there or cannot be read.
    """
    path = Path(path)
    return _holds_dicom(path, _start(path))


def _holds_dicom(path: Path, start: bytes) -> bool:
    return start[128:132] == b"DICM" or (path.suffix.lower() in (".dcm", ".dicom") and not _common(start))


def digest(path: Path | str) -> str:
    """SHA-256 of the file's bytes, as 32 hex digits: the same picture under any name.

    Raises:
        ImageError: The file is not there or cannot be read.
    """
    path = Path(path)
    _start(path)
    return sha256_of(path)[:32]


def _start(path: Path) -> bytes:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):  # a pipe would keep us waiting
            raise ImageError(f"{path.name} is not a file (looked in {path.parent})")
        if about.st_size > MOST_BYTES:
            raise ImageError(f"{path.name} is larger than any picture that is read ({about.st_size:,} bytes)")
        with path.open("rb") as handle:
            return handle.read(132)
    except ValueError as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(f"{str(path)!r} is no name of a file: {error}") from None
    except FileNotFoundError:
        raise ImageError(f"image {path.name} is not there (looked in {path.parent})") from None
    except OSError as error:
        raise ImageError(f"{path.name} cannot be read: {error.strerror or error}") from error


def _common(start: bytes) -> bool:
    return start.startswith((b"\x89PNG", b"\xff\xd8\xff", b"BM", b"II*\0", b"MM\0*", b"RIFF"))


def _eight_bits(opened: Any) -> Grey:
    if opened.mode.startswith("I") or opened.mode == "F":
        return scaled(np.asarray(opened, dtype=np.float64))
    return np.ascontiguousarray(np.asarray(opened.convert("L"), dtype=np.uint8))


def scaled(values: NDArray[np.float64]) -> Grey:
    """Non-negative values of unknown depth in 8 bits: the smallest power of two that holds them is white.

    >>> scaled(np.array([[0.0, 2048.0, 4095.0]]))
    array([[  0, 128, 255]], dtype=uint8)
    """
    values = np.clip(np.nan_to_num(values), 0, None)
    depth = max(8, int(np.ceil(np.log2(values.max(initial=0.0) + 1))))
    shown: Grey = np.rint(values * (255.0 / (2**depth - 1))).astype(np.uint8)
    return shown
