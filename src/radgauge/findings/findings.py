"""Findings: what a report claims, one record per claim, however often and in whichever words it is made."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from radgauge.findings.advice import Advice
from radgauge.findings.concepts import ConceptSimilarity
from radgauge.findings.devices import BAD, GOOD, Devices, devices_for
from radgauge.findings.numbers import DATA, numbers
from radgauge.findings.places import Places
from radgauge.findings.rules import Rules, rules_for
from radgauge.findings.support import Sentences
from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon
from radgauge.text.static_embedding import StaticEncoder, Vectors

# What a diagnosis looks like: description sets, so that a report may name it or describe it.
#
# The phrases of data/descriptions.toml are read like reports when a report first claims their diagnosis, so they
# hold whatever the lexicon knows, and nothing is read that no report asks for.

_MAX_CACHED = 1 << 16


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
        table: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        for entry in diagnoses():
            for name in (entry["diagnosis"], *entry.get("also", ())):
                if (concept := ids.get(name)) is not None:
                    equals, signs = table.get(concept, ((), ()))
                    table[concept] = (
                        tuple(dict.fromkeys((*equals, *entry.get("equals", ())))),
                        tuple(dict.fromkeys((*signs, *entry.get("signs", ())))),
                    )
        return table

    def picture(self, concept: str) -> Vectors | None:
        """Return the description of a diagnosis as one vector; None if it has no description set."""
        phrases = self.phrases.get(concept)
        if phrases is None:
            return None
        key = ("picture", concept)
        if key not in self.compiled:
            self.compiled[key] = StaticEncoder().encode([" ".join(chain(*phrases))])[0]
        result: Vectors = self.compiled[key]
        return result

    def remember(self, key: object, answer: object) -> None:
        """Keep an answer; findings in free words are as many as reports, so the memory of them has an end."""
        if len(self.answers) >= _MAX_CACHED:
            self.answers.clear()
        self.answers[key] = answer


def _ids(lexicon: Lexicon) -> dict[str, str]:
    """Every term of a finding -> its concept."""
    table: dict[str, str] = {}
    for concept in lexicon:
        if concept.kind in ABNORMAL_KINDS:
            for term in (concept.name, *concept.synonyms, *concept.abbreviations, concept.id.replace("_", " ")):
                table.setdefault(term.lower(), concept.id)
    return table


@lru_cache(maxsize=1)
def diagnoses() -> list[dict[str, Any]]:
    """The entries of the data file."""
    table = tomllib.loads((DATA / "descriptions.toml").read_text(encoding="utf-8"))
    entries: list[dict[str, Any]] = table["diagnosis"]
    return entries


Span = tuple[int, int]

NOT_NORMAL = "not_normal:"
"""Prefix of the concept of a structure that is merely not normal; the structure follows."""

SAME = numbers()["similarity"]["same"]
"""Similarity from which two findings of one report that share a place are one finding said twice."""


REPEATS = 200
"""Places that are kept of one claim: a text of a million repeats must not cost the square of their number."""

LOCATIONS = 24
"""Places from which a claim takes no more from what repeats it: each is held against each of another claim's."""

OTHERS = 8
"""Further concepts of one claim that are kept: each is compared with each of another claim's."""


class Finding(NamedTuple):
    """One claim of a report."""

    concept: str  # Lexicon id
    # Further concepts of the same claim: what it suggests, alternatives, more general words
    others: tuple[str, ...]
    kind: str  # abnormality, disease or device
    uncertain: bool  # True if the report hedges
    sides: int  # Bits LEFT, RIGHT, MIDLINE; 0 = not said
    locations: frozenset[str]  # Anatomy ids that the report names, without what the concept implies anyway
    severity: int  # 0 = not said, 1 trace, 2 mild, 3 moderate, 4 severe
    sizes_mm: tuple[float, ...]
    change: str  # new, increased, decreased, stable, or ""
    descriptors: frozenset[str]  # Other describing words
    spans: tuple[Span, ...]  # Where the report says so
    sentences: frozenset[int]  # Indices of the sentences that say so
    # Names and values that tell which one or how far: ("rib", "6"), ("percent", "70")
    labels: frozenset[tuple[str, str]] = frozenset()
    position: str = ""  # good or bad where the report says how a device lies, else ""
    shift: int = 0  # Steps of significance that the report's own words add: negative = it matters more
    weighs_as: str = ""  # Concept whose tier it takes, "" for its own: a benign bulge that may be an aneurysm

    @property
    def concepts(self) -> tuple[str, ...]:
        """Every concept of the claim, the main one first."""
        return (self.concept, *self.others)


class Denial(NamedTuple):
    """A claim that something is not there."""

    concepts: frozenset[str]  # What is denied: the concept or, for a statement of normality, all that it rules out
    sides: int  # Bits; 0 = everywhere
    severity: int  # Least severity that is denied: "no large effusion" leaves room for a small one
    normal: bool  # True if it is a statement of normality ("lungs are clear") and not a plain negation
    span: Span  # Where the report says so
    places: frozenset[str] = frozenset()  # Anatomy that a statement of normality speaks of
    # "new" for "no new nodule", which leaves the known ones; "rest" for "otherwise clear", which leaves what the
    # report has named; "" = all
    only: str = ""
    # Names and values right before it that say what kind is denied: "no full-thickness tear"
    labels: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Findings:
    """Claims and denials of a report."""

    present: tuple[Finding, ...]  # Its claims, each once
    denied: tuple[Denial, ...]  # Its denials, plain ones and statements of normality
    # Every concept that some denial names or names a kind of, to see quickly that none does
    ruled_out: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()  # Parts of the chest that it speaks of
    normal_topics: frozenset[str] = frozenset()  # Those among them that it calls normal and finds nothing in
    one_sided: frozenset[str] = frozenset()  # Those among the latter that it calls normal on one side only
    # Positions in `present` of findings that the report itself denies elsewhere
    disputed: frozenset[int] = frozenset()
    # Its sentences, for what was not brought together by concepts
    sentences: Sentences = field(default_factory=Sentences, compare=False)
    content_words: int = 0  # How many content words the text has
    known_words: int = 0  # How many of them the reader understood
    unread: frozenset[str] = frozenset()  # Those that it did not understand, as written in lower case
    advice: tuple[Advice, ...] = ()  # Its follow-up recommendations
    on_quality: bool = False  # True if it speaks of the quality of the images


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that comparing findings needs to know, made once per lexicon."""

    lexicon: Lexicon
    similarity: ConceptSimilarity
    places: Places
    rules: Rules
    devices: Devices
    descriptions: Descriptions


@lru_cache(maxsize=4)
def knowledge_for(lexicon: Lexicon) -> Knowledge:
    """Similarity, places and rules for a lexicon."""
    similarity = ConceptSimilarity(lexicon)
    return Knowledge(
        lexicon,
        similarity,
        Places(similarity),
        rules_for(lexicon),
        devices_for(lexicon),
        Descriptions(lexicon),
    )


def _position(a: str, b: str) -> str:
    """Position of a device if two sentences of a report say it; a report may contradict itself."""
    return f"{BAD} and {GOOD}" if {a, b} == {GOOD, BAD} else a or b


_CHANGES = ("new", "increased", "decreased", "stable", "resolved", "")
"""Of two statements on one finding the one that matters more holds, in whatever order they are made."""


def union(a: Finding, b: Finding) -> Finding:
    """Return two claims as one; what is said more than REPEATS times adds no more words and places."""
    if len(a.spans) >= REPEATS:
        nothing: frozenset[str] = frozenset()
        b = b._replace(spans=(), sentences=frozenset(), descriptors=nothing, labels=frozenset())
    others = tuple(dict.fromkeys(c for c in (*a.others, *b.concepts) if c != a.concept))[:OTHERS]
    if len(a.locations) >= LOCATIONS:
        b = b._replace(locations=frozenset())
    return Finding(
        concept=a.concept,
        others=others,
        kind=a.kind,
        uncertain=a.uncertain and b.uncertain,
        sides=a.sides | b.sides,
        locations=a.locations | b.locations,
        severity=max(a.severity, b.severity),
        sizes_mm=max(a.sizes_mm, b.sizes_mm, key=lambda sizes: max(sizes, default=0.0)),
        change=min(a.change, b.change, key=_CHANGES.index),
        descriptors=a.descriptors | b.descriptors,
        spans=(*a.spans, *b.spans),
        sentences=a.sentences | b.sentences,
        labels=a.labels | b.labels,
        position=_position(a.position, b.position),
        shift=min(a.shift, b.shift) if a.shift and b.shift else a.shift or b.shift,
        weighs_as=a.weighs_as or b.weighs_as,
    )
