"""Decoders as sentence encoders: GritLM and others that embed behind an instruction.

Muennighoff et al., Generative representational instruction tuning (2024): the text stands behind `<|embed|>`,
every position sees every other one, and the mean goes over the positions of the text without those before it.
Others (E5-Mistral, Qwen3-Embedding) keep their causal attention and take the last position. All of it is named in
a file of settings, since no checkpoint says it in a way that all share:

    model = "/models/GritLM-7B"
    attention = "both"          # or "own"
    pooling = "mean"            # or "last"
    before = "<|embed|>\\n"      # or an instruction with it
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.errors import UsageError, require
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.batching import batch_tokens, overlong, padded, run_batches
from radgauge.text.vectors import VectorReader, Vectors

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
        tokenizer, network, device = _load(self.model, pick_device(self.device))
        found = np.empty((len(texts), int(network.config.hidden_size)), np.float32)
        skipped = _length_before(tokenizer, self.before)
        if skipped >= self.max_length - 1:
            raise UsageError(
                f"max_length must leave room behind the {skipped} sub-tokens of before, got {self.max_length}"
            )
        said = [f"{self.before}{text}{self.after}" for text in texts]
        ids = tokenizer(said, truncation=True, max_length=self.max_length)["input_ids"] if said else []

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
            found[batch] = torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()

        with torch.inference_mode():
            run_batches([len(each) for each in ids], work, tokens=self.tokens or batch_tokens(device))
        return found

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts of more than `max_length` sub-tokens, with `before` and `after`."""
        tokenizer, *_ = _load(self.model, pick_device(self.device))
        return overlong(tokenizer, [f"{self.before}{text}{self.after}" for text in texts], self.max_length)


def read_encoder(path: Path) -> DecoderEncoder:
    """A decoder as an encoder, out of a file of settings (TOML) with the names of `DecoderEncoder`."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} cannot be read as TOML: {type(error).__name__}") from None
    wrong = [name for name, value in given.items() if not isinstance(value, _KINDS.get(name, ()))]
    if "model" not in given or wrong:
        got = f"; {wrong[0]!r} is not one of them or no {_KINDS.get(wrong[0], str).__name__}" if wrong else ""
        raise UsageError(f"{path.name} must name a model and may name {', '.join([*_KINDS][1:])}{got}")
    return DecoderEncoder(**given)


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
def _load(model: str, device: str) -> tuple[Any, Any, str]:
    folder = checkpoint_folder(model)
    tokenizer = load_tokenizer(folder, of=model)
    return tokenizer, load_transformer(folder, of=model).eval().to(device), device
