"""Image-text models in open_clip's form (BiomedCLIP and others): open_clip_config.json, weights, tokenizer.

Known are open_clip's own transformers, timm's plain vision transformers (`vit_*_patch*`) and text encoders of
transformers whose sizes the folder (or a folder beside the weights) holds. Neither open_clip nor timm is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import locate_tokenizer
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer, read_weights
from radgauge.images.prepare import CLIP_MEAN, CLIP_STD, Preparation

CONFIG = "open_clip_config.json"
WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
_TIMM = re.compile(r"vit_(tiny|small|base|large)_patch(\d+)_\d+")
_SIZES = {"tiny": (192, 12), "small": (384, 12), "base": (768, 12), "large": (1024, 24)}
_POOLERS = ("cls_last_hidden_state_pooler", "cls_pooler", "mean_pooler")


@dataclass(frozen=True, eq=False)
class OpenClipTowers:
    """A loaded model."""

    visual: Any
    text: Any
    tokenizer: Any
    prepare: Preparation
    length: int
    masked: bool
    device: str

    def images(self, prepared: list[NDArray[np.float32]]) -> Any:
        """Vectors of prepared pictures."""
        torch = require("torch", extra="models")
        return self.visual(torch.from_numpy(np.stack(prepared)).to(self.device))

    def texts(self, texts: list[str]) -> Any:
        """Vectors of texts; what is longer than the model reads is cut."""
        tokens = self.tokenizer(
            texts, padding=True, truncation=True, max_length=self.length, return_tensors="pt"
        ).to(self.device)
        if self.masked:
            return self.text(tokens["input_ids"], tokens["attention_mask"])
        return self.text(tokens["input_ids"])


def load_open_clip(folder: Path, *, device: str) -> OpenClipTowers:
    """The model in a folder.

    Raises:
        ModelError: A file is missing, or the network is of a kind that is not known.
    """
    from radgauge.encoders.image.open_clip_network import BertText, ClipText, ClipVision, TimmVision

    try:
        content = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
        settings = content["model_cfg"]
        embed, vision, words = int(settings["embed_dim"]), dict(settings["vision_cfg"]), dict(settings["text_cfg"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder / CONFIG} must describe an open_clip model, got: {error!r}") from error
    quick = bool(settings.get("quick_gelu", False))
    size = int(vision.get("image_size", 224))
    if named := vision.get("timm_model_name"):
        width, layers, patch = _timm(str(named), vision, where=folder)
        visual: Any = TimmVision(width, layers, patch, size, embed)
    elif isinstance(vision.get("layers"), list):
        raise ModelError(f"{folder} has a ResNet for images; of open_clip's networks only transformers are known")
    else:
        visual = ClipVision(vision, embed, quick=quick)
    masked = bool(words.get("hf_model_name"))
    vocabulary = folder
    if masked:
        pooler = str(words.get("hf_pooler_type", words.get("pooler_type", "mean_pooler")))
        if pooler not in _POOLERS:
            raise ModelError(f"{folder} pools text by {pooler!r}; known are {', '.join(_POOLERS)}")
        vocabulary = _encoder_folder(folder, str(words["hf_model_name"]))
        projection = str(words.get("hf_proj_type", words.get("proj_type", "mlp")))
        text: Any = BertText(encoder_from(vocabulary, pooler=False), embed, pooler=pooler, projection=projection)
    else:
        text = ClipText(words, embed, quick=quick)
    _fill(folder, visual, text)
    named_files = folder if (folder / "tokenizer_config.json").is_file() else vocabulary
    tokenizer = load_tokenizer(named_files, of=str(folder))
    return OpenClipTowers(
        visual.eval().to(device),
        text.eval().to(device),
        tokenizer,
        _preparation(content.get("preprocess_cfg", {}), size, where=folder),
        int(words.get("context_length", 77)),
        masked,
        device,
    )


def _timm(name: str, settings: Mapping[str, Any], *, where: Path) -> tuple[int, int, int]:
    match = _TIMM.fullmatch(name.partition(".")[0])
    if (
        match is None
        or settings.get("timm_pool", "") not in ("", "token")
        or settings.get("timm_proj") != "linear"
    ):
        raise ModelError(
            f"{where} has the image network {name!r}; of timm's only vit_*_patch* with its class token under a "
            "linear projection is known"
        )
    return (*_SIZES[match[1]], int(match[2]))


def _encoder_folder(folder: Path, name: str) -> Path:
    """Folder of the text encoder's sizes (config.json): next to the weights, or where encoders are found."""
    leaf = name.rpartition("/")[2]
    for path in (folder / leaf, folder.parent / leaf):
        if (path / "config.json").is_file():
            return path
    return locate_tokenizer(name, models="published")


def _fill(folder: Path, visual: Any, text: Any) -> None:
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise ModelError(f"{folder} must hold {' or '.join(WEIGHTS)}")
    state = {key.removeprefix("module."): value for key, value in read_weights(weights).items()}
    ignored = ("logit_scale", "logit_bias", "attn_mask")
    state = {key: value for key, value in state.items() if not key.endswith((*ignored, "position_ids"))}
    state = {key: value for key, value in state.items() if not key.startswith("text.transformer.pooler.")}
    pictures = {key.removeprefix("visual."): v for key, v in state.items() if key.startswith("visual.")}
    words = {key.removeprefix("text."): v for key, v in state.items() if not key.startswith("visual.")}
    check_keys(pictures, visual.state_dict(), where=weights, prefix="visual.")
    check_keys(words, text.state_dict(), where=weights)
    visual.load_state_dict({key: value.float() for key, value in pictures.items()})
    text.load_state_dict({key: value.float() for key, value in words.items()})


def _preparation(stored: Mapping[str, Any], size: int, *, where: Path) -> Preparation:
    mode = stored.get("resize_mode", "shortest")
    if mode not in ("shortest", "squash"):
        raise ModelError(f"{where} resizes pictures by {mode!r}; known are shortest and squash")
    return Preparation(
        size=(size,) if mode == "shortest" else (size, size),
        crop=(size, size),
        filter=str(stored.get("interpolation", "bicubic")).upper(),
        mean=tuple(stored.get("mean", CLIP_MEAN)),
        std=tuple(stored.get("std", CLIP_STD)),
        half_up=True,
    )
