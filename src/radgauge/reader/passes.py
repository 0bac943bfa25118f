"""The passes over a sentence, in their order, and the sentence that they work on."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from radgauge.reader.assertion import clause_starts
from radgauge.reader.attributes import (
    LONG_AGO,
    REPORTED,
    changed_aspects,
    describe,
    mark_dated,
    mark_history,
    measure,
    over_limits,
)
from radgauge.reader.composing import Draft
from radgauge.reader.open_claims import open_claims
from radgauge.reader.polarity import cancel_double_negation, turn_denials
from radgauge.reader.reading import Mention, Relation
from radgauge.reader.retag import (
    SHORT_OF,
    adjectives_in_front,
    clear_of,
    compare_places,
    deny_changes,
    deny_predicates,
    fall_short,
    join_levels,
    misplaced_devices,
    normal_aspects,
    not_seen_before,
    pathological_nodes,
    places_of_wholes,
    set_aside_preamble,
)
from radgauge.reader.senses import choose_senses, share_heads
from radgauge.reader.sides import (
    compare_sides,
    fronted_sides,
    same_side,
    sides_behind,
    sides_of_companions,
    sides_of_conclusions,
    sides_of_wholes,
    split_by_side,
)
from radgauge.reader.vocabulary import MODIFIERS, Item, Vocabulary
from radgauge.text.tokens import Tokens

_SHOUTED = 20  # characters of a sentence in capitals; shorter ones may be abbreviations alone


def words_of(items: Sequence[Item], tokens: Tokens) -> list[str]:
    """The normal form of each item's words."""
    norms = tokens.norms
    return [
        norms[item.first] if item.last - item.first == 1 else " ".join(norms[item.first : item.last])
        for item in items
    ]


@dataclass(slots=True, eq=False)
class Parse:
    """A sentence that is being read: each pass changes one of its columns."""

    text: str
    vocabulary: Vocabulary
    tokens: Tokens
    items: list[Item]
    roles: frozenset[str]  # of the items as they were matched
    words: list[str] = field(default_factory=list)  # normal form of each item
    starts: Sequence[bool] = ()  # whether a clause starts at an item
    drafts: list[Draft] = field(default_factory=list)
    status: list[str] = field(default_factory=list)  # assertion of each item
    decided: list[int] = field(default_factory=list)  # the item that decided it, -1 for none
    owner: dict[int, int] = field(default_factory=dict)  # describing item -> position of its draft
    mentions: list[Mention] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, vocabulary: Vocabulary) -> Parse:
        """Return the sentence with the terms of the lexicon that it holds."""
        tokens = vocabulary.spelling.tokens(text)
        capitals = text.isupper() and len(text) > _SHOUTED
        items = vocabulary.match(tokens, lowered=text.islower(), capitals=capitals)
        parse = cls(text, vocabulary, tokens, items, frozenset([item.role for item in items]))
        parse.group(items)
        return parse

    def group(self, items: list[Item]) -> None:
        """Take other groups of the tokens as items."""
        self.items, self.words = items, words_of(items, self.tokens)

    def apply(self, passes: Sequence[Pass]) -> None:
        """Run the passes whose condition holds, in their order."""
        for step in passes:
            if step.when is None or step.when(self):
                step.run(self)


class Pass(NamedTuple):
    """One rule over a sentence."""

    reason: str  # Why it is needed, or an example
    when: Callable[[Parse], bool] | None
    run: Callable[[Parse], None]


def _has(*roles: str) -> Callable[[Parse], bool]:
    """Condition: the sentence has an item of one of these roles."""
    return lambda parse: not parse.roles.isdisjoint(roles)


def _has_word(words: Container[str]) -> Callable[[Parse], bool]:
    return lambda parse: any(word in words for word in parse.words)


TAGGING: Final = (
    Pass(
        "letter and number are one level: L4-5", _has("number"), lambda p: p.group(join_levels(p.items, p.tokens))
    ),
    Pass(
        "the last word of joined structures belongs to all: popliteal and tibial veins",
        _has("conjunction", "comma", "slash"),
        lambda p: share_heads(p.items, p.tokens, p.vocabulary),
    ),
    Pass(
        "a word means what its neighbours make it", None, lambda p: choose_senses(p.items, p.words, p.vocabulary)
    ),
    Pass("the thoracic esophagus is the esophagus", None, lambda p: places_of_wholes(p.items, p.vocabulary)),
    Pass("adjectives in front of a finding describe it", None, lambda p: adjectives_in_front(p.items)),
    Pass(
        "nodes of pathological size are enlarged",
        lambda p: "pathologic" in p.text,
        lambda p: pathological_nodes(p.items, p.words),
    ),
    Pass(
        "how the images are read names no structure",
        _has("colon", "semicolon"),
        lambda p: set_aside_preamble(p.items, p.words),
    ),
    Pass("the same side is that of before", _has("side"), lambda p: same_side(p.items, p.vocabulary)),
    Pass("the side compared with is not its own", _has("side"), lambda p: compare_sides(p.items, p.words)),
    Pass(
        "a coiled tube is misplaced",
        _has("device"),
        lambda p: misplaced_devices(p.items, p.words, p.vocabulary.misplaced),
    ),
    Pass(
        "unknown words in the place of a finding are an open claim",
        _has("unknown"),
        lambda p: p.group(open_claims(p.items, p.words, p.tokens, p.vocabulary.compositions)),
    ),
    Pass("clear of consolidation denies it", _has("normality"), lambda p: clear_of(p.items, p.words)),
    Pass("an aspect called normal is no finding", _has("normality"), lambda p: normal_aspects(p.items, p.words)),
    Pass(
        "beyond normal limits is not normal",
        _has_word(SHORT_OF),
        lambda p: fall_short(p.items, p.words, p.vocabulary),
    ),
    Pass("cues reach to the next clause", None, lambda p: _part(p)),
    Pass("more in the bases is no change", _has("change"), lambda p: compare_places(p.items, p.words)),
    Pass("not resolved is stable", _has("change"), lambda p: deny_changes(p.items, p.words)),
    Pass("not seen before is new", _has("cue"), lambda p: not_seen_before(p.items, p.words)),
    Pass("two denials are none", _has("cue"), lambda p: cancel_double_negation(p.items, p.words)),
    Pass("no evidence that it has grown: it is there", _has("cue"), lambda p: deny_predicates(p.items, p.words)),
)
"""Passes that give items other roles, before findings are drafted."""

ATTRIBUTES: Final = (
    Pass(
        "what is normal, inverted or lost denies a finding",
        lambda p: (
            "normality" in p.roles
            or any(draft.inverse or p.items[draft.item].role == "normality" for draft in p.drafts)
        ),
        lambda p: _set_drafts(
            p, turn_denials(p.items, p.words, p.starts, p.drafts, p.vocabulary, (p.status, p.decided))
        ),
    ),
    Pass(
        "each describing word belongs to one mention",
        lambda p: "unknown" in p.roles or not MODIFIERS.isdisjoint([item.role for item in p.items]),
        lambda p: p.owner.update(describe(p.items, p.words, p.starts, p.drafts)),
    ),
    Pass(
        "a decreased density of the liver is steatosis",
        _has("change"),
        lambda p: changed_aspects(p.items, p.words, p.drafts, p.vocabulary),
    ),
    Pass("sizes belong to what is measured", _has("unit"), lambda p: measure(p.items, p.words, p.drafts)),
    Pass(
        "a structure can be too large by its size",
        _has("unit"),
        lambda p: _set_drafts(p, over_limits(p.items, p.words, p.drafts, p.vocabulary)),
    ),
    Pass(
        "history of pneumonia",
        lambda p: (
            "context" in p.roles
            or not REPORTED.isdisjoint(p.words)
            or any(item.role == "cue" and item.value == "history" for item in p.items)
        ),
        lambda p: mark_history(p.items, p.words, p.starts, p.drafts),
    ),
    Pass(
        "appendectomy 2010 is history",
        lambda p: "number" in p.roles or not LONG_AGO.isdisjoint(p.words) or "last" in p.words,
        lambda p: mark_dated(p.items, p.words, p.drafts),
    ),
    Pass(
        "a part has the side of its organ",
        _has("side"),
        lambda p: sides_of_wholes(p.items, p.words, p.starts, p.drafts, p.vocabulary),
    ),
    Pass(
        "right apical and left basal opacities are two",
        lambda p: any(len(draft.explicit) > 1 or draft.sides_differ for draft in p.drafts),
        lambda p: _split(p),
    ),
)
"""Passes over drafts, once their assertion is decided."""

SIDES: Final = (
    Pass(
        "a conclusion lies where its sign lies",
        lambda p: "cue" in p.roles and len(p.mentions) > 1,
        lambda p: sides_of_conclusions(p.mentions, p.relations, p.vocabulary),
    ),
    Pass(
        "a side behind the finding: effusion, on the left",
        _has("side"),
        lambda p: sides_behind(p.items, p.words, p.starts, p.drafts, p.mentions, p.vocabulary),
    ),
    Pass(
        "on the left, an effusion",
        _has("side"),
        lambda p: fronted_sides(p.items, p.starts, p.drafts, p.mentions, p.vocabulary),
    ),
    Pass(
        "what comes with a finding lies on its side",
        lambda p: len(p.mentions) > 1 and any(mention.attributes.laterality for mention in p.mentions),
        lambda p: sides_of_companions(p.items, p.words, p.drafts, p.mentions, p.vocabulary),
    ),
)
"""Passes over mentions that name no side of their own."""


def _part(parse: Parse) -> None:
    joined = not parse.roles.isdisjoint(("verb", "comma", "conjunction", "semicolon"))
    parse.starts = clause_starts(parse.items, parse.words) if joined else [False] * len(parse.items)


def _set_drafts(parse: Parse, drafts: list[Draft]) -> None:
    parse.drafts = drafts


def _split(parse: Parse) -> None:
    parse.drafts, parse.owner = split_by_side(parse.items, parse.drafts, parse.owner, parse.vocabulary)
