"""The words of each language: `words/<language>.toml`."""

from __future__ import annotations

import hashlib
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
