"""Reports written by the network: the likeliest token each time, the likeliest of several beams, or drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import require
from radgauge.core.readings import Progress
from radgauge.encoders.image.report_words import ReportWords
from radgauge.encoders.text.report_tokens import END, PAD, START, UNKNOWN, Vocabulary, joined_tokens

Rows = NDArray[np.float32]
_AT_ONCE = 128  # reports that are written side by side
_ENDS = frozenset(".?!")
_LENGTH = 0.7  # power of the length that a beam's log chance is divided by


def write_reports(
    network: Any,
    vocabulary: Vocabulary,
    words: ReportWords,
    rows: Rows,
    *,
    ids: Sequence[str],
    samples: int = 0,
    beams: int = 1,
    temperature: float = 1.0,
    top: float = 0.9,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[list[str]]:
    """Of each study the likeliest report, then so many drawn ones.

    What is drawn for a study depends on the seed and its id, not on the studies beside it.

    Args:
        network: A `ReportDecoder`.
        vocabulary: Its tokens.
        words: The regression whose predictions it looks at.
        rows: Numbers of the studies.
        ids: Of the studies.
        samples: Drawn reports per study.
        beams: Beginnings that are followed side by side for the likeliest report; 1 takes the likeliest token
            each time.
        temperature: Of the draw; below 1 nearer to the likeliest.
        top: Tokens are drawn from the likeliest that together have this chance.
        seed: Of the draw.
        progress: Told after every batch.
    """
    torch = require("torch", extra="models")
    conditions = words.conditions(words.predicted(rows))
    per_study, written = 1 + samples, []
    at_once = max(1, _AT_ONCE // max(per_study, beams))
    with torch.inference_mode():
        for start in range(0, len(rows), at_once):
            batch = slice(start, start + at_once)
            draws = np.stack([_draws(name, seed, samples, network.size.longest) for name in ids[batch]])
            studies = network.look(torch.from_numpy(rows[batch]), torch.from_numpy(conditions[batch]))
            repeated = [tuple(side.repeat_interleave(per_study, dim=0) for side in pair) for pair in studies]
            flat = torch.from_numpy(draws.reshape(-1, draws.shape[-1]))
            numbers = _written(network, repeated, flat, temperature=temperature, top=top)
            texts = [_text(vocabulary.words(row)) for row in numbers.tolist()]
            parts = [texts[at : at + per_study] for at in range(0, len(texts), per_study)]
            if beams > 1:
                for part, row in zip(parts, _beamed(network, studies, beams=beams).tolist(), strict=True):
                    part[0] = _text(vocabulary.words(row))
            written += parts
            if progress is not None:
                progress("reports", min(start + at_once, len(rows)), len(rows))
    return written


def _draws(name: str, seed: int, samples: int, length: int) -> NDArray[np.float32]:
    """(1 + samples, tokens): numbers between 0 and 1; -1 in the first row, which is not drawn."""
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    drawn = np.random.default_rng((seed, key)).random((samples, length), dtype=np.float32)
    return np.vstack([np.full((1, length), -1, np.float32), drawn])


def _written(network: Any, studies: list[tuple[Any, Any]], draws: Any, *, temperature: float, top: float) -> Any:
    torch = require("torch", extra="models")
    tokens = torch.full((len(draws), 1), START)
    past, written, done = None, [], torch.zeros(len(draws), dtype=torch.bool)
    for position in range(draws.shape[1] - 1):
        scores, past = network(tokens, studies, past)
        scores = scores[:, -1]
        scores[:, [PAD, START, UNKNOWN]] = -torch.inf
        tokens = _next(scores, draws[:, position], temperature=temperature, top=top)
        tokens = tokens.masked_fill(done, PAD)
        done |= tokens == END
        written.append(tokens)
        tokens = tokens[:, None]
        if bool(done.all()):
            break
    return torch.stack(written, dim=1)


def _beamed(network: Any, studies: list[tuple[Any, Any]], *, beams: int) -> Any:
    """(studies, tokens): of the reports that so many beams reach, the one with the best log chance per token.

    A beam that has ended stays as it is at no cost; the divisor is a power of the length (Wu et al. 2016, without
    their constant), since the likeliest report by the plain sum is a short one.
    """
    torch = require("torch", extra="models")
    number = len(studies[0][0])
    studies = [tuple(side.repeat_interleave(beams, dim=0) for side in pair) for pair in studies]
    sums = torch.full((number, beams), -torch.inf)
    sums[:, 0] = 0.0  # all beams begin alike: only the first may branch
    tokens, past = torch.full((number * beams, 1), START), None
    written = torch.empty((number * beams, 0), dtype=torch.long)
    done = torch.zeros(number * beams, dtype=torch.bool)
    for _ in range(network.size.longest - 1):
        scores, past = network(tokens, studies, past)
        scores = scores[:, -1]
        scores[:, [PAD, START, UNKNOWN]] = -torch.inf
        scores = scores.log_softmax(dim=-1)
        scores[done] = -torch.inf
        scores[done, PAD] = 0.0
        sums, positions = (sums.view(-1, 1) + scores).view(number, -1).topk(beams, dim=-1)
        source = (positions // scores.shape[-1] + beams * torch.arange(number)[:, None]).flatten()
        tokens = (positions % scores.shape[-1]).flatten()
        written = torch.cat([written[source], tokens[:, None]], dim=1)
        done = done[source] | (tokens == END)
        if bool(done.all()):
            break
        past = [tuple(side[source] for side in pair) for pair in past]
        tokens = tokens[:, None]
    lengths = (written != PAD).sum(dim=1).view(number, beams)
    best = (sums / lengths**_LENGTH).argmax(dim=-1) + beams * torch.arange(number)
    return written[best]


def _next(scores: Any, draws: Any, *, temperature: float, top: float) -> Any:
    """The likeliest token where the draw is negative, else the one that the draw falls on."""
    chances, order = (scores / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = chances.cumsum(dim=-1) - chances
    chances = chances.masked_fill(before >= top, 0.0)
    reached = chances.cumsum(dim=-1) / chances.sum(dim=-1, keepdim=True)
    index = (reached < draws.clamp(min=0)[:, None]).sum(dim=-1).clamp(max=scores.shape[-1] - 1)
    index = index.masked_fill(draws < 0, 0)
    return order.gather(1, index[:, None])[:, 0]


def _text(tokens: Sequence[str]) -> str:
    """Text of tokens; a sentence that stands twice stands once, half a sentence at the end goes."""
    sentences: dict[tuple[str, ...], None] = {}
    begun: list[str] = []
    for token in tokens:
        begun.append(token)
        if token in _ENDS:
            if any(part[0].isalnum() for part in begun):
                sentences.setdefault(tuple(begun))
            begun = []
    if begun and not sentences:
        sentences[tuple(begun)] = None
    return joined_tokens(token for sentence in sentences for token in sentence)
