"""PNG, JPEG and the files that are none: what comes out, and what is said about the rest."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from radgauge.core.errors import ImageError
from radgauge.images import digest, grey

Image = pytest.importorskip("PIL.Image", reason="the extra 'image' is not installed")
ImageFile = pytest.importorskip("PIL.ImageFile", reason="the extra 'image' is not installed")


def picture(height: int = 40, width: int = 30) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return (3 * rows + 2 * columns).astype(np.uint8)


def test_an_eight_bit_png_comes_back_as_it_is(tmp_path: Path) -> None:
    Image.fromarray(picture()).save(tmp_path / "a.png")
    found = grey(tmp_path / "a.png")
    assert found.dtype == np.uint8
    assert np.array_equal(found, picture())


def test_the_name_does_not_tell_the_kind(tmp_path: Path) -> None:
    Image.fromarray(picture()).save(tmp_path / "a.jpg", format="PNG")
    assert np.array_equal(grey(tmp_path / "a.jpg"), picture())
    Image.fromarray(picture()).save(tmp_path / "b.dcm", format="PNG")
    assert np.array_equal(grey(tmp_path / "b.dcm"), picture())


def test_a_jpeg_is_near_what_was_written(tmp_path: Path) -> None:
    Image.fromarray(picture()).save(tmp_path / "a.jpg", quality=95)
    assert np.abs(grey(tmp_path / "a.jpg").astype(int) - picture()).max() <= 6


def test_colours_become_luma(tmp_path: Path) -> None:
    for mode, colour in (("RGB", (200, 100, 50)), ("RGBA", (200, 100, 50, 10))):
        Image.new(mode, (5, 4), colour).save(tmp_path / "a.png")
        assert np.unique(grey(tmp_path / "a.png")).tolist() == [round(0.299 * 200 + 0.587 * 100 + 0.114 * 50)]
    Image.fromarray(np.eye(4, dtype=bool)).save(tmp_path / "b.png")
    assert np.array_equal(grey(tmp_path / "b.png"), 255 * np.eye(4, dtype=np.uint8))


@pytest.mark.parametrize(("top", "middle"), [(65535, 32768), (4095, 2048), (1023, 512), (255, 128)])
def test_sixteen_bit_pngs_are_scaled_to_their_depth(tmp_path: Path, top: int, middle: int) -> None:
    Image.fromarray(np.array([[0, middle, top]], dtype=np.uint16)).save(tmp_path / "a.png")
    assert grey(tmp_path / "a.png").tolist() == [[0, 128, 255]]


def test_an_orientation_is_applied(tmp_path: Path) -> None:
    image = Image.fromarray(picture())
    exif = image.getexif()
    exif[0x0112] = 6  # turn by a quarter to the right to see it upright
    image.save(tmp_path / "a.png", exif=exif)
    assert np.array_equal(grey(tmp_path / "a.png"), np.rot90(picture(), -1))


@pytest.mark.parametrize("kind", ["png", "jpg"])
@pytest.mark.parametrize("share", [0.004, 0.3, 0.9])
def test_a_file_that_is_cut_off_says_so(tmp_path: Path, kind: str, share: float) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    path = tmp_path / f"half.{kind}"
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ImageError, match=rf"half\.{kind} is cut off or damaged"):
        grey(path)


def test_what_is_no_image_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(ImageError, match=r"a\.png is not an image \(PNG, JPEG, DICOM"):
        grey(tmp_path / "a.png")
    (tmp_path / "b.jpg").touch()
    with pytest.raises(ImageError, match=r"b\.jpg is empty"):
        grey(tmp_path / "b.jpg")
    with pytest.raises(ImageError, match=r"c\.png is not there \(looked in .*\)"):
        grey(tmp_path / "c.png")
    with pytest.raises(ImageError, match="is not a file"):
        grey(tmp_path)


@pytest.mark.parametrize("kind", ["png", "bmp", "gif", "tiff", "webp", "jpg", "ppm"])
def test_a_picture_of_absurd_size_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / f"a.{kind}"
    Image.fromarray(picture()).save(path)
    with Image.open(path) as opened:
        width, height = opened.size
    monkeypatch.setattr("radgauge.images.limits.MOST_PIXELS", 1000)
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: pytest.fail("pixels were decoded"))
    with pytest.raises(ImageError, match=rf"a\.{kind} claims more than 1,000 pixels \({width} x {height}\)"):
        grey(path)


def test_a_png_of_few_bytes_that_claims_gigabytes(tmp_path: Path) -> None:
    Image.fromarray(picture()).save(tmp_path / "a.png")
    content = bytearray((tmp_path / "a.png").read_bytes())
    content[16:24] = struct.pack(">II", 60_000, 60_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(ImageError, match=r"a\.png claims more than 67,108,864 pixels"):
        grey(tmp_path / "a.png")


def test_only_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for open_it in (grey, digest):
        with pytest.raises(ImageError, match=r"pipe\.png is not a file"):
            open_it(tmp_path / "pipe.png")
        with pytest.raises(ImageError, match=r"is no name of a file"):
            open_it(tmp_path / "a\0.png")
    Image.fromarray(picture()).save(tmp_path / "large.png")
    monkeypatch.setattr("radgauge.images.files.MOST_BYTES", 50)
    with pytest.raises(ImageError, match=r"large\.png"):
        grey(tmp_path / "large.png")


def test_equal_files_have_equal_digests(tmp_path: Path) -> None:
    for name, shift in (("a.png", 0), ("b.png", 0), ("c.png", 1)):
        Image.fromarray(picture() + np.uint8(shift)).save(tmp_path / name)
    a, b, c = (digest(tmp_path / name) for name in ("a.png", "b.png", "c.png"))
    assert a == b != c
    assert len(a) == 32
    with pytest.raises(ImageError, match=r"d\.png is not there"):
        digest(tmp_path / "d.png")
