"""Count heads on any encoder: a pair of reports in, errors in six categories out, in CREPE's layout.

Cho et al. (2025), EMNLP: a regressor and a head of presence per category on the pooled output, mean squared error
and binary cross-entropy. This module needs torch; `make_learner` is the way in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from radgauge.core.errors import require
from radgauge.core.files import make_folder, replacing, write_file
from radgauge.encoders.checkpoints.hub import checkpoint_folder, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.batching import padded, token_batches
from radgauge.encoders.text.crepe_network import HEADS, encode_pairs, has_types, limit_of
from radgauge.lab.training.estimator_settings import EstimatorSettings

Index = NDArray[np.intp]
Encoded = tuple[list[int], list[int]]
"""Ids of the tokens of a pair, and whether each is of the second text."""
PRESENCE_WEIGHT = 0.3
"""Share of the loss that the heads of presence have."""
_TOKENS = 4096  # of a batch in validation


def count_loss(predicted: Tensor, target: Tensor) -> Tensor:
    """Return the loss of (pairs, counts then presences) against (pairs, counts); NaN where nobody counted."""
    counted = ~target.isnan()
    counts, presences = predicted[:, :HEADS][counted], predicted[:, HEADS:][counted]
    target = target[counted]
    of_counts = nn.functional.mse_loss(counts, target)
    of_presence = nn.functional.binary_cross_entropy_with_logits(presences, (target > 0).float())
    return (1 - PRESENCE_WEIGHT) * of_counts + PRESENCE_WEIGHT * of_presence


class CountNetwork(nn.Module):
    """An encoder with six regressors and six heads of presence; parameters have CREPE's names."""

    def __init__(self, bert: Any, *, start: Sequence[float], dropout: float) -> None:
        super().__init__()
        hidden = int(bert.config.hidden_size)
        self.bert, self.dropout = bert, nn.Dropout(dropout)
        self.typed = has_types(bert)
        self.error_regressors = nn.ModuleList(nn.Linear(hidden, 1) for _ in range(HEADS))
        self.error_presence = nn.ModuleList(nn.Linear(hidden, 1) for _ in range(HEADS))
        for head, mean in zip(self.error_regressors, start, strict=True):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.constant_(head.bias, mean)

    def forward(self, ids: Tensor, mask: Tensor | None, types: Tensor) -> Tensor:
        """Return counts, then presences, of each pair."""
        output = self.bert(ids, attention_mask=mask, **({"token_type_ids": types} if self.typed else {}))
        pooled = getattr(output, "pooler_output", None)
        pooled = self.dropout(output[0][:, 0] if pooled is None else pooled)
        return torch.cat([head(pooled) for head in (*self.error_regressors, *self.error_presence)], dim=1)


class PairLearner:
    """Trains an encoder with count heads on pairs that are encoded together."""

    def __init__(
        self,
        settings: EstimatorSettings,
        train: Sequence[str],
        validation: Sequence[str],
        *,
        start: Sequence[float],
    ) -> None:
        self.settings, self.device = settings, pick_device(settings.device)
        folder = checkpoint_folder(settings.encoder)
        bert = load_transformer(folder, of=settings.encoder).float()
        self.tokenizer = load_tokenizer(folder, of=settings.encoder)
        self.module = CountNetwork(bert, start=start, dropout=settings.dropout).to(self.device)
        self._texts = (train, validation)
        self._limit = limit_of(bert.config)

    def predict(self, candidate: Index, reference: Index) -> Tensor:
        predicted: Tensor = self.module(*self._batch(self._encoded(self._texts[0], candidate, reference)))
        return predicted

    def validate(self, candidate: Index, reference: Index) -> NDArray[np.float64]:
        pairs = self._encoded(self._texts[1], candidate, reference)
        totals = np.empty(len(pairs))
        for part in token_batches([len(ids) for ids, _ in pairs], tokens=_TOKENS):
            counts = self.module(*self._batch([pairs[index] for index in part]))[:, :HEADS]
            totals[part] = counts.float().clamp(min=0).sum(dim=1).cpu().numpy()
        return totals

    def parameter_groups(self) -> list[dict[str, Any]]:
        heads = [*self.module.error_regressors.parameters(), *self.module.error_presence.parameters()]
        return [
            {"params": list(self.module.bert.parameters()), "lr": self.settings.encoder_learning_rate},
            {"params": heads, "lr": self.settings.learning_rate},
        ]

    def freeze(self, frozen: bool) -> None:
        self.module.bert.requires_grad_(not frozen)

    def save(self, folder: Path, *, about: Mapping[str, Any]) -> None:
        safetensors = require("safetensors.torch", extra="models")
        make_folder(folder)
        self.tokenizer.save_pretrained(folder)
        own = {"num_error_categories": HEADS, "use_poisson_loss": False, "use_presence_loss": True}
        settings = {**self.module.bert.config.to_diff_dict(), **own, "presence_loss_weight": PRESENCE_WEIGHT}
        write_file(folder / "config.json", json.dumps(settings, indent=1))
        state = {name: value.detach().cpu().contiguous() for name, value in self.module.state_dict().items()}
        with replacing(folder / "model.safetensors") as file:
            safetensors.save_file(state, file, metadata={"format": "pt"})
        write_file(folder / "radgauge.json", json.dumps(dict(about), indent=1))

    def _encoded(self, texts: Sequence[str], candidate: Index, reference: Index) -> list[Encoded]:
        pairs = [(texts[r], texts[c]) for r, c in zip(reference, candidate, strict=True)]
        return encode_pairs(self.tokenizer, pairs, self._limit)

    def _batch(self, pairs: Sequence[Encoded]) -> tuple[Tensor, Tensor | None, Tensor]:
        ids, mask = padded([ids for ids, _ in pairs], pad=int(self.tokenizer.pad_token_id), device=self.device)
        types, _ = padded([types for _, types in pairs], pad=0, device=self.device)
        return ids, mask, types
