"""Words without which a pattern cannot match, so that a text that has none of them need not be searched.

A pattern of many alternatives is tried at every character; looking for a word in a text is far quicker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

try:  # how Python itself reads a pattern; without it every text is searched
    from re import _constants as ops  # type: ignore[attr-defined]
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover
    _parser = None

_SHORTEST = 2
"""A single letter is in every text."""


def literals_of(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Lower-case words of which every match of a pattern holds at least one; none if that cannot be told.

    >>> literals_of(re.compile(r"\\burgent|(?:recommend|advise)\\w*[^.]{0,40}\\bct\\b", re.IGNORECASE))
    ('advise', 'recommend', 'urgent')
    >>> literals_of(re.compile(r"\\d+ mm|cm"))
    (' mm', 'cm')
    >>> literals_of(re.compile(r"[a-z]*"))
    ()
    """
    if _parser is None:  # pragma: no cover
        return ()
    result = _of_sequence(_parser.parse(pattern.pattern, pattern.flags))
    return tuple(sorted(_shortened(result))) if _worth(result) >= _SHORTEST else ()


class GuardedPattern:
    """A pattern that is searched only in texts that can hold it; the result is that of the pattern.

    >>> urgent = GuardedPattern(re.compile("urgent|emergen", re.IGNORECASE))
    >>> urgent.search("Normal."), urgent.search("Urgent review.")[0]
    (None, 'Urgent')
    """

    __slots__ = ("literals", "pattern")

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.literals = literals_of(pattern)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match; beyond ASCII letters have more than one lower case, so there the pattern decides."""
        if not self.literals or not text.isascii():
            return self.pattern.search(text)
        lowered = text.lower()
        for word in self.literals:  # a plain loop: half the time of any()
            if word in lowered:
                return self.pattern.search(text)
        return None


def _worth(words: frozenset[str]) -> int:
    return min(map(len, words), default=0)


def _shortened(words: frozenset[str]) -> set[str]:
    """Without words that hold another."""
    return {word for word in words if not any(other != word and other in word for other in words)}


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """The best of what each part of a sequence needs: the one whose shortest word is the longest."""
    result: list[frozenset[str]] = []
    run = ""
    for op, value in items:
        if op is ops.LITERAL:
            run += chr(value).lower()
            continue
        if op is ops.AT:  # takes up no character
            continue
        result += [frozenset((run,)), _of_part(op, value)]
        run = ""
    result.append(frozenset((run,)))
    return max(result, key=_worth)


def _of_part(op: Any, value: Any) -> frozenset[str]:
    if op is ops.SUBPATTERN:
        return _of_sequence(value[-1])
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT) and value[0] > 0:
        return _of_sequence(value[2])
    if op is ops.BRANCH:
        every = [_of_sequence(branch) for branch in value[1]]
        return frozenset[str]().union(*every) if all(map(_worth, every)) else frozenset()
    return frozenset()
