"""What the plain-language writer and the lay reader know: rules.toml as a record."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "rules.toml"


@dataclass(frozen=True, eq=False)
class LayRules:
    """rules.toml; the comments there say what each table is for."""

    terms: Mapping[str, str]
    synonyms: Mapping[str, tuple[str, ...]]
    amounts: frozenset[str]
    adjectives: frozenset[str]
    severity: Mapping[str, Mapping[str, str]]
    side: Mapping[str, str]
    change: Mapping[str, str]
    normal: Mapping[str, str]
    quality: Mapping[str, str]
    quantity: Mapping[str, str]
    position: Mapping[str, str]
    understood: frozenset[str]
    words: Mapping[str, str]
    abbreviations: Mapping[str, str]
    descriptors: Mapping[str, Mapping[str, tuple[str, ...]]]
    senses: Mapping[str, tuple[str, ...]]
    compositions: tuple[Mapping[str, Any], ...]
    regions: tuple[Mapping[str, Any], ...]
    hash: str


@lru_cache(maxsize=1)
def lay_rules() -> LayRules:
    """The rules that ship with the package."""
    content = FILE.read_bytes()
    table = tomllib.loads(content.decode("utf-8"))
    return LayRules(
        terms=table["terms"],
        synonyms={concept: tuple(found) for concept, found in table["lay_synonyms"].items()},
        amounts=frozenset(table["nouns"]["amounts"]),
        adjectives=frozenset(table["nouns"]["adjectives"]),
        severity=table["severity"],
        side=table["side"],
        change=table["change"],
        normal=table["normal"],
        quality=table["quality"],
        quantity=table["quantity"],
        position=table["position"],
        understood=frozenset(table["understood"]["words"]),
        words=table["words"],
        abbreviations=table["abbreviations"],
        descriptors={
            role: {value: tuple(found) for value, found in values.items()}
            for role, values in table["lay_descriptors"].items()
        },
        senses={concept: tuple(found) for concept, found in table["lay_sense"].items()},
        compositions=tuple(table["composition"]),
        regions=tuple(table["region"]),
        hash=hashlib.sha256(content).hexdigest()[:8],
    )
