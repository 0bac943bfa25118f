"""Training data of an image-text encoder: studies with images and reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError
from radgauge.core.readings import Progress
from radgauge.encoders.image.embedded_image_text import squared
from radgauge.images import Grey, grey
from radgauge.io.case_files import read_references

Squares = NDArray[np.uint8]

_FORMS = ("findings", "both")


@dataclass(frozen=True, slots=True)
class PicturedReport:
    """A study to learn from."""

    id: str
    images: tuple[Path, ...]  # Files with its pictures, one or more
    # Forms of its report: findings, findings with impression; one or more, none empty, all different
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Material:
    """Studies to learn from and studies to watch, and how many could not be used."""

    train: tuple[PicturedReport, ...]
    validation: tuple[PicturedReport, ...]
    left_out: Mapping[str, int]


def read_material(
    table: Path | str, images: Path | str, *, validation: float | str = 0.1, seed: int = 0
) -> Material:
    """Studies from a table of reports and a folder of pictures.

    Args:
        table: Any table of reports that radgauge reads, with a column of images (relative to `images`).
        images: The folder.
        validation: A share of the studies that is kept for watching, chosen by the seed; or the name of a split,
            in which case the split "train" is learned from.
        seed: Chooses the share.

    Raises:
        InputError: There are too few studies with a picture and a report.
    """
    if isinstance(validation, str):
        parts = [_read(Path(table), Path(images), split=split) for split in ("train", validation)]
        left_out = {why: parts[0][1][why] + parts[1][1][why] for why in parts[0][1]}
        train, watched = parts[0][0], parts[1][0]
    else:
        if not 0 < validation < 1:
            raise UsageError(f"the share for validation must lie between 0 and 1, got {validation}")
        studies, left_out = _read(Path(table), Path(images), split=None)
        order = np.random.default_rng(seed).permutation(len(studies)).tolist()
        number = max(2, round(validation * len(studies)))
        watched = [studies[at] for at in sorted(order[:number])]
        train = [studies[at] for at in sorted(order[number:])]
    if len(train) < 8 or len(watched) < 2:
        raise InputError(
            f"training needs 8 studies or more with a picture and a report, and validation 2; got {len(train)} "
            f"and {len(watched)}; left out: {', '.join(f'{n} with {why}' for why, n in left_out.items())}"
        )
    return Material(tuple(train), tuple(watched), left_out)


def _read(table: Path, images: Path, *, split: str | None) -> tuple[list[PicturedReport], dict[str, int]]:
    if not images.is_dir():
        raise InputError(f"{images} is not a folder of images")
    forms: dict[str, dict[str, str]] = {}
    pictures: dict[str, tuple[Path, ...]] = {}
    for section in _FORMS:
        for case in read_references(table, section=section, split=split).cases:
            forms.setdefault(case.id, {})[section] = case.references[0].strip()
            pictures[case.id] = tuple(images / name for name in case.images)
    left_out = {"no report": 0, "no picture": 0}
    studies = []
    for study, texts in forms.items():
        different = tuple(dict.fromkeys(text for text in texts.values() if text))
        if not different:
            left_out["no report"] += 1
        elif not pictures[study]:
            left_out["no picture"] += 1
        else:
            studies.append(PicturedReport(study, pictures[study], different))
    return studies, left_out


def read_squares(
    studies: Sequence[PicturedReport],
    *,
    size: int,
    progress: Progress | None = None,
    every: int = 1,
    change: Callable[[Grey, int], Grey] | None = None,
) -> tuple[Squares, NDArray[np.intp]]:
    """Pictures of the studies as small squares, and the study that each belongs to.

    Args:
        studies: With the files.
        size: Height and width.
        progress: Told after every picture.
        every: Only each so many-th picture.
        change: Made of a picture (and its number) before it is put into the black square.

    Raises:
        ImageError: A picture cannot be read; the message names the file.
    """
    paths = [path for study in studies for path in study.images][::every]
    owners = np.repeat(np.arange(len(studies)), [len(study.images) for study in studies])[::every]

    def opened(number: int) -> Squares:
        picture = grey(paths[number])
        return squared(picture if change is None else change(picture, number), size)

    squares = np.empty((len(paths), size, size), np.uint8)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for at, square in enumerate(pool.map(opened, range(len(paths)))):
            squares[at] = square
            if progress is not None:
                progress("decoding", at + 1, len(paths))
    return squares, owners
