"""The reading of a report: plain immutable records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from radgauge.core.notebook import ROWS, Mark, Tabular, marked_html

_COLUMNS = ("text", "concept", "kind", "assertion", "start", "end", "sentence", "form")


class Sentence(NamedTuple):
    """A sentence as a character span, and its section ("" when the report names none)."""

    start: int
    end: int
    section: str


class Attributes(NamedTuple):
    """Attributes that a report gives one mention."""

    laterality: str = ""  # left | right | bilateral | midline
    locations: tuple[str, ...] = ()  # ids of anatomy
    severity: str = ""  # trace | mild | moderate | severe
    sizes_mm: tuple[float, ...] = ()
    change: str = ""  # new | increased | decreased | stable | resolved
    descriptors: tuple[str, ...] = ()  # normal forms
    cue: str = ""  # words that made it absent or uncertain
    context: str = "current"  # current | history | technique | recommendation


class Mention(NamedTuple):
    """A concept of the lexicon at one place of the text, or an open claim.

    An open claim (kind "open", concept "open:<its words>") stands where a finding would, in words of no lexicon.
    """

    start: int
    end: int
    text: str
    concept: str
    kind: str  # anatomy | abnormality | disease | device | normality | open
    assertion: str  # present | absent | uncertain
    sentence: int  # index into sentences
    attributes: Attributes
    form: str = "noun"  # noun | adjective | clause (denied normality) | ellipsis (unnamed) | implied (normality)


class Modifier(NamedTuple):
    """A describing word at one place of the text and the mention it describes (-1 when there is none)."""

    start: int
    end: int
    role: str  # severity | change | side | quality | position | quantity | part | amount
    value: str
    mention: int


class Relation(NamedTuple):
    """A directed relation between two mentions, by index."""

    source: int
    target: int
    type: str  # modify | located_at | suggestive_of


class Unread(NamedTuple):
    """A content word that no rule explained, and its sentence."""

    start: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True, repr=False)
class ReportReading(Tabular):
    """A report as the reader understood it; everything is in text order.

    Content words are those that name or describe something; de-identified words are none. `known_words` counts
    those that the lexicon knows; the others are unread, or words of an open claim.
    """

    text: str
    sentences: tuple[Sentence, ...]
    mentions: tuple[Mention, ...]
    relations: tuple[Relation, ...]
    modifiers: tuple[Modifier, ...] = ()
    unread: tuple[Unread, ...] = ()
    content_words: int = 0
    known_words: int = 0

    @property
    def coverage(self) -> float:
        """Share of the content words that the lexicon knows, 0 to 1; NaN if there are none."""
        return self.known_words / self.content_words if self.content_words else math.nan

    def to_dict(self) -> dict[str, list[Any]]:
        """One row per mention."""
        rows = [{**mention._asdict(), **mention.attributes._asdict()} for mention in self.mentions]
        return {name: [row[name] for row in rows] for name in (*_COLUMNS, *Attributes._fields)}

    def __repr__(self) -> str:
        understood = "" if math.isnan(self.coverage) else f", {self.coverage:.0%} of its words understood"
        sentences, mentions = len(self.sentences), len(self.mentions)
        counted = f"{sentences} sentence{'s' * (sentences != 1)}: {mentions} mention{'s' * (mentions != 1)}"
        head = f"<reading of {counted}{understood}>"
        return "\n".join([head, *(f"  {m.text}: {m.kind}, {m.assertion}" for m in self.mentions[:ROWS])])

    def _repr_html_(self) -> str:
        """The report with its mentions marked; words that nothing explained are underlined."""
        marks = [
            Mark(m.start, m.end, m.kind if m.kind in ("anatomy", "normality") else m.assertion, m.concept)
            for m in self.mentions
        ]
        marks += [Mark(word.start, word.end, "unread") for word in self.unread]
        return f"<div>{marked_html(self.text, marks)}</div>"

    @property
    def open_claims(self) -> tuple[Mention, ...]:
        """The claims in words that the lexicon does not know."""
        return tuple(mention for mention in self.mentions if mention.kind == "open")

    def without_open_claims(self) -> ReportReading:
        """The reading with its open claims left out, for texts in plain words, of which no lexicon knows most."""
        order_of: dict[int, int] = {}
        for index, mention in enumerate(self.mentions):
            if mention.kind != "open":
                order_of[index] = len(order_of)
        return replace(
            self,
            mentions=tuple(self.mentions[index] for index in order_of),
            relations=tuple(
                Relation(order_of[source], order_of[target], kind)
                for source, target, kind in self.relations
                if source in order_of and target in order_of
            ),
            modifiers=tuple(
                modifier._replace(mention=order_of.get(modifier.mention, -1)) for modifier in self.modifiers
            ),
        )
