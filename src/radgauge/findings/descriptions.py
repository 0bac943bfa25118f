"""What a diagnosis looks like: description sets, so that a report may name it or describe it.

The phrases of data/descriptions.toml are read like reports when a report first claims their diagnosis, so they
hold whatever the lexicon knows, and nothing is read that no report asks for.
"""

from __future__ import annotations

import tomllib
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from radgauge.findings.numbers import DATA
from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon
from radgauge.text.static_embedding import StaticEncoder, Vectors

_KEPT = 1 << 16


class Descriptions:
    """Description sets by the concept of their diagnosis.

    `compiled` holds those that were read, `answers` what was found out of findings and them, up to a limit.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.compiled: dict[Any, Any] = {}
        self.answers: dict[Any, Any] = {}

    @cached_property
    def phrases(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Concept -> phrases of which one says as much as the diagnosis, and phrases of which two do."""
        ids = _ids(self._lexicon)
        found: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        for entry in diagnoses():
            for name in (entry["diagnosis"], *entry.get("also", ())):
                if (concept := ids.get(name)) is not None:
                    equals, signs = found.get(concept, ((), ()))
                    found[concept] = (
                        tuple(dict.fromkeys((*equals, *entry.get("equals", ())))),
                        tuple(dict.fromkeys((*signs, *entry.get("signs", ())))),
                    )
        return found

    def picture(self, concept: str) -> Vectors | None:
        """What a diagnosis looks like as one vector; None if it has no description set."""
        phrases = self.phrases.get(concept)
        if phrases is None:
            return None
        key = ("picture", concept)
        if key not in self.compiled:
            self.compiled[key] = StaticEncoder().encode([" ".join(chain(*phrases))])[0]
        found: Vectors = self.compiled[key]
        return found

    def remember(self, key: object, answer: object) -> None:
        """Keep an answer; findings in free words are as many as reports, so the memory of them has an end."""
        if len(self.answers) >= _KEPT:
            self.answers.clear()
        self.answers[key] = answer


def _ids(lexicon: Lexicon) -> dict[str, str]:
    """Every term of a finding -> its concept."""
    found: dict[str, str] = {}
    for concept in lexicon:
        if concept.kind in ABNORMAL_KINDS:
            for term in (concept.name, *concept.synonyms, *concept.abbreviations, concept.id.replace("_", " ")):
                found.setdefault(term.lower(), concept.id)
    return found


@lru_cache(maxsize=1)
def diagnoses() -> list[dict[str, Any]]:
    """The entries of the data file."""
    table = tomllib.loads((DATA / "descriptions.toml").read_text(encoding="utf-8"))
    entries: list[dict[str, Any]] = table["diagnosis"]
    return entries
