"""Words that take their meaning from the sentence, or from the region of the body that a report is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from radgauge.reader.reading import Mention, Relation
from radgauge.reader.vocabulary import FINDINGS, JOINS, Item, Vocabulary
from radgauge.text.tokens import Tokens

_NO_REGION = frozenset({"any", "general"})

SHARED = "shared"
"""Form of anatomy whose noun stands with another structure: "mid" in "mid and lower lungs"."""
_PART = "part"  # instead of a structure: the word names no structure of its own there
_FRONT = frozenset({"side", "determiner"})


def choose_senses(items: list[Item], words: Sequence[str], vocabulary: Vocabulary) -> None:
    """A word that many organs share is no place of its own where the sentence speaks of other regions only."""
    for index, word in enumerate(words):
        if word in vocabulary.senses:
            _choose(items, index, vocabulary.senses[word], vocabulary)
    shared = vocabulary.shared_words
    doubtful = [index for index, word in enumerate(words) if word in shared and items[index].role == "anatomy"]
    if not doubtful:
        return
    stated = {
        region
        for index, item in enumerate(items)
        if index not in doubtful and (item.role == "anatomy" or item.role in FINDINGS)
        for region in _regions(item.value, vocabulary)
    } - _NO_REGION
    for index in doubtful:
        if stated and stated.isdisjoint(_regions(items[index].value, vocabulary)):
            role = "position" if items[index].form == "adjective" else "part"
            items[index] = items[index]._replace(role=role, value=words[index], form="noun")


def _choose(
    items: list[Item], index: int, senses: Sequence[tuple[frozenset[str], str]], vocabulary: Vocabulary
) -> None:
    """Give the word at `index` the meaning it has beside another structure of its sentence."""
    stated: set[str] = set()
    for other, item in enumerate(items):
        if other == index or item.value not in vocabulary.lexicon.concepts:
            continue
        stated.update((item.value, *vocabulary.lexicon.ancestors(item.value)))
        stated.update(vocabulary.lexicon.concepts[item.value].location)
    for near, meant in senses:
        if not stated.isdisjoint(near):
            role = "part" if meant == _PART else "anatomy"
            items[index] = items[index]._replace(role=role, value=meant, form="noun", cues=())
            return


def _regions(concept: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    entry = vocabulary.lexicon.concepts.get(concept)
    return entry.regions if entry is not None else ()


def share_heads(items: list[Item], tokens: Tokens, vocabulary: Vocabulary) -> None:
    """The last word of joined structures belongs to all of them: "popliteal and posterior tibial veins"."""
    behind = len(items) - 1  # the first item behind `index` that neither joins nor stands in front
    for index in range(len(items) - 2, 0, -1):
        if items[index + 1].role not in JOINS and items[index + 1].role not in _FRONT:
            behind = index + 1
        if items[index].role not in JOINS:
            continue
        named, front = items[behind], items[index - 1]
        if named.role != "anatomy" or named.last - named.first < 2 or not _is_bare(front):
            continue
        norms = (*tokens.norms[front.first : front.last], tokens.norms[named.last - 1])
        entry = vocabulary.term(norms)
        if entry is not None and entry.role == "anatomy" and entry.value not in (front.value, named.value):
            form = front.form if front.role == "anatomy" else SHARED
            items[index - 1] = front._replace(role="anatomy", value=entry.value, form=form, cues=())


def _is_bare(item: Item) -> bool:
    return item.role in ("position", "unknown") or (item.role == "anatomy" and item.form == "adjective")


_MIN_MENTIONS = 2.0
_MIN_SHARE = 0.4


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
    return region if count >= _MIN_MENTIONS and count >= _MIN_SHARE * sum(votes.values()) else ""
