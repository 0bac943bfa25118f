"""Batches of like length: little padding, and a size that stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from radgauge.errors import ModelError, require

TOKENS_PER_BATCH = 512
"""For one thread of a processor: more is slower, because the batch then leaves its cache."""
TOKENS_ON_DEVICE = 16384


def token_batches(
    lengths: Sequence[int], *, device: str = "cpu", tokens: int = 0, padding: bool = True
) -> Iterator[list[int]]:
    """Positions of the texts, longest first, in batches of at most `tokens` tokens.

    Args:
        lengths: Tokens of each text.
        device: Where the batch will run; decides the size unless it is given.
        tokens: Size of a batch.
        padding: Whether texts are filled up to the longest of their batch, which then counts.

    >>> list(token_batches([3, 9, 4, 8], tokens=20))
    [[1, 3], [2, 0]]
    >>> list(token_batches([3, 9, 4, 8], tokens=21, padding=False))
    [[1, 3, 2], [0]]
    """
    tokens = tokens or (TOKENS_PER_BATCH if device == "cpu" else TOKENS_ON_DEVICE)
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    batch: list[int] = []
    size = 0
    for at in order:
        grown = lengths[batch[0] if batch else at] * (len(batch) + 1) if padding else size + lengths[at]
        if batch and grown > tokens:
            yield batch
            batch = []
            grown = lengths[at]
        batch.append(at)
        size = grown
    if batch:
        yield batch


def markers(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that a tokenizer puts before and behind a text."""
    bare: list[int] = tokenizer.encode("a", add_special_tokens=False)
    whole: list[int] = tokenizer.encode("a", add_special_tokens=True)
    for at in range(len(whole) - len(bare) + 1):
        if whole[at : at + len(bare)] == bare:
            return tuple(whole[:at]), tuple(whole[at + len(bare) :])
    raise ModelError(f"{type(tokenizer).__name__} changes a text when it marks its ends; it cannot be used")


def padded(batch: Sequence[Sequence[int]], *, pad: int, device: str) -> tuple[Any, Any]:
    """Ids of equal length and the mask of the true ones; the mask is None where nothing was padded."""
    torch = require("torch", extra="models")
    width = max(map(len, batch))
    ids = torch.tensor([[*each, *[pad] * (width - len(each))] for each in batch], device=device)
    if all(len(each) == width for each in batch):
        return ids, None
    marks = [[1] * len(each) + [0] * (width - len(each)) for each in batch]
    return ids, torch.tensor(marks, device=device)
