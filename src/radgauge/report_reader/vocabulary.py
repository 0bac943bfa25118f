"""The lexicon compiled for matching: one dictionary from first word to terms, longest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from radgauge.report_reader.lexicon import Lexicon
from radgauge.text.tokens import MASK, Tokens, phrase_key, tokenize

MODIFIERS = frozenset({"severity", "change", "side", "quality", "position", "quantity", "part", "amount"})
FINDINGS = frozenset({"abnormality", "disease", "device"})


class Cue(NamedTuple):
    """What a cue does to the findings in its reach."""

    asserts: str  # absent | uncertain | present | nothing | stop
    direction: str  # before | after | both
    scope: str  # clause | phrase
    link: bool = False


class Entry(NamedTuple):
    """What a term of the dictionary stands for."""

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


_PUNCTUATION = {",": "comma", ";": "semicolon", ":": "colon", "/": "slash", "(": "open", ")": "close"}


class Vocabulary:
    """Terms of a lexicon, ready to be found in a sequence of tokens."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._terms: dict[tuple[str, ...], Entry] = {}
        self._abbreviations: dict[tuple[str, ...], Entry] = {}
        self._add_descriptors(lexicon.tables.get("descriptors", {}))
        self._add_cues(lexicon.tables.get("cues", {}))
        self._add_concepts()
        self._trie = _trie(self._terms)
        self._short = _trie(self._abbreviations)
        self._short_lowered = _trie(
            {
                lowered: entry
                for key, entry in self._abbreviations.items()
                if len("".join(key)) > 2 and (lowered := tuple(word.lower() for word in key)) not in self._terms
            }
        )
        self.sentences: dict[str, Any] = {}  # readings of sentences, kept by the reader
        self.compositions = _compositions(lexicon)
        functions = lexicon.tables.get("descriptors", {}).get("function", {})
        bilateral = _words(functions, "bilateral_words")
        self.bilateral_words = frozenset(word.lower() for word in bilateral)
        self.sides = {concept.id: _side_of(concept.name) for concept in lexicon}

    def _add(self, terms: Iterable[str], entry: Entry) -> None:
        for term in terms:
            self._terms[phrase_key(term)] = entry

    def _add_descriptors(self, table: Mapping[str, Any]) -> None:
        functions = table.get("function", {})
        for role in ("other",):
            self._add(_words(functions, role), Entry(role))
        for role in ("quantity", "part", "quality", "position", "amount"):
            for term in _words(table.get(role, {}), "words"):
                key = phrase_key(term)
                self._terms[key] = Entry(role, " ".join(key))
        for role in ("severity", "side", "change", "unit"):
            for value, terms in table.get(role, {}).items():
                self._add(terms, Entry(role, value))
        for role in ("determiner", "preposition", "conjunction", "verb"):
            self._add(_words(functions, role), Entry(role))

    def _add_cues(self, table: Mapping[str, Any]) -> None:
        cues: dict[tuple[str, ...], list[Cue]] = defaultdict(list)
        for group in table.get("cue", []):
            cue = Cue(group["asserts"], group["direction"], group["scope"], group.get("link", False))
            for term in group["terms"]:
                key = phrase_key(term)
                if all(each.direction != cue.direction for each in cues[key]):
                    cues[key].append(cue)
        for key, found in cues.items():
            before = self._terms.get(key)
            if before is None or before.role != "change":
                self._terms[key] = Entry("cue", " ".join(key), "noun", tuple(found))
        for context in table.get("context", []):
            for term in context["terms"]:
                key = phrase_key(term)
                known = self._terms.get(key)
                if known is None or known.role != "cue":
                    self._terms[key] = Entry("context", context["name"], context["scope"])

    def _add_concepts(self) -> None:
        for concept in self.lexicon:
            for term in (concept.name, *concept.synonyms):
                for key in _variants(term):
                    self._terms[key] = Entry(concept.kind, concept.id)
            for term in concept.adjectives:
                for key in _variants(term):
                    if key not in self._terms or self._terms[key].value != concept.id:
                        self._terms[key] = Entry(concept.kind, concept.id, "adjective")
            for short in concept.abbreviations:
                entry = Entry(concept.kind, concept.id)
                words = tokenize(short).texts
                if words:
                    self._abbreviations.setdefault(words, entry)
                    if words[-1].isupper() and len(words[-1]) > 1:
                        self._abbreviations.setdefault((*words[:-1], words[-1] + "s"), entry)

    def word(self, norm: str) -> Entry | None:
        """What a single word stands for."""
        return self._terms.get((norm,))

    def match(self, tokens: Tokens, *, lowered: bool, longest: int = 1000) -> list[Item]:
        """Cover the tokens with the longest terms, from left to right; what is no term is an item itself."""
        norms, words = tokens.norms, tokens.texts
        trie, short = self._trie, (self._short_lowered if lowered else self._short)
        new = tuple.__new__
        items = []
        position, count = 0, len(norms)
        while position < count:
            norm = norms[position]
            best, entry = position, None
            node = trie.get(norm)
            if node is not None:
                end = position + 1
                limit = min(count, position + longest)
                while True:
                    found = node.get("")
                    if found is not None:
                        best, entry = end, found
                    if end >= limit:
                        break
                    node = node.get(norms[end])
                    if node is None:
                        break
                    end += 1
            word = words[position]
            if word in short:
                node = short[word]
                end = position + 1
                while node is not None:
                    found = node.get("")
                    if found is not None and end >= best:
                        best, entry = end, found
                    node = node.get(words[end]) if end < count else None
                    end += 1
            if entry is not None:
                items.append(new(Item, (position, best, *entry)))
                position = best
            else:
                items.append(new(Item, (position, position + 1, _role_of_token(norm), norm, "noun", ())))
                position += 1
        return items


def _role_of_token(norm: str) -> str:
    if norm == MASK:
        return "mask"
    if norm in _PUNCTUATION:
        return _PUNCTUATION[norm]
    if norm[0].isdigit():
        return "position" if norm[-1].isalpha() else "number"
    return "unknown" if norm[0].isalpha() else "mark"


def _words(table: Mapping[str, Any], key: str) -> Sequence[str]:
    words = table.get(key, ())
    return words if isinstance(words, list) else ()


def _variants(term: str) -> list[tuple[str, ...]]:
    """The key of a term, and the key of its spelling in one word where it has a hyphen ("air-space")."""
    keys = [phrase_key(term)]
    if "-" in term:
        keys.append(phrase_key(term.replace("-", "")))
    return [key for key in keys if key]


Trie = dict[str, Any]
"""Word -> following words; the entry of a term that ends here is under ""."""


def _trie(terms: Mapping[tuple[str, ...], Entry]) -> Trie:
    root: Trie = {}
    for key, entry in terms.items():
        node = root
        for word in key:
            node = node.setdefault(word, {})
        node[""] = entry
    return root


def _compositions(lexicon: Lexicon) -> dict[str, tuple[tuple[frozenset[str], str], ...]]:
    """Word of a composition -> (anatomy ids, concept) pairs; words are normal forms joined by blanks."""
    found: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
    for rule in lexicon.tables.get("compositions", {}).get("composition", []):
        for word in rule["words"]:
            found[" ".join(phrase_key(word))].append((frozenset(rule["anatomy"]), rule["concept"]))
    return {word: tuple(rules) for word, rules in found.items()}


def _side_of(name: str) -> str:
    words = name.split()
    return "left" if "left" in words else "right" if "right" in words else ""
