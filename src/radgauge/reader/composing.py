"""A mention in the making, and the finding that a word makes of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from radgauge.reader.vocabulary import ALWAYS, ANYWHERE, FINDINGS, IF_DENIED, Item, Vocabulary


class Draft:
    """A mention in the making: item index, concept, and what is found out about it."""

    __slots__ = (
        *("always", "change", "clause", "concept", "explicit", "first", "history", "inverse", "item", "side"),
        *("denied", "sides_differ", "sizes", "unnamed", "words"),
    )

    def __init__(self, item: int, concept: str) -> None:
        self.item = item
        self.first = item  # where its words start
        self.concept = concept
        self.inverse = ""  # the finding that its denial states
        self.clause = False  # whether it is a denial of something normal, or a statement of it by a verb
        self.always = False  # whether it denies that finding when it is stated itself
        self.words: list[int] = []
        self.explicit: list[int] = []
        self.sizes: list[float] = []
        self.change = ""
        self.side = ""
        self.sides_differ = False
        self.history = False
        self.unnamed = False  # spoken of without a name: "the left has increased"
        self.denied = False  # an unnamed finding that is said not to be there


def compose(draft: Draft, concept: str) -> None:
    """Give a draft the concept of a composition, or what its denial states."""
    if concept.startswith((ALWAYS, IF_DENIED)):
        draft.inverse, draft.always = concept[1:], concept[0] == ALWAYS
    elif concept:
        draft.concept = concept


def composed(draft: Draft, items: Sequence[Item], word: str, vocabulary: Vocabulary) -> str:
    """Concept of an organ and a word ("heart", "enlarged"), "" if the lexicon knows none.

    A finding said of several organs ("degenerative changes of the spine and shoulders") keeps its own,
    wider concept when the organs would make different findings of it.
    """
    table = {vocabulary.composition(word, items[structure].value) for structure in draft.explicit} - {""}
    if len(table) > 1:
        table.discard(vocabulary.composition(word, ANYWHERE))
    return table.pop() if len(table) == 1 else ""


def specific(draft: Draft, items: Sequence[Item], concept: str, vocabulary: Vocabulary) -> str:
    """The finding of this structure that a general one is, if it has a name: occlusion of the vertebral artery."""
    concepts = vocabulary.lexicon.concepts
    known = concepts.get(concept)
    if known is None or known.location or concept == "abnormality":
        return concept
    for at in draft.explicit:
        structure = concepts.get(items[at].value)
        if structure is not None:
            entry = vocabulary.term((*structure.name.split(), *known.name.split()))
            if entry is not None and entry.role in FINDINGS:
                return entry.value
    return concept


def apart(draft: Draft, items: Sequence[Item], word: str, vocabulary: Vocabulary) -> list[Draft]:
    """One draft per finding that a word makes of several organs: "ventricles and cisterns are free of blood"."""
    structures: dict[str, list[int]] = {}
    for structure in draft.explicit:
        if concept := vocabulary.composition(word, items[structure].value):
            structures.setdefault(concept, []).append(structure)
    result = []
    for concept, there in structures.items() if len(structures) > 1 else ():
        one = copy(draft)
        one.explicit = there
        compose(one, concept)
        result.append(one)
    return result
