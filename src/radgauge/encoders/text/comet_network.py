"""The network of COMET's referenceless estimator, with COMET's names for its parameters.

Rei et al. (2020), COMET: a neural framework for MT evaluation, EMNLP; unbabel-comet 2.2.7. Written anew because
that package needs numpy 1 and an old hub client. This module needs torch; `models.estimator` is the way in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from radgauge.encoders.text.flat_encoder import FlatEncoder

EPSILON = 1e-12
DROPPED = -1e20


def sparsemax(scores: Tensor) -> Tensor:
    """Projection of one vector onto the simplex: like softmax, but small entries become exactly 0.

    Martins and Astudillo (2016), From softmax to sparsemax, ICML.

    >>> sparsemax(torch.tensor([2.0, 1.5, 0.0])).tolist()
    [0.75, 0.25, 0.0]
    """
    scores = scores - scores.max()  # the projection is the same, and dropped layers (-1e20) do not swallow the 1
    ordered = scores.sort(descending=True).values
    rank = torch.arange(1, len(scores) + 1, dtype=scores.dtype, device=scores.device)
    sums = ordered.cumsum(0) - 1
    support = (rank * ordered > sums).sum()
    return (scores - sums[support - 1] / support).clamp(min=0)


class LayerMix(nn.Module):
    """A learned weighted sum of the encoder's layers."""

    def __init__(self, layers: int, *, transformation: str, layer_norm: bool, dropout: float) -> None:
        super().__init__()
        self.transformation, self.layer_norm, self.dropout = transformation, layer_norm, dropout
        self.scalar_parameters = nn.ParameterList([nn.Parameter(torch.zeros(1)) for _ in range(layers)])
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, layers: Sequence[Tensor], mask: Tensor) -> Tensor:
        """Mix (batch, positions, hidden) of every layer."""
        weights = torch.cat(list(self.scalar_parameters))
        if self.training and self.dropout:
            active = torch.rand(len(weights), device=weights.device) > self.dropout
            weights = torch.where(active, weights, torch.full_like(weights, DROPPED))
        weights = sparsemax(weights) if self.transformation == "sparsemax" else weights.softmax(0)
        if self.layer_norm:
            layers = [_normed(layer, mask.to(layer.dtype)) for layer in layers]
        mixed: Tensor = self.gamma * sum(weight * layer for weight, layer in zip(weights, layers, strict=True))
        return mixed

    def flat(self, layers: Iterable[Tensor], owner: Tensor, counts: Tensor) -> Tensor:
        """Mix (tokens, hidden) of every layer over texts laid end to end, in evaluation mode.

        Args:
            layers: Taken one at a time.
            owner: The text of each token.
            counts: Tokens of each text, (texts, 1).
        """
        weights = torch.cat(list(self.scalar_parameters))
        weights = sparsemax(weights) if self.transformation == "sparsemax" else weights.softmax(0)
        mixed = None
        for weight, layer in zip(weights, layers, strict=True):
            part = weight * (_flat_normed(layer, owner, counts) if self.layer_norm else layer)
            mixed = part if mixed is None else mixed.add_(part)
        return self.gamma * mixed


def _flat_normed(layer: Tensor, owner: Tensor, counts: Tensor) -> Tensor:
    """As `_normed`: over all numbers of one text."""
    total = counts * layer.shape[1]
    sums = layer.new_zeros(len(counts), 1)
    mean = (sums.index_add(0, owner, layer.sum(1, keepdim=True)) / total)[owner]
    apart = layer - mean
    variance = sums.index_add(0, owner, (apart * apart).sum(1, keepdim=True)) / total
    return apart / torch.sqrt(variance + EPSILON)[owner]


def _normed(layer: Tensor, mask: Tensor) -> Tensor:
    """Mean 0 and variance 1 over all unmasked numbers of one text, applied to every position."""
    wide = mask.unsqueeze(-1)
    count = mask.sum(1) * layer.shape[-1]
    mean = ((layer * wide).sum((1, 2)) / count).view(-1, 1, 1)
    variance = ((((layer * wide) - mean) * wide) ** 2).sum((1, 2)) / count
    return (layer - mean) / torch.sqrt(variance + EPSILON).view(-1, 1, 1)


class _Encoder(nn.Module):
    """Holds the transformer under the name that COMET's checkpoints use: encoder.model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model


class FeedForward(nn.Module):
    """The regressor; its linear layers are ff.0, ff.3, ff.6, ..."""

    def __init__(
        self,
        inputs: int,
        hidden_sizes: Sequence[int],
        *,
        activation: str = "Tanh",
        final_activation: str = "",
        dropout: float = 0.1,
        outputs: int = 1,
    ) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for size in hidden_sizes:
            parts += [nn.Linear(inputs, size), _activation(activation), nn.Dropout(dropout)]
            inputs = size
        parts.append(nn.Linear(inputs, outputs))
        if final_activation:
            parts.append(_activation(final_activation))
        self.ff = nn.Sequential(*parts)

    def forward(self, candidate: Tensor, reference: Tensor) -> Tensor:
        """Scores of pairs of vectors."""
        features = [candidate, reference, candidate * reference, (candidate - reference).abs()]
        scores: Tensor = self.ff(torch.cat(features, dim=1))
        return scores.view(-1) if scores.shape[1] == 1 else scores

    def parameters_of_layers(self) -> list[tuple[Any, Any]]:
        """Weight and bias of every linear layer, as numpy arrays."""
        return [
            (part.weight.detach().cpu().float().numpy(), part.bias.detach().cpu().float().numpy())
            for part in self.ff
            if isinstance(part, nn.Linear)
        ]


def _activation(name: str) -> nn.Module:
    return getattr(nn, name.title())()


class Estimator(nn.Module):
    """Two texts encoded independently, mixed over layers, pooled, and compared by a feed-forward head."""

    def __init__(self, transformer: Any, hparams: Mapping[str, Any], *, padding: int) -> None:
        super().__init__()
        config = transformer.config
        self.encoder = _Encoder(transformer)
        self.layer, self.pool, self.padding = hparams["layer"], hparams["pool"], padding
        self.layerwise_attention = (
            LayerMix(
                config.num_hidden_layers + 1,
                transformation=hparams["layer_transformation"],
                layer_norm=bool(hparams["layer_norm"]),
                dropout=float(hparams["dropout"]),
            )
            if self.layer == "mix"
            else None
        )
        self.estimator = FeedForward(
            4 * config.hidden_size,
            hparams["hidden_sizes"],
            activation=hparams["activations"],
            final_activation=hparams["final_activation"] or "",
            dropout=float(hparams["dropout"]),
        )

    def embed(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """One vector per text."""
        layers = self.encoder.model(
            input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
        ).hidden_states
        if self.layerwise_attention is None:
            mixed = layers[int(self.layer)]
        else:
            mixed = self.layerwise_attention(layers, attention_mask)
        if self.pool == "cls":
            pooled: Tensor = mixed[:, 0]
            return pooled
        hidden = input_ids.eq(self.padding).unsqueeze(-1)
        if self.pool == "max":
            return mixed.float().masked_fill(hidden, float("-inf")).max(dim=1).values
        # special tokens count, as in COMET; the divisor is the number of positions in the mask
        total = mixed.float().masked_fill(hidden, 0.0).sum(1)
        return total / attention_mask.sum(1, keepdim=True)

    def embed_flat(self, flat: FlatEncoder, batch: Sequence[Sequence[int]]) -> Tensor:
        """The same for texts laid end to end, by an encoder with this one's weights."""
        sizes = [len(ids) for ids in batch]
        owner = torch.arange(len(batch), device=flat.device).repeat_interleave(
            torch.tensor(sizes, device=flat.device)
        )
        counts = torch.tensor(sizes, device=flat.device, dtype=torch.float32)[:, None]
        states = flat.states(batch)
        if self.layerwise_attention is None:
            mixed = next(islice(states, int(self.layer), None))
        else:
            mixed = self.layerwise_attention.flat(states, owner, counts)
        if self.pool == "cls":
            first: Tensor = mixed[counts[:, 0].long().cumsum(0) - counts[:, 0].long()]
            return first
        # an id that pads, written out in a text, is counted and not summed, as in COMET
        hidden = torch.tensor([token == self.padding for ids in batch for token in ids], device=flat.device)
        if self.pool == "max":
            parts = mixed.masked_fill(hidden[:, None], float("-inf")).split(sizes)
            return torch.stack([rows.max(dim=0).values for rows in parts])
        total = mixed.new_zeros(len(batch), mixed.shape[1])
        return total.index_add_(0, owner, mixed.masked_fill(hidden[:, None], 0.0)) / counts

    def parameter_groups(self, *, encoder_rate: float, rate: float, decay: float) -> list[dict[str, Any]]:
        """Learning rates: the encoder's top layer has `encoder_rate`, each lower one `decay` of the next."""
        stack = _layers(self.encoder.model)
        groups = [
            {"params": list(layer.parameters()), "lr": encoder_rate * decay**depth}
            for depth, layer in enumerate(reversed(stack))
        ]
        layered = {id(parameter) for layer in stack for parameter in layer.parameters()}
        # word vectors, and what else some encoders have outside their layers
        others = [weight for weight in self.encoder.parameters() if id(weight) not in layered]
        groups.append({"params": others, "lr": encoder_rate * decay ** (len(stack) + 1)})
        groups.append({"params": list(self.estimator.parameters()), "lr": rate})
        if self.layerwise_attention is not None:
            groups.append({"params": list(self.layerwise_attention.parameters()), "lr": rate})
        return groups

    def set_encoder_trainable(self, trainable: bool, *, embeddings: bool) -> None:
        """Freeze or thaw the encoder; its embeddings only thaw if asked."""
        for parameter in self.encoder.parameters():
            parameter.requires_grad = trainable
        model = self.encoder.model
        for parameter in getattr(model, "embeddings", model.get_input_embeddings()).parameters():
            parameter.requires_grad = trainable and embeddings


def _layers(model: Any) -> list[nn.Module]:
    """The encoder's layers from the bottom up, wherever this architecture keeps them.

    One layer that is used several times (ALBERT) is one.
    """
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    own = [module for module in stacks if len(module) == model.config.num_hidden_layers]
    return list((own or stacks or [nn.ModuleList([])])[0])
