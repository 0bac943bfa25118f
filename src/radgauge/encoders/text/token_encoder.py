"""Token vectors of transformers encoders, as bert-score 0.3.13 makes them.

The network is cut at the wanted layer; texts are batched by their number of tokens, so little is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.errors import MissingModel, ModelError, require
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.batching import markers
from radgauge.encoders.text.sequences import SequenceEncoder
from radgauge.encoders.text.token_vectors import TokenVectors, Vectors, known_layer

_STACKS = ("layer", "encoder.layer", "encoder.block", "transformer.layer", "layers", "encoder.layers")
"""Where architectures keep their layers: XLNet, BERT and RoBERTa, T5, DistilBERT, BART's and ModernBERT's."""


@dataclass(frozen=True)
class TokenEncoder:
    """A transformers encoder as a reader of token vectors; weights are loaded at the first text."""

    model: str  # Folder, or hub id with optional @revision
    layer: int  # Which layer's output, from 1; 0 is the embedding layer
    long: str = "truncate"  # "truncate" or "windows"
    device: str = "auto"  # auto, cpu, cuda
    batch_size: ClassVar[int] = 256

    @property
    def signature(self) -> str:
        """Model with revision or content hash, layer, and what becomes of long texts."""
        return f"{checkpoint_name(self.model)}|layer:{self.layer}|long:{self.long}"

    def read(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Token vectors of the texts, in order."""
        network = _load(self.model, self.layer, pick_device(self.device))
        pieces: list[list[int]] = []
        plans = []
        for text in texts:
            ids = network.ids(text)
            windows, cut = _windows(len(ids), network.limit, self.long)
            plans.append((ids, windows, cut, len(pieces)))
            pieces += [network.wrap(ids[start:stop]) for start, stop in windows]
        vectors = network.vectors(pieces)
        return [
            network.assemble(ids, windows, cut, vectors[first : first + len(windows)])
            for ids, windows, cut, first in plans
        ]

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts that are not read to their end."""
        network = _load(self.model, self.layer, pick_device(self.device))
        return [self.long == "truncate" and len(network.ids(text)) > network.limit for text in texts]

    def keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The ids of the tokens that `read` would give vectors of, without running the network."""
        network = _load(self.model, self.layer, pick_device(self.device))
        token_keys = []
        for text in texts:
            ids = network.ids(text)
            windows, _ = _windows(len(ids), network.limit, self.long)
            token_keys.append(tuple(network.wrap(ids[: windows[-1][1]])))
        return token_keys


def token_vector_reader(encoder: str, *, layer: int, models: str, long: str) -> TokenEncoder:
    """The reader that BERTScore's settings name.

    Args:
        encoder: Id, id@revision or folder of the encoder.
        layer: 0 for the one bert-score uses.
        models: "published", or a folder in which the encoder's folder is looked for first.
        long: "truncate" or "windows".
    """
    chosen = layer or known_layer(encoder)
    if models != "published":
        name = encoder.partition("@")[0].rpartition("/")[2]
        inside = Path(models).expanduser() / name
        if not inside.is_dir():
            raise MissingModel(f"the folder {models} must hold the encoder as {name}/, which is not there")
        return TokenEncoder(str(inside), chosen, long)
    return TokenEncoder(encoder if "/" in encoder or Path(encoder).is_dir() else _owner(encoder), chosen, long)


def _owner(encoder: str) -> str:
    """Ids without an owner are old names of the hub; they still resolve under these owners."""
    owners = {"distilroberta": "distilbert", "roberta": "FacebookAI", "xlm": "FacebookAI", "albert": "albert"}
    owners |= {"distilbert": "distilbert", "bert": "google-bert", "xlnet": "xlnet"}
    name = encoder.partition("-")[0]
    return f"{owners[name]}/{encoder}" if name in owners else encoder


def _windows(size: int, limit: int, long: str) -> tuple[list[tuple[int, int]], int]:
    """Tokens that each pass reads, and number left out.

    >>> _windows(10, 4, "windows")
    ([(0, 4), (2, 6), (4, 8), (6, 10)], 0)
    >>> _windows(10, 4, "truncate")
    ([(0, 4)], 6)
    """
    if size <= limit or long == "truncate":
        return [(0, min(size, limit))], max(size - limit, 0)
    step = max(limit // 2, 1)
    starts = [*range(0, size - limit, step), size - limit]
    return [(start, start + limit) for start in starts], 0


@dataclass(frozen=True, eq=False)
class _Network:
    tokenizer: Any
    encoder: SequenceEncoder
    start: tuple[int, ...]
    end: tuple[int, ...]
    limit: int  # tokens besides the markers
    spaced: bool  # whether a text begins with a space

    def ids(self, text: str) -> list[int]:
        text = text.strip()
        if not text:
            return []
        # bert-score puts one space before a text for these tokenizers. Their own setting for it would also put one
        # behind every special token that the text spells out (<unk>), and none before it.
        text = f" {text}" if self.spaced else text
        token_ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False, verbose=False)
        return token_ids

    def wrap(self, ids: Sequence[int]) -> list[int]:
        return [*self.start, *ids, *self.end]

    def vectors(self, pieces: list[list[int]]) -> list[Vectors]:
        """One row of length one per token of each piece."""
        torch = require("torch", extra="models")

        def normed(rows: Any) -> Any:
            return torch.nn.functional.normalize(rows, dim=-1, eps=1e-30).cpu()

        return [tensor.numpy() for tensor in self.encoder.vectors(pieces, then=normed)]

    def assemble(
        self, ids: list[int], windows: list[tuple[int, int]], cut: int, vectors: list[Vectors]
    ) -> TokenVectors:
        """One row per token; a token that several windows read is taken where it stands most central."""
        covered = ids[: windows[-1][1]]
        wrapped = self.wrap(covered)
        # bert-score gives no weight to the ids of the markers, wherever they stand.
        unweighted = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
        counted = np.array([token not in unweighted for token in wrapped], dtype=bool)
        before, after = len(self.start), len(self.end)
        if len(windows) == 1:
            rows = np.array(vectors[0])
        else:
            centres = np.array([(start + stop) / 2 for start, stop in windows])
            best = np.abs(np.arange(len(covered))[:, None] + 0.5 - centres).argmin(axis=1)
            inner = [vectors[w][before + at - windows[w][0]] for at, w in enumerate(best)]
            last = vectors[-1][len(vectors[-1]) - after :]
            rows = np.concatenate([vectors[0][:before], np.stack(inner), last])
        tokens = tuple(self.tokenizer.convert_ids_to_tokens(wrapped))
        return TokenVectors(tuple(token.lstrip("ĠĊ▁#") for token in tokens), tuple(wrapped), rows, counted, cut)


@lru_cache(maxsize=2)
def _load(model: str, layer: int, device: str) -> _Network:
    folder = checkpoint_folder(model)
    tokenizer = load_tokenizer(folder, of=model)
    spaced = type(tokenizer).__name__.startswith(("Roberta", "GPT2"))
    if spaced:
        tokenizer = load_tokenizer(folder, of=model, add_prefix_space=False)
    network = load_transformer(folder, of=model)
    if hasattr(network, "decoder") and hasattr(network, "encoder"):
        network = network.encoder
    _cut(network, layer, model)
    start, end = markers(tokenizer)
    limit = min(tokenizer.model_max_length, _positions(network.config)) - len(start) - len(end)
    encoder = SequenceEncoder(network, pad=tokenizer.pad_token_id or 0, device=device)
    return _Network(tokenizer, encoder, start, end, limit, spaced)


def _positions(config: Any) -> int:
    """Number of positions of the network; RoBERTa's begin after the padding id."""
    positions = getattr(config, "max_position_embeddings", None) or 1 << 30
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1
    return int(positions)


def _cut(network: Any, layer: int, model: str) -> None:
    """Drop the layers behind the wanted one."""
    torch = require("torch", extra="models")
    config = network.config
    if config.model_type == "albert":  # one group of weights used again and again
        _check_layer(layer, config.num_hidden_layers, model)
        network.encoder.config.num_hidden_layers = layer
        return
    if hasattr(network, "n_layers"):  # XLM
        _check_layer(layer, network.n_layers, model)
        network.n_layers = layer
        return
    for path in _STACKS:
        owner = network
        *steps, last = path.split(".")
        for step in steps:
            owner = getattr(owner, step, None)
        stack = getattr(owner, last, None)
        if isinstance(stack, torch.nn.ModuleList):
            _check_layer(layer, len(stack), model)
            setattr(owner, last, stack[:layer])
            return
    raise ModelError(f"{model!r} is a {config.model_type}, whose layers radgauge does not know how to reach")


def _check_layer(layer: int, layers: int, model: str) -> None:
    if not 0 <= layer <= layers:
        raise ModelError(f"layer must be between 0 and {layers} for {model!r}, got {layer}")
