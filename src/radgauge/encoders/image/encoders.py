"""The image-text encoders that VLScore can use, as a table: needs, licence, C, and how far loading is proved."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """Facts about an encoder."""

    name: str  # As its paper calls it
    setting: str  # What `vlscore:encoder=` takes
    needs: str  # Files and extras
    licence: str
    constant: str  # VLScore's C
    proved: str  # What the loading code was compared with


@lru_cache(maxsize=1)
def known_encoders() -> tuple[EncoderFacts, ...]:
    """All of them.

    >>> [each.name for each in known_encoders()][:3]
    ['embedded', 'LIMITR', 'GLoRIA']
    """
    text = (files("radgauge.encoders.image") / "data" / "encoders.toml").read_text(encoding="utf-8")
    return tuple(EncoderFacts(**row) for row in tomllib.loads(text)["encoder"])
