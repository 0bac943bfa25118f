"""Spelling: shorthand of telegraphic reports written out, misspelled words of the lexicon corrected.

Every rule replaces one word by one word, so that positions in the text stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from radgauge.core.parsing import shipped_toml
from radgauge.text.tokens import Tokens, tokenize

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SIDES = {"L": "left", "R": "right"}
_BEFORE_SIDE = ("", " ", "(", ">", "<", "=")
_BEHIND_SIDE = ("", " ", ")", ">", "<", "=", ",", ".", ":")
_WRITTEN_SIDES = frozenset({"l", "r", "lt", "rt", "left", "right"})
_BEFORE_A_SIDE = frozenset(shipped_toml(__file__, "word_lists.toml")["before_a_side"])
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_SHORTEST = 7  # letters of a word that is mended: among shorter ones too many are other words
"""One letter less if the word as it was meant has that many: a letter left out."""
_MAX_LENGTH = 40  # letters; nobody misspells a longer word
_MAX_CACHED = 1 << 16


@dataclass(frozen=True, eq=False)
class Spelling:
    """Shorthand and known spellings; everything is in normal forms."""

    shorthand: Mapping[str, str]  # short form -> the word
    known: str  # all words of the lexicon, joined by blanks
    keep: frozenset[str]  # words that are no misspelling of a word they resemble
    _found: dict[str, str] = field(default_factory=dict, repr=False)
    _known: set[str] = field(default_factory=set, repr=False)

    def tokens(self, text: str) -> Tokens:
        """Tokens of a text, their normal forms as they were meant.

        >>> spelling = Spelling({"eff": "effusion"}, "effusion pneumothorax", frozenset())
        >>> spelling.tokens("R eff, no pneumothrax").norms
        ('right', 'effusion', ',', 'no', 'pneumothorax')
        """
        tokens = tokenize(text)
        if "-" in text:
            tokens = self._joined(tokens, text)
        cache = self._found
        norms = [cache[norm] if norm in cache else self._meant(norm) for norm in tokens.norms]
        if "l" in norms or "r" in norms:
            _write_out_sides(norms, tokens, text)
        if "#" in norms:
            _write_out_fractures(norms, tokens, text)
        tokens = tokens._replace(norms=tuple(norms))
        return _without_marks_of_sides(tokens) if "left" in norms or "right" in norms else tokens

    def _joined(self, tokens: Tokens, text: str) -> Tokens:
        """Join what a hyphen parts, where only the whole is a word: "acromio-clavicular"."""
        norms, starts, ends = tokens.norms, tokens.starts, tokens.ends
        parted = [
            index
            for index in range(len(norms) - 1)
            if text[ends[index] : starts[index + 1]] == "-"
            and norms[index].isalpha()
            and not (self._is_word(norms[index]) and self._is_word(norms[index + 1]))
            and self._is_word(norms[index] + norms[index + 1])
        ]
        for index in reversed(parted):
            joined = (text[starts[index] : ends[index + 1]], norms[index] + norms[index + 1])
            merged = {"texts": joined[0], "norms": joined[1], "starts": starts[index], "ends": ends[index + 1]}
            tokens = Tokens(
                **{
                    name: (*column[:index], merged[name], *column[index + 2 :])
                    for name, column in tokens._asdict().items()
                }
            )
        return tokens

    def _is_word(self, norm: str) -> bool:
        if not self._known:
            self._known.update(self.known.split())
        return norm in self._known

    def _meant(self, norm: str) -> str:
        meant = self.shorthand.get(norm, norm)
        usual = _SHORTEST - 1 <= len(norm) <= _MAX_LENGTH and norm.isalpha() and norm not in self.keep
        if meant == norm and usual and not self._is_word(norm):
            meant = _only(word for word in _neighbours(norm) if word in self._known) or norm
        if len(norm) > _MAX_LENGTH:
            return meant  # no word of the language, and not worth keeping
        if len(self._found) >= _MAX_CACHED:
            self._found.clear()
        self._found[norm] = meant
        return meant


def _write_out_sides(norms: list[str], tokens: Tokens, text: str) -> None:
    """A capital L or R by itself is a side: "R knee", "L > R", "R-sided"; not in "L4", "L-spine", "R/O"."""
    for index, written in enumerate(tokens.texts):
        if written in _SIDES:
            before = text[tokens.starts[index] - 1 : tokens.starts[index]]
            behind = text[tokens.ends[index] : tokens.ends[index] + 2]
            numbered = behind[1:].isdigit() and not _ORDINAL.match(text, tokens.ends[index] + 1)
            sided = text.startswith("-side", tokens.ends[index])
            if before in _BEFORE_SIDE and (behind[:1] in _BEHIND_SIDE or sided) and not numbered:
                norms[index] = _SIDES[written]


def _without_marks_of_sides(tokens: Tokens) -> Tokens:
    """Drop the stop of "Rt. effusion" and the brackets of "(R) effusion"; those of "effusion (R)" stay."""
    norms, dropped = tokens.norms, set()
    for index, written in enumerate(tokens.texts[:-1]):
        if written.lower() not in _WRITTEN_SIDES:
            continue
        behind = index + 1
        if norms[behind] == "." and len(written) <= 2 and behind + 1 < len(norms):
            dropped.add(behind)
        elif index and norms[index - 1] == "(" and norms[behind] == ")" and behind + 1 < len(norms):
            opens = index == 1 or not norms[index - 2][0].isalnum() or norms[index - 2] in _BEFORE_A_SIDE
            if opens and norms[behind + 1][0].isalnum():
                dropped.update((index - 1, behind))
    if not dropped:
        return tokens
    left = [index for index in range(len(norms)) if index not in dropped]
    return Tokens(*(tuple(column[index] for index in left) for column in tokens))  # type: ignore[arg-type]


def _write_out_fractures(norms: list[str], tokens: Tokens, text: str) -> None:
    """A hash by itself is a fracture: "# neck of femur"; not a number: "#2"."""
    for index, norm in enumerate(norms):
        if norm == "#" and not text[tokens.ends[index] : tokens.ends[index] + 1].isdigit():
            norms[index] = "fracture"


def _only(words: Iterable[str]) -> str:
    """The one word there is; "" if there are none or several."""
    result = set(words)
    return result.pop() if len(result) == 1 else ""


def _neighbours(word: str) -> Iterator[str]:
    """Words one slip away: a letter left out, a letter too many, two letters swapped.

    The first letter and the ending stay, and no letter is taken for another: those are mostly other words.
    """
    for index in range(1, len(word)):
        before, behind = word[:index], word[index:]
        for letter in _LETTERS:
            yield before + letter + behind
        if len(behind) > 1 and len(word) >= _SHORTEST:
            yield before + behind[1] + behind[0] + behind[2:]
            if len(word) > _SHORTEST:
                yield before + behind[1:]


def words_of_terms(terms: Iterable[tuple[str, ...]]) -> str:
    """Every word of some terms, joined by blanks."""
    return " ".join(sorted({word for term in terms for word in term if word.isalpha()}))


def short_forms(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Short form -> word, in normal forms, from a table of words and their short forms."""
    result: dict[str, str] = {}
    for word, forms in table.items():
        (meant,) = tokenize(word).norms
        for form in forms:
            (norm,) = tokenize(form).norms
            result[norm] = meant
    return result
