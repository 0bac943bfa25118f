"""Anaphora: what a sentence says of a finding that the one before named ("It contains gas")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.reading import Mention
from radgauge.reader.sides import OPPOSITE_SIDE, may_have_side
from radgauge.reader.vocabulary import FINDINGS, Vocabulary

_LISTS = shipped_toml(__file__, "word_lists.toml")
PRONOUNS = frozenset(_LISTS["pronouns"])
_OPPOSITE: dict[str, str] = {word: other for pair in _LISTS["opposites"] for word, other in (pair, reversed(pair))}
_OTHER = frozenset(_LISTS["other_side"])
_NOT_THERE = re.compile(
    rf"(?:the|that|those|its)\s+(?:one\s+)?(?:on\s+the\s+)?(?P<which>{'|'.join([*_OPPOSITE, *sorted(_OTHER)])})"
    r"(?:\s+(?:ones?|side))?\s+(?:is|are|was|were|does|do|has|have|appears?|looks?|remains?)\s+"
    r"(?P<said>not|normal|clear|intact|spared|unaffected|uninvolved|unremarkable|preserved)\s*[.;]?\s*$",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(mm|cm)?", re.IGNORECASE)
_MEASURES = re.compile(
    r"\s*(?:however,\s+)?(?:it|this|they"
    r"|the\s+(?:largest|biggest|larger)(?:\s+ones?|\s+of\s+(?:these|them|which|the[a-z ]{3,40}))?)\s+"
    r"(?:now\s+|currently\s+)?(?:measures?|(?:is\s+|was\s+)?measured|is|has\s+an?\s+(?:diameter|size)\s+of)\s+"
    r"(?:as\s+)?(?:approximately\s+|about\s+|up\s+to\s+)?"
    rf"(?P<size>(?:{_SIZE.pattern}\s*(?:x|×|by)\s*)*{_SIZE.pattern}(?<=m))",
    re.IGNORECASE,
)
_EARLIER = re.compile(r"\b(?:previous|prior|earlier|formerly|last)", re.IGNORECASE)
_MAX_LENGTH = (
    60  # characters of a sentence that says no more than that something like the last finding is not there
)
_REACH = 200  # mentions back that "on the same side" refers to at most
_AMONG = 4  # tokens at the start of a sentence among which a pronoun refers to the sentence before


def refers_back(norms: Sequence[str]) -> bool:
    """True if a sentence starts with a word for something named before.

    >>> refers_back(("it", "contain", "gas")), refers_back(("no", "gas"))
    (True, False)
    """
    return not PRONOUNS.isdisjoint(norms[:_AMONG])


def resolve_references(mentions: list[Mention], first: int, vocabulary: Vocabulary) -> None:
    """Give the mentions from `first` on the side and the place of what they refer to: the last finding before."""
    entry = _antecedent(mentions, first)
    for index in range(first, len(mentions)):
        mention = mentions[index]
        described = mention.attributes
        if described.laterality == "same":
            described = described._replace(laterality=_side_before(mentions, first))
        elif described.laterality == "other":
            described = described._replace(laterality=OPPOSITE_SIDE.get(_side_before(mentions, first), ""))
        elif entry is not None and mention.kind in FINDINGS:
            if not described.laterality and may_have_side(mention, vocabulary):
                described = described._replace(laterality=entry.attributes.laterality)
            if not described.locations:
                described = described._replace(locations=entry.attributes.locations)
        if described is not mention.attributes:
            mentions[index] = mention._replace(attributes=described)


def resolve_size(mentions: list[Mention], first: int, sentence: str) -> None:
    """Give the last finding before the size that a sentence states of it: "It measures 12 x 8 mm."."""
    stated = _MEASURES.match(sentence)
    entry = _antecedent(mentions, first) if stated is not None else None
    if stated is None or entry is None or entry.attributes.sizes_mm or _EARLIER.search(sentence):
        return
    parts = _SIZE.findall(stated["size"])
    units = [
        unit or next(filter(None, (later for _, later in parts[at:])), "") for at, (_, unit) in enumerate(parts)
    ]
    sizes = tuple(
        float(value) * _LISTS["millimetres"][unit.lower()] for (value, _), unit in zip(parts, units, strict=True)
    )
    index = next(at for at in range(first - 1, -1, -1) if mentions[at] is entry)
    mentions[index] = entry._replace(attributes=entry.attributes._replace(sizes_mm=sizes))


def _antecedent(mentions: Sequence[Mention], first: int) -> Mention | None:
    """The last finding of the sentence before, if it was not denied."""
    for index in range(first - 1, -1, -1):
        mention = mentions[index]
        if mention.sentence != mentions[first - 1].sentence:
            return None
        if mention.kind in FINDINGS and mention.assertion != "absent":
            return mention
    return None


def _side_before(mentions: Sequence[Mention], first: int) -> str:
    for index in range(first - 1, max(first - 1 - _REACH, -1), -1):
        side = mentions[index].attributes.laterality
        if side in ("left", "right"):
            return side
    return ""


def not_there(text: str) -> tuple[str, int, int]:
    """Find the counterpart of the last finding that a sentence denies: "The lateral one is not."

    >>> not_there("The lateral one is not."), not_there("The lateral meniscus is torn.")
    (('lateral', 19, 22), ('', 0, 0))
    """
    matched = _NOT_THERE.match(text) if len(text) <= _MAX_LENGTH else None
    return (matched["which"].lower(), *matched.span("said")) if matched else ("", 0, 0)


def deny_counterpart(
    mentions: list[Mention], first: int, which: str, vocabulary: Vocabulary
) -> tuple[str, str] | None:
    """Concept and side of the counterpart of the last finding before `first`; None if it has none."""
    recorded = _antecedent(mentions, first) if first else None
    if recorded is None:
        return None
    side = recorded.attributes.laterality
    if which in ("left", "right"):
        return recorded.concept, which
    if which in _OTHER:
        return (recorded.concept, _OPPOSITE[side]) if side in _OPPOSITE else None
    concept = vocabulary.lexicon.concepts.get(recorded.concept)
    for name in (concept.name, *concept.synonyms) if concept is not None else ():
        words = name.split()
        if _OPPOSITE[which] in words:
            entry = vocabulary.term(tuple(which if word == _OPPOSITE[which] else word for word in words))
            if entry is not None and entry.role in FINDINGS and entry.value != recorded.concept:
                return entry.value, side
    return None
