"""Pictures as the input of a network: resized, cropped and normalised as its preprocessing file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError
from radgauge.images.limits import Grey
from radgauge.images.resize import resize_pil

FILTERS = {0: "NEAREST", 1: "LANCZOS", 2: "BILINEAR", 3: "BICUBIC", 4: "BOX", 5: "HAMMING"}
"""Pillow's numbers, as preprocessing files use them."""
CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class Preparation:
    """Steps that prepare an image."""

    # Height and width to resize to; one number: the shorter side; none: not resized
    size: tuple[int, ...] = (224,)
    # Height and width of the middle part that is kept, black beyond the edge; none: all of it
    crop: tuple[int, int] | None = (224, 224)
    filter: str = "BICUBIC"  # Pillow's name of the resampling filter
    scale: float = 1 / 255  # What a grey level is multiplied by
    mean: tuple[float, ...] = CLIP_MEAN  # Subtracted per channel
    std: tuple[float, ...] = CLIP_STD  # Divided by, per channel
    # Where the middle is if it falls between two pixels: rounded as torchvision does, or else down, as
    # transformers does
    half_up: bool = False

    def __call__(self, picture: Grey) -> NDArray[np.float32]:
        """(channels, height, width); grey levels stand in every channel."""
        if self.size:
            picture = resize_pil(picture, *self._new_size(*picture.shape), filter=self.filter)
        if self.crop is not None:
            picture = _middle(picture, *self.crop, half_up=self.half_up)
        values = picture.astype(np.float32) * np.float32(self.scale)
        mean, std = (np.asarray(channel, dtype=np.float32)[:, None, None] for channel in (self.mean, self.std))
        prepared: NDArray[np.float32] = (values[None] - mean) / std
        return prepared

    def _new_size(self, height: int, width: int) -> tuple[int, int]:
        if len(self.size) == 2:
            return self.size[0], self.size[1]
        short = self.size[0]
        long = int(short * max(height, width) / min(height, width))
        return (long, short) if height >= width else (short, long)


def from_transformers(config: Mapping[str, Any], *, where: object) -> Preparation:
    """The preparation that a preprocessor_config.json describes.

    >>> from_transformers({"size": {"shortest_edge": 8}, "do_center_crop": False}, where="").size
    (8,)
    """
    kind = str(config.get("image_processor_type", config.get("feature_extractor_type", "")))
    cropped = bool(config.get("do_center_crop", kind.startswith(("CLIP", "ChineseCLIP"))))
    size: tuple[int, ...] = ()
    if config.get("do_resize", True):
        size = _edges(config.get("size", 224), where=where)
        if isinstance(config.get("size", 224), int) and not cropped:
            size = size * 2  # older files: a number is the shorter side for those that crop, a square for others
    crop = _edges(config.get("crop_size", 224), where=where) if cropped else None
    normal = config.get("do_normalize", True)
    mean = _three(config.get("image_mean", CLIP_MEAN) if normal else 0.0)
    std = _three(config.get("image_std", CLIP_STD) if normal else 1.0)
    scale = float(config.get("rescale_factor", 1 / 255)) if config.get("do_rescale", True) else 1.0
    resample = config.get("resample", 3)
    if resample not in FILTERS:
        raise ModelError(f"{where} asks for the unknown resampling filter {resample!r}")
    square = crop if crop is None or len(crop) == 2 else crop * 2
    return Preparation(size, square, FILTERS[resample], scale, mean, std)  # type: ignore[arg-type]


def _edges(size: Any, *, where: object) -> tuple[int, ...]:
    if isinstance(size, int):
        return (size,)
    if isinstance(size, Mapping) and "shortest_edge" in size and "longest_edge" not in size:
        return (int(size["shortest_edge"]),)
    if isinstance(size, Mapping) and {"height", "width"} <= size.keys():
        return (int(size["height"]), int(size["width"]))
    raise ModelError(f"{where} must give a size as shortest_edge or height and width, got {size!r}")


def _three(value: float | Sequence[float]) -> tuple[float, ...]:
    values = (value,) if isinstance(value, int | float) else tuple(value)
    return tuple(map(float, values * 3 if len(values) == 1 else values))


def _middle(picture: Grey, height: int, width: int, *, half_up: bool) -> Grey:
    rows, columns = max(height - picture.shape[0], 0), max(width - picture.shape[1], 0)
    if rows or columns:
        picture = np.pad(picture, ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)))
    extra = (picture.shape[0] - height, picture.shape[1] - width)
    top, left = (round(margin / 2) if half_up else margin // 2 for margin in extra)
    return picture[top : top + height, left : left + width]
