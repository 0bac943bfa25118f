"""What a reading has in one sentence, found without a look at the others: a report may have thousands.

Mentions and describing words of a reading stand sentence by sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from radgauge.reader.reading import Modifier, ReportReading


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
        first : bisect_left(reading.modifiers, span[1], lo=first, key=lambda each: each.start)
    ]


def places_by_mention(reading: ReportReading) -> Mapping[int, Sequence[int]]:
    """Mention -> the mentions of where it is, of the whole report.

    >>> from radgauge.reader import read_report
    >>> places_by_mention(read_report("Nodule in the left lung."))
    {0: [1]}
    """
    found: dict[int, list[int]] = {}
    for relation in reading.relations:
        if relation.type == "located_at":
            found.setdefault(relation.source, []).append(relation.target)
    return found
