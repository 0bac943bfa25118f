"""Batches of like length: little padding, and a size that stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

TOKENS_PER_BATCH = 1024


def token_batches(lengths: Sequence[int], *, tokens: int = TOKENS_PER_BATCH) -> Iterator[list[int]]:
    """Positions of the texts, longest first, in batches of at most `tokens` tokens with padding.

    >>> list(token_batches([3, 9, 4, 8], tokens=20))
    [[1, 3], [2, 0]]
    """
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    batch: list[int] = []
    for at in order:
        if batch and lengths[batch[0]] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
