"""Image-text encoders: pictures and reports as points of one space, whatever network puts them there.

An encoder is a small frozen dataclass of settings with a `name`, a `constant` and two functions; weights are
loaded at first use. `ImageTextEncoder` is all that metrics, `radgauge fit vlscore` and the benchmarks know of it:

- `embedded` (`embedded_image_text.py`, `EmbeddedImageText(path="")`): the network that ships with radgauge, or a
  file of `radgauge train image-text`;
- `limitr` (`limitr.py`): the network of VLScore's authors;
- everything else (`two_tower.py`): CLIP-like models in transformers or open_clip form.

Encoders are not asked directly but through `image_vectors` and `text_vectors`, which read every picture and every
text once, keep the vectors in the reading cache (pictures by the hash of their bytes), and turn a picture that
cannot be read into a reason instead of a vector.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from radgauge.core.errors import ImageError, ModelError, UsageError
from radgauge.core.parsing import parse_json
from radgauge.core.readings import Readings
from radgauge.encoders.image.picture_side import Seen
from radgauge.images import Grey, digest, grey
from radgauge.text.vectors import VectorReader, Vectors

EMBEDDED = "embedded"
LIMITR = "limitr"


class Named(Protocol):
    """Anything that vectors come from."""

    @property
    def name(self) -> str:
        """Its identity."""


class ImageTextEncoder(Protocol):
    """Pictures and texts to vectors of one space, in batches.

    What an encoder may have besides: `side_view`, an encoder of the same space for the further images of a study
    (LIMITR embeds lateral views by a network of their own); `unit_length`, whether vectors have length one, in
    which case the mean of a study's vectors is brought to length one too; `look` and `seen`, which tell the view
    of a picture and what speaks against it; `constants`, C by view set; `overlong(texts)`, True for each text that
    is longer than the encoder reads.
    """

    @property
    def name(self) -> str:
        """Names network, weights (revision or hash) and every setting that can change a vector.

        It is the identity in the cache and part of a metric's signature: one line, without "|".
        """

    @property
    def constant(self) -> float | None:
        """VLScore's C: the triangle area (in units of this space) that scores 0; None where nobody measured it."""

    def embed_images(self, images: Sequence[Grey]) -> Vectors:
        """One row per picture; pictures are grey, 8 bits, of any size, as `radgauge.images.grey` gives them."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row per report, as wide as the pictures'; NaN for a text in which there is nothing to embed."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands in for the vector of a picture that could not be read."""

    reason: str


Embed = Callable[[Sequence[Any]], Any]
_REGISTERED: dict[str, FunctionEncoder] = {}
GROUP = "radgauge.encoders"
"""Entry points of packages that bring an encoder: a name and a `FunctionEncoder`."""


@dataclass(frozen=True)
class FunctionEncoder:
    """Two functions as an encoder."""

    name: str  # What it is called, and its version: vectors in the cache are found by it
    images: Embed  # Pictures (grey, 8 bits, height x width) to rows of numbers
    texts: Embed  # Reports to rows of the same width
    constant: float | None = None  # VLScore's C; None where it was not measured
    unit_length: bool = False  # True if rows have length one

    def embed_images(self, images: Sequence[Grey]) -> Vectors:
        """One row per picture."""
        return np.asarray(self.images(images), dtype=np.float32)

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row per report."""
        return np.asarray(self.texts(texts), dtype=np.float32)


def register_encoder(
    name: str,
    *,
    images: Embed,
    texts: Embed,
    version: str,
    constant: float | None = None,
    unit_length: bool = False,
) -> None:
    """Let `vlscore:encoder=NAME` use two functions of yours.

    Args:
        name: What `encoder=` names; letters, digits, - and _.
        images: A list of pictures (arrays of grey levels, 0 to 255) to rows of numbers.
        texts: A list of reports to rows of numbers, as wide.
        version: Of weights and code; another one lets vectors be made anew.
        constant: VLScore's C; learn it with `radgauge fit vlscore` where it is not known.
        unit_length: Whether rows have length one.

    Raises:
        UsageError: The name is taken, or is none.

    >>> register_encoder("brightness", version="1", images=lambda pictures: [[p.mean(), 0.0] for p in pictures],
    ...     texts=lambda reports: [[0.0, len(report)] for report in reports], constant=900.0)
    >>> image_text_encoder("brightness").name
    'brightness@1'
    """
    if not re.fullmatch(r"[\w-]+", name) or name in (EMBEDDED, LIMITR, "auto", "embeddings"):
        raise UsageError(f"an encoder's name must be letters, digits, - and _, and not taken, got {name!r}")
    _REGISTERED[name] = FunctionEncoder(f"{name}@{version}", images, texts, constant, unit_length)


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@dataclass(frozen=True)
class ImageReader(VectorReader):
    """A `Reader` of pictures: its texts are hashes of files, so that a picture is known under any name."""

    encoder: ImageTextEncoder  # What embeds them
    files: dict[str, Path] = field(repr=False, compare=False)  # Hash -> a file with those bytes
    batch_size: ClassVar[int] = 32

    @property
    def signature(self) -> str:
        """The encoder's name."""
        return f"images|{self.encoder.name}"

    def read(self, texts: Sequence[str]) -> list[Vectors | Unreadable]:
        """One vector per file, or why there is none."""
        with ThreadPoolExecutor(max_workers=2) as pool:  # decoders let other threads run meanwhile
            opened = list(pool.map(lambda text: _opened(self.files[text]), texts))
        readable = [at for at, picture in enumerate(opened) if not isinstance(picture, Unreadable)]
        vectors: list[Vectors | Unreadable] = [
            picture if isinstance(picture, Unreadable) else np.empty(0, np.float32) for picture in opened
        ]
        pictures = [picture for picture in opened if not isinstance(picture, Unreadable)]
        if pictures:
            look = getattr(self.encoder, "look", self.encoder.embed_images)
            for at, vector in zip(readable, _checked(look(pictures), len(pictures)), strict=True):
                vectors[at] = vector
        return vectors

    def pack(self, reading: Vectors | Unreadable, text: str) -> bytes | None:
        """A vector as 32-bit numbers; failures are not kept, since a decoder may be installed tomorrow."""
        return None if isinstance(reading, Unreadable) else super().pack(reading, text)


@dataclass(frozen=True)
class TextReader(VectorReader):
    """A `Reader` of reports by the text side of an encoder."""

    encoder: ImageTextEncoder
    batch_size: ClassVar[int] = 256

    @property
    def signature(self) -> str:
        """The encoder's name."""
        return f"reports|{self.encoder.name}"

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(_checked(self.encoder.embed_texts(list(texts)), len(texts)))

    def overlong(self, texts: Sequence[str]) -> Sequence[bool]:
        """True for texts that the encoder does not read to their end."""
        look = getattr(self.encoder, "overlong", None)
        return look(texts) if look is not None else [False] * len(texts)


def image_text_encoder(
    name: str, *, models: str = "published", resize: str = "pil", unit: bool | None = None
) -> ImageTextEncoder:
    """The encoder that a setting names.

    Args:
        name: "embedded"; "limitr"; a file: a checkpoint of LIMITR or GLoRIA (.ckpt), or a network of `radgauge
            train image-text` (any other); a folder or hub id of a CLIP-like model.
        models: Where LIMITR is looked for: "published" or a folder of checkpoints.
        resize: LIMITR's way to make pictures smaller, "pil" or "area".
        unit: Whether a CLIP-like model's vectors are brought to length one; None: what the model's file says.

    Raises:
        UsageError: `unit` is given for an encoder that has no choice.
    """
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name in _installed():
        encoder: ImageTextEncoder = _installed()[name].load()
        return encoder
    path = Path(name).expanduser()
    if unit is not None and (is_embedded(name) or name == LIMITR or path.suffix == ".ckpt"):
        raise UsageError(f"unit is a setting of CLIP-like models; the vectors of {name} are as they were made")
    if is_embedded(name):
        from radgauge.encoders.image.embedded_image_text import EmbeddedImageText

        return EmbeddedImageText("" if name == EMBEDDED else str(path))
    if name == LIMITR or path.suffix == ".ckpt":
        from radgauge.encoders.image.limitr import Limitr

        return Limitr(models if name == LIMITR else str(path), resize=resize)
    from radgauge.encoders.image.two_tower import TwoTower

    return TwoTower(name, unit=unit)


def is_embedded(name: str) -> bool:
    """True if a setting names a network in radgauge's own format: the one that ships, or a file of a user's."""
    if name == EMBEDDED:
        return True
    if name in _REGISTERED:
        return False
    path = Path(name).expanduser()
    return path.suffix != ".ckpt" and path.is_file()


ANY = "any"
"""Name of the view set where views are not told apart."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Result of `radgauge fit vlscore`."""

    encoder: str  # Name of the encoder that the areas belong to
    views: str  # How several images of a study were treated: a policy of `vlscore:views=`
    # View set (frontal, lateral, frontal+lateral; any) -> C, the largest area of its studies
    constants: dict[str, float]
    triplets: dict[str, int]  # View set -> how many areas there were
    left_out: int  # How many cases could not be judged
    quantiles: dict[str, float]  # Share -> area, of all

    def as_json(self) -> str:
        """The file that `vlscore:calibration=` reads."""
        return json.dumps({"calibration": "vlscore", **asdict(self)}, indent=1) + "\n"


def read_calibration(path: Path, *, encoder: Named, views: str) -> dict[str, float]:
    """C by view set from a file of `radgauge fit vlscore`, which must be of the same encoder and view policy.

    Raises:
        ModelError: It is no such file, or was learned with another encoder or another treatment of views.
    """
    try:
        content = parse_json(path.expanduser().read_text(encoding="utf-8"))
        by_views = content.get("constants") or {ANY: content["constant"]}  # files of earlier versions
        constants = {str(name): float(value) for name, value in by_views.items()}
        owner, policy = str(content["encoder"]), str(content["views"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} must be a calibration of `radgauge fit vlscore`, got: {error!r}") from error
    if owner != encoder.name:
        raise ModelError(f"{path} was learned with the encoder {owner}, and this is {encoder.name}; learn it anew")
    if policy != views:
        raise ModelError(f"{path} was learned with views={policy}, and this is views={views}; learn it anew")
    wrong = [value for value in constants.values() if not (math.isfinite(value) and value > 0)]
    if wrong or not constants:
        raise ModelError(f"{path}: the constant must be above 0, got {wrong[0] if wrong else 'none'}")
    return constants


def image_vectors(
    paths: Sequence[Path], encoder: ImageTextEncoder, *, reading: Readings
) -> list[Seen | Unreadable]:
    """Embed each image file, or return why it cannot be; equal files are embedded once, over all runs."""
    keys = {path: reading.once(("digest", path), partial(_digest, path)) for path in dict.fromkeys(paths)}
    files = {key: path for path, key in keys.items() if isinstance(key, str)}
    hashes = list(files)
    seen = getattr(encoder, "seen", Seen)
    vectors = {
        key: row if isinstance(row, Unreadable) else seen(row)
        for key, row in zip(hashes, reading.of(ImageReader(encoder, files), hashes), strict=True)
    }
    return [key if isinstance(key := keys[path], Unreadable) else vectors[key] for path in paths]


def study_vectors(
    studies: Sequence[Sequence[Path]], encoder: ImageTextEncoder, *, reading: Readings
) -> list[list[Seen | Unreadable]]:
    """Embed each study's images, the first (frontal) one first; the further ones by `side_view`."""
    side = (
        (getattr(encoder, "side_view", None) or encoder) if any(len(paths) > 1 for paths in studies) else encoder
    )
    first = iter(image_vectors([paths[0] for paths in studies if paths], encoder, reading=reading))
    others = iter(image_vectors([path for paths in studies for path in paths[1:]], side, reading=reading))
    return [[next(first), *(next(others) for _ in paths[1:])] if paths else [] for paths in studies]


def view_set(seen: Sequence[Seen]) -> str:
    """The views of a study, by name: frontal, lateral, frontal+lateral; any where the encoder cannot tell.

    >>> view_set([Seen(np.zeros(1, np.float32), view) for view in ("lateral", "frontal", "lateral")])
    'frontal+lateral'
    """
    return "+".join(sorted({image.view for image in seen if image.view})) or ANY


def text_vectors(texts: Sequence[str], encoder: ImageTextEncoder, *, reading: Readings) -> list[Vectors]:
    """One vector per text; NaN where the encoder finds nothing to embed."""
    return reading.of(TextReader(encoder), texts)


def _digest(path: Path) -> str | Unreadable:
    try:
        return digest(path)
    except ImageError as error:
        return Unreadable(str(error))


def _opened(path: Path) -> Grey | Unreadable:
    try:
        return grey(path)
    except ImageError as error:
        return Unreadable(str(error))


def _checked(vectors: Vectors, expected: int) -> Vectors:
    if vectors.ndim != 2 or len(vectors) != expected:
        raise ModelError(f"an image-text encoder must give one row per item, got {vectors.shape} for {expected}")
    return np.asarray(vectors, dtype=np.float32)
