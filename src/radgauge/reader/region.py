"""General words take the meaning they have in the body region a report is about: "no edema" in a chest report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from radgauge.reader.reading import Mention, Relation
from radgauge.reader.vocabulary import Vocabulary

_LEAST_MENTIONS = 2.0
_LEAST_SHARE = 0.4
_NO_REGION = frozenset({"any", "general"})


def resolve_by_region(mentions: list[Mention], relations: Sequence[Relation], vocabulary: Vocabulary) -> None:
    """Replace general concepts that name no place of their own, where the report has a main region."""
    rules = vocabulary.regions
    general = [
        (index, region, concept)
        for index, mention in enumerate(mentions)
        if mention[3] in rules and mention.form != "implied"
        for region, concept, words in rules[mention[3]]
        if not words or mention.text.lower() in words
    ]
    main = _main_region(mentions, vocabulary) if general else ""
    if not main:
        return
    placed = {source for source, _, kind in relations if kind == "located_at"}
    concepts = vocabulary.lexicon.concepts
    for index, region, concept in general:
        if region == main and index not in placed:
            locations = concepts[concept].location if concept in concepts else ()
            attributes = mentions[index].attributes._replace(locations=locations)
            mentions[index] = mentions[index]._replace(concept=concept, attributes=attributes)


def _main_region(mentions: Sequence[Mention], vocabulary: Vocabulary) -> str:
    """The region that most mentions belong to; "" when they are too few or spread too wide."""
    votes: dict[str, float] = defaultdict(float)
    concepts = vocabulary.lexicon.concepts
    for mention in mentions:
        if mention.form == "implied":
            continue
        concept = concepts.get(mention[3])
        regions = concept.regions if concept is not None else ()
        if len(regions) == 1:
            votes[regions[0]] += 1
        else:
            for name in regions:
                votes[name] += 1 / len(regions)
    for name in _NO_REGION:
        votes.pop(name, None)
    if not votes:
        return ""
    region, count = max(votes.items(), key=lambda vote: vote[1])
    return region if count >= _LEAST_MENTIONS and count >= _LEAST_SHARE * sum(votes.values()) else ""
