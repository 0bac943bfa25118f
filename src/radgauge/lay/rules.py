"""Knowledge of the lay reader and the sentence set besides the lexicon: rules.toml as a record."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
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
    descriptors: Mapping[str, Mapping[str, tuple[str, ...]]]
    senses: Mapping[str, tuple[str, ...]]
    alike: Mapping[str, str]
    denied_alike: Mapping[str, str]
    contrasts: Mapping[str, Mapping[str, tuple[str, ...]]]
    cues: tuple[Mapping[str, Any], ...]
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
        synonyms=_synonyms(table),
        amounts=frozenset(table["nouns"]["amounts"]),
        adjectives=frozenset(table["nouns"]["adjectives"]),
        severity=table["severity"],
        descriptors={
            role: {value: tuple(terms) for value, terms in values.items()}
            for role, values in table["lay_descriptors"].items()
        },
        senses={concept: tuple(terms) for concept, terms in table["lay_sense"].items()},
        alike=_by_member(table["alike"]["groups"]),
        denied_alike=_by_member(table["denied_alike"]["groups"]),
        contrasts={
            role: {value: tuple(terms) for value, terms in values.items()}
            for role, values in table["contrast"].items()
        },
        cues=tuple(table["lay_cue"]),
        compositions=tuple(table["composition"]),
        regions=tuple(table["region"]),
        hash=hashlib.sha256(content).hexdigest()[:8],
    )


def _synonyms(table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Plain names of each concept, those built from parts among them."""
    synonyms = {concept: list(names) for concept, names in table["lay_synonyms"].items()}
    for rule in table["lay_phrase"]:
        synonyms.setdefault(rule["concept"], []).extend(" ".join(parts) for parts in product(*rule["parts"]))
    return {concept: tuple(dict.fromkeys(names)) for concept, names in synonyms.items()}


def _by_member(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Each member of a group with the first of its group."""
    return {member: group[0] for group in groups for member in group}
