"""How close two concepts are: the lexicon's hierarchy as a similarity in [0, 1]."""

from __future__ import annotations

from functools import lru_cache

from radgauge.report_reader.lexicon import Lexicon

NEAR = 0.5  # similarity from which two findings may be the same thing in other words
BROAD = 40  # an ancestor with more descendants than this is too general to make its children alike
VAGUE_LABELS = frozenset({"Support Devices", "No Finding", "Pleural Other", "Fracture"})


class ConceptSimilarity:
    """Similarity of the concepts of one lexicon.

    1 for the same concept, high for parent and child (consolidation, airspace opacity), lower for children of
    one near parent (infiltrate, consolidation) and for concepts under one CheXpert label, 0 otherwise.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._concepts = lexicon.concepts
        self._above = {name: self._ancestors(name) for name in lexicon.concepts}
        below: dict[str, int] = {}
        for above in self._above.values():
            for ancestor in above:
                below[ancestor] = below.get(ancestor, 0) + 1
        self._broad = frozenset(name for name, count in below.items() if count > BROAD)
        self.of = lru_cache(maxsize=1 << 18)(self._similarity)
        self.related = lru_cache(maxsize=1 << 18)(self._related)

    def ancestors(self, name: str) -> dict[str, int]:
        """Everything above a concept, itself included, with the number of steps."""
        return self._above.get(name, {name: 0})

    def _ancestors(self, name: str) -> dict[str, int]:
        steps = {name: 0}
        queue = [name]
        while queue:
            current = queue.pop(0)
            for parent in self._concepts[current].parents:
                if parent not in steps and parent in self._concepts:
                    steps[parent] = steps[current] + 1
                    queue.append(parent)
        return steps

    def _related(self, a: str, b: str) -> bool:
        """Whether one is the other, or lies above it."""
        return a in self.ancestors(b) or b in self.ancestors(a)

    def _similarity(self, a: str, b: str) -> float:
        if a == b:
            return 1.0
        above_a, above_b = self.ancestors(a), self.ancestors(b)
        if b in above_a or a in above_b:
            steps = above_a[b] if b in above_a else above_b[a]
            top = b if b in above_a else a
            return max(0.6, 0.97 - 0.12 * steps) if top not in self._broad else 0.55
        shared = [
            above_a[name] + above_b[name] for name in above_a.keys() & above_b.keys() if name not in self._broad
        ]
        best = max(0.4, 0.8 - 0.1 * (min(shared) - 1)) if shared else 0.0
        label_a, label_b = self._concepts[a].chexpert, self._concepts[b].chexpert
        if label_a and label_a == label_b and label_a not in VAGUE_LABELS:
            best = max(best, 0.55)
        return best
