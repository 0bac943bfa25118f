"""The entity recogniser that RaTEScore was published with: a token classifier and its decoding rules.

The rules are those of the authors' release 0.6.0, kept to the letter because scores depend on them:

- A label is read per sub-token, without any vote over a word; only a sub-token and its successor are looked at.
- The type of an I- label is never compared with the type that opened the entity.
- I- labels that follow O are dropped.
- The label predicted on [SEP] decides whether an entity at the end of a sentence is closed there.
- An entity that is still open at the end is kept only if none ended before it in a way that left its end behind:
  after two B- in a row, or I- followed by B-, an entity that reaches [SEP] on an I- label is lost.
- Sentences of fewer than three characters are skipped.

One thing is not kept: the release drops a report that has no sentence from its list, so that everything behind it
moves up; here such a report has no entities and stays in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from radgauge.core.errors import ModelError, UsageError, require
from radgauge.encoders.checkpoints.hub import checkpoint_folder, checkpoint_name, pick_device
from radgauge.encoders.checkpoints.weights import load_tokenizer, load_transformer
from radgauge.encoders.text.batching import overlong
from radgauge.encoders.text.sequences import SequenceEncoder, can_be_flat
from radgauge.text.rush import rush_sentences

LABELS = (
    *("B-ABNORMALITY", "I-ABNORMALITY", "B-NON-ABNORMALITY", "I-NON-ABNORMALITY", "B-DISEASE", "I-DISEASE"),
    *("B-NON-DISEASE", "I-NON-DISEASE", "B-ANATOMY", "I-ANATOMY", "O"),
)
"""The labels in the order of the published checkpoint and of the RaTE-NER files."""

SPLITTERS = ("rush", "pyrush")
SHORTEST = 3  # characters of a sentence
MAX_TOKENS = 512  # sub-tokens of a sentence
_SENTENCES_KEPT = 1 << 17

Span = tuple[int, int]


class Entity(NamedTuple):
    """An entity as RaTEScore sees it; the span is -1, -1 where it is not known."""

    name: str
    type: str  # ABNORMALITY, ANATOMY, DISEASE, NON-ABNORMALITY or NON-DISEASE
    start: int = -1
    end: int = -1


def decode(tokens: Sequence[str], labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Entities in a labelled sentence as (first sub-token, last sub-token, type).

    >>> decode(["[CLS]", "no", "pleural", "effusion", "[SEP]"], ["O", "O", "B-DISEASE", "I-ANATOMY", "O"])
    [(2, 3, 'DISEASE')]

    Args:
        tokens: Sub-tokens with the special ones.
        labels: One label per sub-token; there may be more, for padding.
    """
    entities: list[tuple[int, int, str]] = []
    start = end = None
    kind = ""
    for at, token in enumerate(tokens):
        label = labels[at]
        if token in ("[CLS]", "[SEP]") or label == "O" or at + 1 >= len(labels):
            continue
        mark, after = label[0], labels[at + 1][0]
        if mark == "B":
            if after != "I":
                entities.append((at, at, label[2:]))
                end = at
            start, kind = at, label[2:]
        elif after in "BO":
            end = at
            if start is not None:
                entities.append((start, at, kind))
            start, kind = at, label[2:]
        if after == "O":
            start = end = None
    if start is not None and end is None:
        entities.append((start, len(tokens) - 2, kind))
    return entities


@dataclass(frozen=True)
class RateNer:
    """A token-classification checkpoint as a reader of entities; weights are loaded at the first text.

    Args:
        model: Folder or hub id with optional `@revision`.
        splitter: "rush", or "pyrush": the original through medspacy, if it is installed.
        device: `auto`, `cpu`, `cuda`, `cuda:1`.
        tokens: Sub-tokens per forward pass; 0 for what suits the device.
    """

    model: str
    splitter: str = "rush"
    device: str = "auto"
    tokens: int = 0
    batch_size: ClassVar[int] = 2048

    def __post_init__(self) -> None:
        if self.splitter not in SPLITTERS:
            raise UsageError(f"splitter must be one of {', '.join(SPLITTERS)}, got {self.splitter!r}")
        if self.tokens < 0:
            raise UsageError(f"tokens must be 0 or more, got {self.tokens}")

    @property
    def signature(self) -> str:
        """Model with revision or content hash, and splitter; not device and batch size."""
        return f"{checkpoint_name(self.model)}|splitter:{self.splitter}"

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Entities of each text, sentence by sentence, duplicates included."""
        split = splitter_named(self.splitter)
        spans = [kept_sentences(text, split(text)) for text in texts]
        sentences = [
            [text[start:end] for start, end in text_spans] for text, text_spans in zip(texts, spans, strict=True)
        ]
        network = _load(self.model, pick_device(self.device))
        entities_by_sentence = network.entities(
            [item for group in sentences for item in group], tokens=self.tokens
        )
        return [
            tuple(
                Entity(entity.name, entity.type, entity.start + start, entity.end + start)
                for (start, _), sentence in zip(text_spans, inside, strict=True)
                for entity in entities_by_sentence[sentence]
            )
            for text_spans, inside in zip(spans, sentences, strict=True)
        ]

    def overlong(self, texts: Sequence[str]) -> list[bool]:
        """True for texts with a sentence that is not read to its end."""
        split, network = splitter_named(self.splitter), _load(self.model, pick_device(self.device))
        sentences = [[text[start:end] for start, end in kept_sentences(text, split(text))] for text in texts]
        return [any(overlong(network.tokenizer, group, MAX_TOKENS)) for group in sentences]

    def pack(self, reading: tuple[Entity, ...], text: str) -> bytes:
        """Return the entities as JSON."""
        return json.dumps(reading).encode()

    def unpack(self, packed: bytes, text: str) -> tuple[Entity, ...]:
        """Return the entities that `pack` wrote."""
        return tuple(Entity(*row) for row in json.loads(packed))


def kept_sentences(text: str, spans: Sequence[Span]) -> list[Span]:
    """Sentences without surrounding blanks; those of fewer than three characters are left out.

    >>> kept_sentences(" No. A b c", [(0, 5), (5, 10)])
    [(1, 4), (5, 10)]
    """
    trimmed = []
    for start, end in spans:
        sentence = text[start:end]
        begin = start + len(sentence) - len(sentence.lstrip())
        stop = begin + len(sentence.strip())
        if stop - begin >= SHORTEST:
            trimmed.append((begin, stop))
    return trimmed


def splitter_named(name: str) -> Callable[[str], list[Span]]:
    """The function that splits a text into spans of sentences."""
    return rush_sentences if name == "rush" else _pyrush()


@lru_cache(maxsize=1)
def _pyrush() -> Callable[[str], list[Span]]:
    # Not an extra of ours: its pins drag numpy and spaCy back, so users install it themselves or not at all.
    try:
        import medspacy
    except ModuleNotFoundError:
        raise UsageError(
            "splitter 'pyrush' needs medspacy, which is not installed; use splitter 'rush' "
            "or run: pip install medspacy==1.3.1"
        ) from None
    from importlib import import_module

    import_module("loguru").logger.disable("PyRuSH")  # it reports every token
    pipeline = medspacy.load(medspacy_enable=["medspacy_pyrush"])

    def split(text: str) -> list[Span]:
        return [(sentence.start_char, sentence.end_char) for sentence in pipeline(text).sents]

    return split


@dataclass(frozen=True, eq=False)
class _Network:
    """A loaded checkpoint, and the sentences it has seen."""

    tokenizer: Any
    encoder: SequenceEncoder
    classify: Callable[[Any], Any]
    names: tuple[str, ...]
    cache: dict[str, tuple[Entity, ...]] = field(default_factory=dict)

    def entities(self, sentences: Sequence[str], *, tokens: int) -> dict[str, tuple[Entity, ...]]:
        """Entities of each distinct sentence, spans within the sentence."""
        if len(self.cache) > _SENTENCES_KEPT:
            self.cache.clear()
        fresh = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self.cache]
        if fresh:
            self.cache.update(zip(fresh, self._read(fresh, tokens), strict=True))
        return self.cache

    def _read(self, batch: list[str], tokens: int) -> list[tuple[Entity, ...]]:
        encoded = self.tokenizer(batch, truncation=True, max_length=MAX_TOKENS, return_offsets_mapping=True)
        rows, offsets = encoded["input_ids"], encoded["offset_mapping"]
        labels = self.encoder.vectors(rows, then=self.classify, tokens=tokens)
        return [
            self._entities(sentence, ids, [self.names[mark] for mark in marks.tolist()], sentence_offsets)
            for sentence, ids, marks, sentence_offsets in zip(batch, rows, labels, offsets, strict=True)
        ]

    def _entities(
        self, sentence: str, ids: list[int], labels: list[str], offsets: list[tuple[int, int]]
    ) -> tuple[Entity, ...]:
        tokens = self.tokenizer.convert_ids_to_tokens(ids)
        return tuple(self._entity(sentence, tokens, offsets, *span) for span in decode(tokens, labels))

    def _entity(
        self, sentence: str, tokens: list[str], offsets: list[tuple[int, int]], first: int, last: int, kind: str
    ) -> Entity:
        name = self.tokenizer.convert_tokens_to_string(tokens[first : last + 1])
        start, end = offsets[first][0], offsets[last][1]
        inside = sentence[start:end]
        start += len(inside) - len(inside.lstrip())
        return Entity(name, kind, start, max(start, start + len(inside.strip())))


@lru_cache(maxsize=2)
def _load(model: str, device: str) -> _Network:
    folder = checkpoint_folder(model)
    tokenizer = load_tokenizer(folder, of=model)
    classifier = load_transformer(folder, of=model, kind="AutoModelForTokenClassification")
    if not tokenizer.is_fast:
        raise ModelError(f"{model!r} must have a fast tokenizer (tokenizer.json)")
    strange = sorted(set(classifier.config.id2label.values()) - set(LABELS))
    if strange:
        raise ModelError(f"{model!r} must label with {', '.join(LABELS)}, got {strange[0]!r}")
    names = tuple(classifier.config.id2label[number] for number in range(len(classifier.config.id2label)))
    encoder, classify = _halves(classifier.eval(), pad=tokenizer.pad_token_id or 0, device=device)
    return _Network(tokenizer, encoder, classify, names)


def _halves(classifier: Any, *, pad: int, device: str) -> tuple[SequenceEncoder, Callable[[Any], Any]]:
    """The encoder of a token classifier, and what makes labels of its rows."""
    torch = require("torch", extra="models")
    last = getattr(classifier, "classifier", None)
    if can_be_flat(classifier.base_model) and isinstance(last, torch.nn.Linear):
        last = last.float().to(device)
        return SequenceEncoder(classifier.base_model, pad=pad, device=device), lambda rows: last(rows).argmax(
            dim=1
        )
    return SequenceEncoder(classifier, pad=pad, device=device), lambda rows: rows.argmax(dim=1)
