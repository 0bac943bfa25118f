"""General words take the meaning they have in the body region a report is about: "no edema" in a chest report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from radgauge.report_reader.reading import Mention, Relation
from radgauge.report_reader.vocabulary import Vocabulary

_LEAST_MENTIONS = 2.0
_LEAST_SHARE = 0.4
_NO_REGION = frozenset({"any", "general"})


def resolve_by_region(mentions: list[Mention], relations: Sequence[Relation], vocabulary: Vocabulary) -> None:
    """Replace general concepts that name no place of their own, where the report has a main region."""
    region = _main_region(mentions, vocabulary)
    if not region:
        return
    placed = {source for source, _, kind in relations if kind == "located_at"}
    concepts = vocabulary.lexicon.concepts
    for index, mention in enumerate(mentions):
        for known, concept, words in vocabulary.regions.get(mention.concept, ()):
            if known == region and index not in placed and (not words or mention.text.lower() in words):
                locations = concepts[concept].location if concept in concepts else ()
                attributes = mention.attributes._replace(locations=locations)
                mentions[index] = mention._replace(concept=concept, attributes=attributes)
                break


def _main_region(mentions: Sequence[Mention], vocabulary: Vocabulary) -> str:
    """The region that most mentions belong to; "" when they are too few or spread too wide."""
    votes: dict[str, float] = defaultdict(float)
    for mention in mentions:
        concept = vocabulary.lexicon.concepts.get(mention.concept)
        regions = [each for each in concept.regions if each not in _NO_REGION] if concept is not None else []
        for each in regions:
            votes[each] += 1 / len(regions)
    if not votes:
        return ""
    region, count = max(votes.items(), key=lambda vote: vote[1])
    return region if count >= _LEAST_MENTIONS and count >= _LEAST_SHARE * sum(votes.values()) else ""
