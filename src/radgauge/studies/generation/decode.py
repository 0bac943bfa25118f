"""Reports written by the network: the likeliest token each time, or drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.errors import require
from radgauge.models.image.report_words import ReportWords
from radgauge.models.text.report_tokens import END, PAD, START, UNKNOWN, Vocabulary, joined_tokens
from radgauge.reading import Progress

Rows = NDArray[np.float32]
_AT_ONCE = 128  # reports that are written side by side
_ENDS = frozenset(".?!")


def write_reports(
    network: Any,
    vocabulary: Vocabulary,
    words: ReportWords,
    rows: Rows,
    *,
    ids: Sequence[str],
    samples: int = 0,
    temperature: float = 1.0,
    top: float = 0.9,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Of each study the report of likeliest tokens, then so many drawn ones.

    What is drawn for a study depends on the seed and its id, not on the studies beside it.

    Args:
        network: A `ReportDecoder`.
        vocabulary: Its tokens.
        words: The regression whose predictions it looks at.
        rows: Numbers of the studies.
        ids: Of the studies.
        samples: Drawn reports per study.
        temperature: Of the draw; below 1 nearer to the likeliest.
        top: Tokens are drawn from the likeliest that together have this chance.
        seed: Of the draw.
        progress: Told after every batch.
    """
    torch = require("torch", extra="models")
    conditions = words.conditions(words.predicted(rows))
    each, found = 1 + samples, []
    at_once = max(1, _AT_ONCE // each)
    with torch.inference_mode():
        for start in range(0, len(rows), at_once):
            part = slice(start, start + at_once)
            draws = np.stack([_draws(name, seed, samples, network.shape.longest) for name in ids[part]])
            studies = network.look(torch.from_numpy(rows[part]), torch.from_numpy(conditions[part]))
            repeated = [tuple(side.repeat_interleave(each, dim=0) for side in pair) for pair in studies]
            flat = torch.from_numpy(draws.reshape(-1, draws.shape[-1]))
            numbers = _written(network, repeated, flat, temperature=temperature, top=top)
            texts = [_text(vocabulary.words(row)) for row in numbers.tolist()]
            found += [texts[at : at + each] for at in range(0, len(texts), each)]
            if progress is not None:
                progress("reports", min(start + at_once, len(rows)), len(rows))
    return found


def _draws(name: str, seed: int, samples: int, longest: int) -> NDArray[np.float32]:
    """(1 + samples, tokens): numbers between 0 and 1; -1 in the first row, which is not drawn."""
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    drawn = np.random.default_rng((seed, key)).random((samples, longest), dtype=np.float32)
    return np.vstack([np.full((1, longest), -1, np.float32), drawn])


def _written(network: Any, studies: list[tuple[Any, Any]], draws: Any, *, temperature: float, top: float) -> Any:
    torch = require("torch", extra="models")
    tokens = torch.full((len(draws), 1), START)
    past, written, done = None, [], torch.zeros(len(draws), dtype=torch.bool)
    for place in range(draws.shape[1] - 1):
        scores, past = network(tokens, studies, past)
        scores = scores[:, -1]
        scores[:, [PAD, START, UNKNOWN]] = -torch.inf
        tokens = _next(scores, draws[:, place], temperature=temperature, top=top)
        tokens = tokens.masked_fill(done, PAD)
        done |= tokens == END
        written.append(tokens)
        tokens = tokens[:, None]
        if bool(done.all()):
            break
    return torch.stack(written, dim=1)


def _next(scores: Any, draws: Any, *, temperature: float, top: float) -> Any:
    """The likeliest token where the draw is negative, else the one that the draw falls on."""
    chances, order = (scores / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = chances.cumsum(dim=-1) - chances
    chances = chances.masked_fill(before >= top, 0.0)
    reached = chances.cumsum(dim=-1) / chances.sum(dim=-1, keepdim=True)
    place = (reached < draws.clamp(min=0)[:, None]).sum(dim=-1).clamp(max=scores.shape[-1] - 1)
    place = place.masked_fill(draws < 0, 0)
    return order.gather(1, place[:, None])[:, 0]


def _text(tokens: Sequence[str]) -> str:
    """Text of tokens; a sentence that stands twice stands once, half a sentence at the end goes."""
    sentences: dict[tuple[str, ...], None] = {}
    begun: list[str] = []
    for token in tokens:
        begun.append(token)
        if token in _ENDS:
            if any(each[0].isalnum() for each in begun):
                sentences.setdefault(tuple(begun))
            begun = []
    if begun and not sentences:
        sentences[tuple(begun)] = None
    return joined_tokens(token for sentence in sentences for token in sentence)
