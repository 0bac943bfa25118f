"""How published lexical metrics split a text into words.

Each splitting is a name that appears in a metric's signature, because it moves the numbers more than most
models do. The reader's own tokens, with their lexicon forms, are in `radgauge.text.tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from radgauge.core.errors import UsageError
from radgauge.text.porter import stem

Tokens = tuple[str, ...]

_PUNCTUATION = '.,;:!?()[]{}"'
_INSIDE_NUMBER = re.compile(r"\d[.,:]\d")
_WORD = re.compile(r"""[^\s.,;:!?()\[\]{}"]+(?:(?<=\d)[.,:](?=\d)[^\s.,;:!?()\[\]{}"]+)*|[.,;:!?()\[\]{}"]""")
_ALPHANUMERIC = re.compile(r"[a-z0-9]+")
_13A_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_13A_SYMBOLS = '{|}~[\\]^_`!"#$%&()*+:;<=>?@/.,'
_DIGIT = re.compile("[0-9]")
_13A_RULES = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def words(text: str) -> list[str]:
    """Words with punctuation split off; numbers, hyphenated and slashed words stay whole.

    On text that was cleaned the way R2Gen does it (punctuation set apart by blanks) this equals `str.split`,
    so raw and cleaned versions of a report give the same tokens, and published numbers are met.

    >>> words("No 2.5-cm nodule (right).")
    ['No', '2.5-cm', 'nodule', '(', 'right', ')', '.']
    """
    if _INSIDE_NUMBER.search(text):
        return _WORD.findall(text)
    for mark in _PUNCTUATION:  # the same without the regular expression, which takes twice as long
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    return text.split()


def mteval_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, which sacreBLEU calls 13a.

    >>> mteval_13a("A 2.5-cm nodule, stable.")
    ['A', '2.5', '-', 'cm', 'nodule', ',', 'stable', '.']
    """
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _13A_ENTITIES:
        text = text.replace(entity, character)
    if not _DIGIT.search(text):  # the rules differ only at digits, and four substitutions take their time
        for symbol in _13A_SYMBOLS:
            if symbol in text:
                text = text.replace(symbol, f" {symbol} ")
        return text.split()
    text = f" {text} "
    for pattern, replacement in _13A_RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def cxr(text: str) -> list[str]:
    """The tokens of CXR-Report-Metric's BLEU-2: full stops set apart, only the blank separates.

    >>> cxr("clear.\\nno effusion.")
    ['clear', '.\\nno', 'effusion', '.']
    """
    return [word for word in text.replace(".", " .").split(" ") if word]


def spaces(text: str) -> list[str]:
    """Parts between single blanks, empty ones too: what pycocoevalcap's ROUGE-L does.

    >>> spaces("no  effusion")
    ['no', '', 'effusion']
    """
    return text.split(" ")


def alphanumeric(text: str) -> list[str]:
    """Runs of a-z and 0-9; everything else separates: what rouge-score does after lower-casing.

    >>> alphanumeric("2.5-cm nodule")
    ['2', '5', 'cm', 'nodule']
    """
    return _ALPHANUMERIC.findall(text)


TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = MappingProxyType(
    {
        "words": words,
        "whitespace": str.split,
        "spaces": spaces,
        "13a": mteval_13a,
        "cxr": cxr,
        "alphanumeric": alphanumeric,
    }
)


@dataclass(frozen=True)
class TokenReader:
    """Reads a text as a tuple of words.

    Attributes:
        tokenizer: A name in TOKENIZERS.
        lowercase: Whether letters are lower-cased first.
        stemmer: Whether words of more than three letters are cut to their Porter stem.

    >>> TokenReader("words").read(["No effusion."])
    [('no', 'effusion', '.')]
    """

    tokenizer: str
    lowercase: bool = True
    stemmer: bool = False

    @property
    def signature(self) -> str:
        """The settings: two readers with the same signature read alike."""
        return f"tokens|{self.tokenizer}|lowercase:{self.lowercase}|stemmer:{self.stemmer}"

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """One tuple of words per text."""
        split = TOKENIZERS[self.tokenizer]
        lowered = [text.lower() for text in texts] if self.lowercase else texts
        if self.stemmer:
            return [tuple(stem(word) if len(word) > 3 else word for word in split(text)) for text in lowered]
        return [tuple(split(text)) for text in lowered]


def check_tokenizer(name: str, *, allowed: Sequence[str], metric: str) -> None:
    """Refuse a tokenizer that this metric does not offer."""
    if name not in allowed:
        raise UsageError(f"{metric}: tokenizer must be one of {', '.join(allowed)}, got {name!r}")


def locate(text: str, words_of_text: Sequence[str]) -> list[tuple[int, int] | None]:
    """The characters each word stands on, for words that some tokenizer found in this text, in order.

    Lower-casing may lengthen a text (one Turkish letter becomes two characters), so positions are mapped
    back; a word that a tokenizer rewrote (an entity) has no place and gives None.

    >>> locate("No effusion.", ["no", "effusion", "."])
    [(0, 2), (3, 11), (11, 12)]
    """
    origin: list[int] | None = None
    lowered = text.lower()
    if len(lowered) != len(text):
        pieces = [character.lower() for character in text]
        origin = [index for index, piece in enumerate(pieces) for _ in piece]
        lowered = "".join(pieces)
    spans: list[tuple[int, int] | None] = []
    position = 0
    for word in words_of_text:
        folded = word.lower()
        found = lowered.find(folded, position) if folded else -1
        if found < 0:
            spans.append(None)
            continue
        position = found + len(folded)
        if origin is None:
            spans.append((found, position))
        else:
            spans.append((origin[found], origin[position - 1] + 1))
    return spans
