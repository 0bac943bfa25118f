"""Similarity of two concepts: the lexicon's hierarchy and a table of look-alikes as a similarity in [0, 1]."""

from __future__ import annotations

import tomllib
from functools import lru_cache

from radgauge.findings.numbers import DATA, numbers
from radgauge.findings.open_claims import OPEN, likeness
from radgauge.reader.lexicon import Lexicon

_SIMILARITY = numbers()["similarity"]

NEAR = _SIMILARITY["near"]
"""Similarity from which two findings may be the same thing in other words."""

STEP = _SIMILARITY["step"]  # one step up the hierarchy: "opacity" for "airspace opacity" loses little
WIDE = _SIMILARITY["wide"]  # a step up to a concept that says almost nothing


class ConceptSimilarity:
    """Similarity of the concepts of one lexicon.

    1 for the same concept, high for parent and child (consolidation, airspace opacity), what the table of families
    says for concepts that readers use for one another (infiltrate, consolidation), 0 otherwise. Siblings are
    different things unless a family joins them: a feeding tube is no endotracheal tube.

    >>> from radgauge.reader.lexicon import load_lexicon
    >>> alike = ConceptSimilarity(load_lexicon())
    >>> alike.of("picc", "picc"), alike.of("picc", "central_venous_catheter"), alike.of("picc", "chest_tube")
    (1.0, 0.92, 0.0)
    """

    def __init__(self, lexicon: Lexicon) -> None:
        table = tomllib.loads((DATA / "families.toml").read_text(encoding="utf-8"))
        self._wide = frozenset(table["wide"]["concepts"])
        self._sketch = self._wide.union(table["sketch"]["concepts"])
        self._families: dict[str, list[tuple[int, float]]] = {}
        for number, family in enumerate(table["family"]):
            for concept in family["concepts"]:
                self._families.setdefault(concept, []).append((number, float(family["alike"])))
        self._apart = [
            (frozenset(pair["these"]), frozenset(pair["those"]), float(pair["at_most"])) for pair in table["apart"]
        ]
        self._scales: dict[str, dict[int, int]] = {}
        for number, scale in enumerate(table["scale"]):
            for position, step in enumerate(scale["steps"]):
                for concept in step:
                    self._scales.setdefault(concept, {})[number] = position
        self._concepts = lexicon.concepts
        self._known: dict[str, dict[str, int]] = {}
        self._known_families: dict[str, dict[int, tuple[float, int]]] = {}
        self.of = lru_cache(maxsize=1 << 18)(self._similarity)
        self.related = lru_cache(maxsize=1 << 18)(self._related)

    def ancestors(self, name: str) -> dict[str, int]:
        """Everything above a concept, itself included, with the number of steps."""
        steps = self._known.get(name)
        if steps is None:
            steps = {name: 0}
            if name in self._concepts:  # claims in free words are as many as reports
                self._known[name] = steps
            queue = [name]
            while queue:
                current = queue.pop(0)
                concept = self._concepts.get(current)
                for parent in concept.parents if concept is not None else ():
                    if parent not in steps:
                        steps[parent] = steps[current] + 1
                        queue.append(parent)
        return steps

    def is_wide(self, name: str) -> bool:
        """True if a concept says almost nothing."""
        return name in self._wide

    def is_sketch(self, name: str) -> bool:
        """True if a concept says how something looks and not what it is."""
        return name in self._sketch or name.startswith(OPEN)

    def _related(self, a: str, b: str) -> bool:
        """True if one is the other, or lies above it."""
        return a in self.ancestors(b) or b in self.ancestors(a)

    def _similarity(self, a: str, b: str) -> float:
        if a == b:
            return 1.0
        if a.startswith(OPEN) or b.startswith(OPEN):
            return likeness(self._words(a), self._words(b))
        above_a, above_b = self.ancestors(a), self.ancestors(b)
        best = 0.0
        for high, steps in ((b, above_a), (a, above_b)):
            if high in steps:
                best = max(best, WIDE if high in self._wide else STEP ** steps[high])
        if best < 1.0:
            of_b = self.families_of(b)
            for number, (alike, up) in self.families_of(a).items():
                if number in of_b:
                    best = max(best, alike * STEP ** (up + of_b[number][1]))
        for these, those, at_most in self._apart:
            if best > at_most and ((a in these and b in those) or (b in these and a in those)):
                best = at_most
        return best

    def _words(self, name: str) -> str:
        if name.startswith(OPEN):
            return name.removeprefix(OPEN)
        concept = self._concepts.get(name)
        return concept.name if concept is not None else name.replace("_", " ")

    def rank(self, name: str) -> dict[int, int]:
        """Number of each scale of degree that a concept is on -> its place there."""
        return self._scales.get(name, {})

    def families_of(self, name: str) -> dict[int, tuple[float, int]]:
        """The families of a concept or, if it has none, of its nearest ancestors that have: with steps."""
        cached = self._known_families.get(name)
        if cached is not None:
            return cached
        table: dict[int, tuple[float, int]] = {}
        reached = -1
        for ancestor, steps in self.ancestors(name).items():
            if table and steps > reached:
                break
            for number, alike in self._families.get(ancestor, ()):
                table.setdefault(number, (alike, steps))
                reached = steps
        if name in self._concepts:
            self._known_families[name] = table
        return table
