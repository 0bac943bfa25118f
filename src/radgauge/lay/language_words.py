"""The words of each language: `words/<language>.toml`, and the terms of a report that they explain."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge.core.errors import InputError
from radgauge.core.parsing import shipped_toml

FOLDER = Path(__file__).parent / "words"
Words = Mapping[str, Any]


def languages() -> tuple[str, ...]:
    """Languages that the writer for patients knows."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@lru_cache(maxsize=8)
def words_of(language: str) -> Words:
    """The words of a language.

    Raises:
        InputError: If no file of that language ships.
    """
    if language not in languages():
        raise InputError(
            f"language must be one of {', '.join(languages())}, got {language!r}; a language is a file of words: "
            "see docs/layman_write.md"
        )
    return shipped_toml(__file__, f"words/{language}.toml")


@lru_cache(maxsize=8)
def words_hash(language: str) -> str:
    """Eight hexadecimal digits for the file of a language."""
    return hashlib.sha256((FOLDER / f"{language}.toml").read_bytes()).hexdigest()[:8]


def glosses_in(text: str, words: Words, *, chest: bool = True) -> list[tuple[int, int, str]]:
    """Terms of a text with their plain meaning: start, end, meaning; each term once.

    Outside the chest a meaning that names a part of it is another one's (`gloss_elsewhere`), or none is given.
    """
    elsewhere = words.get("gloss_elsewhere", {})
    glosses, seen = [], set()
    for match in _terms(tuple(words["gloss_words"])).finditer(text):
        term = match[0].lower()
        if term not in seen:
            seen.add(term)
            plain = next(
                (
                    entry["plain"]
                    for entry in words.get("gloss_context", ())
                    if term in entry["terms"]
                    and re.match(entry.get("after", ""), text[match.end() :], re.IGNORECASE)
                    and re.search(entry.get("before", ""), text[: match.start()], re.IGNORECASE)
                ),
                words["gloss_words"][term],
            )
            if not chest and (term in elsewhere or _OF_CHEST.search(str(plain))):
                plain = elsewhere.get(term, "")
            if plain:
                glosses.append((match.start(), match.end(), str(plain)))
    return glosses


_OF_CHEST = re.compile(r"\b(?:lungs?|chest|heart|ribs?|breathing|airways?|Lungen?\w*|Brust\w*|Herz\w*)\b")


@lru_cache(maxsize=8)
def _terms(terms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(terms, key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])", re.IGNORECASE)
