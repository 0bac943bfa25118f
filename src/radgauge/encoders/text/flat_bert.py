"""BERT and RoBERTa on texts laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from radgauge.encoders.text.flat_encoder import FlatEncoder, Layer, Run

_KINDS = ("bert", "roberta", "xlm-roberta", "camembert")


class FlatBert(FlatEncoder):
    """The encoder of a transformers BERT or RoBERTa.

    Args:
        network: The model, for which `is_plain_bert` is true; its layers may have been cut.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, device: str) -> None:
        super().__init__(network, device=device)
        config, embeddings = network.config, network.embeddings
        # RoBERTa counts positions from behind its padding id, and gives that id no position of its own.
        self.pad = None if config.model_type == "bert" else int(config.pad_token_id)
        self.words = self._own(embeddings.word_embeddings.weight)
        self.positions = self._own(embeddings.position_embeddings.weight)
        # The type of a token is packed with its id (`with_types`); RoBERTa and MPNet have one type or none.
        typed = getattr(embeddings, "token_type_embeddings", None)
        self.types = self._own(typed.weight if typed is not None else self.torch.zeros(1, self.hidden))
        self.norm = self._linear(embeddings.LayerNorm)
        self.layers = [self._layer(layer) for layer in network.encoder.layer]

    def _layer(self, layer: Any) -> Layer:
        own, out = layer.attention.self, layer.attention.output
        return self._layer_of(layer, (own.query, own.key, own.value), out.dense, out.LayerNorm)

    def _embedded(self, ids: Any, batch: Sequence[Sequence[int]], runs: Sequence[Run]) -> Any:
        positions = self._run_positions(runs)
        if self.pad is not None:
            flat = ids.cpu().numpy()
            true = flat != self.pad
            if true.all():
                positions += self.pad + 1
            else:
                seen = np.cumsum(true)
                first = np.arange(len(flat)) - positions
                before = seen[first] - true[first]
                positions = np.where(true, self.pad + seen - before, self.pad)
        size = len(self.words)
        types = self.types[0] if len(self.types) == 1 else self.types[ids.div(size, rounding_mode="floor")]
        return self._normed(self.words[ids % size] + types + self.positions[self._tensor(positions)], self.norm)

    def _attended(self, q: Any, k: Any, v: Any, number: int) -> Any:
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v)


def is_plain_bert(network: Any) -> bool:
    """True if a transformers model is one that `FlatBert` computes: BERT or RoBERTa as first published."""
    config = network.config
    return (
        config.model_type in _KINDS
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
        and not getattr(config, "is_decoder", False)
        and hasattr(network, "embeddings")
        and hasattr(network, "encoder")
    )
