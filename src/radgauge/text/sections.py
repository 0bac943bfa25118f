"""Sections of a report: FINDINGS, IMPRESSION and the rest, wherever their headings stand.

Headings are found at the start of a line, alone on a line, in Markdown, or inline after a sentence
("... normal. IMPRESSION: ..."). Only known headings part a report: "LUNGS:" inside the findings stays there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from radgauge.core.parsing import shipped_toml

_TABLE = shipped_toml(__file__, "sections.toml")
HEADINGS: dict[str, tuple[str, ...]] = {name: tuple(headings) for name, headings in _TABLE["headings"].items()}
SPOKEN_AS: dict[str, str] = {
    heading: _TABLE["spoken_as"][name]
    for group in (_TABLE["headings"], _TABLE["inside"])
    for name, headings in group.items()
    for heading in headings
}
"""Heading -> what the sentences below it are: findings, impression, history, technique or recommendation."""
PREFERRED = ("findings", "impression", "findings and impression")
"""Sections that reports are judged by. Written in lower case, other headings are ordinary words of a sentence."""

CANONICAL = {heading: name for name, headings in HEADINGS.items() for heading in headings}
_WORDS = "|".join(
    re.escape(heading).replace(r"\ ", r"[ \t]++") for heading in sorted(CANONICAL, key=len, reverse=True)
)
_MARK = r"(?:\#{1,6}[ \t]*+|\*{1,2}|_{2}|<)?"  # Markdown: "## Findings", "**Findings:**"
HEADING = re.compile(
    rf"""
    (?: ^[ \t]*+{_MARK}(?P<line>{_WORDS})[ \t]*+(?:\*{{1,2}}|_{{2}})?[ \t]*+(?: :|$ ) (?:\*{{1,2}}|_{{2}})?
      | (?<=[.!?;,)\]])[ \t]*+{_MARK}(?P<sentence>{_WORDS})[ \t]*+(?:\*\*)?[ \t]*+:(?:\*\*)?
      | (?<=\s)(?P<word>(?-i:FINDINGS?|Findings?|IMPRESSIONS?|Impressions?))[ \t]*+:
    )
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


class Section(NamedTuple):
    """A part of a report: canonical name, heading as written, and where its text starts and ends."""

    name: str
    heading: str
    start: int
    end: int


def split_sections(text: str) -> list[Section]:
    """The sections of a report in order; text before the first heading is the section "preamble".

    >>> report = "INDICATION: Cough. FINDINGS: Lungs clear. IMPRESSION: Normal."
    >>> [(section.name, report[section.start : section.end]) for section in split_sections(report)]
    [('indication', 'Cough.'), ('findings', 'Lungs clear.'), ('impression', 'Normal.')]
    """
    starts = [("preamble", "", 0, 0)]
    # most candidates are one line without a colon, and the search costs more than the rest of reading them
    for match in HEADING.finditer(text) if ":" in text or "\n" in text else ():
        word = match["line"] or match["sentence"] or match["word"]
        name = CANONICAL[re.sub(r"\s+", " ", word.lower())]
        if word[0].isupper() or (name in PREFERRED and match[0].rstrip("*_").endswith(":")):
            starts.append((name, word, match.start(), match.end()))
    sections = []
    for index, (name, heading, _, body) in enumerate(starts):
        end = starts[index + 1][2] if index + 1 < len(starts) else len(text)
        start, end = _trim(text, body, end)
        if heading or start < end:
            sections.append(Section(name, heading, start, end))
    return sections


def has_headings(text: str) -> bool:
    """Does the report name its findings or its impression?"""
    return any(section.name in PREFERRED for section in split_sections(text))


def choose_section(text: str, section: str) -> str | None:
    """The text of one section; None if the report has no headings, "" if it has but not this one.

    Args:
        text: A report.
        section: findings, impression, both (findings, then impression, on a line each) or whole.

    >>> choose_section("Findings: Clear. Impression: Normal.", "impression")
    'Normal.'
    >>> choose_section("Clear.", "impression") is None
    True
    """
    if section == "whole":
        return text
    sections = split_sections(text)
    if not any(part.heading for part in sections):
        return None
    requested = ("findings", "impression") if section == "both" else (section,)
    chosen = [
        body
        for name in (*requested, "findings and impression")
        for part in sections
        if part.name == name and (body := text[part.start : part.end])
        if name != "findings and impression" or section == "both" or not _has(text, sections, section)
    ]
    return "\n".join(chosen)


def _has(text: str, sections: list[Section], name: str) -> bool:
    return any(part.name == name and part.start < part.end for part in sections)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space, and without the commas that flattened transcripts put around headings."""
    while start < end and (text[start].isspace() or text[start] == ","):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] == ","):
        end -= 1
    return start, end
