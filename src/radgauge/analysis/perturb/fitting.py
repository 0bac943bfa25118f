"""Fit a change into its sentence: the article before it, capital letters, spaces, whole words."""

from __future__ import annotations

import re

from radgauge.text.grammar import article, capital

_ARTICLE = re.compile(r"\b(a|an) $", re.IGNORECASE)
_ENUMERATION = re.compile(r"(?:^|\n)[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+$|(?<=[\w.:;] )\d{1,2}[.)][ \t]+$")


def fit(text: str, start: int, end: int, *, after: str, opening: bool) -> tuple[int, int, str]:
    """Fit `after` in the place of text[start:end]: article before it, capital letter, single spaces.

    Args:
        text: The report.
        start: First character that is replaced.
        end: End of what is replaced.
        after: What comes there.
        opening: Whether the place opens a sentence.

    Returns:
        The span, widened where words around it had to change too, and the text for it.

    >>> fit("There is a small effusion.", 11, 16, after="enormous", opening=False)
    (9, 16, 'an enormous')
    """
    if not after:  # something is taken out: take one of the spaces around it too
        if end < len(text) and text[end] == " " and (opening or (start and text[start - 1].isspace())):
            end += 1
        elif start and text[start - 1] == " " and (end == len(text) or text[end] in ".,;:"):
            start -= 1
        if opening and end < len(text):
            after, end = text[end].upper(), end + 1
    elif opening:
        after = capital(after)
    preceding = _ARTICLE.search(text, max(0, start - 4), start)
    if preceding is not None:
        follows = (after or text[end : end + 12]).lstrip()
        right = article(follows)
        if follows and preceding[1].lower() != right:
            right = capital(right) if preceding[1][0].isupper() else right
            after = f"{right} {after}"
            start = preceding.start()
    return start, end, after


def shrink(before: str, after: str) -> tuple[int, int, str]:
    """The smallest run of whole words in which two texts differ, as a span of `before` and its new words.

    >>> shrink("There is no effusion.", "There is an effusion.")
    (9, 11, 'an')
    """
    shortest = min(len(before), len(after))
    head = 0
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    while head and not (_edge(before, head) and _edge(after, head)):
        head -= 1
    while tail and not (_edge(before, len(before) - tail) and _edge(after, len(after) - tail)):
        tail -= 1
    return head, len(before) - tail, after[head : len(after) - tail]


def _edge(text: str, position: int) -> bool:
    """True if no word spans this position."""
    return not (0 < position < len(text) and text[position - 1].isalnum() and text[position].isalnum())


def with_number(text: str, start: int, *, after: int = 0) -> int:
    """Start of a sentence with the number or dash of its list counted in; not before `after`.

    >>> with_number("1. Low volumes 2. Cardiomegaly", 18, after=14)
    15
    """
    enumeration = _ENUMERATION.search(text, max(0, start - 12), start)
    if enumeration is not None and enumeration.start() < after:
        return start
    if enumeration is None:
        return start
    return enumeration.start() + (text[enumeration.start()] == "\n")
