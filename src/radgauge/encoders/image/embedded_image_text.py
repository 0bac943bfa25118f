"""The image-text encoder that ships: a compact network for chest X-rays, and a matrix on what a report claims.

Pictures go through a convolutional network (`convolutions`) and the layer of their view (`picture_side`); reports
through the report reader and the static encoder (`report_claims`) and one matrix. All of it is numpy. Both end as
vectors of length one. One file holds it: that of the distribution `radgauge-image-weights` (`packages/`), whose
card is `docs/models/image_text.md`, or one that `radgauge train image-text` wrote.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.core.files import replacing, sha256_of
from radgauge.core.parsing import parse_json
from radgauge.encoders.image.convolutions import Network, pack, run, unpack
from radgauge.encoders.image.picture_side import SIGNS, PictureSide, Seen, pack_side, unpack_side, view_of
from radgauge.encoders.text.report_claims import VERSION, ReportClaims
from radgauge.images import Grey

Vectors = NDArray[np.float32]

FORMAT = 2
_MIDDLE, _SPREAD = 127.0, 128.0  # grey values as EfficientNet-lite's starting weights expect them


@dataclass(frozen=True, eq=False)
class ImageText:
    """Content of a file."""

    network: Network  # The image side: from pictures to means
    side: PictureSide  # The image side: from means to vectors
    claims: ReportClaims  # What the text side looks at
    matrix: Vectors  # (`claims.dimensions`, length of a vector): the text side
    bias: Vectors  # (length of a vector,)
    size: int  # Height and width, in pixels, of what the network sees
    about: Mapping[str, Any]  # constants by view set, and facts of the training
    hash: str = ""  # Of the file; "" if there is none yet


def save_image_text(path: Path | str, model: ImageText) -> None:
    """Write an encoder: numbers, names of claims and settings; no text, no picture."""
    meta = {"format": FORMAT, "claims": VERSION, "size": model.size, "about": dict(model.about)}
    parts: dict[str, Any] = {f"image_{name}": part for name, part in pack(model.network).items()}
    parts |= {f"side_{name}": part for name, part in pack_side(model.side).items()}
    parts |= {
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
        "vocabulary": np.frombuffer("\n".join(model.claims.vocabulary).encode(), dtype=np.uint8),
        "text_matrix": model.matrix.astype(np.float16),
        "text_bias": model.bias.astype(np.float32),
    }
    with replacing(path) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **parts)


def shipped_weights() -> Path:
    """Return the file of the distribution `radgauge-image-weights`, which has a licence of its own.

    Raises:
        MissingExtra: It is not installed.
    """
    path: Path = require("radgauge_image_weights", extra="image").PATH
    return path


def load_image_text(path: Path | None = None) -> ImageText:
    """Return an encoder from its file, by default the shipped one.

    Raises:
        MissingExtra: No file is named and the shipped weights are not installed.
        ModelError: The file is not there, damaged, or of another version.
    """
    return _load(shipped_weights() if path is None else path)


@lru_cache(maxsize=4)
def _load(path: Path) -> ImageText:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            meta = parse_json(stored["meta"].tobytes())
            vocabulary = tuple(stored["vocabulary"].tobytes().decode().split("\n"))
            if meta["format"] != FORMAT:
                raise ModelError(
                    f"{path} is of form {meta['format']}, this radgauge reads form {FORMAT}; train it again"
                )
            encoder = ImageText(
                unpack(_named(stored, "image_")),
                unpack_side(_named(stored, "side_")),
                ReportClaims(vocabulary),
                stored["text_matrix"].astype(np.float32),
                stored["text_bias"],
                int(meta["size"]),
                dict(meta["about"]),
                sha256_of(path)[:12],
            )
    except FileNotFoundError:
        raise ModelError(f"image-text encoder {path} does not exist") from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} must be a file of `radgauge train image-text`, got: {error}") from error
    if meta["claims"] != VERSION or encoder.matrix.shape[0] != encoder.claims.dimensions:
        raise ModelError(
            f"{path} was trained on version {meta['claims']} of the claims ({encoder.matrix.shape[0]} numbers per "
            f"report); this radgauge makes version {VERSION} with {encoder.claims.dimensions}; train it again"
        )
    return encoder


def _named(stored: Any, prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): stored[name] for name in stored.files if name.startswith(prefix)}


def _one_thread_per_product() -> AbstractContextManager[object]:
    """Keep the linear algebra from splitting each of many small products, whose threads then wait for each other:
    several times as much processor time, many times on a busy machine."""
    limit: AbstractContextManager[object] = _linear_algebra().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _linear_algebra() -> Any:
    return require("threadpoolctl", extra="image").ThreadpoolController()


@dataclass(frozen=True)
class EmbeddedImageText:
    """An `ImageTextEncoder` without torch.

    >>> encoder = EmbeddedImageText()
    >>> small, large, clear = encoder.embed_texts(["Mild cardiomegaly.", "Cardiomegaly.", "The lungs are clear."])
    >>> bool(small @ large > small @ clear)
    True

    Args:
        path: A file of `radgauge train image-text`; empty for the one that ships with the package.
        threads: Pictures side by side; 0 = as many as there are cores.
    """

    path: str = ""
    threads: int = 0

    @property
    def name(self) -> str:
        """Name and hash of the file, and versions of the reader and the static encoder."""
        model = self._model
        kind = "image-text" if not self.path else self._file.stem
        return f"{kind}@{model.hash}:{model.claims.signature}".replace("|", ":")

    @property
    def constant(self) -> float | None:
        """VLScore's C where a study's views are not known: the largest of all."""
        return max(self.constants.values(), default=None)

    @property
    def constants(self) -> Mapping[str, float]:
        """VLScore's C by view set: the largest area on own and other reports of the training studies."""
        return {name: float(value) for name, value in self._model.about.get("constants", {}).items()}

    @property
    def unit_length(self) -> bool:
        """Vectors have length one."""
        return True

    def embed_images(self, images: Sequence[Grey]) -> Vectors:
        """One row of length one per picture."""
        return self.look(images)[:, : -len(SIGNS)]

    def seen(self, row: Vectors) -> Seen:
        """Interpret a row of `look`."""
        signs = dict(zip(SIGNS, map(float, row[-len(SIGNS) :]), strict=True))
        return Seen(row[: -len(SIGNS)], view_of(signs["view"]), self._model.side.objection(signs))

    def look(self, images: Sequence[Grey]) -> Vectors:
        """One row per picture: its vector, then the signs of what it shows (`picture_side.SIGNS`)."""
        model = self._model
        if not images:
            return np.zeros((0, model.matrix.shape[1] + len(SIGNS)), np.float32)

        squares = np.stack([squared(image, model.size) for image in images])
        rows = model.side.rows(picture_numbers(model.network, squares, threads=self.threads))
        return np.hstack([rows, np.array([[image.std()] for image in images], np.float32)])

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per report; NaN for a text without any word or number."""
        model = self._model
        rows = model.claims.rows(texts)
        vectors = unit(rows @ model.matrix + model.bias)
        vectors[~rows.any(axis=1)] = np.nan
        return vectors

    @property
    def _file(self) -> Path:
        return Path(self.path).expanduser() if self.path else shipped_weights()

    @property
    def _model(self) -> ImageText:
        return load_image_text(self._file)


def squared(image: Grey, size: int) -> Grey:
    """The picture in the middle of a black square, its longer side as long as the square's."""
    height, width = image.shape
    longer = max(height, width)
    height, width = (max(1, round(side * size / longer)) for side in (height, width))
    placed = np.zeros((size, size), np.uint8)
    top, left = (size - height) // 2, (size - width) // 2
    placed[top : top + height, left : left + width] = _resized(image, height, width)
    return placed


def _resized(image: Grey, height: int, width: int) -> Grey:
    if image.shape == (height, width):
        return image
    pillow = require("PIL.Image", extra="image")
    return np.asarray(pillow.fromarray(image).resize((width, height), pillow.Resampling.BILINEAR), dtype=np.uint8)


def picture_numbers(network: Network, squares: NDArray[np.uint8], *, threads: int = 0) -> Vectors:
    """Return the network's features of squares, several at a time, each image by one thread.

    Args:
        network: The layers.
        squares: (n, side, side).
        threads: 0 = as many as there are cores.
    """
    threads = min(threads or os.cpu_count() or 1, len(squares))
    features = np.empty((len(squares), network.width), np.float32)

    def fill(start: int) -> None:
        features[start::threads] = run(network, network_input(squares[start::threads]))

    with _one_thread_per_product(), ThreadPoolExecutor(max(threads, 1)) as pool:
        list(pool.map(fill, range(threads)))
    return features


def network_input(squares: NDArray[np.uint8]) -> Vectors:
    """Squares as the network takes them: one channel, about -1 to 1."""
    scaled: Vectors = (squares[:, None].astype(np.float32) - _MIDDLE) / np.float32(_SPREAD)
    return scaled


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length one; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
