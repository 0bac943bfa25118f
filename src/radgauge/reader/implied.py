"""Denials implied by a statement of normality: "the lungs are clear" denies an opacity of the lungs.

Implied denials are mentions of kind normality and form "implied", at the words of the statement they follow from.
"""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.reader.composing import Draft, composed
from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon
from radgauge.reader.reading import Mention
from radgauge.reader.vocabulary import Item, Vocabulary

_ANYTHING = "abnormality"
_MAX_DENIED = 2  # of what the normality of a structure rules out, those that come first: the most typical


def implied_denials(
    items: Sequence[Item],
    words: Sequence[str],
    drafts: Sequence[Draft],
    mentions: Sequence[Mention],
    vocabulary: Vocabulary,
) -> list[Mention]:
    """The denials that follow from the statements of normality among the mentions of a sentence."""
    result = []
    order_of = {draft.item: position for position, draft in enumerate(drafts)}
    for draft, mention in zip(drafts, mentions, strict=True):
        if mention.kind != "normality" or mention.assertion != "present":
            continue
        for index in draft.explicit:
            structure = mentions[order_of[index]] if index in order_of else None
            side = mention.attributes.laterality
            if structure is not None and structure.attributes.laterality:
                side = structure.attributes.laterality
            described = mention.attributes._replace(laterality=side, locations=(items[index].value,))
            result += [
                mention._replace(concept=concept, assertion="absent", attributes=described, form="implied")
                for concept in _ruled_out(items, words, draft, index, vocabulary)
            ]
    return result


def denied_elsewhere(mentions: Sequence[Mention], first: int, vocabulary: Vocabulary) -> list[Mention]:
    """Denials of the last finding in another structure that is normal: "the talus is normal".

    `first` is the first mention of the sentence; the finding stands in it or in the sentence before.
    """
    result = []
    entry = {(each.concept, each.attributes.locations) for each in mentions[first:] if each.form == "implied"}
    for index in range(first, len(mentions)):
        mention = mentions[index]
        if mention.kind != "normality" or mention.assertion != "present" or mention.form == "implied":
            continue
        before = _last_finding(mentions, index, mentions[index].sentence - 1)
        if before is None:
            continue
        for structure in mention.attributes.locations:
            concept = _finding_there(before, structure, vocabulary)
            if concept and (concept, (structure,)) not in entry:
                side = mention.attributes.laterality
                described = mention.attributes._replace(laterality=side, locations=(structure,))
                result.append(
                    mention._replace(concept=concept, assertion="absent", attributes=described, form="implied")
                )
    return result


def _last_finding(mentions: Sequence[Mention], index: int, earliest: int) -> Mention | None:
    for position in range(index - 1, -1, -1):
        mention = mentions[position]
        if mention.sentence < earliest:
            return None
        if mention.kind in ABNORMAL_KINDS and mention.form != "implied" and mention.assertion == "present":
            return mention
    return None


def _finding_there(before: Mention, structure: str, vocabulary: Vocabulary) -> str:
    """Name of the finding in this structure; "" where it could not lie, or lies there as named."""
    lexicon = vocabulary.lexicon
    entry, there = lexicon.concepts.get(before.concept), lexicon.concepts.get(structure)
    if entry is None or there is None:
        return ""
    named_by_place = not set(entry.location).isdisjoint(before.attributes.locations)
    for concept_id in (before.concept, *(lexicon.ancestors(before.concept) if named_by_place else ())):
        if concept_id != _ANYTHING and (concept := vocabulary.named_pair(concept_id, structure)):
            return concept
    regions = {
        region
        for concept_id in entry.location
        if concept_id in lexicon.concepts
        for region in lexicon[concept_id].regions
    }
    return before.concept if not regions.isdisjoint(there.regions) or not regions else ""


def _ruled_out(
    items: Sequence[Item], words: Sequence[str], draft: Draft, location: int, vocabulary: Vocabulary
) -> Sequence[str]:
    """Findings that this word of normality rules out of the structure at `place`."""
    structure = items[location].value
    if opposite := _opposite(items, words, draft, location, vocabulary):
        return (opposite,)
    lexicon = vocabulary.lexicon
    word = lexicon.concepts.get(items[draft.item].value)
    if word is not None and (own := [denied_id for denied_id in word.denies if denied_id != _ANYTHING]):
        return [vocabulary.named_pair(denied_id, structure) or denied_id for denied_id in own[:_MAX_DENIED]]
    return [*_typical(structure, lexicon), vocabulary.named_pair(_ANYTHING, structure) or _ANYTHING]


def _opposite(
    items: Sequence[Item], words: Sequence[str], draft: Draft, structure: int, vocabulary: Vocabulary
) -> str:
    """The finding of the structure and the opposite of the word: a duct of normal calibre is not dilated."""
    alone = Draft(draft.item, "")
    alone.explicit = [structure]
    aspects = [items[draft.item].value, *words[draft.item].split(), *words[structure].split()]
    aspects += [words[at] for at in draft.words if items[at].role == "part"]
    for aspect in aspects:
        for word in vocabulary.opposites.get(aspect, ()):
            if word in vocabulary.compositions:
                concept = composed(alone, items, word, vocabulary)
                if concept in vocabulary.lexicon.concepts:
                    return concept
    return ""


def _typical(structure: str, lexicon: Lexicon) -> Sequence[str]:
    """The findings that a structure most typically has, none of which is a kind of another."""
    for concept_id in (structure, *lexicon.ancestors(structure)):
        entry = lexicon.concepts.get(concept_id)
        if entry is not None and entry.denies:
            denied = [concept for concept in entry.denies if concept != _ANYTHING]
            return [one for one in denied if not set(lexicon.ancestors(one)) & set(denied)][:_MAX_DENIED]
    return ()
