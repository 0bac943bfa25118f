"""A leaflet as a page that prints well, and both texts side by side for the radiologist who signs.

No scripts, no fonts, no pictures from elsewhere: the pages open without a network, and everything that comes from
a report is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from radgauge.core.errors import UsageError
from radgauge.core.parsing import shipped_toml
from radgauge.lay.leaflets.leaflet import Leaflet
from radgauge.lay.plain_sentences import PlainSentence, arrange
from radgauge.lay.sets import is_heading

if TYPE_CHECKING:
    from jinja2 import Environment

Paper = Literal["a4", "letter"]
_HEADING = re.compile(r"\b([A-Za-z]+)\s*:\s*(?:\d+[.)]\s*)?(?:$|(?=[A-Z]))")


@dataclass(frozen=True, slots=True)
class PageStyle:
    """Style of leaflets."""

    language: str = "en"  # Of the page and of the plain text
    large: bool = False  # Large print: 18 points and one column
    paper: Paper = "a4"  # Sheet for printing
    hospital: str = ""  # Whose leaflet it is; stands at the top

    def __post_init__(self) -> None:
        if self.language not in page_languages():
            raise UsageError(f"language must be one of {', '.join(page_languages())}, got {self.language!r}")


def page_languages() -> tuple[str, ...]:
    """Languages that pages exist in."""
    return tuple(_all_words())


def leaflet_page(leaflet: Leaflet, style: PageStyle) -> str:
    """The page for the patient."""
    words = _all_words()[style.language]
    plain, questions = arrange(leaflet.sentences)
    parts = _with_headings(leaflet, plain, words)
    return _render("leaflet.html.j2", leaflet, style, parts=parts, asked=questions)


def side_by_side_page(leaflet: Leaflet, style: PageStyle) -> str:
    """The page for the radiologist: report and plain text, sentence by sentence."""
    plain, questions = arrange(leaflet.sentences)
    return _render("side_by_side.html.j2", leaflet, style, said=plain, asked=questions)


def _render(template: str, leaflet: Leaflet, style: PageStyle, **more: Any) -> str:
    words = _all_words()[style.language]
    decision = leaflet.decision
    state = {"by": decision.by, "date": _date(decision.at, words)} if decision is not None else {}
    sheet = (files("radgauge.lay.leaflets") / "leaflet.css").read_text(encoding="utf-8")
    sheet = sheet.replace("@PAPER@", "A4" if style.paper == "a4" else "letter")
    return (
        _templates()
        .get_template(template)
        .render(
            leaflet=leaflet,
            style=style,
            w=words,
            css=sheet,
            standing=str(words[leaflet.status]).format(**state),
            writer=str(words["writer"]).format(writer=leaflet.writer),
            **more,
        )
    )


def _with_headings(
    leaflet: Leaflet, plain: Sequence[PlainSentence], words: Mapping[str, Any]
) -> list[tuple[str, PlainSentence | None]]:
    """Return the sentences, and the headings that the leaflet has words for and that have text below them."""
    parts: list[tuple[str, PlainSentence | None]] = []
    pending = current = ""
    at = 0
    for sentence in leaflet.sentences:
        named = _HEADING.search(leaflet.report[at : sentence.start]) or _HEADING.search(sentence.source[:40])
        heading = words["headings"].get(named[1].lower(), "") if named is not None else ""
        pending = heading or pending
        if not is_heading(sentence.source) and sentence in plain:
            if pending != current:
                parts.append((pending, None))
                current = pending
            parts.append(("", sentence))
        at = sentence.end
    return parts


def _date(at: str, words: Mapping[str, Any]) -> str:
    """The day of a moment as patients write it.

    >>> _date("2026-11-18T09:30:00+00:00", _all_words()["en"])
    '18 November 2026'
    """
    moment = datetime.fromisoformat(at)
    return str(words["date"]).format(day=moment.day, month=words["months"][moment.month - 1], year=moment.year)


@cache
def _all_words() -> Mapping[str, Mapping[str, Any]]:
    return shipped_toml(__file__, "page_words.toml")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("radgauge.lay.leaflets", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
