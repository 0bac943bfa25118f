"""Numbers of data/matching.toml: thresholds and shares that comparing two reports rests on."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).parent / "data"


@lru_cache(maxsize=1)
def numbers() -> Mapping[str, Mapping[str, float]]:
    """Every table of the file."""
    table: Mapping[str, Mapping[str, float]] = tomllib.loads((DATA / "matching.toml").read_text(encoding="utf-8"))
    return table


def coverage_threshold() -> float:
    """Share of understood content words below which a case is judged with low confidence."""
    return numbers()["coverage"]["low"]
