"""Batches of like length: little padding, and a size that stays in the processor's cache."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from radgauge.core.errors import ModelError, require

log = logging.getLogger(__name__)

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


def run_batches(
    lengths: Sequence[int], work: Callable[[list[int]], None], *, tokens: int, padding: bool = True
) -> None:
    """Call `work` with batches of positions until all are done; where memory runs out, batches of half the size.

    Args:
        lengths: Tokens of each text.
        work: Does one batch, given the positions of its texts; if it fails for want of memory it is called again
            with fewer of them.
        tokens: Size of a batch.
        padding: As in `token_batches`.

    Raises:
        ModelError: Memory does not suffice for one text.

    >>> def work(batch):
    ...     if len(batch) > 2:
    ...         raise MemoryError
    ...     print(batch)
    >>> run_batches([3, 9, 4, 8], work, tokens=100)
    [1, 3]
    [2, 0]
    """
    left = list(range(len(lengths)))
    while left:
        done: set[int] = set()
        try:
            for batch in token_batches([lengths[at] for at in left], tokens=tokens, padding=padding):
                chosen = [left[at] for at in batch]
                work(chosen)
                done.update(chosen)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(chosen) == 1:
                raise ModelError(
                    f"memory must suffice for one text of {lengths[chosen[0]]} tokens, and does not; "
                    "use device=cpu, or shorten the text"
                ) from error
            tokens = max(sum(lengths[at] for at in chosen) // 2, 1)
            log.warning("memory ran out with %d texts at once; going on with %d tokens", len(chosen), tokens)
            _free()
        left = [at for at in left if at not in done]


def is_out_of_memory(error: BaseException) -> bool:
    """True if a batch failed for want of memory, on a device or on the processor."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    message = str(error)
    return "out of memory" in message or "can't allocate memory" in message or "not enough memory" in message


def _free() -> None:
    torch = require("torch", extra="models")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def batch_tokens(device: str) -> int:
    """Tokens of a batch: every thread of a processor gets a share that stays in its cache."""
    torch = require("torch", extra="models")
    return TOKENS_PER_BATCH * int(torch.get_num_threads()) if device == "cpu" else TOKENS_ON_DEVICE


def markers(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that a tokenizer puts before and behind a text."""
    bare: list[int] = tokenizer.encode("a", add_special_tokens=False)
    encoded: list[int] = tokenizer.encode("a", add_special_tokens=True)
    for at in range(len(encoded) - len(bare) + 1):
        if encoded[at : at + len(bare)] == bare:
            return tuple(encoded[:at]), tuple(encoded[at + len(bare) :])
    raise ModelError(f"{type(tokenizer).__name__} changes a text when it marks its ends; it cannot be used")


def padded(batch: Sequence[Sequence[int]], *, pad: int, device: str) -> tuple[Any, Any]:
    """Ids of equal length and the mask of the true ones; the mask is None where nothing was padded."""
    torch = require("torch", extra="models")
    width = max(map(len, batch))
    ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in batch], device=device)
    if all(len(row) == width for row in batch):
        return ids, None
    marks = [[1] * len(row) + [0] * (width - len(row)) for row in batch]
    return ids, torch.tensor(marks, device=device)


def overlong(tokenizer: Any, texts: Sequence[str], limit: int, *, markers: bool = True) -> list[bool]:
    """True for texts of more sub-tokens than the limit.

    Args:
        tokenizer: Of transformers.
        texts: As the tokenizer is given them.
        limit: Sub-tokens that are read.
        markers: Whether the limit counts the special tokens at beginning and end.
    """
    if not texts:
        return []
    ids = tokenizer(list(texts), add_special_tokens=markers, truncation=False, verbose=False)["input_ids"]
    return [len(row) > limit for row in ids]
