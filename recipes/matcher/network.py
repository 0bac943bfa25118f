"""The network: MiniLM whose statements attend to the report, and the report to itself only.

A report is therefore read once, whatever is asked of it, and several statements about it share one pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

LABELS = ("supported", "contradicted", "unmentioned")
TIERS = ("normal", "benign", "not_actionable", "actionable", "urgent")
ERRORS = (
    *("none", "added", "location", "negation", "comparison", "device", "descriptor", "uncertainty"),
    *("other_finding", "severity", "size"),
)
HEADS = {"label": len(LABELS), "tier": len(TIERS), "error": len(ERRORS)}
LAYERS, WIDTH, INNER, ATTENTION_HEADS = 6, 384, 1536, 12
FROZEN = 2
LONGEST_REPORT, LONGEST_STATEMENT = 320, 64
CLS, SEP = 101, 102


@dataclass(frozen=True)
class Group:
    """A report and statements about it, in token numbers."""

    report: tuple[int, ...]
    statements: tuple[tuple[int, ...], ...]


class Layer(nn.Module):
    """One block of BERT, normalised after each sum."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.attention_norm, self.norm = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        rows, length, _ = states.shape

        def heads(of: nn.Linear) -> Tensor:
            return of(states).view(rows, length, ATTENTION_HEADS, -1).transpose(1, 2)

        found = nn.functional.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), attn_mask=mask[:, None]
        )
        found = self.out(found.transpose(1, 2).reshape(rows, length, WIDTH))
        states = self.attention_norm(states + self.dropout(found))
        return self.norm(states + self.dropout(self.outer(nn.functional.gelu(self.inner(states)))))


class Matcher(nn.Module):
    """Logits of label, tier and error for every statement of a batch of groups."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions, self.types = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.start_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer(dropout if at >= FROZEN else 0.0) for at in range(LAYERS))
        self.dropout = nn.Dropout(dropout)
        self.pool = nn.Linear(2 * WIDTH, WIDTH)
        self.heads = nn.ModuleDict({name: nn.Linear(WIDTH, size) for name, size in HEADS.items()})

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        states = self.words(batch["tokens"]) + self.positions(batch["places"])
        states = self.start_norm(states + self.types((batch["parts"] > 0).long()))
        parts = batch["parts"]
        mask = (parts[:, :, None] == parts[:, None, :]) | ((parts == 0)[:, None, :] & (parts >= 0)[:, :, None])
        for layer in self.layers:
            states = layer(states, mask)
        flat = states[batch["row"], batch["first"]]
        spread = batch["spread"]
        mean = torch.bmm(spread, states)[batch["row"], batch["slot"]]
        pooled = self.dropout(torch.tanh(self.pool(torch.cat([flat, mean], dim=1))))
        return {name: head(pooled) for name, head in self.heads.items()}


def collate(groups: Sequence[Group]) -> dict[str, Tensor]:
    """Groups as padded arrays; part 0 is the report, 1.. the statements, -1 padding."""
    lengths = [len(group.report) + sum(map(len, group.statements)) for group in groups]
    most = max(len(group.statements) for group in groups)
    shape = (len(groups), max(lengths))
    tokens, places = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    parts = np.full(shape, -1, np.int64)
    spread = np.zeros((len(groups), most, shape[1]), np.float32)
    row, first, slot = [], [], []
    for at, group in enumerate(groups):
        start = 0
        for part, piece in enumerate((group.report, *group.statements)):
            end = start + len(piece)
            tokens[at, start:end], places[at, start:end], parts[at, start:end] = piece, range(len(piece)), part
            if part:
                spread[at, part - 1, start:end] = 1 / len(piece)
                row.append(at)
                first.append(start)
                slot.append(part - 1)
            start = end
    named = {"tokens": tokens, "places": places, "parts": parts, "spread": spread}
    lists = {"row": row, "first": first, "slot": slot}
    return {name: torch.from_numpy(array) for name, array in named.items()} | {
        name: torch.tensor(values) for name, values in lists.items()
    }


def start_from(folder: Path, *, dropout: float = 0.1) -> Matcher:
    """The network with the weights of all-MiniLM-L6-v2 (Apache-2.0); pooling and heads begin at random."""
    stored = load_file(folder / "model.safetensors")
    network = Matcher(dropout)
    named = {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "types.weight": "embeddings.token_type_embeddings.weight",
        "start_norm.weight": "embeddings.LayerNorm.weight",
        "start_norm.bias": "embeddings.LayerNorm.bias",
    }
    theirs = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "norm": "output.LayerNorm",
    }
    for layer in range(LAYERS):
        for ours, name in theirs.items():
            for kind in ("weight", "bias"):
                named[f"layers.{layer}.{ours}.{kind}"] = f"encoder.layer.{layer}.{name}.{kind}"
    missing, unexpected = network.load_state_dict({k: stored[v] for k, v in named.items()}, strict=False)
    if unexpected or any(not name.startswith(("pool", "heads")) for name in missing):
        raise SystemExit(f"{folder} does not hold the weights of all-MiniLM-L6-v2")
    return freeze(network)


def freeze(network: Matcher) -> Matcher:
    """The embeddings and the lowest layers stay as they are: less work, and words never seen keep theirs."""
    for part in (network.words, network.positions, network.types, network.start_norm, *network.layers[:FROZEN]):
        part.requires_grad_(False)
    return network


class Words:
    """Token numbers of texts, each text once."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._seen: dict[tuple[str, int], tuple[int, ...]] = {}

    def __call__(self, text: str, longest: int) -> tuple[int, ...]:
        key = (text, longest)
        if key not in self._seen:
            inside = self._tokenizer.encode(text, add_special_tokens=False).ids[: longest - 2]
            self._seen[key] = (CLS, *inside, SEP)
        return self._seen[key]

    def group(self, report: str, statements: Sequence[str]) -> Group:
        """A report and its statements."""
        return Group(self(report, LONGEST_REPORT), tuple(self(each, LONGEST_STATEMENT) for each in statements))
