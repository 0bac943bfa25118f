"""CREPE's network: BERT on a pair of reports, with a head per error category on its pooled output.

Cho et al. (2025), CREPE: rapid chest X-ray report evaluation by predicting multi-category error counts, EMNLP. A
checkpoint is a transformers folder whose weights have the prefixes `bert.`, `error_regressors.N.` and
`error_presence.N.` (training only); `radgauge train estimator --heads counts` writes the same layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.errors import ModelError, require
from radgauge.core.readings import split_pair
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import check_keys, encoder_from, load_tokenizer, read_weights
from radgauge.encoders.text.flat_bert import is_plain_bert
from radgauge.encoders.text.sequences import SequenceEncoder
from radgauge.text.vectors import VectorReader, Vectors

PUBLISHED = "gihuncho/crepe-biomedbert"
HEADS = 6
LIMIT = 512
REGRESSORS, PRESENCE = "error_regressors", "error_presence"


@dataclass(frozen=True)
class CrepeReader(VectorReader):
    """Reads a pair of reports (`pair_text`) as six error counts, clipped at 0.

    Args:
        folder: The checkpoint.
        device: auto, cpu, cuda.
    """

    folder: str
    device: str = "auto"
    batch_size: ClassVar[int] = 2048

    @property
    def signature(self) -> str:
        """Content hash of the checkpoint."""
        return f"crepe:{checkpoint_name(self.folder)}"

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Counts of each pair."""
        network = _load(self.folder, pick_device(self.device))
        pairs = encode_pairs(network.tokenizer, [split_pair(text) for text in texts], network.limit)
        typed = [[token + kind * network.typed for token, kind in zip(*pair, strict=True)] for pair in pairs]
        counts = network.encoder.vectors(typed, first_only=True, then=network.counts)
        return [np.asarray(row.cpu().numpy(), np.float32) for row in counts]

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for pairs of which only the beginnings are read."""
        network = _load(self.folder, pick_device(self.device))
        pairs = encode_pairs(network.tokenizer, [split_pair(text) for text in texts], None)
        return [len(tokens) > network.limit for tokens, _ in pairs]


def crepe_folder(models: str) -> str:
    """Return the folder of a model profile.

    Args:
        models: "published", the checkpoint's folder or hub id, or a folder that holds it as `crepe-biomedbert`.
    """
    if models == "embedded":
        raise ModelError(
            "crepe has no embedded counterpart that ships: `errors` counts the same categories and agrees better "
            "(docs/models/learned_judge.md); use models=published, or name a checkpoint of `train estimator`"
        )
    if models == "published":
        return str(checkpoint_folder(PUBLISHED))
    inside = Path(models).expanduser() / PUBLISHED.partition("/")[2]
    return str(checkpoint_folder(str(inside) if inside.is_dir() else models))


def encode_pairs(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int | None
) -> list[tuple[list[int], list[int]]]:
    """Return ids and types of the tokens of each pair; the longer text loses its end first (the authors' rule)."""
    references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
    cut = {"truncation": True, "max_length": limit} if limit else {"truncation": False}
    encoded = tokenizer(references, candidates, verbose=False, **cut)
    types = encoded.get("token_type_ids") or [[0] * len(ids) for ids in encoded["input_ids"]]
    return list(zip(encoded["input_ids"], types, strict=True))


@dataclass(frozen=True, eq=False)
class _Network:
    tokenizer: Any
    encoder: SequenceEncoder
    counts: Callable[[Any], Any]  # first positions -> counts
    limit: int
    typed: int  # what is added to the id of a token of the second text: FlatBert's packing


def limit_of(config: Any) -> int:
    """Return how many tokens of a pair are read: 512, or fewer where the encoder has fewer positions."""
    positions = getattr(config, "max_position_embeddings", None) or LIMIT
    # RoBERTa counts positions from behind its padding id.
    offset = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return min(LIMIT, int(positions) - offset)


def has_types(encoder: Any) -> bool:
    """True if the tokens of the second text are marked: in BERT, the only kind that is run here with types."""
    return is_plain_bert(encoder) and getattr(encoder.config, "type_vocab_size", 0) > 1


@lru_cache(maxsize=1)
def _load(folder: str, device: str) -> _Network:
    torch = require("torch", extra="models")
    path = Path(folder)
    weights = next((path / name for name in _FILES if (path / name).is_file()), None)
    if weights is None:
        raise ModelError(f"{folder} must hold a CREPE checkpoint, {' or '.join(_FILES)}; neither is there")
    stored = read_weights(weights)
    pooled = "bert.pooler.dense.weight" in stored
    encoder = encoder_from(path, pooler=pooled)
    config = encoder.config
    if not pooled and getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    number = getattr(config, "num_error_categories", HEADS)
    if number != HEADS:
        raise ModelError(f"{folder} must have {HEADS} error categories, as ReXVal has, got {number}")
    expected = {f"bert.{name}": value for name, value in encoder.state_dict().items()}
    for head in range(HEADS):
        expected[f"{REGRESSORS}.{head}.weight"] = torch.empty(1, config.hidden_size, device="meta")
        expected[f"{REGRESSORS}.{head}.bias"] = torch.empty(1, device="meta")
    unused = (f"{PRESENCE}.", "bert.embeddings.position_ids", "bert.embeddings.token_type_ids")
    state = {name: value for name, value in stored.items() if not name.startswith(unused)}
    check_keys(state, {name: value for name, value in expected.items() if name not in unused}, where=weights)
    encoder.load_state_dict(
        {name[5:]: value for name, value in state.items() if name[:5] == "bert."}, strict=False
    )
    weight, bias = (
        torch.cat([state[f"{REGRESSORS}.{head}.{part}"] for head in range(HEADS)]).float().to(device)
        for part in ("weight", "bias")
    )
    pooler = encoder.pooler.dense.float().to(device) if pooled else None
    positive = bool(getattr(config, "use_poisson_loss", False))

    def counts(first: Any) -> Any:
        rows = torch.tanh(pooler(first)) if pooler is not None else first
        made = torch.nn.functional.linear(rows, weight, bias)
        return (torch.nn.functional.softplus(made) if positive else made).clamp(min=0)

    size = len(encoder.embeddings.word_embeddings.weight) if has_types(encoder) else 0
    tokenizer = load_tokenizer(path, of="a CREPE checkpoint")
    sequences = SequenceEncoder(encoder, pad=int(tokenizer.pad_token_id), device=device)
    return _Network(tokenizer, sequences, counts, limit_of(config), size)


_FILES = ("model.safetensors", "pytorch_model.bin")
