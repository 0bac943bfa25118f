"""What a sentence says of something that the one before named: "It contains gas", "this may be aspiration"."""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.report_reader.reading import Mention
from radgauge.report_reader.sides import may_have_side
from radgauge.report_reader.vocabulary import FINDINGS, Vocabulary

PRONOUNS = frozenset({"it", "this", "these", "they", "its", "their", "both", "which", "former", "latter"})
_AMONG = 4  # tokens at the start of a sentence among which a pronoun refers to the sentence before


def refers_back(norms: Sequence[str]) -> bool:
    """Whether a sentence starts with a word for something named before.

    >>> refers_back(("it", "contain", "gas")), refers_back(("no", "gas"))
    (True, False)
    """
    return not PRONOUNS.isdisjoint(norms[:_AMONG])


def resolve_references(mentions: list[Mention], first: int, vocabulary: Vocabulary) -> None:
    """Give the mentions from `first` on the side and the place of what they refer to: the last finding before."""
    known = _antecedent(mentions, first)
    for index in range(first, len(mentions)):
        mention = mentions[index]
        said = mention.attributes
        if said.laterality == "same":
            said = said._replace(laterality=_side_before(mentions, first))
        elif known is not None and mention.kind in FINDINGS:
            if not said.laterality and may_have_side(mention, vocabulary):
                said = said._replace(laterality=known.attributes.laterality)
            if not said.locations:
                said = said._replace(locations=known.attributes.locations)
        if said is not mention.attributes:
            mentions[index] = mention._replace(attributes=said)


def _antecedent(mentions: Sequence[Mention], first: int) -> Mention | None:
    """The last finding of the sentence before, if it was not denied."""
    for mention in reversed(mentions[:first]):
        if mention.sentence != mentions[first - 1].sentence:
            return None
        if mention.kind in FINDINGS and mention.assertion != "absent":
            return mention
    return None


def _side_before(mentions: Sequence[Mention], first: int) -> str:
    for mention in reversed(mentions[:first]):
        if mention.attributes.laterality in ("left", "right"):
            return mention.attributes.laterality
    return ""
