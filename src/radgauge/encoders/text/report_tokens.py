"""Reports as words and signs for a network that writes reports, and back to text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.text.sentences import split_sentences

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")
_TOKEN = re.compile(r"_{2,}|[a-z0-9]+(?:['./-][a-z0-9]+)*|[.,;:?!()%]")
_MASKED = re.compile(r"x{2,}(?:[-/]x+)*|_{2,}")
MASK = "xxxx"
"""Stands for what was masked for privacy: no word, and never written."""
_CLOSING, _ENDING = frozenset(".,;:?!)%"), frozenset(".?!")


def report_tokens(text: str) -> list[str]:
    """Words and signs in lower case; what was masked for privacy ("XXXX", "___") is `MASK`.

    >>> report_tokens("Heart normal. No ___ 2.5 cm mass (left).")
    ['heart', 'normal', '.', 'no', 'xxxx', '2.5', 'cm', 'mass', '(', 'left', ')', '.']
    """
    return [MASK if _MASKED.fullmatch(token) else token for token in _TOKEN.findall(text.lower())]


def without_masked(text: str) -> str:
    """The text without the sentences that have a masked word; the whole text if all have one.

    >>> without_masked("The XXXX are intact. The lungs are clear.")
    'The lungs are clear.'
    """
    parts = [text[start:end].strip() for start, end in split_sentences(text)]
    unmasked = [part for part in parts if any(sign.isalnum() for sign in part) and MASK not in report_tokens(part)]
    return " ".join(unmasked) if unmasked else text


def joined_tokens(tokens: Iterable[str]) -> str:
    """Text of tokens, sentences capitalised.

    >>> joined_tokens(["no", "mass", "(", "left", ")", ".", "heart", "normal", "."])
    'No mass (left). Heart normal.'
    """
    text, begins, opened = "", True, True
    for token in tokens:
        word = token[:1].upper() + token[1:] if begins else token
        text += word if opened or token in _CLOSING else f" {word}"
        opened = token == "("
        begins = token in _ENDING or (begins and not token[0].isalnum())
    return text


@dataclass(frozen=True)
class Vocabulary:
    """Tokens with numbers; the first four are signs of the network.

    >>> vocabulary = Vocabulary.of(["Lungs clear.", "Lungs clear."], min_count=2)
    >>> vocabulary.words(vocabulary.numbers("Lungs are clear.", max_length=9))
    ['lungs', '<unknown>', 'clear', '.']
    """

    tokens: tuple[str, ...]

    @classmethod
    def of(cls, texts: Sequence[str], *, min_count: int) -> Vocabulary:
        """Tokens that stand in the texts at least so many times, most frequent first."""
        counts = Counter(token for text in texts for token in report_tokens(text) if token != MASK)
        frequent = sorted(
            (token for token, n in counts.items() if n >= min_count), key=lambda token: (-counts[token], token)
        )
        return cls((*SPECIAL, *frequent))

    def numbers(self, text: str, *, max_length: int) -> NDArray[np.int64]:
        """Start, the text's tokens, end; a longer text is cut."""
        index_of = {token: number for number, token in enumerate(self.tokens)}
        indices = [index_of.get(token, UNKNOWN) for token in report_tokens(text)]
        return np.array(
            [START, *indices[: max_length - 2], *([END] if len(indices) <= max_length - 2 else [])], np.int64
        )

    def words(self, numbers: Iterable[int]) -> list[str]:
        """Tokens up to the end, without start and padding."""
        decoded = []
        for number in numbers:
            if number == END:
                break
            if number not in (PAD, START):
                decoded.append(self.tokens[number])
        return decoded
