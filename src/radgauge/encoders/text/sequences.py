"""Vectors of token sequences from a transformers encoder: each distinct one once, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radgauge.core.errors import require
from radgauge.encoders.text.batching import batch_tokens, padded, run_batches
from radgauge.encoders.text.flat_bert import FlatBert, is_plain_bert
from radgauge.encoders.text.flat_deberta import FlatDeberta, is_plain_deberta
from radgauge.encoders.text.flat_encoder import FlatEncoder, Then
from radgauge.encoders.text.flat_mpnet import FlatMpnet, is_plain_mpnet


def can_be_flat(network: Any) -> bool:
    """Whether a transformers model is one that runs here without padding."""
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
        keys = [tuple(each) for each in sequences]
        distinct = list(dict.fromkeys(keys))
        found: dict[tuple[int, ...], Any] = {}

        def work(batch: list[int]) -> None:
            chosen = [distinct[at] for at in batch]
            found.update(zip(chosen, self._batch(chosen, first_only, then), strict=True))

        with torch.inference_mode():
            run_batches(
                list(map(len, distinct)),
                work,
                tokens=tokens or batch_tokens(self.device),
                padding=self.flat is None,
            )
        return [found[key] for key in keys]

    def _batch(self, batch: list[tuple[int, ...]], first_only: bool, then: Then | None) -> list[Any]:
        if self.flat is not None:
            return self.flat.encode(batch, first_only=first_only, then=then)
        torch = require("torch", extra="models")
        ids, mask = padded(batch, pad=self.pad, device=self.device)
        output = self.network(ids, attention_mask=mask)[0]
        rows = output[:, 0] if first_only else output[torch.ones_like(ids) > 0 if mask is None else mask > 0]
        rows = then(rows) if then else rows
        return list(rows) if first_only else list(rows.split([len(each) for each in batch]))
