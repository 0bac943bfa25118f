"""DICOM files look as a viewer shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import radgauge
from radgauge.core.errors import ImageError
from radgauge.images import grey

pytest.importorskip("PIL", reason="the extra 'image' is not installed")
pytest.importorskip("pydicom", reason="the extra 'image' is not installed")


def test_without_a_window_the_picture_spans_black_to_white(dicom, ramp: np.ndarray) -> None:
    found = grey(dicom(ramp[:, 8:40], BitsStored=12, HighBit=11))
    assert found.dtype == np.uint8
    assert (found.min(), found.max()) == (0, 255)
    flat = grey(dicom(np.full((4, 4), 7, np.uint16)))
    assert np.unique(flat).tolist() == [0]


def test_the_linear_window_is_the_standards(dicom) -> None:
    # PS3.3 C.11.2.1.2.1: centre 2048, width 4096 maps 0..4095 onto black..white.
    values = np.array([[0, 1024, 2048, 4095]], dtype=np.uint16)
    found = grey(dicom(values, WindowCenter=2048, WindowWidth=4096))
    assert found.tolist() == [[round(255 * value / 4095) for value in (0, 1024, 2048, 4095)]]
    narrow = grey(dicom(values, WindowCenter=1024, WindowWidth=100))
    assert narrow.tolist() == [[0, 129, 255, 255]]  # half a step above the middle
    edge = grey(dicom(values, WindowCenter=1024.5, WindowWidth=1))
    assert edge.tolist() == [[0, 0, 255, 255]]


def test_other_window_functions(dicom) -> None:
    values = np.array([[0, 100, 150, 200, 300]], dtype=np.uint16)
    exact = grey(dicom(values, WindowCenter=150, WindowWidth=100, VOILUTFunction="LINEAR_EXACT"))
    assert exact.tolist() == [[0, 0, 128, 255, 255]]
    curve = grey(dicom(values, WindowCenter=150, WindowWidth=100, VOILUTFunction="SIGMOID"))
    expected = [round(255 / (1 + np.exp(-4 * (v - 150) / 100))) for v in (0, 100, 150, 200, 300)]
    assert curve.tolist() == [expected]


def test_the_first_of_several_windows_counts(dicom, ramp: np.ndarray) -> None:
    several = grey(dicom(ramp, WindowCenter=[2048, 100], WindowWidth=[4096, 50]))
    assert np.array_equal(several, grey(dicom(ramp, WindowCenter=2048, WindowWidth=4096)))


def test_rescaling_comes_before_the_window(dicom) -> None:
    stored = np.array([[0, 1000, 2000]], dtype=np.int16)
    found = grey(
        dicom(
            stored,
            RescaleSlope=2,
            RescaleIntercept=-1000,
            WindowCenter=1000,
            WindowWidth=4000,
            VOILUTFunction="LINEAR_EXACT",
        )
    )
    assert found.tolist() == [[0, round(255 * 0.5), 255]]


def test_monochrome1_is_inverted(dicom, ramp: np.ndarray) -> None:
    window = {"WindowCenter": 2048, "WindowWidth": 4096}
    shown, inverted = (
        grey(dicom(ramp, PhotometricInterpretation=kind, **window)) for kind in ("MONOCHROME2", "MONOCHROME1")
    )
    assert inverted[0, 0] == 255
    assert np.abs(inverted.astype(int) - (255 - shown.astype(int))).max() <= 1


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
def test_padding_is_black_and_does_not_stretch_the_picture(dicom, kind: str) -> None:
    pixels = np.array([[65535, 100, 200, 300, 65535]], dtype=np.uint16)
    found = grey(dicom(pixels, PixelPaddingValue=65535, PhotometricInterpretation=kind))
    middle = [0, 128, 255] if kind == "MONOCHROME2" else [255, 128, 0]
    assert found.tolist() == [[0, *middle, 0]]


def test_padding_may_be_a_range(dicom) -> None:
    pixels = np.array([[-2000, -1500, 0, 100]], dtype=np.int16)
    found = grey(dicom(pixels, PixelPaddingValue=-2000, PixelPaddingRangeLimit=-1500))
    assert found.tolist() == [[0, 0, 0, 255]]


def test_a_look_up_table_wins_over_the_window(dicom) -> None:
    from pydicom.dataset import Dataset

    table = Dataset()
    table.LUTDescriptor = [4, 0, 10]
    table.LUTData = np.array([1023, 512, 256, 0], dtype="<u2").tobytes()
    pixels = np.array([[0, 1, 2, 3, 9]], dtype=np.uint16)
    found = grey(dicom(pixels, VOILUTSequence=[table], WindowCenter=2, WindowWidth=4))
    assert found.tolist() == [[255, round(255 * 512 / 1023), round(255 * 256 / 1023), 0, 0]]


@pytest.mark.parametrize(("kind", "stored"), [(np.uint8, 8), (np.uint16, 10), (np.uint16, 12), (np.uint16, 16)])
def test_any_depth(dicom, kind: type, stored: int) -> None:
    top = 2**stored - 1
    pixels = np.array([[0, top // 2, top]], dtype=kind)
    found = grey(
        dicom(pixels, BitsStored=stored, HighBit=stored - 1, WindowCenter=2 ** (stored - 1), WindowWidth=top + 1)
    )
    assert found[0, 0] == 0
    assert found[0, 2] == 255
    assert abs(int(found[0, 1]) - 127) <= 1


def test_rgb_becomes_luma(dicom) -> None:
    pixels = np.full((4, 4, 3), (200, 100, 50), dtype=np.uint8)
    assert np.unique(grey(dicom(pixels))).tolist() == [124]


def test_a_compressed_file_is_read_where_a_decoder_is_there(dicom, ramp: np.ndarray) -> None:
    from pydicom import dcmread
    from pydicom.uid import RLELossless

    path = dicom(ramp, WindowCenter=2048, WindowWidth=4096)
    plain = grey(path)
    data = dcmread(path)
    data.compress(RLELossless)
    data.save_as(path)
    assert np.array_equal(grey(path), plain)


def test_a_jpeg_inside_a_dicom_file(dicom, ramp: np.ndarray) -> None:
    import io

    from PIL import Image
    from pydicom import dcmread
    from pydicom.encaps import encapsulate
    from pydicom.uid import JPEGBaseline8Bit

    pixels = (ramp // 16).astype(np.uint8)
    path = dicom(pixels, "jpeg.dcm", WindowCenter=128, WindowWidth=256)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=95)
    data = dcmread(path)
    data.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    data.PixelData = encapsulate([stream.getvalue()])
    data["PixelData"].VR = "OB"
    data.save_as(path)
    assert np.abs(grey(path).astype(int) - pixels).max() <= 4
    data.PixelData = encapsulate([stream.getvalue()[: len(stream.getvalue()) // 3]])
    data["PixelData"].VR = "OB"
    data.save_as(path)
    with pytest.raises(ImageError, match=r"the picture in jpeg\.dcm is cut off or damaged"):
        grey(path)


def test_a_missing_decoder_is_named(dicom, ramp: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    from pydicom import dcmread
    from pydicom.encaps import encapsulate
    from pydicom.uid import JPEGLSLossless

    path = dicom(ramp, "packed.dcm")
    data = dcmread(path)
    data.file_meta.TransferSyntaxUID = JPEGLSLossless
    data.PixelData = encapsulate([b"\xff\xd8\xff\xf7" + b"\0" * 100])
    data["PixelData"].VR = "OB"
    data.save_as(path)
    monkeypatch.setattr("radgauge.images.dicom._decoders", lambda pixels, syntax: False)
    with pytest.raises(ImageError, match=r"packed\.dcm is compressed as JPEG-LS"):
        grey(path)


def test_damage_is_named(dicom, ramp: np.ndarray) -> None:
    path = dicom(ramp, "half.dcm")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ImageError, match=r"half\.dcm"):
        grey(path)
    path.write_bytes(whole[:140])
    with pytest.raises(ImageError, match=r"half\.dcm"):
        grey(path)
    path.write_bytes(b"no DICOM file at all, whatever its name says" * 10)
    with pytest.raises(ImageError, match=r"half\.dcm"):
        grey(path)


def test_several_frames_are_refused(dicom) -> None:
    pixels = np.zeros((4, 4), np.uint16)
    path = dicom(pixels, "film.dcm", NumberOfFrames=3, PixelData=np.zeros((3, 4, 4), np.uint16).tobytes())
    with pytest.raises(ImageError, match=r"film\.dcm has 3 frames"):
        grey(path)


def test_palettes_and_impossible_windows_are_refused(dicom, ramp: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="LINEAR of width 0"):
        grey(dicom(ramp, WindowCenter=10, WindowWidth=0))
    colours = np.zeros((4, 4), np.uint8)
    with pytest.raises(ImageError, match="uses a colour palette"):
        grey(dicom(colours, PhotometricInterpretation="PALETTE COLOR"))


@pytest.mark.parametrize("sides", [{"Rows": 65535, "Columns": 65535}, {"Rows": 0}, {"SamplesPerPixel": 60000}])
def test_absurd_sizes_are_refused_by_the_header(dicom, sides: dict[str, int], monkeypatch) -> None:
    path = dicom(np.zeros((64, 64), np.uint8), "bomb.dcm", **sides)
    monkeypatch.setattr("radgauge.images.dicom._stored", lambda *a: pytest.fail("pixels were decoded"))
    with pytest.raises(ImageError, match=r"bomb\.dcm"):
        grey(path)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(dicom, monkeypatch: pytest.MonkeyPatch) -> None:
    from pydicom import dcmread
    from pydicom.uid import DeflatedExplicitVRLittleEndian

    path = dicom(np.zeros((64, 64), np.uint16), "deflated.dcm", WindowCenter=10, WindowWidth=20)
    data = dcmread(path)
    data.file_meta.TransferSyntaxUID = DeflatedExplicitVRLittleEndian
    data.save_as(path)
    assert grey(path).shape == (64, 64)
    monkeypatch.setattr("radgauge.images.dicom.MOST_BYTES", 1000)
    with pytest.raises(ImageError, match=r"deflated\.dcm unpacks to more than 1,000 bytes"):
        grey(path)


def test_more_pixels_than_the_picture_has_are_not_unpacked(dicom) -> None:
    path = dicom(np.zeros((2, 2), np.uint8), "more.dcm", PixelData=b"\0" * 2_000_000)
    with pytest.raises(ImageError, match=r"more\.dcm holds 2,000,000"):
        grey(path)


def test_a_jpeg_that_is_larger_than_the_file_says(dicom, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from PIL import Image
    from pydicom import dcmread
    from pydicom.encaps import encapsulate
    from pydicom.uid import JPEGBaseline8Bit

    path = dicom(np.zeros((8, 8), np.uint8), "inner.dcm")
    stream = io.BytesIO()
    Image.fromarray(np.zeros((400, 400), np.uint8)).save(stream, "JPEG")
    data = dcmread(path)
    data.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    data.PixelData = encapsulate([stream.getvalue()])
    data["PixelData"].VR = "OB"
    data.save_as(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100_000)
    with pytest.raises(ImageError, match=r"inner\.dcm"):
        grey(path)


def test_reading_a_file_does_not_import_requests(dicom, ramp: np.ndarray, tmp_path: Path) -> None:
    # urllib3, which requests imports, binds a socket when it is imported.
    (tmp_path / "requests.py").write_text("print('imported')\n")
    code = (
        "import sys; from pathlib import Path; from radgauge.images import grey;"
        " print(grey(Path(sys.argv[1])).shape); print('pydicom' in sys.modules, 'requests' in sys.modules);"
        " import requests"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(dicom(ramp))],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(radgauge.__file__).parents[1]}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [str(ramp.shape), "True False", "imported"]


@pytest.mark.parametrize(
    "elements",
    [{"PixelData": np.zeros((3, 4, 4), np.uint16).tobytes()}, {"Rows": 2}, {"Columns": 3}, {"BitsAllocated": 8}],
    ids=["three frames", "half of the rows", "fewer columns", "half of the bits"],
)
def test_more_pixels_than_the_header_states_are_refused(dicom, elements: dict[str, object]) -> None:
    path = dicom(np.zeros((4, 4), np.uint16), "film.dcm", **elements)
    with pytest.raises(ImageError, match=r"film\.dcm"):
        grey(path)


def test_several_compressed_frames_are_refused_whatever_the_header_states(dicom, ramp: np.ndarray) -> None:
    import pydicom
    from pydicom.encaps import encapsulate
    from pydicom.uid import JPEGBaseline8Bit

    data = pydicom.dcmread(dicom(ramp.astype(np.uint8), "film.dcm"))
    data.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    data.PixelData = encapsulate([b"\xff\xd8\xff\xf7" + b"\0" * 100] * 2)
    data["PixelData"].VR = "OB"
    path = Path(str(data.filename))
    data.save_as(path)
    with pytest.raises(ImageError, match=r"film\.dcm holds several frames"):
        grey(path)
