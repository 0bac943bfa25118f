"""Any image-text model of two towers: CLIP, SigLIP, ALIGN, dual encoders of transformers; two other forms too.

A folder (or hub id) with the model's config, weights, tokenizer and preprocessor config. `open_clip_form` reads
open_clip's form (BiomedCLIP), `resnet_bert` bare weights with a file that wires them (MedCLIP, BioViL, ConVIRT).
Models that come with code of their own are not run. Vectors have length one unless `unit` is off, since it is
their angle that such models are trained on. C is not known for most of these: `radgauge fit vlscore` learns it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, locate_tokenizer, pick_device
from radgauge.encoders.checkpoints.lightning_checkpoint import open_lightning
from radgauge.encoders.checkpoints.open_clip_form import CONFIG, load_open_clip
from radgauge.encoders.checkpoints.weights import (
    check_keys,
    encoder_from,
    load_tokenizer,
    load_transformer,
    read_weights,
)
from radgauge.encoders.text.batching import overlong
from radgauge.images import Grey
from radgauge.images.prepare import Preparation, from_transformers

# A ResNet-50 and a BERT with projection heads, wired by a small file: MedCLIP, BioViL, ConVIRT and the like.
#
# Such models were released as bare weights with code of their own. `two_tower.json` beside the weights says which
# names belong to what; docs/metrics/vlscore.md shows one. Neither that code nor torchvision is needed.

WIRING = "two_tower.json"
POOLINGS = ("cls", "mean", "pooler")
PLAIN = ("relu", "gelu", "tanh")
LEARNED = ("linear", "layer_norm", "batch_norm")


@dataclass(frozen=True, eq=False)
class ResnetBertTowers:
    """A loaded model."""

    backbone: Any
    bert: Any
    tokenizer: Any
    prepare: Preparation
    image_head: tuple[Any, ...]
    text_head: tuple[Any, ...]
    head_first: bool
    pooling: str
    layers: tuple[int, ...]
    length: int
    device: str

    def images(self, prepared: list[NDArray[np.float32]]) -> Any:
        """Vectors of prepared pictures."""
        torch = require("torch", extra="models")
        features = self.backbone.places(torch.from_numpy(np.stack(prepared)).to(self.device))
        if self.head_first:
            return _through(features, self.image_head).mean(dim=1)
        return _through(features.mean(dim=1), self.image_head)

    def texts(self, texts: list[str]) -> Any:
        """Vectors of texts; what is longer than the model reads is cut."""
        torch = require("torch", extra="models")
        tokens = self.tokenizer(
            texts, padding=True, truncation=True, max_length=self.length, return_tensors="pt"
        ).to(self.device)
        mask = tokens["attention_mask"]
        out = self.bert(input_ids=tokens["input_ids"], attention_mask=mask, output_hidden_states=True)
        if self.pooling == "pooler":
            return _through(out.pooler_output, self.text_head)
        states = torch.stack([out.hidden_states[layer] for layer in self.layers]).mean(dim=0)
        if self.pooling == "mean":
            pooled = (states * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        else:
            pooled = states[:, 0]
        return _through(pooled, self.text_head)


def read_wiring(folder: Path) -> dict[str, Any]:
    """The file that says which names belong to what.

    Raises:
        ModelError: It lacks a part, or a part has a value that is not known.
    """
    path = folder / WIRING
    try:
        wiring = parse_json(path.read_text(encoding="utf-8"))
        image, text = dict(wiring["image"]), dict(wiring["text"])
        steps = [list(step) for part in (image, text) for step in part["head"]]
        image["weights"], text["weights"], image["prefix"], text["prefix"], text["encoder"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} must have image and text, each with weights, prefix and head, and text with encoder; "
            f"got: {error!r}"
        ) from error
    for step in steps:
        valid = step in ([name] for name in PLAIN) or (len(step) == 2 and step[0] in LEARNED)
        if not valid:
            raise ModelError(
                f"{path}: a step of a head must be one of {', '.join(PLAIN)}, or one of {', '.join(LEARNED)} with "
                f"the name of its weights; got {step!r}"
            )
    if text.get("pooling", "cls") not in POOLINGS:
        raise ModelError(f"{path}: pooling must be one of {', '.join(POOLINGS)}, got {text['pooling']!r}")
    return {**wiring, "image": image, "text": text}


def load_resnet_bert(folder: Path, *, device: str) -> ResnetBertTowers:
    """The model in a folder with `two_tower.json`."""
    from radgauge.encoders.image.resnet import ResNet50, folded

    wiring = read_wiring(folder)
    image, text = wiring["image"], wiring["text"]
    state = _weights(folder / image["weights"])
    words = state if text["weights"] == image["weights"] else _weights(folder / text["weights"])
    backbone = ResNet50()
    head = _named(image["head"])
    _fill(backbone, state, prefix=image["prefix"], where=folder / image["weights"], besides=head)
    encoder_folder = _encoder_folder(folder, str(text["encoder"]))
    bert = encoder_from(encoder_folder, pooler=text.get("pooling", "cls") == "pooler")
    _fill(bert, words, prefix=text["prefix"], where=folder / text["weights"], besides=_named(text["head"]))
    tokenizer = load_tokenizer(encoder_folder, of=str(text["encoder"]))
    return ResnetBertTowers(
        backbone=folded(backbone).to(device),
        bert=bert.eval().to(device),
        tokenizer=tokenizer,
        prepare=from_transformers(wiring.get("preparation", {}), where=folder / WIRING),
        image_head=tuple(_step(step, state, folder / image["weights"], device) for step in image["head"]),
        text_head=tuple(_step(step, words, folder / text["weights"], device) for step in text["head"]),
        head_first=bool(image.get("head_first", False)),
        pooling=str(text.get("pooling", "cls")),
        layers=tuple(text.get("layers", (-1,))),
        length=int(text.get("length", 256)),
        device=device,
    )


def _weights(path: Path) -> Mapping[str, Any]:
    torch = require("torch", extra="models")
    if path.suffix == ".ckpt":
        return {name: torch.from_numpy(values) for name, values in open_lightning(path).read("")}
    weights = read_weights(path)
    inner = weights.get("state_dict", weights)
    return inner if isinstance(inner, Mapping) else weights


def _named(head: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{step[1]}." for step in head if len(step) == 2)


def _fill(network: Any, state: Mapping[str, Any], *, prefix: str, where: Path, besides: tuple[str, ...]) -> None:
    """Weights under a prefix into a network; names of heads under the same prefix are left to them."""
    prefixed = [key for key in state if key.startswith(prefix) and not (besides and key.startswith(besides))]
    own = {key.removeprefix(prefix): state[key] for key in prefixed}
    expected = network.state_dict()
    surplus = ("position_ids", "token_type_ids", "num_batches_tracked")
    own = {k: v for k, v in own.items() if k in expected or not (k.endswith(surplus) or k.startswith("pooler."))}
    own.update({k: v for k, v in expected.items() if k.endswith("num_batches_tracked") and k not in own})
    check_keys(own, expected, where=where, prefix=prefix)
    network.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in own.items()})


def _step(step: Sequence[str], state: Mapping[str, Any], where: Path, device: str) -> Any:
    """A function of vectors in the last axis."""
    torch = require("torch", extra="models")
    functional = torch.nn.functional
    if len(step) == 1:
        return {"relu": functional.relu, "gelu": functional.gelu, "tanh": torch.tanh}[step[0]]
    kind, name = step

    def get(part: str, *, optional: bool = False) -> Any:
        weight = state.get(f"{name}.{part}")
        if weight is None and not optional:
            raise ModelError(f"{where} has no {name}.{part}, which {WIRING} names as {kind}")
        return None if weight is None else weight.float().to(device)

    weight, bias = get("weight"), get("bias", optional=True)
    if kind == "linear":  # a convolution over single places is the same
        flat = weight.reshape(weight.shape[0], weight.shape[1])
        return lambda x: functional.linear(x, flat, bias)
    if kind == "layer_norm":
        return lambda x: functional.layer_norm(x, weight.shape, weight, bias, 1e-12)
    mean, variance = get("running_mean"), get("running_var")
    scale = weight / torch.sqrt(variance + 1e-5)
    return lambda x: (x - mean) * scale + bias


def _through(x: Any, head: tuple[Any, ...]) -> Any:
    for step in head:
        x = step(x)
    return x


def _encoder_folder(folder: Path, name: str) -> Path:
    leaf = name.rpartition("/")[2]
    for candidate in (folder / leaf, folder.parent / leaf):
        if (candidate / "config.json").is_file():
            return candidate
    return locate_tokenizer(name, models="published")


Vectors = NDArray[np.float32]
_PER_PASS = 16
_FIXED_LENGTH = ("siglip", "siglip2")
"""Trained on texts padded to full length, so that is how they must be read."""


@dataclass(frozen=True)
class TwoTower:
    """A CLIP-like model; weights are loaded at first use."""

    model: str  # Folder or hub id with optional `@revision`
    # True if vectors are brought to length one; None: as the file says that wires a ResNet and a BERT ("unit":
    # false), and yes for all others, which are trained on angles
    unit: bool | None = None
    device: str = "auto"  # auto, cpu, cuda

    @property
    def name(self) -> str:
        """Model with revision or hash."""
        return checkpoint_name(self.model) + ("" if self.unit_length else "+raw")

    @property
    def unit_length(self) -> bool:
        """True if vectors have length one."""
        return bool(self._wiring().get("unit", True)) if self.unit is None else self.unit

    @property
    def constant(self) -> float | None:
        """Constant in the file that wires a ResNet and a BERT; None for others."""
        stated = self._wiring().get("constant")
        return None if stated is None else float(stated)

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
        batches, unit = [], self.unit_length
        with torch.inference_mode():
            for start in range(0, len(items), _PER_PASS):
                vectors = embed(list(items[start : start + _PER_PASS])).float()
                batches.append(torch.nn.functional.normalize(vectors, dim=1) if unit else vectors)
        if not batches:
            return np.empty((0, 0), np.float32)
        stacked: Vectors = torch.cat(batches).cpu().numpy()
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


def _vectors(output: Any) -> Any:
    """Newer transformers wrap the projected vectors."""
    return output if hasattr(output, "shape") else output.pooler_output


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
    if together.is_file() and "image_processor" in (config := _json(together, model)):
        return from_transformers(config["image_processor"], where=together)
    raise ModelError(f"{model!r} has no preprocessor_config.json, which says how pictures are prepared")


def _json(path: Path, model: str) -> dict[str, Any]:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ModelError(f"{model!r} must hold {path.name}, got: {error}") from error
    return content if isinstance(content, dict) else {}
