"""Whatever is wrong with a file, the answer is a picture or an error that names it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ImageError
from radgauge.images import grey

Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
pytest.importorskip("pydicom", reason="the extra 'image' is not installed")

NOISE = np.random.default_rng(0).integers(0, 256, (20, 24), dtype=np.uint8)


def whole(kind: str, dicom) -> Path:
    if kind.endswith("dcm"):
        path = dicom(
            NOISE.astype(np.uint16) * 16,
            kind,
            BitsStored=12,
            HighBit=11,
            WindowCenter=2000,
            WindowWidth=3000,
            PixelPaddingValue=0,
            RescaleSlope=1,
            RescaleIntercept=-5,
        )
        if kind.startswith("packed"):
            from pydicom import dcmread
            from pydicom.uid import RLELossless

            data = dcmread(path)
            data.compress(RLELossless)
            data.save_as(path)
        return path
    path = dicom(NOISE).with_name(kind)
    deep = kind.startswith("deep")
    Image.fromarray(NOISE.astype(np.uint16) * 100 if deep else NOISE).save(path)
    return path


@pytest.mark.parametrize("kind", ["a.png", "deep.png", "a.jpg", "a.tif", "a.bmp", "a.webp", "a.dcm", "packed.dcm"])
def test_any_damage_is_an_error_that_names_the_file(kind: str, dicom) -> None:
    path = whole(kind, dicom)
    original, rng = path.read_bytes(), random.Random(kind)
    refused = []
    for _ in range(80):
        damaged = bytearray(original)
        for _ in range(rng.choice([1, 2, 5, 20])):
            damaged[rng.randrange(min(len(damaged), rng.choice([400, len(damaged)])))] = rng.randrange(256)
        if rng.random() < 0.3:
            damaged = damaged[: rng.randrange(len(damaged))]
        path.write_bytes(damaged)
        try:
            found = grey(path)
        except ImageError as error:
            refused.append(str(error))
        else:
            assert found.dtype == np.uint8
            assert found.ndim == 2
    assert refused
    assert all(path.name in message for message in refused)
