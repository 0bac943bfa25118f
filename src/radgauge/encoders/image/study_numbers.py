"""A study's pictures as one row of numbers, without anything learned from reports.

Every picture goes through the network of the embedded image-text encoder, whose weights are those that ImageNet
left, and is told to be frontal or lateral. A study's row is the mean of its frontal pictures' numbers beside the
mean of its lateral ones; a view that it lacks is zeros, which is the mean of all. What a picture became is kept on
disk under the hash of its file, so that a stopped run goes on and later runs start at once.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ImageError
from radgauge.core.files import make_folder, replacing
from radgauge.core.readings import Progress
from radgauge.encoders.image.embedded_image_text import load_image_text, picture_numbers, squared
from radgauge.encoders.image.picture_side import SIGNS
from radgauge.images import digest, grey

Rows = NDArray[np.float32]
Domain = Literal["skip", "off"]

_AT_ONCE = 64  # pictures between two files of the cache
_KEY = 32  # characters of a picture's hash


@dataclass(frozen=True, eq=False)
class StudyNumbers:
    """Rows of studies."""

    rows: Rows  # (studies, numbers); zeros for a study that has no usable picture
    reasons: tuple[str, ...]  # Why a study has none; "" where it has
    ignored: int  # Pictures that were left out of studies with other, usable ones
    # Hashes of each study's usable pictures: the same picture under two names is one
    pictures: tuple[tuple[str, ...], ...]


def numbers_signature() -> str:
    """Names the network and the form of a row."""
    return f"study-numbers-1:{load_image_text().hash}"


def study_numbers(
    studies: Sequence[Sequence[Path]],
    *,
    cache: Path | str | None = None,
    domain: Domain = "skip",
    threads: int = 0,
    progress: Progress | None = None,
) -> StudyNumbers:
    """Rows of studies from the files of their pictures; a problem is a reason, never a row.

    Args:
        studies: Files of each study's pictures.
        cache: Folder for what pictures became; None keeps nothing.
        domain: What becomes of a picture that is blank, inverted, turned, or does not look like a chest
            radiograph: skip leaves it out with the reason, off uses it.
        threads: Pictures side by side; 0 = as many as there are cores.
        progress: Told after every batch of pictures.
    """
    keys: dict[Path, str] = {}
    wrong: dict[Path, str] = {}
    for path in dict.fromkeys(path for study in studies for path in study):
        try:
            keys[path] = digest(path)[:_KEY]
        except (ImageError, OSError):
            why = "cannot be read" if path.is_file() else "is not there"
            wrong[path] = f"the picture {path.name} {why}"
    stored = _stored(cache)
    missing = {key: path for path, key in keys.items() if key not in stored}
    _through_network(missing, stored, cache=cache, threads=threads, progress=progress)
    wrong |= {path: f"the picture {path.name} cannot be read" for path, key in keys.items() if key not in stored}
    side = load_image_text().side
    width = load_image_text().network.width
    rows = np.zeros((len(studies), 2 * width), np.float32)
    reasons, pictures, ignored = [], [], 0
    objections = _objections(stored) if domain == "skip" else dict.fromkeys(stored, "")
    for row, study in zip(rows, studies, strict=True):
        whys = [wrong.get(path) or _with_name(path, objections[keys[path]]) for path in study]
        usable = dict.fromkeys(keys[path] for path, why in zip(study, whys, strict=True) if not why)
        bad = [why for why in whys if why]
        reasons.append("" if usable else (bad[0] if bad else "no picture is named"))
        pictures.append(tuple(usable))
        ignored += len(bad) if usable else 0
        if usable:
            numbers = np.stack([stored[key][0] for key in usable])
            frontal = side.view(numbers) > 0
            for at, (layer, of_view) in enumerate(zip(side.layers, (frontal, ~frontal), strict=True)):
                if of_view.any():
                    row[at * width : (at + 1) * width] = layer.scaled(numbers[of_view]).mean(axis=0)
    return StudyNumbers(rows, tuple(reasons), ignored, tuple(pictures))


def _with_name(path: Path, objection: str) -> str:
    return f"the picture {path.name} {objection}" if objection else ""


def _objections(stored: dict[str, tuple[Rows, float]]) -> dict[str, str]:
    side = load_image_text().side
    objections = {}
    if stored:
        rows = side.rows(np.stack([numbers for numbers, _ in stored.values()]))
        for (key, (_, contrast)), row in zip(stored.items(), rows, strict=True):
            signs = dict(zip(SIGNS, (*map(float, row[-4:]), contrast), strict=True))
            objections[key] = side.objection(signs)
    return objections


def _through_network(
    missing: dict[str, Path],
    stored: dict[str, tuple[Rows, float]],
    *,
    cache: Path | str | None,
    threads: int,
    progress: Progress | None,
) -> None:
    """Fill `known` with the numbers of pictures that it lacks, but for files that cannot be read."""
    model = load_image_text()

    def opened(path: Path) -> tuple[NDArray[np.uint8], float] | None:
        try:
            picture = grey(path)
        except ImageError:
            return None
        return squared(picture, model.size), float(picture.std())

    items = list(missing.items())
    for start in range(0, len(items), _AT_ONCE):
        part = items[start : start + _AT_ONCE]
        with ThreadPoolExecutor(2) as pool:
            read = list(pool.map(opened, [path for _, path in part]))
        good = [(key, *image) for (key, _), image in zip(part, read, strict=True) if image is not None]
        if good:
            numbers = picture_numbers(model.network, np.stack([square for _, square, _ in good]), threads=threads)
            contrast = np.array([value for _, _, value in good], np.float32)
            stored |= {key: (row, float(c)) for (key, _, _), row, c in zip(good, numbers, contrast, strict=True)}
            if cache is not None:
                _store(Path(cache), [key for key, _, _ in good], numbers, contrast)
        if progress is not None:
            progress("pictures", start + len(part), len(items))


def _store(cache: Path, keys: list[str], numbers: Rows, contrast: Rows) -> None:
    make_folder(cache)
    file = cache / f"pictures-{load_image_text().hash}-{keys[0][:12]}-{len(keys)}.npz"
    with replacing(file) as path, path.open("wb") as stream:
        np.savez(stream, keys=np.array(keys, dtype=f"S{_KEY}"), numbers=numbers, contrast=contrast)


def _stored(cache: Path | str | None) -> dict[str, tuple[Rows, float]]:
    """Load what earlier runs cached; a file that cannot be read counts as missing."""
    features: dict[str, tuple[Rows, float]] = {}
    if cache is None or not Path(cache).is_dir():
        return features
    for file in sorted(Path(cache).glob(f"pictures-{load_image_text().hash}-*.npz")):
        with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                parts = [stored[name] for name in ("keys", "numbers", "contrast")]
            for key, numbers, contrast in zip(*parts, strict=True):
                features[key.decode()] = (numbers, float(contrast))
    return features
