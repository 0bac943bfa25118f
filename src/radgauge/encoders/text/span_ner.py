"""Span-based entity recognition (the paper's second scheme, after PURE): runs of up to eight words are classified.

A span is its first and last sub-token's vectors and its width; three linear layers decide between no entity and
the five types. Zhong and Chen (2021), A frustratingly easy approach for entity and relation extraction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from radgauge.core.errors import ModelError, require
from radgauge.core.parsing import parse_json
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.ratener import LABELS, Entity, kept_sentences, splitter_named
from radgauge.encoders.text.sequences import SequenceEncoder
from radgauge.text.tokens import tokenize

SPAN_HEAD = "span_head.json"
CLASSES = ("", *dict.fromkeys(label[2:] for label in LABELS if label != "O"))
LONGEST_SPAN = 8  # words
HEAD_WIDTH = 3096
WIDTH_FEATURES = 150
_SENTENCES_AT_ONCE = 32  # through the head, whose layers are wide


def build_head(hidden: int, *, width: int = HEAD_WIDTH) -> Any:
    """Width embedding and the three layers."""
    torch = require("torch", extra="models")
    nn = torch.nn
    return nn.ModuleDict(
        {
            "widths": nn.Embedding(LONGEST_SPAN, WIDTH_FEATURES),
            "layers": nn.Sequential(
                nn.Linear(2 * hidden + WIDTH_FEATURES, width),
                nn.ReLU(),
                nn.Dropout(0.2),
                nn.Linear(width, width),
                nn.ReLU(),
                nn.Dropout(0.2),
                nn.Linear(width, len(CLASSES)),
            ),
        }
    )


def all_spans(words: int) -> list[tuple[int, int]]:
    """Every run of up to eight words, as first and last word."""
    return [(first, last) for first in range(words) for last in range(first, min(words, first + LONGEST_SPAN))]


def span_logits(encoder: Any, head: Any, encoded: Any, sizes: Sequence[int]) -> list[Any]:
    """Class scores of every span of every sentence.

    Args:
        encoder: The transformer.
        head: From `build_head`.
        encoded: Batch of the tokenizer for sentences split into words.
        sizes: Words of each sentence that survived truncation.
    """
    states = encoder(input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]).last_hidden_state
    return _scored(head, list(states), [encoded.word_ids(row) for row in range(len(sizes))], sizes)


def _scored(
    head: Any, states: Sequence[Any], word_ids: Sequence[Sequence[int | None]], sizes: Sequence[int]
) -> list[Any]:
    """Class scores of every span of some sentences, in one pass through the head."""
    torch = require("torch", extra="models")
    firsts, lasts, widths, counts = [], [], [], []
    offset = 0
    for rows, words, size in zip(states, word_ids, sizes, strict=True):
        begin, end = np.zeros((2, size), np.int64)
        for at, word in enumerate(words):
            if word is not None and word < size:
                end[word] = at
        for at in range(len(words) - 1, -1, -1):
            word = words[at]
            if word is not None and word < size:
                begin[word] = at
        spans = np.array(all_spans(size), np.int64).reshape(-1, 2)
        firsts.append(begin[spans[:, 0]] + offset)
        lasts.append(end[spans[:, 1]] + offset)
        widths.append(spans[:, 1] - spans[:, 0])
        counts.append(len(spans))
        offset += len(rows)
    if not sum(counts):
        return [head["layers"][-1].bias.new_zeros(0, len(CLASSES)) for _ in counts]
    flat = torch.cat(list(states))
    first, last, width = (
        torch.from_numpy(np.concatenate(arrays)).to(flat.device) for arrays in (firsts, lasts, widths)
    )
    features = torch.cat([flat[first], flat[last], head["widths"](width)], dim=1)
    return list(head["layers"](features).split(counts))


def kept_words(encoded: Any, row: int) -> int:
    """Words of a sentence that survived truncation; a word without sub-tokens ends it."""
    present = {word for word in encoded.word_ids(row) if word is not None}
    size = 0
    while size in present:
        size += 1
    return size


def choose_spans(scores: Any) -> list[tuple[int, int]]:
    """(number of the span, class) of what is an entity, best first, without overlaps."""
    torch = require("torch", extra="models")
    size = _words_of(len(scores))
    spans = all_spans(size)
    chances = torch.softmax(scores, dim=1)
    best, kind = chances.max(dim=1)
    taken = [False] * size
    chosen = []
    for number in torch.argsort(best, descending=True, stable=True).tolist():
        first, last = spans[number]
        if kind[number] and not any(taken[first : last + 1]):
            taken[first : last + 1] = [True] * (last - first + 1)
            chosen.append((number, int(kind[number])))
    return sorted(chosen, key=lambda item: spans[item[0]])


def _words_of(spans: int) -> int:
    size = 0
    while len(all_spans(size)) < spans:
        size += 1
    return size


@dataclass(frozen=True)
class SpanNer:
    """A span-based checkpoint of `radgauge train ner --settings scheme=span` as a reader of entities.

    Args:
        model: The folder.
        splitter: "rush" or "pyrush".
        device: `auto`, `cpu`, `cuda`.
    """

    model: str
    splitter: str = "rush"
    device: str = "auto"
    batch_size: ClassVar[int] = 2048

    @property
    def signature(self) -> str:
        """Model with content hash and splitter."""
        return f"span:{checkpoint_name(self.model)}|splitter:{self.splitter}"

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Entities of each text in text order."""
        split = splitter_named(self.splitter)
        pieces = [
            (number, span) for number, text in enumerate(texts) for span in kept_sentences(text, split(text))
        ]
        tokens = [tokenize(texts[number][start:end]) for number, (start, end) in pieces]
        entities_by_text: list[list[Entity]] = [[] for _ in texts]
        words = [
            [
                texts[number][start + a : start + b]
                for a, b in zip(sentence_tokens.starts, sentence_tokens.ends, strict=True)
            ]
            for (number, (start, _)), sentence_tokens in zip(pieces, tokens, strict=True)
        ]
        predicted = predict_spans(self.model, words, device=self.device)
        for (number, (start, _)), sentence_tokens, spans in zip(pieces, tokens, predicted, strict=True):
            for first, last, kind in spans:
                a, b = start + sentence_tokens.starts[first], start + sentence_tokens.ends[last]
                entities_by_text[number].append(Entity(texts[number][a:b], kind, a, b))
        return [tuple(entities) for entities in entities_by_text]

    def pack(self, reading: tuple[Entity, ...], text: str) -> bytes:
        """Return the entities as JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> tuple[Entity, ...]:
        """Return the entities that `pack` wrote."""
        return tuple(Entity(*row) for row in json.loads(packed))


def predict_spans(
    model: str, sentences: Sequence[Sequence[str]], *, device: str = "auto"
) -> list[list[tuple[int, int, str]]]:
    """Entities of sentences given as words: (first word, last word, type)."""
    torch = require("torch", extra="models")
    tokenizer, encoder, head = _load(model, pick_device(device))
    predicted: list[list[tuple[int, int, str]]] = [[] for _ in sentences]
    order = sorted((at for at, words in enumerate(sentences) if words), key=lambda at: -len(sentences[at]))
    for start in range(0, len(order), _SENTENCES_AT_ONCE):
        batch = order[start : start + _SENTENCES_AT_ONCE]
        encoded = tokenizer(
            [list(sentences[at]) for at in batch], is_split_into_words=True, truncation=True, max_length=512
        )
        sizes = [kept_words(encoded, row) for row in range(len(batch))]
        vectors = encoder.vectors(encoded["input_ids"])
        with torch.inference_mode():
            scores = _scored(head, vectors, [encoded.word_ids(row) for row in range(len(batch))], sizes)
        for at, words, span_scores in zip(batch, sizes, scores, strict=True):
            spans = all_spans(words)
            predicted[at] = [(*spans[number], CLASSES[kind]) for number, kind in choose_spans(span_scores.cpu())]
    return predicted


@lru_cache(maxsize=2)
def _load(model: str, device: str) -> tuple[Any, SequenceEncoder, Any]:
    folder = checkpoint_folder(model)
    settings = _settings(folder)
    tokenizer = load_tokenizer(folder, of=model)
    encoder = load_transformer(folder, of=model)
    head = build_head(encoder.config.hidden_size, width=settings["width"])
    head.load_state_dict(require("safetensors.torch", extra="models").load_file(folder / "span_head.safetensors"))
    return (
        tokenizer,
        SequenceEncoder(encoder, pad=tokenizer.pad_token_id or 0, device=device),
        head.eval().to(device),
    )


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / SPAN_HEAD
    if not path.is_file():
        raise ModelError(f"{folder} has no {SPAN_HEAD}: it must come from `radgauge train ner` with scheme=span")
    settings: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
    return settings
