"""Pictures made ready for a page: small, with all the depth that a window needs, and nothing of the header."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ImageError, UsageError
from radgauge.images import grey, web_picture

Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
pytest.importorskip("pydicom", reason="the extra 'image' is not installed")


def _levels(data: bytes) -> np.ndarray:
    packed = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    return packed[..., 0] * 256 + packed[..., 1]


def test_a_plain_picture_becomes_a_small_grey_jpeg(tmp_path: Path) -> None:
    Image.fromarray(np.tile(np.arange(250, dtype=np.uint8), (500, 8))).save(tmp_path / "a.png")
    found = web_picture(tmp_path / "a.png", max_size=400)
    opened = Image.open(io.BytesIO(found.data))
    assert (opened.format, opened.mode, opened.size) == ("JPEG", "L", (400, 100))
    assert (found.width, found.height, found.full, found.deep) == (400, 100, (2000, 500), False)
    assert (found.window, found.low, found.step) == ((127.5, 255.0), 0.0, 1.0)


def test_a_small_picture_keeps_its_size(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((20, 30), np.uint8)).save(tmp_path / "a.png")
    assert web_picture(tmp_path / "a.png").full == (30, 20)
    assert (web_picture(tmp_path / "a.png").width, web_picture(tmp_path / "a.png").height) == (30, 20)


def test_dicom_keeps_every_value_and_its_window_gives_what_grey_shows(dicom, ramp: np.ndarray) -> None:
    path = dicom(ramp, RescaleSlope=1, RescaleIntercept=-1024, WindowCenter=1000, WindowWidth=2000)
    found = web_picture(path)
    values = found.low + found.step * _levels(found.data)
    assert found.deep
    assert np.array_equal(values, ramp.astype(float) - 1024)
    share = np.clip((values - found.window[0]) / found.window[1] + 0.5, 0, 1)
    assert np.array_equal(np.rint(255 * share), grey(path))


def test_dicom_of_fractions_is_spread_over_all_levels(dicom, ramp: np.ndarray) -> None:
    found = web_picture(dicom(ramp, RescaleSlope=0.5, RescaleIntercept=0.25))
    values = found.low + found.step * _levels(found.data)
    assert np.abs(values - (ramp * 0.5 + 0.25)).max() <= found.step
    assert found.window == pytest.approx((1024.0, 2047.5), abs=0.3)


def test_padding_and_inversion(dicom) -> None:
    values = np.array([[0, 100, 200, 4000]], np.uint16)
    found = web_picture(dicom(values, PhotometricInterpretation="MONOCHROME1", PixelPaddingValue=0))
    assert found.inverted
    assert (found.low + _levels(found.data)).tolist() == [[4000, 100, 200, 4000]]  # black as the brightest is


def test_colours_and_tables_are_sent_as_they_are_shown(dicom) -> None:
    found = web_picture(dicom(np.full((4, 5, 3), 200, np.uint8)))
    assert (found.deep, found.media_type, found.full) == (False, "image/jpeg", (5, 4))


def test_nothing_of_the_header_is_sent(dicom, ramp: np.ndarray) -> None:
    data = web_picture(dicom(ramp, PatientName="Unmistakable^Name", PatientID="ID77777")).data
    assert b"Unmistakable" not in data
    assert b"ID77777" not in data


def test_sizes_out_of_bounds_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="16 to 4096 pixels, got 5000"):
        web_picture(tmp_path / "a.png", max_size=5000)
    with pytest.raises(ImageError, match=r"a\.png is not there"):
        web_picture(tmp_path / "a.png")
