"""Any image-text model of two towers: CLIP, SigLIP, ALIGN, dual encoders of transformers; two other forms too.

A folder (or hub id) with the model's config, weights, tokenizer and preprocessor config. `open_clip_form` reads
open_clip's form (BiomedCLIP), `resnet_bert` bare weights with a file that wires them (MedCLIP, BioViL, ConVIRT).
Models that come with code of their own are not run. Vectors have length one unless `unit` is off, since it is
their angle that such models are trained on. C is not known for most of these: `radgauge fit vlscore` learns it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.open_clip_form import CONFIG, load_open_clip
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.image.resnet_bert import WIRING, load_resnet_bert, read_wiring
from radgauge.encoders.text.batching import overlong
from radgauge.images import Grey
from radgauge.images.prepare import Preparation, from_transformers

Vectors = NDArray[np.float32]
_PER_PASS = 16
_FIXED_LENGTH = ("siglip", "siglip2")
"""Trained on texts padded to full length, so that is how they must be read."""


@dataclass(frozen=True)
class TwoTower:
    """A CLIP-like model; weights are loaded at first use.

    Attributes:
        model: Folder or hub id with optional `@revision`.
        unit: Whether vectors are brought to length one; None: as the file says that wires a ResNet and a BERT
            ("unit": false), and yes for all others, which are trained on angles.
        device: auto, cpu, cuda.
    """

    model: str
    unit: bool | None = None
    device: str = "auto"

    @property
    def name(self) -> str:
        """Model with revision or hash."""
        return checkpoint_name(self.model) + ("" if self.unit_length else "+raw")

    @property
    def unit_length(self) -> bool:
        """Whether vectors have length one."""
        return bool(self._wiring().get("unit", True)) if self.unit is None else self.unit

    @property
    def constant(self) -> float | None:
        """What the file that wires a ResNet and a BERT says; not known for others."""
        found = self._wiring().get("constant")
        return None if found is None else float(found)

    def _wiring(self) -> dict[str, Any]:
        folder = checkpoint_folder(self.model)
        return dict(read_wiring(folder)) if (folder / WIRING).is_file() else {}

    def embed_images(self, images: Sequence[Grey]) -> Vectors:
        """One row per picture."""
        towers = _load(self.model, pick_device(self.device))
        prepared = [towers.prepare(picture) for picture in images]
        return self._passes(prepared, towers.images)

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row per text, without what is longer than the model reads (`overlong`)."""
        towers = _load(self.model, pick_device(self.device))
        return self._passes(texts, towers.texts)

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts that the model does not read to their end."""
        towers = _load(self.model, pick_device(self.device))
        return overlong(towers.tokenizer, texts, towers.length)

    def _passes(self, items: Sequence[Any], embed: Any) -> Vectors:
        torch = require("torch", extra="models")
        found, unit = [], self.unit_length
        with torch.inference_mode():
            for start in range(0, len(items), _PER_PASS):
                vectors = embed(list(items[start : start + _PER_PASS])).float()
                found.append(torch.nn.functional.normalize(vectors, dim=1) if unit else vectors)
        if not found:
            return np.empty((0, 0), np.float32)
        stacked: Vectors = torch.cat(found).cpu().numpy()
        return stacked


@dataclass(frozen=True, eq=False)
class _Towers:
    """A loaded model of transformers."""

    model: Any
    tokenizer: Any
    prepare: Preparation
    length: int
    padding: bool | str
    device: str

    def images(self, prepared: list[NDArray[np.float32]]) -> Any:
        torch = require("torch", extra="models")
        pixels = torch.from_numpy(np.stack(prepared)).to(self.device)
        return _vectors(self.model.get_image_features(pixel_values=pixels))

    def texts(self, texts: list[str]) -> Any:
        tokens = self.tokenizer(
            texts, padding=self.padding, truncation=True, max_length=self.length, return_tensors="pt"
        ).to(self.device)
        return _vectors(self.model.get_text_features(**tokens))


def _vectors(given: Any) -> Any:
    """Newer transformers wrap the projected vectors."""
    return given if hasattr(given, "shape") else given.pooler_output


@lru_cache(maxsize=2)
def _load(model: str, device: str) -> Any:
    folder = checkpoint_folder(model)
    if (folder / CONFIG).is_file():
        return load_open_clip(folder, device=device)
    if (folder / WIRING).is_file():
        return load_resnet_bert(folder, device=device)
    settings = _json(folder / "config.json", model)
    tokenizer = load_tokenizer(folder, of=model)
    loaded = load_transformer(folder, of=model)
    if not (hasattr(loaded, "get_image_features") and hasattr(loaded, "get_text_features")):
        raise ModelError(
            f"{model!r} is a {type(loaded).__name__}, which does not put images and texts into one space"
        )
    text = loaded.config.get_text_config() if hasattr(loaded.config, "get_text_config") else loaded.config
    limit = int(getattr(text, "max_position_embeddings", 0) or 77)
    padding: bool | str = "max_length" if settings.get("model_type") in _FIXED_LENGTH else True
    return _Towers(loaded.eval().to(device), tokenizer, _preparation(folder, model), limit, padding, device)


def _preparation(folder: Path, model: str) -> Preparation:
    alone, together = folder / "preprocessor_config.json", folder / "processor_config.json"
    if alone.is_file():
        return from_transformers(_json(alone, model), where=alone)
    if together.is_file() and "image_processor" in (found := _json(together, model)):
        return from_transformers(found["image_processor"], where=together)
    raise ModelError(f"{model!r} has no preprocessor_config.json, which says how pictures are prepared")


def _json(path: Path, model: str) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ModelError(f"{model!r} must hold {path.name}, got: {error}") from error
    return found if isinstance(found, dict) else {}
