"""Vectors of token sequences from a transformers encoder: each distinct one once, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from radgauge.errors import require
from radgauge.models.text.batching import TOKENS_ON_DEVICE, TOKENS_PER_BATCH, padded, token_batches
from radgauge.models.text.flat_bert import FlatBert, can_be_flat


class SequenceEncoder:
    """A transformers encoder that is given ids and gives vectors.

    Texts that differ in nothing the vocabulary can tell (letter case, spaces) have one sequence and are read
    once. BERT and RoBERTa run without padding, other architectures by their own code on padded batches.

    Args:
        network: The encoder; it is not to be used otherwise afterwards.
        pad: Id with which sequences are filled up where they must be.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, pad: int, device: str) -> None:
        network = network.eval().float()
        self.device, self.pad = device, pad
        self.network: Any = FlatBert(network, device=device) if can_be_flat(network) else network.to(device)
        self.hidden = int(network.config.hidden_size)

    def vectors(self, sequences: Sequence[Sequence[int]], *, first_only: bool = False) -> list[Any]:
        """For each sequence a tensor with a row per id, or with `first_only` the first row alone.

        Equal sequences share one tensor.
        """
        torch = require("torch", extra="models")
        keys = [tuple(each) for each in sequences]
        distinct = list(dict.fromkeys(keys))
        found: dict[tuple[int, ...], Any] = {}
        with torch.inference_mode():
            padding = not isinstance(self.network, FlatBert)
            # Every thread of a processor gets a batch's worth; smaller shares would be spent on waiting.
            tokens = TOKENS_PER_BATCH * torch.get_num_threads() if self.device == "cpu" else TOKENS_ON_DEVICE
            for batch in token_batches(list(map(len, distinct)), tokens=tokens, padding=padding):
                chosen = [distinct[at] for at in batch]
                found.update(zip(chosen, self._batch(chosen, first_only), strict=True))
        return [found[key] for key in keys]

    def _batch(self, batch: list[tuple[int, ...]], first_only: bool) -> list[Any]:
        if isinstance(self.network, FlatBert):
            return self.network.encode(batch, first_only=first_only)
        ids, mask = padded(batch, pad=self.pad, device=self.device)
        output = self.network(ids, attention_mask=mask)[0]
        return [output[row, 0] if first_only else output[row, : len(each)] for row, each in enumerate(batch)]
