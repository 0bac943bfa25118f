"""Longest common subsequence of two word lists, with one bit per word.

The textbook table costs len(a) x len(b) steps of Python. A row of that table only ever rises by 0 or 1 from
cell to cell, so it fits in the bits of one integer and is updated by a few machine operations:
Crochemore et al. (2001), Hyyrö (2004), Bit-parallel LCS-length computation revisited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

BLOCK = 4096
"""Words per block: beyond it, one integer per distinct word would fill the memory."""


def word_bits(words: Sequence[str]) -> dict[str, int]:
    """For each word an integer whose bit i is set where word i of the text is that word.

    >>> word_bits(["no", "effusion", "no"])
    {'no': 5, 'effusion': 2}
    """
    bits: dict[str, int] = {}
    for position, word in enumerate(words):
        bits[word] = bits.get(word, 0) | 1 << position
    return bits


def lcs_length(bits: Mapping[str, int], length: int, others: Sequence[str]) -> int:
    """Length of the longest common subsequence of a text, given as bits, and another one.

    >>> lcs_length(word_bits(["no", "big", "mass"]), 3, ["no", "mass"])
    2
    """
    full = (1 << length) - 1
    row = full
    for word in others:
        if word in bits:
            steps = row & bits[word]
            row = (row + steps) | (row - steps)
    return length - (row & full).bit_count()


def lcs_of_long(words: Sequence[str], others: Sequence[str], *, block: int = BLOCK) -> int:
    """The same for texts of any length, in bounded memory.

    The bits are worked through in blocks of columns; what overflows from one block at each word of the
    other text is carried into the next. The longer text is the one that is walked, so a book against a
    sentence costs little.

    >>> lcs_of_long(["no", "big", "mass"], ["no", "mass"], block=2)
    2
    """
    if len(words) > len(others):
        words, others = others, words
    length = 0
    carries = bytearray(len(others))
    for start in range(0, len(words), block):
        part = words[start : start + block]
        bits = word_bits(part)
        full = (1 << len(part)) - 1
        row = full
        for position, word in enumerate(others):
            carry = carries[position]
            mask = bits.get(word, 0)
            if mask or carry:
                steps = row & mask
                total = row + steps + carry
                carries[position] = total > full
                row = (total & full) | (row - steps)
        length += len(part) - row.bit_count()
    return length


def lcs_pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """One longest common subsequence, as positions in both texts; for texts of ordinary length.

    >>> lcs_pairs(["no", "big", "mass"], ["no", "mass"])
    [(0, 0), (2, 1)]
    """
    bits = word_bits(words)
    full = (1 << len(words)) - 1
    rows = [full]
    for word in others:
        steps = rows[-1] & bits.get(word, 0)
        rows.append(((rows[-1] + steps) | (rows[-1] - steps)) & full)
    pairs = []
    column, row = len(words), len(others)
    while column and row:
        bit = 1 << (column - 1)
        if rows[row] & bit:  # the table does not rise at this column: the word is in no match
            column -= 1
        elif not rows[row - 1] & bit:  # it rose here before this word of the other text
            row -= 1
        else:
            column, row = column - 1, row - 1
            pairs.append((column, row))
    return pairs[::-1]
