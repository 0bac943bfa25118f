"""What a statement of normality rules out: "the lungs are clear" denies an opacity of the lungs.

Implied denials are mentions of kind normality and form "implied", at the words of the statement they follow from.
"""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.reader.composing import Draft, composed
from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon
from radgauge.reader.reading import Mention
from radgauge.reader.vocabulary import Item, Vocabulary

_ANYTHING = "abnormality"
_MOST = 2  # of what the normality of a structure rules out, those that come first: the most typical


def implied_denials(
    items: Sequence[Item],
    words: Sequence[str],
    drafts: Sequence[Draft],
    mentions: Sequence[Mention],
    vocabulary: Vocabulary,
) -> list[Mention]:
    """The denials that follow from the statements of normality among the mentions of a sentence."""
    found = []
    place = {draft.item: position for position, draft in enumerate(drafts)}
    for draft, mention in zip(drafts, mentions, strict=True):
        if mention.kind != "normality" or mention.assertion != "present":
            continue
        for index in draft.explicit:
            structure = mentions[place[index]] if index in place else None
            side = mention.attributes.laterality
            if structure is not None and structure.attributes.laterality:
                side = structure.attributes.laterality
            said = mention.attributes._replace(laterality=side, locations=(items[index].value,))
            found += [
                mention._replace(concept=concept, assertion="absent", attributes=said, form="implied")
                for concept in _ruled_out(items, words, draft, index, vocabulary)
            ]
    return found


def denied_elsewhere(mentions: Sequence[Mention], first: int, vocabulary: Vocabulary) -> list[Mention]:
    """What the normality of one structure says of the finding named last, in another: "the talus is normal".

    `first` is the first mention of the sentence; the finding stands in it or in the sentence before.
    """
    found = []
    known = {(each.concept, each.attributes.locations) for each in mentions[first:] if each.form == "implied"}
    for index in range(first, len(mentions)):
        mention = mentions[index]
        if mention.kind != "normality" or mention.assertion != "present" or mention.form == "implied":
            continue
        before = _last_finding(mentions, index, mentions[index].sentence - 1)
        if before is None:
            continue
        for place in mention.attributes.locations:
            concept = _finding_there(before, place, vocabulary)
            if concept and (concept, (place,)) not in known:
                side = mention.attributes.laterality
                said = mention.attributes._replace(laterality=side, locations=(place,))
                found.append(
                    mention._replace(concept=concept, assertion="absent", attributes=said, form="implied")
                )
    return found


def _last_finding(mentions: Sequence[Mention], index: int, earliest: int) -> Mention | None:
    for position in range(index - 1, -1, -1):
        mention = mentions[position]
        if mention.sentence < earliest:
            return None
        if mention.kind in ABNORMAL_KINDS and mention.form != "implied" and mention.assertion == "present":
            return mention
    return None


def _finding_there(before: Mention, place: str, vocabulary: Vocabulary) -> str:
    """What the finding would be called in this place; "" where it could not lie, or lies there as named."""
    lexicon = vocabulary.lexicon
    known, there = lexicon.concepts.get(before.concept), lexicon.concepts.get(place)
    if known is None or there is None:
        return ""
    named_by_place = not set(known.location).isdisjoint(before.attributes.locations)
    for each in (before.concept, *(lexicon.ancestors(before.concept) if named_by_place else ())):
        if each != _ANYTHING and (concept := vocabulary.named_pair(each, place)):
            return concept
    regions = {region for each in known.location if each in lexicon.concepts for region in lexicon[each].regions}
    return before.concept if not regions.isdisjoint(there.regions) or not regions else ""


def _ruled_out(
    items: Sequence[Item], words: Sequence[str], draft: Draft, place: int, vocabulary: Vocabulary
) -> Sequence[str]:
    """What this word of normality rules out of the structure at `place`."""
    structure = items[place].value
    if opposite := _opposite(items, words, draft, place, vocabulary):
        return (opposite,)
    lexicon = vocabulary.lexicon
    word = lexicon.concepts.get(items[draft.item].value)
    if word is not None and (own := [each for each in word.denies if each != _ANYTHING]):
        return [vocabulary.named_pair(each, structure) or each for each in own[:_MOST]]
    return [*_typical(structure, lexicon), vocabulary.named_pair(_ANYTHING, structure) or _ANYTHING]


def _opposite(
    items: Sequence[Item], words: Sequence[str], draft: Draft, place: int, vocabulary: Vocabulary
) -> str:
    """The finding of the structure and the opposite of the word: a duct of normal calibre is not dilated."""
    alone = Draft(draft.item, "")
    alone.explicit = [place]
    aspects = [items[draft.item].value, *words[draft.item].split(), *words[place].split()]
    aspects += [words[each] for each in draft.words if items[each].role == "part"]
    for aspect in aspects:
        for word in vocabulary.opposites.get(aspect, ()):
            if word in vocabulary.compositions:
                concept = composed(alone, items, word, vocabulary)
                if concept in vocabulary.lexicon.concepts:
                    return concept
    return ""


def _typical(place: str, lexicon: Lexicon) -> Sequence[str]:
    """The findings that a structure most typically has, none of which is a kind of another."""
    for each in (place, *lexicon.ancestors(place)):
        known = lexicon.concepts.get(each)
        if known is not None and known.denies:
            denied = [concept for concept in known.denies if concept != _ANYTHING]
            return [one for one in denied if not set(lexicon.ancestors(one)) & set(denied)][:_MOST]
    return ()
