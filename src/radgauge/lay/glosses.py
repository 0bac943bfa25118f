"""Terms of a report and what they mean, by the words around them."""

from __future__ import annotations

import re
from functools import lru_cache

from radgauge.lay.language_words import Words


def glosses_in(text: str, words: Words) -> list[tuple[int, int, str]]:
    """Terms of a text with their plain meaning: start, end, meaning; each term once."""
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
            found.append((match.start(), match.end(), str(plain)))
    return found


@lru_cache(maxsize=8)
def _terms(terms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(terms, key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])", re.IGNORECASE)
