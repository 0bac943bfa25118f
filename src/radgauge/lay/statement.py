"""One thing that a report says, ready to be said in any language; and what a reading has in one sentence.

Mentions and describing words of a reading stand sentence by sentence, so that they are found without a look at the
others: a report may have thousands.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from radgauge.reader.reading import Modifier, ReportReading


class Statement(NamedTuple):
    """One thing to be said."""

    kind: str  # finding | normal | same
    concept: str  # Id of the finding, or how a part is normal
    status: str = "present"  # present | absent | possible | probable | fits | concern
    severity: str = ""  # trace | mild | moderate | severe | ""
    size_word: str = ""  # The report's own word of size ("small"), "" if it used another
    side: str = ""  # left | right | bilateral | ""
    places: tuple[str, ...] = ()  # Ids of anatomy
    change: str = ""  # new | increased | decreased | stable | again | seen | ""
    qualities: tuple[str, ...] = ()  # Describing words in normal form
    quantity: str = ""  # multiple, two, ..., or ""
    many: bool = False  # True if the report speaks of several
    sizes_mm: tuple[float, ...] = ()
    refers: bool = False  # True if it says what the statement before it may be
    joined: bool = False  # True if it is an alternative to the statement before it ("or")
    otherwise: bool = False  # True if it excepts what was described ("otherwise clear")
    roughly: bool = False  # True if it holds as far as can be seen ("grossly")
    suffix: str = ""  # What a normal part is normal for: age | technique | ""
    # True if it is what the absence before it would speak for ("no opacity to suggest pneumonia")
    link: bool = False
    said: str = ""  # The report's own name of it, in lower case


class NoPlan(Exception):
    """Why a sentence cannot be written anew."""


def mentions_in(reading: ReportReading, number: int) -> range:
    """Indices of the mentions of a sentence.

    >>> from radgauge.reader import read_report
    >>> reading = read_report("The heart is large. No effusion. No edema.")
    >>> [reading.mentions[index].text for index in mentions_in(reading, 1)]
    ['effusion']
    """
    first = bisect_left(reading.mentions, number, key=lambda mention: mention.sentence)
    return range(first, bisect_left(reading.mentions, number + 1, lo=first, key=lambda mention: mention.sentence))


def modifiers_in(reading: ReportReading, span: tuple[int, int]) -> Sequence[Modifier]:
    """Describing words of the sentence at a span."""
    first = bisect_left(reading.modifiers, span[0], key=lambda modifier: modifier.start)
    return reading.modifiers[
        first : bisect_left(reading.modifiers, span[1], lo=first, key=lambda modifier: modifier.start)
    ]


def places_by_mention(reading: ReportReading) -> Mapping[int, Sequence[int]]:
    """Mention -> the mentions of where it is, of the whole report.

    >>> from radgauge.reader import read_report
    >>> places_by_mention(read_report("Nodule in the left lung."))
    {0: [1]}
    """
    targets: dict[int, list[int]] = {}
    for relation in reading.relations:
        if relation.type == "located_at":
            targets.setdefault(relation.source, []).append(relation.target)
    return targets
