"""Sentence encoders by name: the embedded table, or any transformers or sentence-transformers checkpoint."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from radgauge.core.errors import ModelError, UsageError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.batching import batch_tokens, overlong, padded, run_batches
from radgauge.encoders.text.sequences import SequenceEncoder, can_be_flat
from radgauge.text.static_embedding import StaticEncoder
from radgauge.text.vectors import VectorReader, Vectors

# Decoders as sentence encoders: GritLM and others that embed behind an instruction.
#
# Muennighoff et al., Generative representational instruction tuning (2024): the text stands behind `<|embed|>`,
# every position sees every other one, and the mean goes over the positions of the text without those before it.
# Others (E5-Mistral, Qwen3-Embedding) keep their causal attention and take the last position. All of it is named
# in a file of settings, since no checkpoint says it in a way that all share:
#
#     model = "/models/GritLM-7B"
#     attention = "both"          # or "own"
#     pooling = "mean"            # or "last"
#     before = "<|embed|>\n"      # or an instruction with it

_KINDS = {"model": str, "pooling": str, "attention": str, "before": str, "after": str, "max_length": int}


@dataclass(frozen=True)
class DecoderEncoder(VectorReader):
    """A decoder as an encoder; weights are loaded at the first text.

    Args:
        model: Folder or hub id with optional `@revision`.
        pooling: `mean` (over the positions of the text, without those of `before`) or `last`.
        attention: `both`: every position sees every other one; `own`: as the model was made.
        before: What stands before every text.
        after: What stands behind every text, such as a mark of its end.
        max_length: Sub-tokens kept of each text, with `before` and special ones.
        device: `auto`, `cpu`, `cuda`, `cuda:1`.
        tokens: Sub-tokens per forward pass; 0 for what suits the device.
    """

    model: str
    pooling: str = "mean"
    attention: str = "own"
    before: str = ""
    after: str = ""
    max_length: int = 512
    device: str = "auto"
    tokens: int = 0
    batch_size: ClassVar[int] = 4096

    def __post_init__(self) -> None:
        for name, allowed in (("pooling", ("mean", "last")), ("attention", ("own", "both"))):
            if (value := getattr(self, name)) not in allowed:
                raise UsageError(f"{name} must be {' or '.join(allowed)}, got {value!r}")
        if self.max_length < 3:
            raise UsageError(f"max_length must be 3 or more, got {self.max_length}")

    @property
    def signature(self) -> str:
        """Model with revision or content hash, and every setting that moves a vector."""
        frame = hashlib.sha256(f"{self.before}\0{self.after}".encode()).hexdigest()[:8]
        how = f"pool:{self.pooling}|attention:{self.attention}|frame:{frame}|max:{self.max_length}"
        return f"{checkpoint_name(self.model)}|{how}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text, in order."""
        torch = require("torch", extra="models")
        tokenizer, network, device = _load_decoder_encoder(self.model, pick_device(self.device))
        matrix = np.empty((len(texts), int(network.config.hidden_size)), np.float32)
        skipped = _length_before(tokenizer, self.before)
        if skipped >= self.max_length - 1:
            raise UsageError(
                f"max_length must leave room behind the {skipped} sub-tokens of before, got {self.max_length}"
            )
        prompts = [f"{self.before}{text}{self.after}" for text in texts]
        ids = tokenizer(prompts, truncation=True, max_length=self.max_length)["input_ids"] if prompts else []

        def work(batch: list[int]) -> None:
            rows, mask = padded([ids[at] for at in batch], pad=tokenizer.pad_token_id or 0, device=device)
            mask = torch.ones_like(rows) if mask is None else mask
            seen: Any = mask
            if self.attention == "both":  # four dimensions are taken as they are, in place of the causal mask
                lowest = torch.finfo(network.dtype).min
                hidden = (1 - mask.to(network.dtype)) * lowest
                seen = hidden[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
            states = network(input_ids=rows, attention_mask=seen).last_hidden_state.float()
            if self.pooling == "last":
                vectors = states[torch.arange(len(batch), device=device), mask.sum(dim=1).long() - 1]
            else:
                counted = mask.float()[..., None].clone()
                counted[:, :skipped] = 0
                vectors = (states * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)
            matrix[batch] = torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()

        with torch.inference_mode():
            run_batches([len(token_ids) for token_ids in ids], work, tokens=self.tokens or batch_tokens(device))
        return matrix

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts of more than `max_length` sub-tokens, with `before` and `after`."""
        tokenizer, *_ = _load_decoder_encoder(self.model, pick_device(self.device))
        return overlong(tokenizer, [f"{self.before}{text}{self.after}" for text in texts], self.max_length)


def read_encoder(path: Path) -> DecoderEncoder:
    """A decoder as an encoder, out of a file of settings (TOML) with the names of `DecoderEncoder`."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} cannot be read as TOML: {type(error).__name__}") from None
    wrong = [name for name, value in settings.items() if not isinstance(value, _KINDS.get(name, ()))]
    if "model" not in settings or wrong:
        got = f"; {wrong[0]!r} is not one of them or no {_KINDS.get(wrong[0], str).__name__}" if wrong else ""
        raise UsageError(f"{path.name} must name a model and may name {', '.join([*_KINDS][1:])}{got}")
    return DecoderEncoder(**settings)


def _length_before(tokenizer: Any, before: str) -> int:
    """Positions that a beginning takes, without the marks that end a text."""
    if not before:
        return 0
    ids = list(tokenizer(before)["input_ids"])
    ends = {tokenizer.eos_token_id, tokenizer.sep_token_id} - {None, tokenizer.bos_token_id}
    while ids and ids[-1] in ends:
        ids.pop()
    return len(ids)


@lru_cache(maxsize=1)
def _load_decoder_encoder(model: str, device: str) -> tuple[Any, Any, str]:
    folder = checkpoint_folder(model)
    tokenizer = load_tokenizer(folder, of=model)
    return tokenizer, load_transformer(folder, of=model).eval().to(device), device


POOLINGS = ("auto", "cls", "mean", "pooler")
_ACTIVATIONS = {"torch.nn.modules.linear.Identity": None, "torch.nn.modules.activation.Tanh": "tanh"}


class Encoder(Protocol):
    """Texts to vectors of length one. Every encoder is also a `Reader` whose reading is the vector."""

    @property
    def signature(self) -> str:
        """Names the model, its revision and the settings."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""

    def read(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """The rows as a list."""


@dataclass(frozen=True)
class TransformerEncoder(VectorReader):
    """A transformer checkpoint as an encoder; weights are loaded at the first text.

    Args:
        model: Folder or hub id with optional `@revision`; also a sentence-transformers folder.
        pooling: `cls` (first position), `mean` (over the text's positions), `pooler` (the model's own), or
            `auto`: what a sentence-transformers folder says, otherwise `mean`.
        max_length: Sub-tokens kept of each text, special ones included; 30 as in RaTEScore's released code.
        device: `auto`, `cpu`, `cuda`, `cuda:1`.
        tokens: Sub-tokens per forward pass; 0 for what suits the device.
    """

    model: str
    pooling: str = "auto"
    max_length: int = 30
    device: str = "auto"
    tokens: int = 0
    batch_size: ClassVar[int] = 4096  # texts per call of `read`: enough to form batches of like length

    def __post_init__(self) -> None:
        if self.pooling not in POOLINGS:
            raise UsageError(f"pooling must be one of {', '.join(POOLINGS)}, got {self.pooling!r}")
        if self.max_length < 3 or self.tokens < 0:
            raise UsageError(
                f"max_length must be 3 or more and tokens 0 or more, got {self.max_length} and {self.tokens}"
            )

    @property
    def signature(self) -> str:
        """Model with revision or content hash, pooling and length; not device and batches."""
        return f"{checkpoint_name(self.model)}|pool:{self.resolved_pooling}|max:{self.max_length}"

    @property
    def resolved_pooling(self) -> str:
        """The pooling in force once `auto` has been looked up."""
        return self.pooling if self.pooling != "auto" else _published_pooling(checkpoint_folder(self.model))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text, in order."""
        network = _load(self.model, pick_device(self.device))
        if not texts:
            return np.empty((0, network.dimensions), np.float32)
        tokenised = network.tokenizer(list(texts), truncation=True, max_length=self.max_length)
        return network.encode(tokenised, pooling=self.resolved_pooling, tokens=self.tokens)

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts of more than `max_length` sub-tokens."""
        return overlong(_load(self.model, pick_device(self.device)).tokenizer, texts, self.max_length)


def encoder_named(name: str, *, pooling: str = "auto", max_length: int = 30) -> Encoder:
    """The encoder that a setting names.

    >>> encoder_named("embedded").signature.startswith("radgauge-static")
    True

    Args:
        name: `embedded`, a table of our format (`.npz`), a folder or hub id of a transformer, or a file of
            settings (`.toml`) of a decoder such as GritLM (`decoder_encoder`).
        pooling: For transformers only.
        max_length: For transformers only.
    """
    if name == "embedded":
        return StaticEncoder()
    if name.endswith(".npz"):
        return StaticEncoder(path=name)
    if name.endswith(".toml"):
        return read_encoder(Path(name))
    return TransformerEncoder(name, pooling=pooling, max_length=max_length)


@dataclass(frozen=True)
class _Network:
    """A loaded checkpoint: tokenizer, transformer and the linear layers that follow the pooling, if any.

    Transformers that run without padding do so by `flat`; `transformer` is then their pooler alone.
    """

    tokenizer: Any
    flat: SequenceEncoder | None
    transformer: Any
    hidden: int
    layers: tuple[tuple[Any, Any, str | None], ...]
    device: str

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.layers[-1][0].shape[0] if self.layers else self.hidden)

    def encode(self, tokenised: Mapping[str, list[list[int]]], *, pooling: str, tokens: int) -> Vectors:
        """Unit vectors of all texts."""
        torch = require("torch", extra="models")
        ids = tokenised["input_ids"]
        matrix = np.empty((len(ids), self.dimensions), np.float32)
        if self.flat is None:

            def work(batch: list[int]) -> None:
                matrix[batch] = self.finished(self.padded(tokenised, batch, pooling=pooling))

            with torch.inference_mode():
                run_batches(
                    [len(token_ids) for token_ids in ids], work, tokens=tokens or batch_tokens(self.device)
                )
            return matrix
        with torch.inference_mode():
            vectors = self.flat.vectors(ids, first_only=pooling != "mean", tokens=tokens)
            if pooling == "mean":
                vectors = [rows.mean(dim=0) for rows in vectors]
            pooled = torch.stack(vectors)
            if pooling == "pooler":
                if self.transformer is None:
                    raise ModelError("the transformer has no pooler; use pooling cls or mean")
                pooled = self.transformer(pooled[:, None])
            return self.finished(pooled)

    def padded(self, tokenised: Mapping[str, list[list[int]]], rows: Sequence[int], *, pooling: str) -> Any:
        """Pooled vectors of some of the texts, as one batch padded on the right."""
        torch = require("torch", extra="models")
        width = max(len(tokenised["input_ids"][row]) for row in rows)
        batch = {}
        for name, values in tokenised.items():
            pad = self.tokenizer.pad_token_id if name == "input_ids" else 0
            padded = [values[row] + [pad] * (width - len(values[row])) for row in rows]
            batch[name] = torch.tensor(padded, device=self.device)
        output = self.transformer(**batch)
        if pooling == "cls":
            return output.last_hidden_state[:, 0]
        if pooling == "mean":
            mask = batch["attention_mask"][..., None]
            return (output.last_hidden_state * mask).sum(dim=1) / mask.sum(dim=1)
        vectors = getattr(output, "pooler_output", None)
        if vectors is None:
            raise ModelError(f"{type(self.transformer).__name__} has no pooler; use pooling cls or mean")
        return vectors

    def finished(self, vectors: Any) -> Vectors:
        """Pooled vectors through the layers behind the pooling, of length one."""
        torch = require("torch", extra="models")
        for weight, bias, activation in self.layers:
            vectors = torch.nn.functional.linear(vectors, weight, bias)
            vectors = torch.tanh(vectors) if activation == "tanh" else vectors
        normalized: Vectors = torch.nn.functional.normalize(vectors.float(), dim=1).cpu().numpy()
        return normalized


@lru_cache(maxsize=2)
def _load(model: str, device: str) -> _Network:
    folder = checkpoint_folder(model)
    tokenizer = load_tokenizer(folder, of=model)
    transformer = load_transformer(folder, of=model).eval().to(device)
    hidden, layers = int(transformer.config.hidden_size), _dense_layers(folder, device)
    if not can_be_flat(transformer):
        return _Network(tokenizer, None, transformer, hidden, layers, device)
    pooler = getattr(transformer, "pooler", None)
    flat = SequenceEncoder(transformer, pad=tokenizer.pad_token_id or 0, device=device)
    return _Network(tokenizer, flat, pooler, hidden, layers, device)


def _modules(folder: Path) -> list[tuple[str, dict[str, Any], Path]]:
    """Kind, settings and folder of the modules of a sentence-transformers checkpoint; none for others."""
    listing = folder / "modules.json"
    if not listing.exists():
        return []
    modules = []
    for entry in parse_json(listing.read_text()):
        config = folder / entry["path"] / "config.json"
        kind = entry["type"].rpartition(".")[2]
        modules.append((kind, parse_json(config.read_text()) if config.exists() else {}, folder / entry["path"]))
    return modules


def _published_pooling(folder: Path) -> str:
    for kind, config, _ in _modules(folder):
        if kind == "Pooling":
            named = config.get("pooling_mode")
            # Newer folders also hold switches, such as `include_prompt`, that say nothing about pooling.
            switched = [key for key, on in config.items() if on is True and key.startswith("pooling_mode_")]
            chosen = [named] if named else switched
            if chosen in (["cls"], ["pooling_mode_cls_token"]):
                return "cls"
            if chosen in (["mean"], ["pooling_mode_mean_tokens"]):
                return "mean"
            raise ModelError(f"{folder} pools by {', '.join(map(str, chosen))}; only cls and mean are known")
    return "mean"


def _dense_layers(folder: Path, device: str) -> tuple[tuple[Any, Any, str | None], ...]:
    layers = []
    for kind, config, subfolder in _modules(folder):
        if kind in ("Transformer", "Pooling", "Normalize"):
            continue
        activation = config.get("activation_function", "")
        if kind != "Dense" or activation not in _ACTIVATIONS:
            raise ModelError(f"{folder} has a module {kind} {activation}".rstrip() + " that is not known")
        if not (subfolder / "model.safetensors").exists():
            raise ModelError(f"{subfolder} has no model.safetensors; convert the layer to safetensors first")
        state = require("safetensors.torch", extra="models").load_file(subfolder / "model.safetensors")
        weight = state["linear.weight"].to(device)
        bias = state["linear.bias"].to(device) if "linear.bias" in state else None
        layers.append((weight, bias, _ACTIVATIONS[activation]))
    return tuple(layers)
