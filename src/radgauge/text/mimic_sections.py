"""Sections of MIMIC-CXR reports by the rules that made `mimic_cxr_sectioned.csv`.

After the section parser of the MIMIC-CXR code repository (Johnson et al., MIMIC-CXR, Sci Data 2019): a heading is
a line that starts with one blank and capitals up to a colon, and whatever the name, everything up to the next
such line belongs to it. The parser also lists some fifty studies by number whose sections it fixes by hand;
those are not repeated here. One deviation: the heading "NDICATION" is read as an indication, not as an impression.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

HEADING = re.compile(r"\n ([A-Z ()/,-]+):\s")

SYNONYMS: dict[str, tuple[str, ...]] = {
    "impression": ("conclusion", "impression", "findings and impression", "findings/impression", "opinion"),
    "findings": ("findings", "finding", "chest, two views", "reference findings"),
    "comparison": ("comparison", "comparisons", "reference exam", "comparison exam", "comparison film"),
    "history": ("history", "clinical history", "patient history", "clinical information", "pfi"),
    "indication": ("indication", "clinical indication", "reason for exam", "reason for examination"),
    "examination": ("examination", "exam", "type of examination", "type of exam"),
    "recommendation": ("recommendation", "recommendations", "recommendation(s)"),
    "technique": ("technique",),
    "notification": ("notification",),
    "addendum": ("addendum",),
    "wet read": ("wet read", "wetread"),
}
NAMES = {synonym: name for name, synonyms in SYNONYMS.items() for synonym in synonyms}
INSIDE = ("impression", "findings", "history", "comparison", "addendum")
"""Words that name the section wherever they appear in a longer heading."""

VIEWS = re.compile(
    r"chest|portable|\b(?:pa|ap) and lat|lateral|frontal|upright|supine|views?\b|radiograph|x-ray|ribs?\b|abdomen"
)
"""A heading that names the image opens the findings."""


class MimicSection(NamedTuple):
    """A section: its name, and where its text starts and ends in the report."""

    name: str
    start: int
    end: int


def split_mimic_sections(text: str) -> list[MimicSection]:
    """The sections of a report in order, from "preamble" on; empty findings and impressions are left out.

    If there is neither findings nor impression, the text after the first blank line of the last section becomes
    the section "last_paragraph".

    >>> report = " FINAL REPORT\\n INDICATION:  Cough.\\n \\n FINDINGS:  Lungs clear.\\n"
    >>> [(part.name, report[part.start : part.end].strip()) for part in split_mimic_sections(report)]
    [('preamble', 'FINAL REPORT'), ('indication', 'Cough.'), ('findings', 'Lungs clear.')]
    """
    heads: list[tuple[str, int, int]] = []
    position = 0
    while match := HEADING.search(text, position):
        heads.append((section_name(match[1]), match.start(), match.end()))
        # two headings never share a line, but the line break behind one may open the next
        line_end = text.find("\n", match.end() - 1)
        if line_end < 0:
            break
        position = line_end
    starts = [("preamble", 0, 0), *heads]
    ends = [begin for _, begin, _ in starts[1:]] + [len(text)]
    sections = [MimicSection(name, body, end) for (name, _, body), end in zip(starts, ends, strict=True)]
    remaining = [
        part
        for part in sections
        if part.name not in ("preamble", "impression", "findings") or text[part.start : part.end].strip()
    ]
    if remaining and not any(part.name in ("impression", "findings") for part in remaining):
        last = remaining[-1]
        if blank := re.compile(r"\n[ \t]*\n").search(text, last.start, last.end):
            remaining[-1] = last._replace(end=blank.start())
            if text[blank.end() : last.end].strip():
                remaining.append(MimicSection("last_paragraph", blank.end(), last.end))
    return remaining


def mimic_sections(text: str) -> dict[str, str]:
    """Section name -> text; of sections that occur twice the last, as in the published table."""
    return {part.name: text[part.start : part.end].strip() for part in split_mimic_sections(text)}


def section_name(heading: str) -> str:
    """The section a heading opens: by table, by a word in it, by a view, or by a close spelling; else itself.

    >>> [section_name(heading) for heading in ("CONCLUSION", "IMPRESSON", "PA AND LATERAL CHEST", "DOSE")]
    ['impression', 'impression', 'findings', 'dose']
    """
    name = " ".join(heading.lower().split())
    if name in NAMES:
        return NAMES[name]
    for word in INSIDE:
        if word in name:
            return word
    if VIEWS.search(name):
        return "findings"
    close = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.84)
    return NAMES[close[0]] if close else name


def published_text(sections: dict[str, str]) -> str:
    """The text that stands for a report where one is needed: impression, else findings, else what there is."""
    order = ("impression", "findings", "last_paragraph", "comparison")
    return next((sections[name] for name in order if sections.get(name)), "")
