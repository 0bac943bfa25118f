"""A leaflet as data: a report, its plain sentences, and who signed it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from radgauge.core.errors import InputError
from radgauge.lay.leaflets.checking import CheckedText, checked_from
from radgauge.lay.plain_sentences import Gloss, PlainSentence, plain_text

Status = Literal["unsigned", "signed", "refused", "not written"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a radiologist about the plain text of a report."""

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
        """Review status."""
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
        return sum(sentence.kept for sentence in self.sentences)

    @property
    def digest(self) -> str:
        """Hash of id, report and plain text: what a signature holds for."""
        return hashlib.sha256(json.dumps([self.id, self.report, self.plain]).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """All of it as JSON values."""
        values = asdict(self) | {"status": self.status, "plain": self.plain, "digest": self.digest}
        values["sentences"] = [
            sentence._asdict() | {"glosses": [gloss._asdict() for gloss in sentence.glosses]}
            for sentence in self.sentences
        ]
        return values


def from_record(record: Mapping[str, Any]) -> Leaflet:
    """The leaflet of a record."""
    try:
        sentences = tuple(
            PlainSentence(
                **{
                    **sentence,
                    "glosses": tuple(Gloss(**gloss) for gloss in sentence["glosses"]),
                    "reasons": tuple(sentence["reasons"]),
                }
            )
            for sentence in record["sentences"]
        )
        decision, checked = record["decision"], record.get("checked")
        return Leaflet(
            *(record["id"], record["report"], sentences, record["writer"], record["why"]),
            Decision(**decision) if decision else None,
            checked_from(checked) if checked else None,
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"a record of the leaflets is damaged ({error}); write them again") from None
