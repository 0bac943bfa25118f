"""BERT and RoBERTa on texts laid end to end: no padding, and no more of the last layer than is asked for.

The sums are those of the transformers library, whose weights are taken over; only their order of execution
differs. Linear layers see all tokens of a batch as one matrix, queries, keys and values come from one product,
and attention runs over texts of equal length at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

from radgauge.errors import require

_KINDS = ("bert", "roberta", "xlm-roberta", "camembert")


class _Linear(NamedTuple):
    weight: Any
    bias: Any


class _Layer(NamedTuple):
    """One layer; a norm is a linear layer's weight and bias too, applied number by number."""

    qkv: _Linear
    attended: _Linear
    first_norm: _Linear
    inner: _Linear
    outer: _Linear
    last_norm: _Linear


class FlatBert:
    """The encoder of a transformers BERT or RoBERTa, in evaluation mode.

    Args:
        network: The model, for which `can_be_flat` is true; its layers may have been cut.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, device: str) -> None:
        self.torch = require("torch", extra="models")
        self.device = device
        config = network.config
        self.heads, self.eps = int(config.num_attention_heads), float(config.layer_norm_eps)
        # RoBERTa counts positions from behind its padding id, and gives that id no position of its own.
        self.pad = None if config.model_type == "bert" else int(config.pad_token_id)
        embeddings = network.embeddings
        self.words = self._own(embeddings.word_embeddings.weight)
        self.positions = self._own(embeddings.position_embeddings.weight)
        # Every text is of the first type.
        self.type = self._own(embeddings.token_type_embeddings.weight[0])
        self.norm = self._linear(embeddings.LayerNorm)
        self.layers = [self._layer(layer) for layer in network.encoder.layer]

    def _own(self, weight: Any) -> Any:
        return weight.detach().float().to(self.device).contiguous()

    def _linear(self, *modules: Any) -> _Linear:
        cat = self.torch.cat
        return _Linear(
            self._own(cat([each.weight for each in modules])), self._own(cat([each.bias for each in modules]))
        )

    def _layer(self, layer: Any) -> _Layer:
        attention, linear = layer.attention, self._linear
        return _Layer(
            qkv=linear(attention.self.query, attention.self.key, attention.self.value),
            attended=linear(attention.output.dense),
            first_norm=linear(attention.output.LayerNorm),
            inner=linear(layer.intermediate.dense),
            outer=linear(layer.output.dense),
            last_norm=linear(layer.output.LayerNorm),
        )

    def encode(self, batch: Sequence[Sequence[int]], *, first_only: bool = False) -> list[Any]:
        """The last layer's vectors of each text: one row per token, or the row of the first token only.

        Args:
            batch: Token ids of each text, none empty; texts of equal length should be neighbours.
            first_only: Leave out what only the other tokens of the last layer would need.
        """
        torch = self.torch
        flat = torch.tensor(list(chain.from_iterable(batch)), device=self.device)
        places = torch.tensor(list(chain.from_iterable(map(self._places, batch))), device=self.device)
        x = self._normed(self.words[flat] + self.type + self.positions[places], self.norm)
        runs = [(length, len(list(group))) for length, group in groupby(map(len, batch))]
        for number, layer in enumerate(self.layers, start=1):
            last = first_only and number == len(self.layers)
            x = self._forward(x, layer, runs, first_only=last)
        if not first_only:
            return list(x.split([len(each) for each in batch]))
        if not self.layers:
            x = torch.stack([rows[0] for rows in x.split([len(each) for each in batch])])
        return list(x)

    def _places(self, ids: Sequence[int]) -> list[int]:
        if self.pad is None:
            return list(range(len(ids)))
        places, seen = [], 0
        for token in ids:
            seen += token != self.pad
            places.append(self.pad + seen if token != self.pad else self.pad)
        return places

    def _forward(self, x: Any, layer: _Layer, runs: Sequence[tuple[int, int]], *, first_only: bool) -> Any:
        functional = self.torch.nn.functional
        width = x.shape[1]
        qkv = functional.linear(x, *layer.qkv).view(len(x), 3, self.heads, -1)
        attended, kept = [], []
        start = 0
        for length, count in runs:
            stop = start + length * count
            q, k, v = qkv[start:stop].view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            q = q[:, :, :1] if first_only else q
            found = functional.scaled_dot_product_attention(q, k, v)
            attended.append(found.transpose(1, 2).reshape(-1, width))
            if first_only:
                kept.append(x[start:stop:length])
            start = stop
        before = self.torch.cat(kept) if first_only else x
        joined = self.torch.cat(attended) if len(attended) > 1 else attended[0]
        x = self._normed(functional.linear(joined, *layer.attended).add_(before), layer.first_norm)
        inner = functional.gelu(functional.linear(x, *layer.inner))
        return self._normed(functional.linear(inner, *layer.outer).add_(x), layer.last_norm)

    def _normed(self, x: Any, norm: _Linear) -> Any:
        return self.torch.nn.functional.layer_norm(x, (x.shape[1],), norm.weight, norm.bias, self.eps)


def can_be_flat(network: Any) -> bool:
    """Whether a transformers model is one that `FlatBert` computes: BERT or RoBERTa as first published."""
    config = network.config
    return (
        config.model_type in _KINDS
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
        and not getattr(config, "is_decoder", False)
        and hasattr(network, "embeddings")
        and hasattr(network, "encoder")
    )
