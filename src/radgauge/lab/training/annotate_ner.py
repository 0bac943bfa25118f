"""Annotate reports for NER training without people: the pipeline of the RaTEScore paper (A.2).

Entities are proposed, by the embedded reader or by a language model; those that no term of a library comes close
to are dropped; sentences of which too little is annotated are dropped; rules decide what is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json, shipped_toml
from radgauge.encoders.text.encoders import Encoder
from radgauge.lab.training.ner_files import Fields, LabelledSpan, NerSentence
from radgauge.reader import RateEntity, load_lexicon, rate_entities, read_report
from radgauge.text.sentences import split_sentences
from radgauge.text.static_embedding import StaticEncoder
from radgauge.text.tokens import tokenize

SIMILARITY = 0.83
DENSITY = 0.7
"""The paper's thresholds."""
_KNOWN_DISEASE = "pneumonia"

TERMS_AT_ONCE = 1 << 15
TYPES = ("ABNORMALITY", "DISEASE", "ANATOMY")
_FUNCTION_WORDS = frozenset(shipped_toml(__file__, "function_words.toml")["function_words"])


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entity that somebody proposes for a sentence: its words as they stand there, and a type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class AnnotationCounts:
    """Number kept at each step."""

    sentences: int
    proposed: int
    close: int
    kept_sentences: int
    kept_entities: int


def annotate(
    reports: Iterable[str],
    *,
    about: Iterable[Mapping[str, str]] | None = None,
    proposals: dict[str, list[Proposal]] | None = None,
    library: Sequence[str] | None = None,
    encoder: Encoder | None = None,
    similarity: float = SIMILARITY,
    density: float = DENSITY,
) -> tuple[list[NerSentence], AnnotationCounts]:
    """Sentences with entities, ready for `train_ner`.

    Args:
        reports: Texts.
        about: Fields of each report for the records of its sentences, such as id and modality; None = none.
        proposals: Sentence -> entities from elsewhere (see `read_proposals`); None = the embedded reader proposes.
        library: Terms that an entity must resemble; None = the terms of the built-in lexicon.
        encoder: What compares; None = the embedded one (the paper: MedCPT).
        similarity: Smallest cosine with the closest term.
        density: Smallest share of words in entities, function words and numbers left aside. The paper does not say
            what it counts; this is our reading.
    """
    annotated: list[tuple[tuple[str, ...], list[tuple[int, int, str, str]], Fields]] = []
    texts = list(reports)
    fields = [tuple(record.items()) for record in about] if about is not None else [()] * len(texts)
    for report, of_report in zip(texts, fields, strict=True):
        for start, end in split_sentences(report):
            sentence = report[start:end]
            tokens = tokenize(sentence)
            words = tuple(sentence[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True))
            if words:
                token_spans = list(zip(tokens.starts, tokens.ends, strict=True))
                annotated.append((words, _entities(sentence, token_spans, proposals), of_report))
    names = list(dict.fromkeys(name for _, entities, _ in annotated for *_, name in entities))
    close = _close_names(names, library, encoder or StaticEncoder(), similarity)
    sentences: list[NerSentence] = []
    for words, entities, of_report in annotated:
        spans: tuple[LabelledSpan, ...] = tuple(
            (first, last, kind) for first, last, kind, name in entities if name in close
        )
        if spans and _density(words, spans) >= density:
            sentences.append(NerSentence(words, spans, of_report))
    proposed = [name for _, entities, _ in annotated for *_, name in entities]
    counts = AnnotationCounts(
        len(annotated),
        len(proposed),
        sum(name in close for name in proposed),
        len(sentences),
        sum(len(item.spans) for item in sentences),
    )
    return sentences, counts


def read_proposals(path: Path | str) -> dict[str, list[Proposal]]:
    """Entities that a language model proposed: JSON lines {"sentence": ..., "entities": [[name, type], ...]}.

    Types are abnormality, disease or anatomy; what is denied is decided by rules.
    """
    proposals: dict[str, list[Proposal]] = {}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
            entities = [Proposal(str(name), str(kind).upper()) for name, kind in record["entities"]]
            sentence = str(record["sentence"]).strip()
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f'{path}, line {number}: must be {{"sentence": ..., "entities": [[name, type], ...]}}, '
                f"got {error!r}"
            ) from None
        strange = [entity.type for entity in entities if entity.type.removeprefix("NON-") not in TYPES]
        if strange:
            raise InputError(
                f"{path}, line {number}: a type must be one of {', '.join(TYPES)}, got {strange[0]!r}"
            )
        proposals.setdefault(sentence, []).extend(entities)
    return proposals


def _entities(
    sentence: str, token_spans: list[tuple[int, int]], proposals: dict[str, list[Proposal]] | None
) -> list[tuple[int, int, str, str]]:
    """(first word, last word, type, name) of what is proposed for a sentence."""
    read = rate_entities(read_report(sentence))
    if proposals is None:
        marked = [(entity.start, entity.end, entity.type.upper(), entity.name) for entity in read]
    else:
        marked = []
        taken: list[tuple[int, int]] = []
        ordered = sorted(proposals.get(sentence.strip(), []), key=lambda proposal: -len(proposal.name))
        for proposal in dict.fromkeys(ordered):  # longest first: "pleural effusion" before "effusion"
            # A model that changes the words has not marked anything.
            for match in re.finditer(rf"(?<!\w){re.escape(proposal.name)}(?!\w)", sentence, re.IGNORECASE):
                start, end = match.span()
                if any(a <= start and end <= b for a, b in taken):
                    continue
                taken.append((start, end))
                kind = proposal.type.removeprefix("NON-")
                if kind != "ANATOMY" and _is_denied(sentence, start, end, read):
                    kind = f"NON-{kind}"
                marked.append((start, end, kind, proposal.name))
        marked.sort()
    spans = []
    for start, end, kind, name in marked:
        inside = [number for number, (a, b) in enumerate(token_spans) if a < end and start < b]
        if inside:
            spans.append((inside[0], inside[-1], kind, name))
    return spans


def _is_denied(sentence: str, start: int, end: int, read: Sequence[RateEntity]) -> bool:
    """True if the sentence denies these words; unknown words are judged by a known disease in their place."""
    there = [entity for entity in read if entity.start < end and start < entity.end and entity.type != "Anatomy"]
    if there:
        return any(entity.type.startswith("Non-") for entity in there)
    known = f"{sentence[:start]}{_KNOWN_DISEASE}{sentence[end:]}"
    return any(mention.start == start and mention.assertion == "absent" for mention in read_report(known).mentions)


def _close_names(
    names: Sequence[str], library: Sequence[str] | None, encoder: Encoder, similarity: float
) -> set[str]:
    terms = list(library) if library is not None else _lexicon_terms()
    if not terms:
        raise InputError("the library of terms is empty")
    if not names:
        return set()
    # Describing words in front do not make a term unknown: of "mild edema", "edema" is looked up too.
    tails = [(name, " ".join(name.split()[at:])) for name in names for at in range(len(name.split()))]
    query = encoder.encode([tail for _, tail in tails])
    best = np.full(len(query), -np.inf)
    for begin in range(0, len(terms), TERMS_AT_ONCE):  # a vocabulary may hold a million terms
        term_vectors = encoder.encode(terms[begin : begin + TERMS_AT_ONCE])
        for at in range(0, len(query), 512):
            best[at : at + 512] = np.maximum(
                best[at : at + 512], (query[at : at + 512] @ term_vectors.T).max(axis=1)
            )
    return {name for (name, _), value in zip(tails, best, strict=True) if value >= similarity}


def _lexicon_terms() -> list[str]:
    return list(dict.fromkeys(term for concept in load_lexicon().concepts.values() for term in concept.terms))


def _density(words: Sequence[str], spans: Sequence[LabelledSpan]) -> float:
    content = [
        number
        for number, word in enumerate(words)
        if word.lower() not in _FUNCTION_WORDS and any(character.isalpha() for character in word)
    ]
    covered = {number for first, last, _ in spans for number in range(first, last + 1)}
    return sum(number in covered for number in content) / len(content) if content else 0.0
