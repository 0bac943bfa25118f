"""Tokenizers of published lexical metrics.

Each splitting is a name that appears in a metric's signature, because it moves the numbers more than most
models do. The reader's own tokens, with their lexicon forms, are in `radgauge.text.tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from radgauge.core.errors import UsageError

# Porter's stemmer, in the form that rouge-score uses.
#
# That form is the 1980 algorithm with the author's later corrections and NLTK's extensions (a few irregular
# words, "-ies" and "-ied" after one letter, "-fulli"). Written here because NLTK is 20 MB and two seconds of
# import for one function; the tests hold it against NLTK's.
#
# Porter (1980), An algorithm for suffix stripping, Program 14(3).

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word.

    >>> [stem(word) for word in ("effusions", "opacities", "hyperinflated", "pulmonary")]
    ['effus', 'opac', 'hyperinfl', 'pulmonari']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _final_y, _double_suffix, _suffix, _single_suffix, _final_e, _final_ll):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """One letter per letter: c for a consonant, v for a vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m: how many times a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and "v" in _shape(base):
            break
    else:
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and _shape(base)[-1] == "c":
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_cvc(base) else base


def _final_y(word: str) -> str:
    base = word[:-1]
    if word.endswith("y") and len(base) > 1 and _shape(base)[-1] == "c":
        return base + "i"
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffix(word[:-2])
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return word


def _suffix(word: str) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if _measure(base) > 0 else word
    return word


def _single_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            fits = _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _ends_cvc(base)):
            return base
    return word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


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

    >>> TokenReader("words").read(["No effusion."])
    [('no', 'effusion', '.')]
    """

    tokenizer: str  # A name in TOKENIZERS
    lowercase: bool = True  # True if letters are lower-cased first
    stemmer: bool = False  # True if words of more than three letters are cut to their Porter stem

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
        result = lowered.find(folded, position) if folded else -1
        if result < 0:
            spans.append(None)
            continue
        position = result + len(folded)
        if origin is None:
            spans.append((result, position))
        else:
            spans.append((origin[result], origin[position - 1] + 1))
    return spans
