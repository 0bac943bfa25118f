"""Broken pictures: whatever a file holds, it is a picture of bounded size or an error that names the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from fuzzing import attempts

from radgauge.core.errors import ImageError
from radgauge.images import grey
from radgauge.images.limits import MOST_PIXELS

pytestmark = pytest.mark.long

Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
pydicom = pytest.importorskip("pydicom", reason="the extra 'image' is not installed")

KINDS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "DICOM", "RLE")


def _file(kind: str) -> bytes:
    pixels = np.tile(np.arange(32, dtype=np.uint8) * 8, (24, 1))
    stream = io.BytesIO()
    if kind not in ("DICOM", "RLE"):
        Image.fromarray(pixels).save(stream, kind)
        return stream.getvalue()
    meta = pydicom.dataset.FileMetaDataset()
    meta.MediaStorageSOPClassUID = pydicom.uid.CTImageStorage
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data = pydicom.dataset.FileDataset("x", {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = meta.MediaStorageSOPClassUID, "1.2.3"
    data.Rows, data.Columns, data.SamplesPerPixel = 24, 32, 1
    data.PhotometricInterpretation = "MONOCHROME2"
    data.BitsAllocated = data.BitsStored = 8
    data.HighBit, data.PixelRepresentation = 7, 0
    data.PixelData = pixels.tobytes()
    if kind == "RLE":
        data.compress(pydicom.uid.RLELossless)
    data.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_are_a_picture_or_an_error(kind: str, tmp_path: Path) -> None:
    whole, path = _file(kind), tmp_path / ("a.dcm" if kind in ("DICOM", "RLE") else "a.img")
    path.write_bytes(whole)
    assert grey(path).shape == (24, 32)
    for rng in attempts(60):
        content = bytearray(whole)
        for _ in range(int(rng.integers(1, 6))):
            place = int(rng.integers(len(content))) if len(content) else 0
            match int(rng.integers(4)):
                case 0:
                    content[place : place + 1] = rng.bytes(1)
                case 1:
                    content[place : place + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"])
                case 2:
                    del content[place : place + int(rng.integers(1, 64))]
                case _:
                    content[place:place] = rng.bytes(int(rng.integers(1, 64)))
        path.write_bytes(content)
        try:
            found = grey(path)
        except ImageError as error:
            if path.name not in str(error):
                pytest.fail(f"the message does not name the file: {error}")
        else:
            assert found.dtype == np.uint8
            assert found.size <= MOST_PIXELS
