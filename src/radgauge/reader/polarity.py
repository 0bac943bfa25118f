"""Denied normality: what is said not to be normal, not to compress, not to be thin is abnormal.

The word of normality becomes the finding that its denial means: that of the structure and an opposite word where
the lexicon knows one ("not in the midline", of the trachea), else what the word excludes, else an abnormality.
"""

from __future__ import annotations

from collections.abc import Sequence

from radgauge.core.parsing import shipped_toml
from radgauge.reader.composing import Draft, composed, specific
from radgauge.reader.vocabulary import FINDINGS, Cue, Item, Vocabulary

_UNSPECIFIC = "abnormality"
_FARTHEST_SUBJECT = 16  # items between a structure and the denied word that are still shown as one claim
_LISTS = shipped_toml(__file__, "word_lists.toml")
_ADVERBS = frozenset(_LISTS["adverbs_of_degree"])
_PASSED = frozenset({"verb", "determiner"})


def cancel_double_negation(items: list[Item], words: Sequence[str]) -> None:
    """ "Not free of stones", "not without effusion": what is denied twice is there."""
    for index, item in enumerate(items[:-1]):
        if item.role != "cue" or words[index] not in ("not", "no longer", "never", "cannot be called"):
            continue
        second = index + 1
        while second < len(items) - 1 and (words[second] in _ADVERBS or items[second].role in _PASSED):
            second += 1
        if _denies_next(items[second]):
            for at in (index, second):
                items[at] = items[at]._replace(role="other", cues=())


def _denies_next(item: Item) -> bool:
    return item.role == "cue" and any(cue == Cue("absent", "before", "clause") for cue in item.cues)


def turn_denials(
    items: list[Item],
    words: Sequence[str],
    starts: Sequence[bool],
    drafts: list[Draft],
    vocabulary: Vocabulary,
    asserted: tuple[list[str], list[int]],
) -> list[Draft]:
    """The drafts with denied normality turned into what it means; words that mean nothing undenied are dropped."""
    status, decided = asserted
    remaining = []
    for draft in drafts:
        index = draft.item
        absent = status[index] == "absent"
        if draft.inverse:
            if absent:
                _turn(items, draft, specific(draft, items, draft.inverse, vocabulary), status, "present")
                if decided[index] == index - 1:
                    draft.first = index - 1
            elif draft.always:
                state = "absent" if status[index] == "present" else status[index]
                _turn(items, draft, draft.inverse, status, state)
            elif not draft.concept:
                continue
        elif absent and items[index].role == "normality" and _is_denied(items, decided[index], index):
            subject = _subject(items, starts, index)
            concept = _opposite(items, words, draft, vocabulary)
            if concept == _UNSPECIFIC and subject >= 0:
                draft.explicit = sorted({subject, *draft.explicit})
                concept = _opposite(items, words, draft, vocabulary)
            _turn(items, draft, specific(draft, items, concept, vocabulary), status, "present")
            if concept == _UNSPECIFIC and subject >= 0:
                draft.first = subject
            elif decided[index] == index - 1:
                draft.first = index - 1
        remaining.append(draft)
    return remaining


def _subject(items: Sequence[Item], starts: Sequence[bool], index: int) -> int:
    """The first structure of the clause in front of the word at `index`; -1 for none near."""
    subject = -1
    for position in range(index - 1, max(-1, index - _FARTHEST_SUBJECT), -1):
        if items[position].role == "anatomy":
            subject = position
        elif items[position].role in ("semicolon", "colon", "comma"):
            break
        if starts[position]:
            break
    return subject


def _turn(items: list[Item], draft: Draft, concept: str, status: list[str], state: str) -> None:
    draft.concept, draft.clause = concept, True
    status[draft.item] = state
    items[draft.item] = items[draft.item]._replace(role="abnormality", value=concept, form="noun")


def _is_denied(items: Sequence[Item], cue: int, index: int) -> bool:
    """True if the cue denies the word itself: "is not normal", not "no effusion, normal heart"."""
    if cue < 0 or cue > index:
        return cue > index
    return not any(items[at].role in FINDINGS or items[at].role == "comma" for at in range(cue + 1, index))


def _opposite(items: Sequence[Item], words: Sequence[str], draft: Draft, vocabulary: Vocabulary) -> str:
    item = items[draft.item]
    aspects = [item.value, *words[draft.item].split()]
    aspects += [words[each] for each in draft.words if items[each].role == "part"]
    fallback = ""
    for aspect in aspects:
        for word in vocabulary.opposites.get(aspect, ()):
            if word in vocabulary.compositions and (result := composed(draft, items, word, vocabulary)):
                return result
            entry = vocabulary.term(tuple(word.split()))
            if not fallback and entry is not None and entry.role in FINDINGS:
                fallback = entry.value
    concept = vocabulary.lexicon.concepts.get(item.value)
    denies = [each for each in concept.denies if each != _UNSPECIFIC] if concept is not None else []
    return fallback or (denies[0] if denies else _UNSPECIFIC)
