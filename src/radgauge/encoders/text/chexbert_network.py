"""The CheXbert network: BERT with 14 linear heads on its first position, from the authors' checkpoint.

Smit et al. (2020), CheXbert, EMNLP. One pass gives the classes of the 14 conditions and the embedding that
CheXbert similarity compares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import ModelError, require
from radgauge.encoders.checkpoints.catalogue import file_hash
from radgauge.encoders.checkpoints.hub import locate_file, locate_tokenizer, pick_device
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer, read_weights
from radgauge.encoders.text.batching import overlong
from radgauge.encoders.text.sequences import SequenceEncoder

HEADS = 14
LIMIT = 512
_SPACE = re.compile(r"\s+")


class ChexbertReading(NamedTuple):
    """Output of CheXbert for a text: a class per condition (0 blank, 1 positive, 2 negative, 3 uncertain)
    and the last layer's first position."""

    classes: tuple[int, ...]
    embedding: NDArray[np.float32]


@dataclass(frozen=True)
class ChexbertReader:
    """The published labeler as a reader; weights are loaded at the first text."""

    weights: str  # The checkpoint, `chexbert.pth`
    tokenizer: str  # Folder with the configuration and vocabulary of bert-base-uncased
    device: str = "auto"  # auto, cpu, cuda
    batch_size: ClassVar[int] = 2048

    @property
    def signature(self) -> str:
        """Content hash of the weights."""
        return f"chexbert@{file_hash(self.weights)}"

    def read(self, texts: Sequence[str]) -> list[ChexbertReading]:
        """Labels and embeddings of the texts, in order."""
        network = _load(self.weights, self.tokenizer, pick_device(self.device))
        return network.label([network.ids(text) for text in texts])

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts of which only the beginning is read."""
        network = _load(self.weights, self.tokenizer, pick_device(self.device))
        return overlong(network.tokenizer, [_SPACE.sub(" ", text.strip()) for text in texts], LIMIT)

    def pack(self, reading: ChexbertReading, text: str) -> bytes:
        """14 bytes of classes, then the embedding as little-endian 32-bit numbers."""
        return bytes(reading.classes) + np.asarray(reading.embedding, dtype="<f4").tobytes()

    def unpack(self, packed: bytes, text: str) -> ChexbertReading:
        """The reading; ValueError if the bytes are not one."""
        if len(packed) <= HEADS:
            raise ValueError("too short for a CheXbert reading")
        return ChexbertReading(
            tuple(packed[:HEADS]), np.frombuffer(packed[HEADS:], dtype="<f4").astype(np.float32)
        )


def chexbert_reader(models: str) -> ChexbertReader:
    """The reader of a model profile.

    Args:
        models: "published", a folder that holds `chexbert.pth` and `bert-base-uncased/`, or the checkpoint itself.
    """
    weights = locate_file("chexbert", models=models)
    near = "published" if models == "published" else str(weights.parent)
    return ChexbertReader(str(weights), str(locate_tokenizer("google-bert/bert-base-uncased", models=near)))


@dataclass(frozen=True, eq=False)
class _Network:
    tokenizer: Any
    bert: SequenceEncoder
    weight: Any  # all heads at once: (13 * 4 + 2, hidden)
    bias: Any

    def ids(self, text: str) -> list[int]:
        cleaned = _SPACE.sub(" ", text.strip())
        token_ids: list[int] = self.tokenizer.encode(cleaned, add_special_tokens=False, verbose=False)
        return token_ids

    def label(self, texts: list[list[int]]) -> list[ChexbertReading]:
        torch = require("torch", extra="models")
        if not texts:
            return []
        start, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        wrapped = [[start, *token_ids[: LIMIT - 2], end] for token_ids in texts]
        first = torch.stack(self.bert.vectors(wrapped, first_only=True))
        with torch.inference_mode():
            scores = torch.nn.functional.linear(first, self.weight, self.bias)
            conditions = scores[:, : (HEADS - 1) * 4].view(len(texts), HEADS - 1, 4).argmax(dim=2)
            normal = scores[:, (HEADS - 1) * 4 :].argmax(dim=1, keepdim=True)
            classes = torch.cat([conditions, normal], dim=1).cpu().tolist()
        vectors = first.float().cpu().numpy()
        return [ChexbertReading(tuple(row), vectors[i].copy()) for i, row in enumerate(classes)]


@lru_cache(maxsize=1)
def _load(weights: str, tokenizer: str, device: str) -> _Network:
    torch = require("torch", extra="models")
    stored = read_weights(Path(weights))
    state: Mapping[str, Any] = stored.get("model_state_dict", stored)
    if not isinstance(state, Mapping) or not all(hasattr(value, "shape") for value in state.values()):
        raise ModelError(f"{weights} must hold tensors by name, as `model_state_dict` or alone")
    state = {key.removeprefix("module."): value for key, value in state.items()}
    bert = encoder_from(Path(tokenizer), pooler=False, hollow=True)
    surplus = ("bert.pooler.", "bert.embeddings.position_ids")
    state = {key: value for key, value in state.items() if not key.startswith(surplus)}
    expected = {f"bert.{key}": value for key, value in bert.state_dict().items()}
    for head in range(HEADS):
        classes = 4 if head < HEADS - 1 else 2
        expected[f"linear_heads.{head}.weight"] = torch.empty(classes, bert.config.hidden_size, device="meta")
        expected[f"linear_heads.{head}.bias"] = torch.empty(classes, device="meta")
    check_keys(state, expected, where=weights)
    # Taken over, not copied: loading needs the memory of one set of weights less.
    bert.load_state_dict({key: state[f"bert.{key}"] for key in bert.state_dict()}, assign=True)
    weight = torch.cat([state[f"linear_heads.{head}.weight"] for head in range(HEADS)]).float()
    bias = torch.cat([state[f"linear_heads.{head}.bias"] for head in range(HEADS)]).float()
    words = load_tokenizer(tokenizer, of="bert-base-uncased")
    return _Network(words, SequenceEncoder(bert, pad=0, device=device), weight.to(device), bias.to(device))
