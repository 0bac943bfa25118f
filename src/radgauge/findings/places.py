"""Sides, severities and places: what two reports may call differently and still mean the same."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache

from radgauge.findings.concepts import ConceptSimilarity
from radgauge.findings.numbers import DATA

_LEVEL = re.compile(r"[ctls]\d{1,2}")
_LUNG_LOBES = ("upper_lobe", "middle_lobe", "lower_lobe")
LEFT, RIGHT, MIDLINE = 1, 2, 4
BOTH = LEFT | RIGHT
SIDES = {"left": LEFT, "right": RIGHT, "bilateral": BOTH, "midline": MIDLINE, "": 0}
SEVERITIES = {"": 0, "trace": 1, "mild": 2, "moderate": 3, "severe": 4}
_SEVERITY_NAMES = tuple(SEVERITIES)


@lru_cache(maxsize=1 << 12)
def _levels(structure: str) -> frozenset[str]:
    """The vertebrae in the name of a place: l4 and l5 of l4_l5_disc."""
    return frozenset(part for part in structure.split("_") if _LEVEL.fullmatch(part))


@lru_cache(maxsize=1 << 12)
def _unsided(structure: str) -> str:
    """The place without the side in its name, which is compared apart: lower_lobe of right_lower_lobe."""
    return structure.removeprefix("right_").removeprefix("left_") if structure.endswith(_LUNG_LOBES) else structure


class Places:
    """Anatomy that two reports may exchange: part and organ, or two names of one zone."""

    def __init__(self, similarity: ConceptSimilarity) -> None:
        table = tomllib.loads((DATA / "places.toml").read_text(encoding="utf-8"))
        self._related = similarity.related
        self._vague = frozenset(table["vague"]["places"])
        self._aspects = tuple(table["aspects"]["endings"])
        self._ancestors = similarity.ancestors
        self._zones: dict[str, set[int]] = {}
        for number, zone in enumerate(table["zone"]):
            for structure in zone["places"]:
                self._zones.setdefault(structure, set()).add(number)
        self._known: dict[tuple[frozenset[str], frozenset[str]], bool] = {}

    def agree(self, a: frozenset[str], b: frozenset[str]) -> bool:
        """True if two lists of places can mean one place.

        They cannot if each names a place that is no part, whole or neighbour of any of the other's: "posterior
        horn of the medial meniscus" and "posterior horn of the lateral meniscus" share a horn and are two places.
        """
        key = (a, b)
        cached = self._known.get(key)
        if cached is None:
            if len(self._known) > 1 << 16:
                self._known.clear()
            cached = self._known[key] = self._every(a, b) or self._every(b, a)
        return cached

    def related(self, a: str, b: str) -> bool:
        """True if one structure is the other, or a part of it."""
        return self._related(a, b)

    def _every(self, a: frozenset[str], b: frozenset[str]) -> bool:
        return all(any(self._one(x, y) for y in b) for x in a)

    def is_vague(self, structure: str) -> bool:
        """True if a place says no more than that the finding is in the chest."""
        return structure in self._vague

    def zones(self, structure: str) -> list[int]:
        """Numbers of the zones that a place belongs to."""
        return sorted(self._zones.get(structure, ()))

    def _one(self, a: str, b: str) -> bool:
        a, b = _unsided(a), _unsided(b)
        if a in self._vague or b in self._vague or self._related(a, b):
            return True
        if not _levels(a).isdisjoint(_levels(b)):
            return True  # the disc between two vertebrae, and one of them
        if a.endswith(self._aspects) is not b.endswith(self._aspects) and self._share_a_whole(a, b):
            return True  # the cortex of a kidney, and its lower pole
        return not self._zones.get(a, set()).isdisjoint(self._zones.get(b, ()))

    def _share_a_whole(self, a: str, b: str) -> bool:
        """True if two structures are parts of one organ, not only of one region of the body."""
        shared = self._ancestors(a).keys() & self._ancestors(b).keys()
        return any(len(self._ancestors(concept_id)) > 1 for concept_id in shared)


def side_name(sides: int) -> str:
    """The sides in words.

    >>> side_name(1), side_name(3), side_name(0)
    ('left', 'bilateral', '')
    """
    return {0: "", LEFT: "left", RIGHT: "right", BOTH: "bilateral", MIDLINE: "midline"}.get(sides, "bilateral")


def severity_name(severity: int) -> str:
    """The severity in words.

    >>> severity_name(3)
    'moderate'
    """
    return _SEVERITY_NAMES[severity]


def place_names(locations: Iterable[str]) -> str:
    """Anatomy ids as words for people."""
    return ", ".join(sorted(name.replace("_", " ") for name in locations))
