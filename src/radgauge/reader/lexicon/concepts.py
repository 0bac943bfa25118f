"""Concepts: the records of the lexicon and the graph between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

KINDS = ("anatomy", "abnormality", "disease", "device", "normality")
ABNORMAL_KINDS = frozenset({"abnormality", "disease"})
"""Kinds of what a patient has."""
FINDING_KINDS = ABNORMAL_KINDS | {"device"}
"""Kinds of what a report states or denies."""
TIERS = ("urgent", "actionable", "not_actionable", "benign")
CHEXPERT = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Pneumonia",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Pleural Other",
    "Fracture",
    "Support Devices",
    "No Finding",
)
NIH = (
    "Atelectasis",
    "Cardiomegaly",
    "Effusion",
    "Infiltration",
    "Mass",
    "Nodule",
    "Pneumonia",
    "Pneumothorax",
    "Consolidation",
    "Edema",
    "Emphysema",
    "Fibrosis",
    "Pleural_Thickening",
    "Hernia",
)


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept of the lexicon; the fields are those of its TOML table."""

    id: str
    kind: str
    name: str
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    location: tuple[str, ...] = ()
    paired: bool = False
    side: str = ""  # of what lies on one side only and does not say so in its name
    chexpert: str = ""  # "none" ends the search among the parents, as in nih
    nih: str = ""
    tier: str = ""
    lay: str = ""
    denies: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    file: str = field(default="", compare=False)

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term that is matched without regard to case: name, synonyms, adjectives."""
        return (self.name, *self.synonyms, *self.adjectives)

    @property
    def is_finding(self) -> bool:
        """True if the concept is something that can be present or absent: not anatomy, not normality."""
        return self.kind in FINDING_KINDS


@dataclass(frozen=True, eq=False)
class Lexicon:
    """All concepts by id, the tables of the engine, and a hash of the files they came from."""

    concepts: Mapping[str, Concept]
    tables: Mapping[str, Mapping[str, Any]]
    hash: str

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts.values())

    def __getitem__(self, concept: str) -> Concept:
        return self.concepts[concept]

    def __contains__(self, concept: object) -> bool:
        return concept in self.concepts

    @cached_property
    def _ancestors(self) -> dict[str, tuple[str, ...]]:
        return {}

    def ancestors(self, concept: str) -> tuple[str, ...]:
        """The concept's parents, their parents and so on, nearest first, without itself."""
        cached = self._ancestors.get(concept)
        if cached is None:
            table: dict[str, None] = {}
            level = [concept]
            while level:
                level = [
                    parent
                    for entry in level
                    if entry in self.concepts
                    for parent in self.concepts[entry].parents
                    if parent not in table
                ]
                table.update(dict.fromkeys(level))
            cached = tuple(table)
            if concept in self.concepts:  # claims in free words are as many as reports
                self._ancestors[concept] = cached
        return cached

    def is_a(self, concept: str, ancestor: str) -> bool:
        """True if the concept is the ancestor or one of its descendants (for anatomy: is part of it)."""
        return concept == ancestor or ancestor in self.ancestors(concept)
