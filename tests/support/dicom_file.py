"""DICOM files of drawn pictures; nothing here shows a patient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def write_dicom(path: Path, pixels: np.ndarray, **elements: Any) -> Path:
    """Write an array as a DICOM file with the elements given."""
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = CTImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["radgauge"])
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
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
    data.save_as(path, enforce_file_format=True)
    return path
