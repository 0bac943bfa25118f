"""Drawn pictures and DICOM files; nothing here shows a patient."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Write = Callable[..., Path]


@pytest.fixture
def ramp() -> np.ndarray:
    """0 to 4095 from left to right."""
    return np.tile(np.linspace(0, 4095, 64).round().astype(np.uint16), (48, 1))


@pytest.fixture
def dicom(tmp_path: Path) -> Write:
    """Writes an array as a DICOM file with the elements given."""

    def write(pixels: np.ndarray, name: str = "picture.dcm", **elements: Any) -> Path:
        from pydicom.dataset import FileDataset, FileMetaDataset
        from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID = CTImageStorage
        meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["radgauge"])
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        data = FileDataset(str(tmp_path / name), {}, file_meta=meta, preamble=b"\0" * 128)
        data.Rows, data.Columns = pixels.shape[:2]
        data.SamplesPerPixel = 1 if pixels.ndim == 2 else 3
        data.PhotometricInterpretation = "MONOCHROME2" if pixels.ndim == 2 else "RGB"
        if pixels.ndim == 3:
            data.PlanarConfiguration = 0
        data.BitsAllocated = 8 * pixels.itemsize
        data.BitsStored = data.BitsAllocated
        data.HighBit = data.BitsStored - 1
        data.PixelRepresentation = int(pixels.dtype.kind == "i")
        data.PixelData = pixels.tobytes() + b"\0" * (pixels.nbytes % 2)
        for element, value in elements.items():
            setattr(data, element, value)
        data.save_as(tmp_path / name, enforce_file_format=True)
        return tmp_path / name

    return write
