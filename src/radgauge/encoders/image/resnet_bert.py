"""A ResNet-50 and a BERT with projection heads, wired by a small file: MedCLIP, BioViL, ConVIRT and the like.

Such models were released as bare weights with code of their own. `two_tower.json` beside the weights says which
names belong to what; docs/metrics/vlscore.md shows one. Neither that code nor torchvision is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import locate_tokenizer
from radgauge.encoders.checkpoints.lightning_checkpoint import open_lightning
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer, read_weights
from radgauge.images.prepare import Preparation, from_transformers

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
        places = self.backbone.places(torch.from_numpy(np.stack(prepared)).to(self.device))
        if self.head_first:
            return _through(places, self.image_head).mean(dim=1)
        return _through(places.mean(dim=1), self.image_head)

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
        found = parse_json(path.read_text(encoding="utf-8"))
        image, text = dict(found["image"]), dict(found["text"])
        steps = [list(step) for part in (image, text) for step in part["head"]]
        image["weights"], text["weights"], image["prefix"], text["prefix"], text["encoder"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} must have image and text, each with weights, prefix and head, and text with encoder; "
            f"got: {error!r}"
        ) from error
    for step in steps:
        known = step in ([name] for name in PLAIN) or (len(step) == 2 and step[0] in LEARNED)
        if not known:
            raise ModelError(
                f"{path}: a step of a head must be one of {', '.join(PLAIN)}, or one of {', '.join(LEARNED)} with "
                f"the name of its weights; got {step!r}"
            )
    if text.get("pooling", "cls") not in POOLINGS:
        raise ModelError(f"{path}: pooling must be one of {', '.join(POOLINGS)}, got {text['pooling']!r}")
    return {**found, "image": image, "text": text}


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
    place = _encoder_folder(folder, str(text["encoder"]))
    bert = encoder_from(place, pooler=text.get("pooling", "cls") == "pooler")
    _fill(bert, words, prefix=text["prefix"], where=folder / text["weights"], besides=_named(text["head"]))
    tokenizer = load_tokenizer(place, of=str(text["encoder"]))
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
    found = read_weights(path)
    inner = found.get("state_dict", found)
    return inner if isinstance(inner, Mapping) else found


def _named(head: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{step[1]}." for step in head if len(step) == 2)


def _fill(network: Any, state: Mapping[str, Any], *, prefix: str, where: Path, besides: tuple[str, ...]) -> None:
    """Weights under a prefix into a network; names of heads under the same prefix are left to them."""
    mine = [key for key in state if key.startswith(prefix) and not (besides and key.startswith(besides))]
    own = {key.removeprefix(prefix): state[key] for key in mine}
    wanted = network.state_dict()
    surplus = ("position_ids", "token_type_ids", "num_batches_tracked")
    own = {k: v for k, v in own.items() if k in wanted or not (k.endswith(surplus) or k.startswith("pooler."))}
    own.update({k: v for k, v in wanted.items() if k.endswith("num_batches_tracked") and k not in own})
    check_keys(own, wanted, where=where, prefix=prefix)
    network.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in own.items()})


def _step(step: Sequence[str], state: Mapping[str, Any], where: Path, device: str) -> Any:
    """A function of vectors in the last axis."""
    torch = require("torch", extra="models")
    functional = torch.nn.functional
    if len(step) == 1:
        return {"relu": functional.relu, "gelu": functional.gelu, "tanh": torch.tanh}[step[0]]
    kind, name = step

    def get(part: str, *, optional: bool = False) -> Any:
        found = state.get(f"{name}.{part}")
        if found is None and not optional:
            raise ModelError(f"{where} has no {name}.{part}, which {WIRING} names as {kind}")
        return None if found is None else found.float().to(device)

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
    for place in (folder / leaf, folder.parent / leaf):
        if (place / "config.json").is_file():
            return place
    return locate_tokenizer(name, models="published")
