"""MPNet, the architecture of BioLORD and other sentence encoders, on texts laid end to end.

Song et al. (2020), MPNet: masked and permuted pre-training for language understanding, NeurIPS. As an encoder it
is BERT with a number per head and distance added to the scores, the same numbers in every layer.
"""

from __future__ import annotations

from typing import Any

from radgauge.encoders.text.flat_bert import FlatBert
from radgauge.encoders.text.flat_encoder import Layer

_LENGTHS_KEPT = 64


class FlatMpnet(FlatBert):
    """The encoder of a transformers MPNetModel.

    Args:
        network: The model, for which `is_plain_mpnet` is true; its layers may have been cut.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, device: str) -> None:
        super().__init__(network, device=device)
        encoder, torch = network.encoder, self.torch
        self.farthest = int(network.config.max_position_embeddings) - 1
        distances = torch.arange(-self.farthest, self.farthest + 1)
        buckets = int(network.config.relative_attention_num_buckets)
        chosen = encoder.relative_position_bucket(distances, num_buckets=buckets)
        self.by_distance = self._own(encoder.relative_attention_bias.weight)[chosen.to(device)].T.contiguous()
        self._biases: dict[int, Any] = {}

    def _layer(self, layer: Any) -> Layer:
        own = layer.attention.attn
        return self._layer_of(layer, (own.q, own.k, own.v), own.o, layer.attention.LayerNorm)

    def _attended(self, q: Any, k: Any, v: Any, number: int) -> Any:
        bias = self._bias(k.shape[2])[:, : q.shape[2]]
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)

    def _bias(self, length: int) -> Any:
        """What is added to the scores of texts of a length, (heads, queries, keys)."""
        if length not in self._biases:
            if len(self._biases) == _LENGTHS_KEPT:
                self._biases.clear()
            near = self.by_distance[:, self.farthest - length + 1 : self.farthest + length]
            self._biases[length] = near.unfold(1, length, 1).flip(1)
        return self._biases[length]


def is_plain_mpnet(network: Any) -> bool:
    """Whether a transformers model is one that `FlatMpnet` computes: MPNet as published."""
    config = network.config
    return (
        config.model_type == "mpnet"
        and config.hidden_act == "gelu"
        and hasattr(network, "embeddings")
        and hasattr(getattr(network, "encoder", None), "relative_attention_bias")
    )
