"""Vectors of token sequences from a transformers encoder: each distinct one once, in batches of like length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from radgauge.core.errors import require
from radgauge.encoders.text.batching import batch_tokens, padded, run_batches
from radgauge.encoders.text.flat_bert import FlatBert, is_plain_bert
from radgauge.encoders.text.flat_encoder import FlatEncoder, Layer, Run, Then

# MPNet, the architecture of BioLORD and other sentence encoders, on texts laid end to end.
#
# Song et al. (2020), MPNet: masked and permuted pre-training for language understanding, NeurIPS. As an encoder it
# is BERT with a number per head and distance added to the scores, the same numbers in every layer.

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
        self.max_distance = int(network.config.max_position_embeddings) - 1
        distances = torch.arange(-self.max_distance, self.max_distance + 1)
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
        """Bias added to the scores of texts of a length, (heads, queries, keys)."""
        if length not in self._biases:
            if len(self._biases) == _LENGTHS_KEPT:
                self._biases.clear()
            near = self.by_distance[:, self.max_distance - length + 1 : self.max_distance + length]
            self._biases[length] = near.unfold(1, length, 1).flip(1)
        return self._biases[length]


def is_plain_mpnet(network: Any) -> bool:
    """True if a transformers model is one that `FlatMpnet` computes: MPNet as published."""
    config = network.config
    return (
        config.model_type == "mpnet"
        and config.hidden_act == "gelu"
        and hasattr(network, "embeddings")
        and hasattr(getattr(network, "encoder", None), "relative_attention_bias")
    )


# DeBERTa v2 and v3 on texts laid end to end.
#
# He et al. (2021), DeBERTa: decoding-enhanced BERT with disentangled attention, ICLR. A score is the sum of
# content to content, content to position and position to content. The projections of the relative positions
# depend on nothing but the weights: they are made once, where the published code makes all of them anew for every
# batch; and a text of n tokens is compared with the 2n - 1 distances that it has, not with all that the network
# knows.


class FlatDeberta(FlatEncoder):
    """The encoder of a transformers DebertaV2Model.

    Args:
        network: The model, for which `is_plain_deberta` is true; its layers may have been cut.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, device: str) -> None:
        super().__init__(network, device=device)
        config, embeddings, encoder = network.config, network.embeddings, network.encoder
        self.words = self._own(embeddings.word_embeddings.weight)
        placed, typed, wider = (
            getattr(embeddings, name) for name in ("position_embeddings", "token_type_embeddings", "embed_proj")
        )
        self.positions = None if placed is None else self._own(placed.weight)
        self.type = None if typed is None else self._own(typed.weight[0])
        self.wider = None if wider is None else self._own(wider.weight)
        self.norm = self._linear(embeddings.LayerNorm)
        self.kinds = frozenset(config.pos_att_type)
        self.max_distance, self.buckets = int(encoder.max_relative_positions), int(encoder.position_buckets)
        self.span = self.buckets if self.buckets > 0 else self.max_distance
        size = int(getattr(config, "attention_head_size", config.hidden_size // self.heads))
        self.scale = 1 / math.sqrt(size * (1 + len(self.kinds & {"c2p", "p2c"})))
        with self.torch.no_grad():
            distances = encoder.get_rel_embedding()[: 2 * self.span].to(device)
            self.layers = [self._layer(layer) for layer in encoder.layer]
            made = [self._distances(layer.attention.self, distances) for layer in encoder.layer]
        self.keys_of_distance, self.queries_of_distance = ([pair[at] for pair in made] for at in (0, 1))
        self.conv = encoder.conv
        if self.conv is not None:
            self.conv_weight = self._linear(self.conv.conv)
            self.conv_norm = self._linear(self.conv.LayerNorm)
        self._windows: dict[int, tuple[int, Any]] = {}

    def _layer(self, layer: Any) -> Layer:
        own, out = layer.attention.self, layer.attention.output
        three = (own.query_proj, own.key_proj, own.value_proj)
        made = self._layer_of(layer, three, out.dense, out.LayerNorm)
        # All three scores are divided by one number, and each has a query in it: the query is divided.
        rows = own.query_proj.weight.shape[0]
        made.qkv.weight[:rows] *= self.scale
        made.qkv.bias[:rows] *= self.scale
        return made

    def _distances(self, own: Any, distances: Any) -> tuple[Any, Any]:
        """Keys and queries of the relative positions, (heads, size of a head, positions); keys backwards."""
        shared = own.share_att_key

        def project(module: Any) -> Any:
            made = self.torch.nn.functional.linear(distances, *self._linear(module))
            return made.view(len(distances), self.heads, -1).permute(1, 2, 0)

        keys = queries = None
        if "c2p" in self.kinds:
            keys = project(own.key_proj if shared else own.pos_key_proj).flip(2).contiguous()
        if "p2c" in self.kinds:
            queries = (project(own.query_proj if shared else own.pos_query_proj) * self.scale).contiguous()
        return keys, queries

    def _embedded(self, ids: Any, batch: Sequence[Sequence[int]], runs: Sequence[Run]) -> Any:
        x = self.words[ids]
        if self.positions is not None:
            x = x + self.positions[self._tensor(self._run_positions(runs))]
        if self.type is not None:
            x = x + self.type
        if self.wider is not None:
            x = self.torch.nn.functional.linear(x, self.wider)
        return self._normed(x, self.norm)

    def _attended(self, q: Any, k: Any, v: Any, number: int) -> Any:
        shape = k.shape[0], self.heads, q.shape[2], k.shape[2]
        bias = None
        if "c2p" in self.kinds:
            bias = self._by_distance(q, self.keys_of_distance[number], shape, by_query=True)
        if "p2c" in self.kinds:
            other = self._by_distance(k, self.queries_of_distance[number], shape, by_query=False)
            bias = other if bias is None else bias + other
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1.0)

    def _by_distance(self, rows: Any, table: Any, shape: tuple[int, int, int, int], *, by_query: bool) -> Any:
        """Scores of (query, key) that depend on one of them and their distance.

        Every row is multiplied with the vectors of all distances that the length has. By queries the largest
        distance comes first, by keys the smallest, so that the entry of the first row and distance 0 is followed,
        one column earlier in each further row, by those of its neighbours: the scores are a view of the product.
        """
        _, heads, _, length = shape
        reach, indices = self._window(length)
        width = 2 * length - 1
        flat = rows.transpose(0, 1).reshape(heads, -1, rows.shape[3])
        if indices is None:
            start = self.span - reach - (1 if by_query else 0)
            made = flat @ table[:, :, start : start + width]
        else:
            made = (flat @ table).index_select(2, indices[by_query])
        made = made.contiguous()
        steps = (width - 1, 1) if by_query else (1, width - 1)
        strides = (rows.shape[2] * width, made.stride(0), *steps)
        return made.as_strided(shape, strides, made.storage_offset() + length - 1)

    def _window(self, length: int) -> tuple[int, Any]:
        """Maximum distance from 0 at a length; and the columns of far ones, as several share a vector."""
        if length not in self._windows:
            torch = self.torch
            distance = torch.arange(1 - length, length)
            far = bucket_of(distance, buckets=self.buckets, max_distance=self.max_distance)
            reach, indices = length - 1, None
            if reach >= self.span or not torch.equal(far, distance):
                columns = (far + self.span).clamp(0, 2 * self.span - 1)
                backwards = 2 * self.span - 1 - columns.flip(0)
                indices = columns.to(self.device), backwards.to(self.device)
            self._windows[length] = reach, indices
        return self._windows[length]

    def _behind(self, x: Any, embedded: Any, number: int, runs: Sequence[Run]) -> Any:
        if self.conv is None or number:
            return x
        functional = self.torch.nn.functional
        parts, start = [], 0
        for length, count in runs:
            stop = start + length * count
            texts = embedded[start:stop].view(count, length, -1).transpose(1, 2)
            made = functional.conv1d(
                texts, *self.conv_weight, padding=self.conv.conv.padding, groups=self.conv.conv.groups
            )
            parts.append(made.transpose(1, 2).reshape(stop - start, -1))
            start = stop
        made = self.torch.cat(parts)
        made = self.torch.tanh(made) if self.conv.conv_act == "tanh" else functional.gelu(made)
        return self._normed(x + made, self.conv_norm)

    def _cut_last(self) -> bool:
        return self.conv is None or len(self.layers) > 1


def bucket_of(distance: Any, *, buckets: int, max_distance: int) -> Any:
    """The relative position that stands for each distance: itself when near, shared on a log scale when far.

    >>> import torch
    >>> bucket_of(torch.tensor([-300, -128, 5, 127, 200, 511]), buckets=256, max_distance=512).tolist()
    [-206, -128, 5, 127, 169, 255]
    """
    torch = require("torch", extra="models")
    if buckets <= 0 or max_distance <= 0:
        return distance
    middle = buckets // 2
    # In single precision, as published: the last digit decides on which side of a whole number `ceil` falls.
    far = distance.abs().clamp(min=middle) / middle
    log = torch.ceil(torch.log(far) / torch.log(torch.tensor((max_distance - 1) / middle)) * (middle - 1)) + middle
    return torch.where(distance.abs() <= middle, distance, (log * distance.sign()).long())


def is_plain_deberta(network: Any) -> bool:
    """True if a transformers model is one that `FlatDeberta` computes: DeBERTa v2 or v3 as published."""
    config = network.config
    if config.model_type != "deberta-v2" or not hasattr(network, "encoder") or not hasattr(network, "embeddings"):
        return False
    conv = network.encoder.conv
    return (
        config.hidden_act == "gelu"
        and bool(getattr(config, "relative_attention", False))
        and set(config.pos_att_type or ()) <= {"c2p", "p2c"}
        and getattr(network, "z_steps", 0) <= 1
        and (conv is None or (conv.conv_act in ("tanh", "gelu") and conv.conv.kernel_size[0] % 2 == 1))
    )


def can_be_flat(network: Any) -> bool:
    """True if a transformers model is one that runs here without padding."""
    return is_plain_bert(network) or is_plain_deberta(network) or is_plain_mpnet(network)


def flat_encoder(network: Any, *, device: str) -> FlatEncoder:
    """A transformers model, for which `can_be_flat` is true, as one that runs without padding."""
    if is_plain_deberta(network):
        return FlatDeberta(network, device=device)
    return (FlatMpnet if is_plain_mpnet(network) else FlatBert)(network, device=device)


class SequenceEncoder:
    """A transformers encoder that is given ids and gives vectors.

    Texts that differ in nothing the vocabulary can tell (letter case, spaces) have one sequence and are read
    once. BERT, RoBERTa, DeBERTa and MPNet run without padding, others by their own code on padded batches.

    Args:
        network: The encoder; it is not to be used otherwise afterwards.
        pad: Id with which sequences are filled up where they must be.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, pad: int, device: str) -> None:
        network = network.eval().float()
        self.device, self.pad = device, pad
        self.flat = flat_encoder(network, device=device) if can_be_flat(network) else None
        self.network: Any = None if self.flat else network.to(device)
        self.hidden = int(network.config.hidden_size)

    def vectors(
        self,
        sequences: Sequence[Sequence[int]],
        *,
        first_only: bool = False,
        then: Then | None = None,
        tokens: int = 0,
    ) -> list[Any]:
        """For each sequence a tensor with a row per id, or with `first_only` the first row alone.

        Equal sequences share one tensor.

        Args:
            sequences: Ids of the tokens of each text.
            first_only: Leave out what only the other tokens would need.
            then: What becomes of the rows of a batch, whichever text they are of, so that no more is kept.
            tokens: Size of a batch; 0 for what suits the device.
        """
        torch = require("torch", extra="models")
        keys = [tuple(sequence) for sequence in sequences]
        distinct = list(dict.fromkeys(keys))
        vectors_by_key: dict[tuple[int, ...], Any] = {}

        def work(batch: list[int]) -> None:
            chosen = [distinct[at] for at in batch]
            vectors_by_key.update(zip(chosen, self._batch(chosen, first_only, then), strict=True))

        with torch.inference_mode():
            run_batches(
                list(map(len, distinct)),
                work,
                tokens=tokens or batch_tokens(self.device),
                padding=self.flat is None,
            )
        return [vectors_by_key[key] for key in keys]

    def _batch(self, batch: list[tuple[int, ...]], first_only: bool, then: Then | None) -> list[Any]:
        if self.flat is not None:
            return self.flat.encode(batch, first_only=first_only, then=then)
        torch = require("torch", extra="models")
        ids, mask = padded(batch, pad=self.pad, device=self.device)
        output = self.network(ids, attention_mask=mask)[0]
        rows = output[:, 0] if first_only else output[torch.ones_like(ids) > 0 if mask is None else mask > 0]
        rows = then(rows) if then else rows
        return list(rows) if first_only else list(rows.split([len(sequence) for sequence in batch]))
