"""Claims read in a report, as a table for display: a row per claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from radgauge.reader import Lexicon, Mention, ReportReading
    from radgauge.render.tables import Table

COLOURS = {"present": "bold red", "absent": "green", "uncertain": "bold yellow", "normal": "green"}


class ClaimRow(NamedTuple):
    """One claim of a report."""

    label: str  # Name of the concept; the words themselves where no lexicon has them
    # present, absent, uncertain, normal or not normal; "(history)", "(recommendation)" where it is that
    status: str
    location: str  # Anatomy, the most specific first
    side: str  # left, right, bilateral, midline
    size: str  # Measurements in mm
    details: str  # Severity, change and further descriptors
    words: str  # As written
    start: int  # Position of the words in the text
    end: int  # End of the words


def claim_rows(reading: ReportReading, lexicon: Lexicon | None = None) -> list[ClaimRow]:
    """Return what a report claims and denies, in text order, without its anatomy and what it implies."""
    from radgauge.reader import load_lexicon

    concepts = (lexicon or load_lexicon()).concepts

    def name(concept: str) -> str:
        return concepts[concept].name if concept in concepts else concept.removeprefix("open:").replace("_", " ")

    rows = []
    for mention in reading.mentions:
        if mention.kind == "anatomy" or mention.form == "implied":
            continue
        attributes = mention.attributes
        parts = (attributes.severity, attributes.change, *attributes.descriptors)
        rows.append(
            ClaimRow(
                name(mention.concept),
                _status(mention),
                ", ".join(map(name, attributes.locations)),
                attributes.laterality,
                " x ".join(f"{size:g}" for size in attributes.sizes_mm) + " mm" * bool(attributes.sizes_mm),
                ", ".join(part for part in parts if part),
                mention.text,
                mention.start,
                mention.end,
            )
        )
    return rows


def _status(mention: Mention) -> str:
    status = mention.assertion
    if mention.kind == "normality":
        status = {"present": "normal", "absent": "not normal"}.get(status, status)
    context = mention.attributes.context
    return status if context == "current" else f"{status} ({context})"


def claim_table(reading: ReportReading, lexicon: Lexicon | None = None) -> Table:
    """Return the claims as a table."""
    from radgauge.render.tables import Cell, Column, table

    rows = [
        (
            row.label,
            Cell(row.status, style=COLOURS.get(row.status.partition(" (")[0], "")),
            *(row.location, row.side, row.size, row.details, row.words),
        )
        for row in claim_rows(reading, lexicon)
    ]
    heads = (Column("label", fold=True), "status", Column("place", fold=True), "side", "size")
    return table(*heads, Column("details", fold=True), Column("words", fold=True), rows=rows)


def coverage_lines(reading: ReportReading) -> str:
    """Return how much of a report was understood, and what was not."""
    if not reading.content_words:
        return "no content words"
    lines = [
        f"understood: {reading.known_words} of {reading.content_words} content words ({reading.coverage:.0%})"
    ]
    if claims := reading.open_claims:
        lines.append("open claims (not in the lexicon): " + ", ".join(claim.text for claim in claims))
    if reading.unread:
        lines.append("unread: " + ", ".join(reading.text[word.start : word.end] for word in reading.unread))
    return "\n".join(lines)
