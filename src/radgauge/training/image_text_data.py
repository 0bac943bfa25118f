"""What an image-text encoder learns from: studies with pictures and reports, and changed copies of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.errors import InputError, UsageError, require
from radgauge.images import grey
from radgauge.io.case_files import read_references
from radgauge.models.image.embedded_image_text import squared
from radgauge.reading import Progress

Squares = NDArray[np.uint8]

TURN, SHIFT, ZOOM = 8.0, 0.05, 0.10  # degrees, share of the side, share: how far a copy may differ
GAMMA, CONTRAST, BRIGHTNESS = 0.25, 0.20, 0.10
_FORMS = ("findings", "both")


@dataclass(frozen=True, slots=True)
class PicturedReport:
    """A study to learn from.

    Attributes:
        id: The study.
        images: Files with its pictures, one or more.
        texts: Forms of its report: findings, findings with impression; one or more, none empty, all different.
    """

    id: str
    images: tuple[Path, ...]
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
    found = []
    for study, texts in forms.items():
        different = tuple(dict.fromkeys(text for text in texts.values() if text))
        if not different:
            left_out["no report"] += 1
        elif not pictures[study]:
            left_out["no picture"] += 1
        else:
            found.append(PicturedReport(study, pictures[study], different))
    return found, left_out


def read_squares(
    studies: Sequence[PicturedReport], *, size: int, progress: Progress | None = None
) -> tuple[Squares, NDArray[np.intp]]:
    """Every picture of the studies as a small square, and the study that each belongs to.

    Raises:
        ImageError: A picture cannot be read; the message names the file.
    """
    paths = [path for study in studies for path in study.images]
    owners = np.repeat(np.arange(len(studies)), [len(study.images) for study in studies])
    found = np.empty((len(paths), size, size), np.uint8)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for at, square in enumerate(pool.map(lambda path: squared(grey(path), size), paths)):
            found[at] = square
            if progress is not None:
                progress("decoding", at + 1, len(paths))
    return found, owners


def changed_copies(squares: Squares, *, seed: int) -> Squares:
    """Each square a little turned, moved, zoomed, brighter or darker; left stays left."""
    torch = require("torch", extra="models")
    rng = np.random.default_rng(seed)
    number = len(squares)
    angle = np.deg2rad(rng.uniform(-TURN, TURN, number))
    zoom = 1 + rng.uniform(-ZOOM, ZOOM, number)
    moves = rng.uniform(-2 * SHIFT, 2 * SHIFT, (number, 2))
    rows = np.empty((number, 2, 3), np.float32)
    rows[:, 0, 0] = rows[:, 1, 1] = np.cos(angle) * zoom
    rows[:, 0, 1], rows[:, 1, 0] = -np.sin(angle) * zoom, np.sin(angle) * zoom
    rows[:, :, 2] = moves
    gamma = np.exp(rng.uniform(-GAMMA, GAMMA, number))
    contrast = 1 + rng.uniform(-CONTRAST, CONTRAST, number)
    brightness = rng.uniform(-BRIGHTNESS, BRIGHTNESS, number)
    found = np.empty_like(squares)
    for start in range(0, number, 256):
        part = slice(start, start + 256)
        values = torch.from_numpy(squares[part]).float()[:, None] / 255
        moved = torch.from_numpy(rows[part])
        grid = torch.nn.functional.affine_grid(moved, list(values.shape), align_corners=False)
        values = torch.nn.functional.grid_sample(values, grid, align_corners=False)
        values = values.clamp(0, 1) ** _column(torch, gamma[part])
        values = (values - 0.5) * _column(torch, contrast[part]) + 0.5 + _column(torch, brightness[part])
        found[part] = (values.clamp(0, 1) * 255).round().to(torch.uint8)[:, 0].numpy()
    return found


def _column(torch: Any, values: NDArray[np.float64]) -> Any:
    return torch.from_numpy(values.astype(np.float32))[:, None, None, None]
