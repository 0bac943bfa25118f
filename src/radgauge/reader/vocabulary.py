"""The lexicon compiled for matching: a trie of terms, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from radgauge.reader.lexicon import FINDING_KINDS, Lexicon
from radgauge.reader.spelling import Spelling
from radgauge.text.tokens import MASK, Tokens

MODIFIERS = frozenset({"severity", "change", "side", "quality", "position", "quantity", "part", "amount"})
JOINS = frozenset({"comma", "conjunction", "slash"})
"""Roles of what joins the members of a list."""
FINDINGS = FINDING_KINDS | {"open"}
"""Roles of what can be present or absent; "open" is a claim whose words the lexicon does not know."""


ALWAYS = "-"
"""In front of the concept of a composition: its word says that the finding is absent ("the vein compresses")."""
IF_DENIED = "~"
"""Its word is worth mentioning only if it is denied, and then says that the finding is there ("no perfusion")."""


ANYWHERE = "*"
"""Stands for any structure in a composition; rules that name the structure go first."""
_HANDED_DOWN = 3
"""Wholes of a structure whose compositions hold for it too, nearest first."""


class Cue(NamedTuple):
    """Effect of a cue on the findings in its scope."""

    asserts: str  # absent | uncertain | present | nothing | stop
    direction: str  # before | after | both
    scope: str  # clause | phrase
    link: bool = False


class Entry(NamedTuple):
    """Role and concept of a term of the dictionary."""

    role: str  # a kind of concept, a role of modifiers, "cue", "context", or a role of function words
    value: str = ""  # concept id, or the value of a modifier
    form: str = "noun"
    cues: tuple[Cue, ...] = ()


class Item(NamedTuple):
    """A matched term, or a single token that is none: tokens [first, last)."""

    first: int
    last: int
    role: str
    value: str
    form: str
    cues: tuple[Cue, ...]


_PUNCTUATION = {",": "comma", ";": "semicolon", ":": "colon", "/": "slash", "(": "bracket", ")": "bracket"}


Trie = dict[str, Any]
"""Word -> following words; the entry of a term that ends here is under "".

At the top a word may still hold the text of its terms, one line each (rest of the term, role, value, form, cues):
most words of a lexicon never occur in a run, so each is taken apart when it is first met.
"""


def _take_apart(lines: str) -> Trie:
    node: Trie = {}
    for line in lines.split("\n"):
        rest, role, value, form, packed = line.split("\t")
        cues = tuple(
            Cue(asserts, direction, scope, link == "link")
            for asserts, direction, scope, link in (cue.split(",") for cue in packed.split(";") if cue)
        )
        end = node
        for word in rest.split(" ") if rest else ():
            end = end.setdefault(word, {})
        end[""] = Entry(role, value, form, cues)
    return node


def _node(trie: Trie, word: str) -> Trie:
    """The node of a word the trie has, taken apart."""
    node: Trie | str = trie[word]
    if isinstance(node, str):
        node = trie[word] = _take_apart(node)
    return node


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms of a lexicon, ready to be found in a sequence of tokens."""

    lexicon: Lexicon
    terms: Trie  # by normal forms
    abbreviations: Trie  # by words as written
    lowered: Trie  # abbreviations for texts without capitals
    compositions: Mapping[str, list[tuple[frozenset[str], str]]]  # word -> (anatomy ids, concept)
    sides: Mapping[str, str]  # concept -> left | right, for those that have it in their name
    bilateral_words: frozenset[str]
    named_by_size: frozenset[str]  # words that "small" and "large" name and do not measure
    unsided: frozenset[str]  # anatomy without a left and a right
    misplaced: frozenset[str]  # words that say a device is in the wrong place
    regions: Mapping[str, list[tuple[str, str, frozenset[str]]]]  # concept -> (region, concept there, words)
    opposites: Mapping[str, list[str]]  # normality or aspect of it -> words that say the opposite of a structure
    spelling: Spelling
    shared_words: frozenset[str] = frozenset()  # words for a part that many organs have: "base", "lower pole"
    senses: Mapping[str, list[tuple[frozenset[str], str]]] = field(default_factory=dict)  # word -> (near, meant)
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # concept -> what its word means in other regions
    named_by_whole: frozenset[str] = frozenset()  # words that say of an organ what its parts do not share
    named_pairs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # finding -> place -> both in one
    limits: Mapping[str, tuple[float, str]] = field(default_factory=dict)  # structure -> (mm, finding if larger)
    composed: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)  # word, place -> finding
    sentences: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # readings of sentences, kept by the reader
    pieces: dict[tuple[str, str, bool], tuple[tuple[int, int, str], ...]] = field(
        default_factory=dict, repr=False
    )  # statements taken apart, kept by the view of RaTE entities

    def word(self, norm: str) -> Entry | None:
        """Return the entry of a single word."""
        return _node(self.terms, norm).get("") if norm in self.terms else None

    def composition(self, word: str, structure: str) -> str:
        """The finding that a word makes of a structure, or of the organ it is part of; "" for none.

        Words of size are not handed down: a large lobe is no large organ.
        """
        key = (word, structure)
        cached = self.composed.get(key)
        if cached is None:
            rules = self.compositions[word]
            cached = _rule_for(structure, rules)
            if not cached and word not in self.named_by_whole:
                above = self.lexicon.ancestors(structure)
                full = (
                    _rule_for(concept, rules) for concept in above[:_HANDED_DOWN] if self.lexicon[concept].parents
                )
                cached = next((concept for concept in full if concept), "")
            cached = self.composed[key] = cached or _rule_for(ANYWHERE, rules)
        return cached

    def limit(self, structure: str) -> tuple[float, str]:
        """The size in mm from which a structure, or what it is part of, is abnormal, and what it is then."""
        for concept_id in (structure, *self.lexicon.ancestors(structure)):
            if concept_id in self.limits:
                return self.limits[concept_id]
        return 0.0, ""

    def named_pair(self, finding: str, structure: str) -> str:
        """The finding that has this one and a structure, or the organ it is part of, in its name; "" for none."""
        structures = self.named_pairs.get(finding)
        if structures is None:
            return ""
        if structure in structures:
            return structures[structure]
        above = self.lexicon.ancestors(structure)[:_HANDED_DOWN]
        return next(
            (structures[concept] for concept in above if concept in structures and self.lexicon[concept].parents),
            "",
        )

    def term(self, norms: tuple[str, ...]) -> Entry | None:
        """Return the entry of these words as one term."""
        if not norms or norms[0] not in self.terms:
            return None
        end, entry = _longest_match(self.terms, norms, 0, len(norms))
        return entry if end == len(norms) else None

    def match(self, tokens: Tokens, *, lowered: bool, capitals: bool = False, max_words: int = 1000) -> list[Item]:
        """Cover the tokens with the longest terms, from left to right; what is no term is an item itself.

        Between `capitals` a word that is a term is no abbreviation: "LIP LESION".
        """
        norms, words = tokens.norms, tokens.texts
        trie, short = self.terms, (self.lowered if lowered else self.abbreviations)
        new = tuple.__new__
        items = []
        position, count = 0, len(norms)
        while position < count:
            norm = norms[position]
            best, entry = position, None
            node = trie.get(norm)
            if node is not None:
                if node.__class__ is str or len(node) > 1 or "" not in node:
                    best, entry = _longest_match(trie, norms, position, min(count, position + max_words))
                    if entry is not None and best - position > 1 and entry[0] == "anatomy":
                        best, entry = _without_finding(trie, norms, position, best, entry, count)
                else:  # most words start no longer term
                    best, entry = position + 1, node[""]
            word = words[position]
            if word in short and not (
                position and tokens.ends[position - 1] == tokens.starts[position] and norms[position - 1].isdigit()
            ):
                end, result = _longest_match(short, words, position, count)
                is_word = capitals and len(word) > 2 and entry is not None and entry.role not in FINDINGS
                if result is not None and end >= best + is_word:
                    best, entry = end, result
            if entry is None and not lowered and (plain := word.lower()) in self.lowered:
                if plain == word:  # "no ptx" between capitals
                    best, entry = _longest_match(self.lowered, words, position, count)
                elif len(word) > 2 and (result := _node(self.lowered, plain).get("")) is not None:  # "Smv: patent"
                    best, entry = position + 1, result
            if entry is not None:
                items.append(new(Item, (position, best, *entry)))
                position = best
            else:
                role = _role_of_token(norm)
                if norm in _DASHES and 0 < position < count - 1 and _stands_apart(tokens, position):
                    role = "colon" if all(item.role in _TOPIC for item in items) else "semicolon"
                items.append(new(Item, (position, position + 1, role, norm, "noun", ())))
                position += 1
        return items


def _longest_match(trie: Trie, norms: tuple[str, ...], position: int, limit: int) -> tuple[int, Entry | None]:
    """End and entry of the longest term that starts at `position` and ends before `limit`."""
    node: Trie | None = _node(trie, norms[position])
    end = position + 1
    best, entry = position, None
    while node is not None:
        result = node.get("")
        if result is not None:
            best, entry = end, result
        if end >= limit:
            break
        node = node.get(norms[end])
        end += 1
    return best, entry


def _without_finding(
    trie: Trie, norms: tuple[str, ...], position: int, best: int, entry: Entry, count: int
) -> tuple[int, Entry | None]:
    """A finding that starts inside anatomy and reaches further keeps its words: "esophageal | hiatus hernia"."""
    for inner in range(position + 1, best):
        if norms[inner] in trie:
            end, result = _longest_match(trie, norms, inner, count)
            if result is not None and end > best and result.role in FINDINGS:
                return _longest_match(trie, norms, position, inner)
    return best, entry


def _rule_for(structure: str, rules: list[tuple[frozenset[str], str]]) -> str:
    return next((concept for anatomy, concept in rules if structure in anatomy), "")


_DASHES = frozenset({"-", "\u2013", "\u2014"})
_TOPIC = frozenset({"anatomy", "side", "position", "determiner", "part"})


def _stands_apart(tokens: Tokens, position: int) -> bool:
    """True if blanks surround a dash, so that it parts clauses: "bulky hilum - lesion cannot be excluded"."""
    return (
        tokens.ends[position - 1] < tokens.starts[position] and tokens.ends[position] < tokens.starts[position + 1]
    )


def _role_of_token(norm: str) -> str:
    if norm == MASK:
        return "mask"
    if norm in _PUNCTUATION:
        return _PUNCTUATION[norm]
    if norm[0].isdigit():
        return "position" if norm[-1].isalpha() else "number"
    return "unknown" if norm[0].isalpha() else "mark"
