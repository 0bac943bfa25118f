"""Vertebral levels: "T12", "L4-L5", "C5/6" are anatomy, "T2 weighted" and "T1 signal" are not."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.report_reader.vocabulary import Item
from radgauge.text.tokens import Token

_CONCEPTS = {
    "C": ("cervical_vertebra", 7),
    "T": ("thoracic_vertebra", 12),
    "D": ("thoracic_vertebra", 12),
    "L": ("lumbar_vertebra", 5),
    "S": ("sacrum", 5),
}
_SEQUENCES = frozenset(
    {
        "weighted",
        "signal",
        "hyperintense",
        "hypointense",
        "hyperintensity",
        "image",
        "imaging",
        "sequence",
        "flair",
    }
)


def join_levels(items: list[Item], tokens: Sequence[Token]) -> list[Item]:
    """Join letter and number of vertebral levels, and the second level of a range, into one item."""
    if not any(item.role == "number" for item in items):
        return items
    joined: list[Item] = []
    index = 0
    while index < len(items):
        end = _level(items, tokens, index)
        if not end:
            joined.append(items[index])
            index += 1
            continue
        concept = _CONCEPTS[tokens[items[index].first].text][0]
        following = end
        if following < len(items) and items[following].role in ("slash", "mark"):
            following += 1
        if following < len(items):
            if more := _level(items, tokens, following):
                end = more
            elif (
                items[following].role == "number"
                and tokens[items[following].first].start <= tokens[items[end - 1].last - 1].end + 1
            ):
                end = following + 1
        joined.append(Item(items[index].first, items[end - 1].last, "anatomy", concept, "noun", ()))
        index = end
    return joined


def _level(items: Sequence[Item], tokens: Sequence[Token], index: int) -> int:
    """Index behind the level that starts at `index`, 0 if none does."""
    if index + 1 >= len(items) or items[index + 1].role != "number" or items[index].last - items[index].first > 1:
        return 0
    letter, number = tokens[items[index].first], tokens[items[index + 1].first]
    if letter.text not in _CONCEPTS or number.start != letter.end or not number.text.isdigit():
        return 0
    if not 1 <= int(number.text[:3]) <= _CONCEPTS[letter.text][1]:
        return 0
    if letter.text == "T" and index + 2 < len(items) and tokens[items[index + 2].first].norm in _SEQUENCES:
        return 0
    return index + 2
