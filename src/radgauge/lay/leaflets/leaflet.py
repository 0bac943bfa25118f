"""A leaflet as data: a report, its plain sentences, the words that are explained, and who signed it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from radgauge.core.errors import InputError
from radgauge.lay.lay_reader import plain_term
from radgauge.lay.leaflets.checking import CheckedText, checked_from
from radgauge.lay.plain_sentences import Gloss, PlainSentence, plain_text
from radgauge.reader import ReportReading, load_lexicon, read_report
from radgauge.reader.lexicon import FINDING_KINDS

Status = Literal["unsigned", "signed", "refused", "not written"]
MOST_WORDS = 12
"""Words that a leaflet explains; a patient reads two pages, not five."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the report with its meaning."""

    term: str
    plain: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a radiologist decided about the plain text of a report."""

    id: str
    by: str
    at: str  # When, in ISO form
    report: str  # The report that was in front of the radiologist
    plain: str  # The plain text that was in front of the radiologist
    released: bool  # True if it may go to the patient
    why: str = ""  # Why not; "" if released


@dataclass(frozen=True, slots=True)
class Leaflet:
    """One report on its way to the patient."""

    id: str
    report: str
    sentences: tuple[PlainSentence, ...] = ()  # The plain sentences; none if it could not be written
    writer: str = ""  # Who wrote them, in words
    why: str = ""  # Why it is not written or not released; "" otherwise
    decision: Decision | None = None  # What the radiologist decided on exactly this text; None if nobody has
    # What the independent check reads; None if the writer is held to it sentence by sentence
    checked: CheckedText | None = None

    @property
    def status(self) -> Status:
        """Where it stands."""
        if not self.sentences:
            return "not written"
        if self.decision is None:
            return "unsigned"
        return "signed" if self.decision.released else "refused"

    @property
    def plain(self) -> str:
        """The plain text as a whole: what is signed."""
        return plain_text(self.sentences)

    @property
    def kept(self) -> int:
        """Sentences that stand in the words of the report."""
        return sum(each.kept for each in self.sentences)

    @property
    def digest(self) -> str:
        """Hash of id, report and plain text: what a signature holds for."""
        return hashlib.sha256(json.dumps([self.id, self.report, self.plain]).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """All of it as JSON values."""
        found = asdict(self) | {"status": self.status, "plain": self.plain, "digest": self.digest}
        found["sentences"] = [
            each._asdict() | {"glosses": [gloss._asdict() for gloss in each.glosses]} for each in self.sentences
        ]
        return found


def from_record(record: Mapping[str, Any]) -> Leaflet:
    """The leaflet of a record."""
    try:
        sentences = tuple(
            PlainSentence(
                **{
                    **each,
                    "glosses": tuple(Gloss(**gloss) for gloss in each["glosses"]),
                    "reasons": tuple(each["reasons"]),
                }
            )
            for each in record["sentences"]
        )
        decision, checked = record["decision"], record.get("checked")
        return Leaflet(
            *(record["id"], record["report"], sentences, record["writer"], record["why"]),
            Decision(**decision) if decision else None,
            checked_from(checked) if checked else None,
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"a record of the leaflets is damaged ({error}); write them again") from None


def explained_words(leaflet: Leaflet) -> tuple[Word, ...]:
    """The words of a report with their meaning, in the order of the report, each once.

    The writer's glosses count; where it has none, the reader's findings and anatomy with their plain terms do.
    """
    reading = read_report(leaflet.report)
    glosses = [gloss for each in leaflet.sentences for gloss in each.glosses] or _glosses(reading)
    found: dict[str, Word] = {}
    for gloss in glosses:
        key = gloss.plain.lower()
        if key in found or gloss.term.lower() == key:
            continue
        found[key] = Word(gloss.term, gloss.plain)
    return tuple(found.values())[:MOST_WORDS]


def _glosses(reading: ReportReading) -> Sequence[Gloss]:
    lexicon = load_lexicon()
    found = []
    for mention in reading.mentions:
        concept = lexicon.concepts.get(mention.concept)
        if concept is None or mention.form != "noun" or mention.kind not in (*FINDING_KINDS, "anatomy"):
            continue
        plain = plain_term(concept)
        if plain and plain.lower() != mention.text.lower():
            found.append(Gloss(mention.start, mention.end, mention.text, plain, mention.concept))
    return found
