"""Read whole reports: sentences, sections, and the readings of the sentences put in place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from radgauge.core.clean import TYPOGRAPHY, CleanText, clean
from radgauge.core.signature import component
from radgauge.reader.anaphora import deny_counterpart, resolve_references, resolve_size
from radgauge.reader.compile import compile_lexicon, load_vocabulary
from radgauge.reader.headings import carry_headings
from radgauge.reader.implied import denied_elsewhere
from radgauge.reader.label_grammar import statements
from radgauge.reader.label_values import Statement
from radgauge.reader.labelled import read_statement, settled
from radgauge.reader.lexicon import Lexicon
from radgauge.reader.reading import Attributes, Mention, Modifier, Relation, ReportReading, Sentence, Unread
from radgauge.reader.senses import resolve_by_region
from radgauge.reader.sentence import SentenceReading, read_sentence
from radgauge.reader.sides import carry_sides
from radgauge.reader.vocabulary import Vocabulary
from radgauge.text.sections import SPOKEN_AS
from radgauge.text.sentences import split_sentences

_SENTENCES_KEPT = 1 << 16
_LONGEST_SENTENCE = 4000  # characters; what is longer is no sentence and is read in pieces

_LONGEST_HEADING = 44  # characters
_LONGEST_LABEL = 60  # characters

_HEADING = re.compile(r"([A-Za-z][A-Za-z\s/&()-]{2,40}?)\s*:(?=[\s,]|$)[\s,]*")
_MAY_HEAD = re.compile(r":[*_ \t]*\n|\b(?:left|right)(?: side)?\s*:", re.IGNORECASE)
"""Marks that any text with headings of structures has."""
_ASIDE = frozenset({"history", "technique"})
_CONTEXT_OF = {"history": "history", "technique": "technique", "recommendation": "recommendation"}


def vocabulary_for(lexicon: Lexicon | None) -> Vocabulary:
    """The compiled form of a lexicon; None is the built-in one."""
    return load_vocabulary() if lexicon is None else compile_lexicon(lexicon)


def _sections(text: str, spans: Sequence[tuple[int, int]]) -> list[Sentence]:
    """Sentences with their section; the heading itself is no part of the sentence."""
    sentences = []
    section = ""
    for start, end in spans:
        if end - start <= _LONGEST_HEADING and (named := SPOKEN_AS.get(text[start:end].strip("#*_=: \n").lower())):
            section = named  # a line of its own, as in Markdown
            continue
        if ":" in text[start : start + 44]:
            heading = _HEADING.match(text, start, end)
            if heading is not None and (named := SPOKEN_AS.get(" ".join(heading[1].lower().split()))) is not None:
                section = named
                start = heading.end()
                if start >= end:
                    continue
        sentences.append(Sentence(start, end, section))
    return _without_stray_sections(sentences)


def _without_stray_sections(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences; a last heading of history or technique covers one: what follows are the findings.

    Lines do not matter: reports are wrapped, and pasted without their lines.
    """
    last = _of(sentences, -1)
    if last not in _ASIDE:
        return sentences
    begin = next((n + 1 for n in range(len(sentences) - 1, -1, -1) if sentences[n].section != last), 0)
    return [*sentences[: begin + 1], *(sentence._replace(section="") for sentence in sentences[begin + 1 :])]


def _of(sentences: Sequence[Sentence], index: int) -> str:
    return sentences[index].section if sentences else ""


def _pieces(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans no longer than a sentence can be, so that time stays linear in odd texts."""
    return [
        (begin, min(begin + _LONGEST_SENTENCE, end))
        for start, end in spans
        for begin in range(start, end, _LONGEST_SENTENCE)
    ]


@dataclass(frozen=True)
class ReportReader:
    """Reads reports with the embedded lexicon, or with the user's files merged over it.

    >>> reading = ReportReader().read(["No pleural effusion."])[0]
    >>> [(mention.text, mention.assertion) for mention in reading.mentions]
    [('pleural effusion', 'absent')]
    """

    lexicon: tuple[Path, ...] = ()

    @property
    def signature(self) -> str:
        """Version of the rules, which counts up when a reading of the probes moves, and hash of the lexicon."""
        return f"{component('report-reader')}:{load_vocabulary(self.lexicon).lexicon.hash}"

    def read(self, texts: Sequence[str]) -> list[ReportReading]:
        """Readings of the texts, in their order."""
        vocabulary = load_vocabulary(self.lexicon)
        return [_read(text, vocabulary, vocabulary.sentences) for text in texts]

    def pack(self, reading: ReportReading, text: str) -> bytes:
        """Return the reading as bytes for the cache on disk."""
        values = [
            *(reading.sentences, reading.mentions, reading.relations, reading.modifiers),
            *(reading.unread, reading.content_words, reading.known_words),
        ]
        return json.dumps(values, separators=(",", ":")).encode()

    def unpack(self, packed: bytes, text: str) -> ReportReading:
        """The reading that `pack` made bytes of."""
        sentences, mentions, relations, modifiers, unread, content, understood = json.loads(packed)
        return ReportReading(
            text,
            tuple(Sentence(*values) for values in sentences),
            tuple(_mention(values) for values in mentions),
            tuple(Relation(*values) for values in relations),
            tuple(Modifier(*values) for values in modifiers),
            tuple(Unread(*values) for values in unread),
            content,
            understood,
        )


def _mention(values: list[Any]) -> Mention:
    values[7] = _attributes(values[7])
    return Mention(*values)


def _attributes(values: list[Any]) -> Attributes:
    values = [tuple(value) if isinstance(value, list) else value for value in values]
    return Attributes(*values)


def _read(original: str, vocabulary: Vocabulary, cache: dict[str, SentenceReading]) -> ReportReading:
    cleaned = clean(original)
    text = cleaned.text if cleaned.text.isascii() else cleaned.text.translate(TYPOGRAPHY)
    labelled = {statement.start: statement for statement in statements(text)}
    spans = _between(text, labelled.values()) if labelled else split_sentences(text)
    sentences = _sections(text, _pieces(spans))

    def read(sentence: str) -> SentenceReading:
        cached = cache.get(sentence)
        if cached is None:
            cached = read_sentence(sentence, vocabulary)
            if len(cache) >= _SENTENCES_KEPT:
                cache.clear()
            cache[sentence] = cached
        return cached

    new = tuple.__new__  # half the time of the constructors, which only name the fields
    mentions: list[Mention] = []
    relations: list[Relation] = []
    modifiers: list[Modifier] = []
    unread: list[Unread] = []
    content = understood = 0
    for number, (start, end, section) in enumerate(sentences):
        sentence = text[start:end]
        statement = labelled.get(start)
        reading_of = read(sentence) if statement is None else read_statement(text, statement, read)
        if (
            statement is None
            and (colon := sentence.find(":", 2, _LONGEST_LABEL)) > 0
            and "," not in sentence[:colon]
        ):
            reading_of = settled(reading_of, colon)
        content += reading_of.content
        understood += reading_of.known
        if reading_of.unread:
            unread += [Unread(begin + start, stop + start, number) for begin, stop in reading_of.unread]
        first = len(mentions)
        context = _CONTEXT_OF.get(section, "")
        for begin, stop, words, concept, kind, assertion, _, attributes, form in reading_of.mentions:
            if context and attributes.context == "current":
                attributes = attributes._replace(context=context)
            placed = (begin + start, stop + start, words, concept, kind, assertion, number, attributes, form)
            mentions.append(new(Mention, placed))
        if reading_of.refers and first < len(mentions):
            resolve_references(mentions, first, vocabulary)
        if first and statement is None:
            resolve_size(mentions, first, sentence)
        if reading_of.counterpart[0]:
            which, begin, stop = reading_of.counterpart
            if denied := deny_counterpart(mentions, first, which, vocabulary):
                mentions.append(_counterpart(denied, sentence[begin:stop], (begin + start, number), vocabulary))
        position_of: Sequence[int] = range(first, len(mentions))
        if reading_of.normal and (denied_too := denied_elsewhere(mentions, first, vocabulary)):
            position_of = _put_in_order(mentions, first, denied_too)
        for source, target, name in reading_of.relations:
            relations.append(new(Relation, (position_of[source], position_of[target], name)))
        for begin, stop, role, value, owner in reading_of.modifiers:
            describes = position_of[owner] if owner >= 0 else -1
            modifiers.append(new(Modifier, (begin + start, stop + start, role, value, describes)))
    if mentions and _MAY_HEAD.search(text) is not None:
        carry_headings(text, sentences, mentions, read, vocabulary)
    resolve_by_region(mentions, relations, vocabulary)
    carry_sides(mentions, vocabulary)
    reading = ReportReading(
        original,
        tuple(sentences),
        tuple(mentions),
        tuple(relations),
        tuple(modifiers),
        tuple(unread),
        content,
        understood,
    )
    return reading if text is original else _in_original(reading, cleaned)


def _between(text: str, labelled: Iterable[Statement]) -> list[tuple[int, int]]:
    """Spans of labelled statements, and of the sentences between them."""
    spans: list[tuple[int, int]] = []
    position = 0
    for statement in labelled:
        spans += _shifted(text, position, statement.start)
        spans.append((statement.start, statement.end))
        position = statement.end
    return spans + _shifted(text, position, len(text))


def _shifted(text: str, start: int, end: int) -> list[tuple[int, int]]:
    part = text[start:end]
    return [(begin + start, stop + start) for begin, stop in split_sentences(part)] if part.strip() else []


def _in_original(reading: ReportReading, cleaned: CleanText) -> ReportReading:
    """The reading with the words and spans of the text as it was before it was cleaned."""
    span_of = cleaned.original
    return replace(
        reading,
        sentences=tuple(Sentence(*span_of(start, end), section) for start, end, section in reading.sentences),
        mentions=tuple(
            mention._replace(start=start, end=end, text=reading.text[start:end])
            for mention in reading.mentions
            for start, end in [span_of(mention.start, mention.end)]
        ),
        modifiers=tuple(
            Modifier(*span_of(start, end), role, value, mention)
            for start, end, role, value, mention in reading.modifiers
        ),
        unread=tuple(Unread(*span_of(start, end), number) for start, end, number in reading.unread),
    )


def _put_in_order(mentions: list[Mention], first: int, more: Sequence[Mention]) -> list[int]:
    """Add mentions to those of a sentence, in text order; returns where each of those from `first` on is now."""
    here = [*mentions[first:], *more]
    order = sorted(range(len(here)), key=lambda index: here[index].start)
    mentions[first:] = [here[index] for index in order]
    order_of = {before: after for after, before in enumerate(order)}
    return [first + order_of[index] for index in range(len(here))]


def _counterpart(
    denied: tuple[str, str], words: str, structure: tuple[int, int], vocabulary: Vocabulary
) -> Mention:
    """The denial of a finding that a sentence does not name; `place` is where it starts, and in which sentence."""
    concept, side = denied
    entry = vocabulary.lexicon.concepts.get(concept)
    attributes = Attributes(laterality=side, locations=entry.location if entry is not None else (), cue=words)
    kind = entry.kind if entry is not None else "open"
    return Mention(
        structure[0],
        structure[0] + len(words),
        words,
        concept,
        kind,
        "absent",
        structure[1],
        attributes,
        "ellipsis",
    )


_DEFAULT = ReportReader()


def read_report(text: str, *, lexicon: Lexicon | Path | str | None = None) -> ReportReading:
    """Read one report.

    Args:
        text: the report, or any part of it.
        lexicon: a TOML file merged over the built-in lexicon, or a lexicon from `load_lexicon`.

    >>> [mention.concept for mention in read_report("The heart is enlarged.").mentions]
    ['heart', 'cardiomegaly']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    if lexicon is None:
        return _DEFAULT.read([text])[0]
    if isinstance(lexicon, Lexicon):
        vocabulary = compile_lexicon(lexicon)
        return _read(text, vocabulary, vocabulary.sentences)
    return ReportReader((Path(lexicon),)).read([text])[0]
