"""Common base of BERT, RoBERTa, DeBERTa and MPNet on packed sequences: no padding, and no more of the last
layer than is asked for.

The sums are those of the transformers library, whose weights are taken over; only their order of execution
differs. Linear layers see all tokens of a batch as one matrix, queries, keys and values come from one product,
and attention runs over texts of equal length at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from radgauge.core.errors import require

Then = Callable[[Any], Any]
Run = tuple[int, int]
"""Length of some texts that are neighbours, and how many they are."""


class Linear(NamedTuple):
    """A linear layer; also a norm, whose weight and bias are applied number by number."""

    weight: Any
    bias: Any


class Layer(NamedTuple):
    """One layer of an encoder."""

    qkv: Linear
    attended: Linear
    first_norm: Linear
    inner: Linear
    outer: Linear
    last_norm: Linear


class FlatEncoder(ABC):
    """The encoder of a transformers model, in evaluation mode.

    Args:
        network: The model, whose layers may have been cut.
        device: Where it runs.
    """

    def __init__(self, network: Any, *, device: str) -> None:
        self.torch = require("torch", extra="models")
        self.device = device
        config = network.config
        self.heads, self.eps = int(config.num_attention_heads), float(config.layer_norm_eps)
        self.hidden = int(config.hidden_size)
        self.layers: list[Layer] = []

    @abstractmethod
    def _embedded(self, ids: Any, batch: Sequence[Sequence[int]], runs: Sequence[Run]) -> Any:
        """Input of the first layer, a row per token."""

    @abstractmethod
    def _attended(self, q: Any, k: Any, v: Any, number: int) -> Any:
        """Attention of layer `number` (from 0) over texts of one length.

        Args:
            q: Queries, (texts, heads, length or 1 for the first position only, size of a head).
            k: Keys, (texts, heads, length, size of a head).
            v: Values, likewise.
            number: The layer.
        """

    def _behind(self, x: Any, embedded: Any, number: int, runs: Sequence[Run]) -> Any:
        """Transform a layer's output as the architecture does before the next one sees it."""
        return x

    def _cut_last(self) -> bool:
        """True if the last layer may be computed for first positions alone."""
        return True

    def encode(
        self, batch: Sequence[Sequence[int]], *, first_only: bool = False, then: Then | None = None
    ) -> list[Any]:
        """The last layer's vectors of each text: one row per token, or the row of the first token only.

        Args:
            batch: Token ids of each text, none empty; texts of equal length should be neighbours.
            first_only: Leave out what only the other tokens of the last layer would need.
            then: What becomes of the rows, whichever text they are of.
        """
        for x in self.states(batch, first_only=first_only):
            last = x  # the others go at once
        sizes = [len(sequence) for sequence in batch]
        if first_only and len(last) > len(batch):
            last = self.torch.stack([rows[0] for rows in last.split(sizes)])
        last = then(last) if then else last
        return list(last) if first_only else list(last.split(sizes))

    def states(self, batch: Sequence[Sequence[int]], *, first_only: bool = False) -> Iterator[Any]:
        """The embedding's and every layer's output as one matrix over the tokens of all texts, in turn.

        Args:
            batch: Token ids of each text, none empty; texts of equal length should be neighbours.
            first_only: The last matrix may have one row per text instead: that of its first token.
        """
        ids = self._tensor(np.fromiter(chain.from_iterable(batch), np.int64, sum(map(len, batch))))
        runs = [(length, len(list(group))) for length, group in groupby(map(len, batch))]
        embedded = x = self._embedded(ids, batch, runs)
        yield x
        for number in range(len(self.layers)):
            last = first_only and number == len(self.layers) - 1 and self._cut_last()
            x = self._behind(self._forward(x, number, runs, first_only=last), embedded, number, runs)
            yield x

    def _forward(self, x: Any, number: int, runs: Sequence[Run], *, first_only: bool) -> Any:
        functional, layer = self.torch.nn.functional, self.layers[number]
        width = x.shape[1]
        before = (
            self.torch.cat([x[start:stop:length] for length, _, start, stop in _bounds(runs)]) if first_only else x
        )
        # Queries, keys and values from one product; where only first positions ask, their queries from another.
        n_query_rows = layer.qkv.weight.shape[0] // 3 if first_only else 0
        made = functional.linear(x, layer.qkv.weight[n_query_rows:], layer.qkv.bias[n_query_rows:])
        asking = (
            functional.linear(before, layer.qkv.weight[:n_query_rows], layer.qkv.bias[:n_query_rows])
            if first_only
            else None
        )
        attended, texts = [], 0
        for length, count, start, stop in _bounds(runs):
            three = (
                made[start:stop].view(count, length, 2 if first_only else 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            )
            if asking is None:
                q, k, v = three
            else:
                q, (k, v) = asking[texts : texts + count].view(count, self.heads, 1, -1), three
            attended.append(self._attended(q, k, v, number).transpose(1, 2).reshape(-1, width))
            texts += count
        joined = self.torch.cat(attended) if len(attended) > 1 else attended[0]
        x = self._normed(functional.linear(joined, *layer.attended).add_(before), layer.first_norm)
        inner = functional.gelu(functional.linear(x, *layer.inner))
        return self._normed(functional.linear(inner, *layer.outer).add_(x), layer.last_norm)

    def _normed(self, x: Any, norm: Linear) -> Any:
        return self.torch.nn.functional.layer_norm(x, (x.shape[1],), norm.weight, norm.bias, self.eps)

    def _own(self, weight: Any) -> Any:
        return weight.detach().float().to(self.device).contiguous()

    def _tensor(self, values: Any) -> Any:
        return self.torch.from_numpy(values).to(self.device)

    def _linear(self, *modules: Any) -> Linear:
        """Modules side by side as one product; the numbers of one alone are shared with it, not copied."""
        if len(modules) == 1:
            return Linear(self._own(modules[0].weight), self._own(modules[0].bias))
        cat = self.torch.cat
        return Linear(
            self._own(cat([module.weight for module in modules])),
            self._own(cat([module.bias for module in modules])),
        )

    def _layer_of(self, layer: Any, three: Sequence[Any], attended: Any, norm: Any) -> Layer:
        """A layer of transformers, whose attention each architecture names in its own way.

        Args:
            layer: The layer; what follows its attention has the same names everywhere.
            three: What makes queries, keys and values.
            attended: What follows the attention.
            norm: The norm behind that.
        """
        return Layer(
            qkv=self._linear(*three),
            attended=self._linear(attended),
            first_norm=self._linear(norm),
            inner=self._linear(layer.intermediate.dense),
            outer=self._linear(layer.output.dense),
            last_norm=self._linear(layer.output.LayerNorm),
        )

    def _run_positions(self, runs: Sequence[Run]) -> Any:
        """The position of every token in its text."""
        return np.concatenate([np.tile(np.arange(length), count) for length, count in runs])


def _bounds(runs: Sequence[Run]) -> Iterator[tuple[int, int, int, int]]:
    """Length and number of the texts of each run, and its first row and the one behind its last."""
    start = 0
    for length, count in runs:
        stop = start + length * count
        yield length, count, start, stop
        start = stop
