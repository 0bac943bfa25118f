"""Headings of structured reports: the structure and the side that a heading names hold for the lines below it.

"Left kidney:" above "- Stone: 5 mm" is a stone of the left kidney; "Right: consolidation" below "Lungs:" lies in
the right lung.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from radgauge.reader.reading import Mention, Sentence
from radgauge.reader.sentence import SentenceReading
from radgauge.reader.sides import may_have_side
from radgauge.reader.vocabulary import FINDINGS, Vocabulary

_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<bullet>(?:[-*•][ \t]+)?)[*_#]{0,4}[ \t]*(?P<label>[A-Za-z][A-Za-z ,/()&'-]{2,50}?)"
    r"[*_]{0,3}[ \t]*:[ \t]*[*_]{0,3}[ \t]*$",
    re.MULTILINE,
)
_SIDE_LABEL = re.compile(r"[-*•\s]*(?P<side>left|right)(?: side)?\s*:", re.IGNORECASE)
_PLACE_LABEL = re.compile(r"(?P<label>[A-Za-z][A-Za-z ]{2,40}):\s*(?:left|right)(?: side)?\s*:", re.IGNORECASE)
_SIDES = ("left", "right")


class Heading(NamedTuple):
    """A structure and its side, and the part of the text that they hold for."""

    start: int
    end: int
    place: str
    side: str


def carry_headings(
    text: str,
    sentences: Sequence[Sentence],
    mentions: list[Mention],
    read: Callable[[str], SentenceReading],
    vocabulary: Vocabulary,
) -> None:
    """Give findings below a heading, or behind a side and a colon, the side and the structure that these name."""
    headings = [*_above(text, read), *_in_front(text, sentences, read)]
    for index, mention in enumerate(mentions):
        if mention.kind not in FINDINGS and mention.kind != "normality":
            continue
        start = sentences[mention.sentence].start
        own = _SIDE_LABEL.match(text, start)
        heading = next(
            (candidate for candidate in reversed(headings) if candidate.start <= start < candidate.end), None
        )
        if own is None and heading is None:
            continue
        side = own["side"].lower() if own is not None else heading.side if heading is not None else ""
        if heading is not None:
            mention = _placed(mention, heading.place, vocabulary)
        if side and not mention.attributes.laterality and may_have_side(mention, vocabulary):
            mention = mention._replace(attributes=mention.attributes._replace(laterality=side))
        mentions[index] = mention


def _placed(mention: Mention, structure: str, vocabulary: Vocabulary) -> Mention:
    """The mention in the structure of its heading, if it names none; "stone" of a kidney has a name of its own."""
    if mention.attributes.locations or mention.kind == "open":
        return mention
    concept = vocabulary.named_pair(mention.concept, structure) or mention.concept
    entry = vocabulary.lexicon.concepts.get(mention.concept)
    if mention.kind == "normality" or concept != mention.concept or (entry is not None and not entry.location):
        attributes = mention.attributes._replace(locations=(structure,))
        return mention._replace(concept=concept, attributes=attributes)
    return mention


def _above(text: str, read: Callable[[str], SentenceReading]) -> Iterator[Heading]:
    """Headings on a line of their own; they hold for the lines set deeper, or up to the next blank one."""
    for match in _LINE.finditer(text):
        named = _named(match["label"], read)
        if named is None:
            continue
        depth = len(match["indent"]) + 2 * bool(match["bullet"])
        end = position = match.end()
        deeper = None
        while position < len(text):
            stop = text.find("\n", position + 1)
            stop = len(text) if stop < 0 else stop
            line = text[position + 1 : stop]
            below = len(line) - len(line.lstrip(" \t")) + 2 * (line.lstrip()[:2] in ("- ", "* ", "• "))
            deeper = below > depth if deeper is None else deeper
            heading = _LINE.match(text, position + 1)
            if not line.strip() or below < depth or (below == depth and (deeper or heading is not None)):
                break
            end = position = stop
        yield Heading(match.end(), end, *named)


def _in_front(
    text: str, sentences: Sequence[Sentence], read: Callable[[str], SentenceReading]
) -> Iterator[Heading]:
    """ "Kidneys: Right: normal. Left: 3 mm stone.": the structure holds for the sides behind it."""
    index = 0
    while index < len(sentences):
        match = _PLACE_LABEL.match(text, sentences[index].start)
        named = _named(match["label"], read) if match is not None else None
        index += 1
        if named is None:
            continue
        start = sentences[index - 1].end
        while index < len(sentences) and _SIDE_LABEL.match(text, sentences[index].start):
            index += 1
        yield Heading(start, sentences[index - 1].end, named[0], "")


def _named(label: str, read: Callable[[str], SentenceReading]) -> tuple[str, str] | None:
    """Structure and side of a label that names one structure and no finding; None for any other."""
    mentions = read(label.strip()).mentions
    structures = [mention for mention in mentions if mention.kind == "anatomy"]
    if len(structures) != 1 or len(mentions) != 1:
        return None
    side = structures[0].attributes.laterality
    return structures[0].concept, side if side in _SIDES else ""
