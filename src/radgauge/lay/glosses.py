"""Terms of a report and what they mean, by the words around them."""

from __future__ import annotations

import re
from functools import lru_cache

from radgauge.lay.language_words import Words


def glosses_in(text: str, words: Words, *, chest: bool = True) -> list[tuple[int, int, str]]:
    """Terms of a text with their plain meaning: start, end, meaning; each term once.

    Outside the chest a meaning that names a part of it is another one's (`gloss_elsewhere`), or none is given.
    """
    elsewhere = words.get("gloss_elsewhere", {})
    found, seen = [], set()
    for match in _terms(tuple(words["gloss_words"])).finditer(text):
        term = match[0].lower()
        if term not in seen:
            seen.add(term)
            plain = next(
                (
                    each["plain"]
                    for each in words.get("gloss_context", ())
                    if term in each["terms"]
                    and re.match(each.get("after", ""), text[match.end() :], re.IGNORECASE)
                    and re.search(each.get("before", ""), text[: match.start()], re.IGNORECASE)
                ),
                words["gloss_words"][term],
            )
            if not chest and (term in elsewhere or _OF_CHEST.search(str(plain))):
                plain = elsewhere.get(term, "")
            if plain:
                found.append((match.start(), match.end(), str(plain)))
    return found


_OF_CHEST = re.compile(r"\b(?:lungs?|chest|heart|ribs?|breathing|airways?|Lungen?\w*|Brust\w*|Herz\w*)\b")


@lru_cache(maxsize=8)
def _terms(terms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(terms, key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])", re.IGNORECASE)
