"""DICOM files as a viewer shows them: rescale, window or look-up table, inversion, padding (PS3.3 C.11, C.7.6.3).

In order: the modality look-up table or slope and intercept; the first VOI look-up table, or else the first
window (LINEAR, LINEAR_EXACT or SIGMOID), or else the range of the picture itself; MONOCHROME1 inverted; pixels
with the padding value black.
"""

from __future__ import annotations

import io
import math
import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ImageError, RadgaugeError, require
from radgauge.images.limits import MOST_BYTES, Grey, check_size, first_line

Values = NDArray[np.float64]
_Taken = TypeVar("_Taken")
_IMPORTING = threading.Lock()


def read_dicom(path: Path) -> Grey:
    """The picture in a DICOM file of one frame.

    Raises:
        ImageError: It is damaged, holds no picture or several frames, or is compressed in a way that needs a
            decoder which is not installed; the message names the file and the decoder.
    """
    return _read(path, _shown)


@dataclass(frozen=True, eq=False, slots=True)
class DicomValues:
    """The numbers of a grey picture before any window."""

    # After the modality's table or slope and intercept; padding has the lowest value of the picture, the highest
    # where high is shown dark
    values: Values
    # Centre and width of what runs from black to white (LINEAR_EXACT; a SIGMOID has the same middle and slope
    # about it); None if the file names none
    window: tuple[float, float] | None
    inverted: bool  # True if high values are shown dark (MONOCHROME1)


def read_dicom_values(path: Path) -> DicomValues | None:
    """The numbers in a DICOM file of one frame, for a viewer with a window of its own; None for a colour picture
    and for one with a look-up table instead of a window.

    Raises:
        ImageError: As `read_dicom`.
    """
    return _read(path, _values)


def _read(path: Path, take: Callable[[Path, Any, NDArray[Any]], _Taken]) -> _Taken:
    pydicom = _pydicom()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pydicom's remarks on values that break the standard
        # A compressed picture may be larger than the file says; pillow, which decodes it, only warns.
        warnings.simplefilter("error", require("PIL.Image", extra="image").DecompressionBombWarning)
        try:
            _check_deflated(path, pydicom)
            _check_header(path, pydicom.dcmread(path, force=True, stop_before_pixels=True))
            data = pydicom.dcmread(path, force=True)
            if "PixelData" not in data:
                raise ImageError(f"{path.name} is a DICOM file without a picture, or is cut off before it")
            _check_pixel_data(path, data)
            return take(path, data, _stored(path, data))
        except RadgaugeError:
            raise
        except Exception as error:  # pydicom raises whatever a garbled element leads to
            raise ImageError(f"{path.name} is a damaged DICOM file: {first_line(error)}") from error


def _pydicom() -> ModuleType:
    """pydicom without requests: it imports requests to download examples, and urllib3 below that binds a socket to
    see whether there is IPv6. Reading a file opens no socket."""
    with _IMPORTING:
        if "pydicom" in sys.modules or "requests" in sys.modules:
            return require("pydicom", extra="image")
        sys.modules["requests"] = None  # type: ignore[assignment]  # as if it were not installed
        try:
            return require("pydicom", extra="image")
        finally:
            sys.modules.pop("requests", None)


def _check_deflated(path: Path, pydicom: Any) -> None:
    """Refuse a file that is compressed as a whole and unpacks to more than any picture takes."""
    reader = require("pydicom.filereader", extra="image")
    with path.open("rb") as file:
        reader.read_preamble(file, True)
        syntax = reader._read_file_meta_info(file).get(
            "TransferSyntaxUID"
        )  # leaves the file where the rest begins
        if syntax != pydicom.uid.DeflatedExplicitVRLittleEndian:
            return
        unpack, unpacked = zlib.decompressobj(-zlib.MAX_WBITS), 0
        while packed := file.read(1 << 16):
            while packed:
                unpacked += len(unpack.decompress(packed, 1 << 20))
                packed = unpack.unconsumed_tail
                if unpacked > MOST_BYTES:
                    raise ImageError(f"{path.name} unpacks to more than {MOST_BYTES:,} bytes")


def _check_header(path: Path, header: Any) -> None:
    """Refuse several frames and absurd sizes by what the file says, before its pixels are read."""
    if (frames := int(header.get("NumberOfFrames") or 1)) > 1:
        raise ImageError(f"{path.name} has {frames} frames; export the one that is to be judged")
    sides = [int(header.get(name, 1)) for name in ("Columns", "Rows", "SamplesPerPixel")]
    check_size(path, *sides)


def _check_pixel_data(path: Path, data: Any) -> None:
    """Refuse pixel data that no picture of this size needs: a decoder would unpack all of it."""
    samples = math.prod(int(data.get(name, 1)) for name in ("Columns", "Rows", "SamplesPerPixel"))
    needed = samples * max(1, int(data.get("BitsAllocated", 16)) // 8)
    syntax = getattr(getattr(data, "file_meta", None), "TransferSyntaxUID", None)
    if syntax is not None and syntax.is_transfer_syntax and syntax.is_compressed:
        packed = io.BytesIO(data.PixelData)
        if len(require("pydicom.encaps", extra="image").parse_basic_offsets(packed)) > 1:
            raise ImageError(f"{path.name} holds several frames where its header states one")
    elif len(data.PixelData) >= needed + max(2, needed // max(1, int(data.get("Rows", 1)))):
        raise ImageError(
            f"{path.name} holds {len(data.PixelData):,} bytes of pixels where {needed:,} are needed: more rows or "
            "frames than its header states"
        )
    if len(data.PixelData) > 2 * needed + (1 << 20):
        raise ImageError(f"{path.name} holds {len(data.PixelData):,} bytes of pixels where {needed:,} are needed")


def _stored(path: Path, data: Any) -> NDArray[Any]:
    """The numbers in the file, decompressed; colours as RGB."""
    pixels = require("pydicom.pixels", extra="image")
    if "TransferSyntaxUID" not in getattr(data, "file_meta", {}):  # files without a head, as old exports are
        syntax = require("pydicom.uid", extra="image").ImplicitVRLittleEndian
        if not hasattr(data, "file_meta"):
            data.file_meta = require("pydicom.dataset", extra="image").FileMetaDataset()
        data.file_meta.TransferSyntaxUID = syntax
    syntax = data.file_meta.TransferSyntaxUID
    try:
        stored: NDArray[Any] = pixels.pixel_array(data)
    except Exception as error:  # decoders raise whatever a cut or garbled stream leads to
        if not _decoders(pixels, syntax) and syntax.is_transfer_syntax and syntax.is_compressed:
            raise ImageError(
                f"{path.name} is compressed as {syntax.name}, and no decoder for it is installed; run: "
                "pip install pylibjpeg pylibjpeg-libjpeg pylibjpeg-openjpeg"
            ) from error
        raise ImageError(f"the picture in {path.name} is cut off or damaged: {first_line(error)}") from error
    return stored


def _decoders(pixels: Any, syntax: Any) -> bool:
    try:
        return bool(pixels.get_decoder(syntax).is_available)
    except NotImplementedError:
        return False


def _shown(path: Path, data: Any, stored: NDArray[Any]) -> Grey:
    kind = str(data.get("PhotometricInterpretation", ""))
    if kind == "PALETTE COLOR":
        raise ImageError(f"{path.name} uses a colour palette; only grey and RGB pictures can be read")
    if stored.ndim == 3:
        luma = stored[..., :3].astype(np.float64) @ np.array([0.299, 0.587, 0.114])
        shown: Grey = np.rint(luma * (255.0 / (2 ** int(data.BitsStored) - 1))).astype(np.uint8)
        return shown
    padding = _padding(data, stored)
    pixels = require("pydicom.pixels", extra="image")
    try:
        values = np.asarray(pixels.apply_modality_lut(stored, data), dtype=np.float64)
        share = _looked_up(data, values) if data.get("VOILUTSequence") else _windowed(data, values, padding)
    except (ValueError, TypeError, AttributeError, IndexError, NotImplementedError) as error:
        raise ImageError(
            f"{path.name} has a window or look-up table that cannot be used: {first_line(error)}"
        ) from error
    share = np.clip(share, 0.0, 1.0)
    if kind == "MONOCHROME1":
        share = 1.0 - share
    share[padding] = 0.0
    return np.rint(255.0 * share).astype(np.uint8)


def _values(path: Path, data: Any, stored: NDArray[Any]) -> DicomValues | None:
    kind = str(data.get("PhotometricInterpretation", ""))
    if stored.ndim == 3 or kind == "PALETTE COLOR" or data.get("VOILUTSequence"):
        return None
    pixels = require("pydicom.pixels", extra="image")
    values = np.asarray(pixels.apply_modality_lut(stored, data), dtype=np.float64)
    padding = _padding(data, stored)
    inverted = kind == "MONOCHROME1"
    inside = values[~padding]
    if inside.size:
        values = np.where(padding, inside.max() if inverted else inside.min(), values)
    window = None
    if data.get("WindowCenter") not in (None, "") and data.get("WindowWidth") not in (None, ""):
        centre, width = _first(data.WindowCenter), _first(data.WindowWidth)
        if str(data.get("VOILUTFunction") or "LINEAR").upper() == "LINEAR":  # half a step off, one step narrower
            centre, width = centre - 0.5, max(width - 1.0, 1e-9)
        window = (centre, width) if math.isfinite(centre) and math.isfinite(width) and width > 0 else None
    return DicomValues(values, window, inverted)


def _padding(data: Any, stored: NDArray[Any]) -> NDArray[np.bool_]:
    value = data.get("PixelPaddingValue")
    if value is None:
        return np.zeros(stored.shape, dtype=bool)
    limit = data.get("PixelPaddingRangeLimit")
    low, high = sorted((int(value), int(value if limit is None else limit)))
    padding: NDArray[np.bool_] = (stored >= low) & (stored <= high)
    return padding


def _looked_up(data: Any, values: Values) -> Values:
    pixels = require("pydicom.pixels", extra="image")
    table = data.VOILUTSequence[0]
    indices = np.rint(values).astype(np.int64)
    looked_up: Values = np.asarray(pixels.apply_voi(indices, data, 0), dtype=np.float64)
    white = float(2 ** int(table.LUTDescriptor[2]) - 1)
    return looked_up / white


def _windowed(data: Any, values: Values, padding: NDArray[np.bool_]) -> Values:
    """Values as shares of the way from black to white, not yet cut at either end."""
    if data.get("WindowCenter") in (None, "") or data.get("WindowWidth") in (None, ""):
        inside = values[~padding]
        low, high = (inside.min(), inside.max()) if inside.size else (0.0, 0.0)
        return (values - low) / (high - low) if high > low else np.zeros_like(values)
    centre, width = _first(data.WindowCenter), _first(data.WindowWidth)
    function = str(data.get("VOILUTFunction") or "LINEAR").upper()
    if function == "SIGMOID" and width > 0:
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(-4.0 * (values - centre) / width, -700, 700))))
    if function == "LINEAR_EXACT" and width > 0:
        return (values - centre) / width + 0.5
    if function == "LINEAR" and width >= 1:
        if width == 1:
            return (values > centre - 0.5).astype(np.float64)
        return (values - (centre - 0.5)) / (width - 1.0) + 0.5
    raise ValueError(f"{function} of width {width:g}")


def _first(value: Any) -> float:
    several = not isinstance(value, str | int | float) and hasattr(value, "__len__")
    return float(value[0] if several else value)
