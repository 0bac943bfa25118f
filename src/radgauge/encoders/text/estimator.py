"""Checkpoints of COMET's referenceless estimator: read and written in COMET's own layout.

A checkpoint is a folder with `hparams.yaml`, `checkpoints/model.ckpt` and, if radgauge wrote it, `radgauge.json`
(target, direction, typical range, figures of the training) and `encoder/` (configuration and tokenizer, so that
the folder needs no hub). Weights are read with `weights_only=True`: nothing in a checkpoint is executed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from radgauge.core.errors import ModelError, require
from radgauge.core.files import make_folder, replacing, sha256_of, write_file
from radgauge.encoders.checkpoints.catalogue import CHECKPOINTS, find
from radgauge.encoders.checkpoints.hub import checkpoint_folder, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer, read_weights
from radgauge.encoders.text.batching import batch_tokens, overlong, run_batches
from radgauge.encoders.text.feed_forward import ACTIVATIONS, Head, head_of
from radgauge.encoders.text.flat_encoder import FlatEncoder
from radgauge.encoders.text.sequences import can_be_flat, flat_encoder
from radgauge.text.vectors import VectorReader, Vectors

if TYPE_CHECKING:
    from radgauge.encoders.text.comet_network import Estimator

CLASS = "referenceless_regression_metric"
ENCODERS = {"bert": "BERT", "xlm-roberta": "XLM-RoBERTa", "xlm-roberta-xl": "XLM-RoBERTa-XL", "rembert": "RemBERT"}
"""Configuration's model_type -> COMET's name; other encoders work here but not in COMET."""
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "nr_frozen_epochs": 0.3,
        "keep_embeddings_frozen": True,
        "optimizer": "AdamW",
        "warmup_steps": 0,
        "encoder_learning_rate": 1e-06,
        "learning_rate": 1.5e-05,
        "layerwise_decay": 0.95,
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": "xlm-roberta-large",
        "pool": "avg",
        "layer": "mix",
        "layer_transformation": "softmax",
        "layer_norm": True,
        "loss": "mse",
        "dropout": 0.1,
        "batch_size": 4,
        "hidden_sizes": (2048, 1024),
        "activations": "Tanh",
        "final_activation": None,
    }
)
"""COMET's own defaults (unbabel-comet 2.2.7)."""
_UNUSED = ("pooler.", "position_ids", "token_type_ids", "dropout_mask", "dropout_fill", "_metrics")


@dataclass(frozen=True, eq=False)
class Loaded:
    """A checkpoint in memory."""

    network: Estimator
    tokenizer: Any
    hparams: Mapping[str, Any]
    head: Head
    device: str

    @property
    def max_length(self) -> int:
        """Sub-tokens kept of a text: COMET's rule."""
        return longest_text(self.network.encoder.model.config)

    def tokens(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Ids and mask of a batch."""
        batch = self.tokenizer(
            list(texts), return_tensors="pt", padding=True, truncation=True, max_length=self.max_length
        )
        return batch["input_ids"].to(self.device), batch["attention_mask"].to(self.device)


def longest_text(config: Any) -> int:
    """COMET truncates four below the number of positions (BERT 508, XLM-R 510); 508 if they are not limited."""
    positions = getattr(config, "max_position_embeddings", None)
    return int(positions) - 4 if positions and positions > 4 else 508


def read_hparams(folder: Path | str) -> dict[str, Any]:
    """The settings of a checkpoint, with COMET's defaults where they are silent.

    Raises:
        ModelError: There is no hparams.yaml, it cannot be read, or it belongs to another kind of model.
    """
    path = Path(folder) / "hparams.yaml"
    if not path.is_file():
        raise ModelError(f"{folder} has no hparams.yaml; a COMET checkpoint is a folder with it and checkpoints/")
    yaml = require("yaml", extra="models")
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} must be plain YAML, got: {error}") from error
    if not isinstance(settings, dict):
        raise ModelError(f"{path} must hold settings, got {type(settings).__name__}")
    kind = settings.get("class_identifier")
    if kind != CLASS:
        raise ModelError(f"{path}: class_identifier must be {CLASS} (two texts, no reference), got {kind!r}")
    hparams = {**DEFAULTS, **settings}
    _check(hparams, path)
    return hparams


def _check(hparams: dict[str, Any], path: Path) -> None:
    if hparams["layer_transformation"] == "sparsemax_patch":  # what COMET >= 2.2.4 computes for it
        hparams["layer_transformation"] = "softmax"
    for name, allowed in (("pool", ("avg", "max", "cls")), ("layer_transformation", ("softmax", "sparsemax"))):
        if hparams[name] not in allowed:
            raise ModelError(f"{path}: {name} must be one of {', '.join(allowed)}, got {hparams[name]!r}")
    for name in filter(None, (hparams["activations"], hparams["final_activation"])):
        if name.lower() not in ACTIVATIONS:
            raise ModelError(f"{path}: activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}")


def build(hparams: Mapping[str, Any], *, encoder: Path | str, pretrained: bool, device: str = "auto") -> Loaded:
    """A network for these settings.

    Args:
        hparams: As in `hparams.yaml`.
        encoder: Folder or hub id of the transformer: configuration, tokenizer and, if `pretrained`, weights.
        pretrained: Load the transformer's weights; otherwise they are to come from the checkpoint.
        device: auto, cpu, cuda.
    """
    require("torch", extra="models")
    transformers = require("transformers", extra="models")
    from radgauge.encoders.text.comet_network import Estimator

    folder = checkpoint_folder(str(encoder))
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        model = (
            load_transformer(folder, of=str(encoder)) if pretrained else transformers.AutoModel.from_config(config)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{encoder} must hold a transformers encoder, got: {error}") from error
    if hasattr(model, "pooler"):
        model.pooler = None  # COMET pools by itself
    tokenizer = load_tokenizer(folder, of=str(encoder))
    if tokenizer.pad_token_id is None:
        raise ModelError(f"{encoder} must be an encoder; its tokenizer knows no padding, as that of a generator")
    on = pick_device(device)
    network = Estimator(model.float(), hparams, padding=int(tokenizer.pad_token_id)).to(on)
    loaded = Loaded(network, tokenizer, hparams, _head(network, hparams), on)
    if pretrained:
        _try_out(loaded, str(encoder))
    return loaded


def _try_out(loaded: Loaded, encoder: str) -> None:
    """Encode one text, so that an architecture that does not fit fails at once and not after an hour's reading."""
    torch = require("torch", extra="models")
    training = loaded.network.training
    try:
        with torch.inference_mode():
            loaded.network.eval().embed(*loaded.tokens(["No effusion."]))
    except (AttributeError, TypeError, ValueError, RuntimeError, IndexError) as error:
        raise ModelError(
            f"{encoder} must be an encoder that gives a vector per token from every layer; "
            f"{type(loaded.network.encoder.model).__name__} does not: {error}"
        ) from error
    loaded.network.train(training)


def _head(network: Estimator, hparams: Mapping[str, Any]) -> Head:
    return head_of(
        network.estimator.parameters_of_layers(),
        activation=hparams["activations"],
        final_activation=hparams["final_activation"] or "",
    )


def load_estimator(folder: Path | str, *, device: str = "auto") -> Loaded:
    """A checkpoint, ready to score.

    Raises:
        ModelError: It is incomplete, of another kind, or does not fit its own settings.
    """
    path = Path(folder)
    hparams = read_hparams(path)
    state = _state(path / "checkpoints" / "model.ckpt")
    own = path / "encoder"
    loaded = build(
        hparams, encoder=own if own.is_dir() else hparams["pretrained_model"], pretrained=False, device=device
    )
    expected = loaded.network.state_dict()
    missing = sorted(name for name in expected if name not in state and not any(word in name for word in _UNUSED))
    if missing:
        raise ModelError(
            f"{path}: checkpoints/model.ckpt lacks {len(missing)} of {len(expected)} parameters, "
            f"first: {missing[0]}; the file is incomplete or belongs to other settings"
        )
    odd = next((name for name in expected if name in state and state[name].shape != expected[name].shape), None)
    if odd is not None:
        raise ModelError(
            f"{path}: {odd} must have the shape {tuple(expected[odd].shape)} that hparams.yaml implies, "
            f"got {tuple(state[odd].shape)}"
        )
    loaded.network.load_state_dict({name: state[name] for name in expected if name in state}, strict=False)
    loaded.network.eval()
    return Loaded(loaded.network, loaded.tokenizer, hparams, _head(loaded.network, hparams), loaded.device)


def _state(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ModelError(f"{path.parent.parent} has no checkpoints/model.ckpt; the checkpoint is incomplete")
    weights = read_weights(path)
    if not isinstance(weights.get("state_dict"), dict):
        raise ModelError(f"{path} must hold a state_dict, as Lightning writes it")
    return dict(weights["state_dict"])


def save_estimator(folder: Path | str, loaded: Loaded, *, about: Mapping[str, Any]) -> None:
    """Write a checkpoint that COMET reads too; every file appears whole or not at all.

    Args:
        folder: Made if it is not there.
        loaded: Network, tokenizer and settings.
        about: For `radgauge.json`: target, higher_is_better, range, and what else is worth knowing.
    """
    torch = require("torch", extra="models")
    yaml = require("yaml", extra="models")
    path = Path(folder)
    make_folder(path / "checkpoints")
    encoder = path / "encoder"
    if not encoder.is_dir():
        loaded.tokenizer.save_pretrained(encoder)
        loaded.network.encoder.model.config.save_pretrained(encoder)
    settings = {name: loaded.hparams[name] for name in DEFAULTS}
    settings["pretrained_model"] = portable_name(str(settings["pretrained_model"]))
    settings["hidden_sizes"] = [int(size) for size in settings["hidden_sizes"]]
    state = {name: value.detach().cpu() for name, value in loaded.network.state_dict().items()}
    content = {
        "epoch": 0,
        "global_step": 0,
        "pytorch-lightning_version": "2.0.0",
        "state_dict": state,
        "hparams_name": "kwargs",
        "hyper_parameters": settings,
    }
    with replacing(path / "checkpoints" / "model.ckpt") as file:
        torch.save(content, file)
    text = yaml.safe_dump({**settings, "class_identifier": CLASS, "load_pretrained_weights": False})
    write_file(path / "hparams.yaml", text)
    facts = json.dumps(dict(about), indent=1)
    write_file(path / "radgauge.json", facts)


def portable_name(encoder: str) -> str:
    """The name of an encoder on any machine: its hub id where it is known, else the copy inside the checkpoint.

    A checkpoint is carried to other machines, where no folder of this one exists. The copy (`encoder`) holds
    configuration and tokenizer; radgauge takes it wherever it is, COMET if it runs in the checkpoint's folder.

    >>> portable_name("emilyalsentzer/Bio_ClinicalBERT"), portable_name("/no/such/cache/models--a--b/snapshots/1")
    ('emilyalsentzer/Bio_ClinicalBERT', 'a/b')
    """
    path = Path(encoder).expanduser()
    if not path.exists() and not path.is_absolute():
        return encoder
    if in_cache := re.search(r"models--([\w.-]+?)--([\w.-]+)", encoder):
        return f"{in_cache[1]}/{in_cache[2]}"
    repo = next((checkpoint.repo for checkpoint in CHECKPOINTS if find(checkpoint) == path), None)
    return repo or "encoder"


@lru_cache(maxsize=2)
def loaded_estimator(folder: str, device: str) -> Loaded:
    """`load_estimator`, kept for the next call."""
    return load_estimator(folder, device=device)


@lru_cache(maxsize=16)
def estimator_name(folder: str) -> str:
    """Folder name and a hash of settings and weights."""
    digest = hashlib.sha256()
    for name in ("hparams.yaml", "checkpoints/model.ckpt"):
        path = Path(folder) / name
        if not path.is_file():
            raise ModelError(f"{folder} has no {name}; a COMET checkpoint is a folder with it and its counterpart")
        digest.update(bytes.fromhex(sha256_of(path)))
    return f"{Path(folder).resolve().name}@{digest.hexdigest()[:12]}"


@dataclass(frozen=True)
class EstimatorReader(VectorReader):
    """Reads a text as the estimator's pooled vector.

    Args:
        folder: The checkpoint.
        device: auto, cpu, cuda.
        batch_size: Texts per call of `read`; those that cannot run without padding are one forward pass.
    """

    folder: str
    device: str = "auto"
    batch_size: int = 64

    @property
    def signature(self) -> str:
        """The checkpoint with its hash."""
        return f"comet:{estimator_name(self.folder)}"

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        torch = require("torch", extra="models")
        loaded = loaded_estimator(self.folder, pick_device(self.device))
        flat = _flat(self.folder, loaded.device)
        with torch.inference_mode():
            if flat is None:
                return list(loaded.network.embed(*loaded.tokens(texts)).float().cpu().numpy())
            ids = loaded.tokenizer(list(texts), truncation=True, max_length=loaded.max_length)["input_ids"]
            vectors = np.empty((len(ids), flat.hidden), np.float32)

            def work(batch: list[int]) -> None:
                vectors[batch] = loaded.network.embed_flat(flat, [ids[at] for at in batch]).cpu().numpy()

            run_batches(
                [len(token_ids) for token_ids in ids], work, tokens=batch_tokens(loaded.device), padding=False
            )
        return list(vectors)

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts that are not read to their end."""
        loaded = loaded_estimator(self.folder, pick_device(self.device))
        return overlong(loaded.tokenizer, texts, loaded.max_length)


@lru_cache(maxsize=2)
def _flat(folder: str, device: str) -> FlatEncoder | None:
    """The encoder of a checkpoint without padding; None where its architecture is left to transformers."""
    model = loaded_estimator(folder, device).network.encoder.model
    return flat_encoder(model, device=device) if can_be_flat(model) else None
