"""Rules for findings and their significance: those of data/rules.toml, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from radgauge.findings.numbers import DATA
from radgauge.reader.lexicon import Lexicon
from radgauge.text.literals import GuardedPattern

if TYPE_CHECKING:
    from radgauge.findings.findings import Finding

TIERS = ("urgent", "actionable", "not_actionable", "benign")
"""Significance tiers, most significant first; the first two are clinically significant."""

SIGNIFICANT = frozenset({0, 1})
"""Positions in TIERS that count as clinically significant."""

UNKNOWN = 2  # a finding whose concept has no tier

_AGE = re.compile(r"(\d{1,3})\s*([YMWD]|years?|months?|weeks?|days?|yo|y/o)?", re.IGNORECASE)
_YEARS = {"m": 1 / 12, "w": 1 / 52, "d": 1 / 365}
_META_AGE = ("age", "patientage", "patient_age")
_META_INDICATION = ("indication", "history", "clinical_history", "reason")


@dataclass(frozen=True, slots=True)
class ContextRule:
    """A shift of significance: for these concepts, if age and indication fit."""

    why: str
    concepts: frozenset[str]
    tier: int
    words: GuardedPattern | None
    min_age: float
    max_age: float


@dataclass(frozen=True, slots=True)
class SizeRule:
    """Below a size a finding of these concepts matters less."""

    concepts: frozenset[str]
    below_mm: float
    tier: int


@dataclass(frozen=True, slots=True)
class Measure:
    """From a size on a structure has a finding; what is larger than `up_to_mm` is another measure."""

    concept: str
    from_mm: float
    up_to_mm: float


@dataclass(frozen=True, slots=True)
class Context:
    """Patient data beside the report: age in years (None = unknown) and the indication."""

    age: float | None = None
    indication: str = ""


NO_CONTEXT = Context()


@dataclass(frozen=True, eq=False)
class Rules:
    """data/rules.toml for one lexicon; sets are closed downwards (a concept brings what lies below it)."""

    ignored: frozenset[str]
    weak: frozenset[str]
    lasting: frozenset[str]
    parts: frozenset[str]
    limits: GuardedPattern
    request: GuardedPattern
    unseen: GuardedPattern
    quality: GuardedPattern
    hedges: tuple[str, ...]
    unlikely: tuple[str, ...]
    context: tuple[ContextRule, ...]
    tiers: Mapping[str, int]
    topics: Mapping[str, tuple[str, ...]]
    acted_on: GuardedPattern
    old: frozenset[str]
    slight: frozenset[str]
    sizes: tuple[SizeRule, ...]
    measures: Mapping[str, Measure]
    unknown: int
    open: int
    open_acted_on: int
    disease_name: re.Pattern[str]
    no_finding: re.Pattern[str]
    separate: frozenset[str]

    def tier_of(self, finding: Finding, context: Context = NO_CONTEXT) -> int:
        """Position in TIERS of a finding for this patient, by what it is and what the report says of it."""
        if finding.kind == "open":
            return self.open_acted_on if finding.shift < 0 else self.open
        tier = self.tier(finding.weighs_as or finding.concept, context)
        if finding.sizes_mm:
            largest = max(finding.sizes_mm)
            for rule in self.sizes:
                if finding.concept in rule.concepts and largest < rule.below_mm:
                    tier = max(tier, rule.tier)
        if finding.shift > 0:
            tier = min(len(TIERS) - 1, tier + finding.shift)
        elif finding.shift < 0 and tier == UNKNOWN:
            tier -= 1
        elif finding.severity == 1 and tier == UNKNOWN and finding.concept in self.slight:
            tier += 1
        return tier

    def tier(self, concept: str, context: Context = NO_CONTEXT) -> int:
        """Position in TIERS of a concept for this patient."""
        if context is not NO_CONTEXT:
            for rule in self.context:
                if concept in rule.concepts and _fits(rule, context):
                    return rule.tier
        return self.tiers.get(concept, self.unknown)


def context_of(meta: Mapping[str, str]) -> Context:
    """Age and indication from a case's meta columns.

    >>> context_of({"age": "015M", "indication": "Fever"})
    Context(age=1.25, indication='fever')
    >>> context_of({}) is NO_CONTEXT
    True
    """
    lowered = {name.lower(): value for name, value in meta.items()}
    age = next((cached for name in _META_AGE if (cached := years(lowered.get(name, ""))) is not None), None)
    words = " ".join(lowered[name] for name in _META_INDICATION if lowered.get(name))
    return Context(age, words.lower()) if age is not None or words else NO_CONTEXT


def years(text: str) -> float | None:
    """An age in years: "073Y" (DICOM), "15 months", "64"; None if it is none.

    >>> years("073Y"), years("18 months"), years("")
    (73.0, 1.5, None)
    """
    match = _AGE.fullmatch(text.strip())
    if match is None:
        return None
    return float(match[1]) * _YEARS.get((match[2] or "y")[0].lower(), 1.0)


def _fits(rule: ContextRule, context: Context) -> bool:
    if rule.words is not None and not rule.words.search(context.indication):
        return False
    if rule.min_age > 0 and (context.age is None or context.age < rule.min_age):
        return False
    return rule.max_age == float("inf") or (context.age is not None and context.age <= rule.max_age)


@lru_cache(maxsize=4)
def rules_for(lexicon: Lexicon) -> Rules:
    """The rules, compiled for a lexicon."""
    table = tomllib.loads((DATA / "rules.toml").read_text(encoding="utf-8"))
    sentences = table["sentences"]
    lasting = _closed(table["lasting"]["concepts"], lexicon)
    kinds = frozenset(table["lasting"]["kinds"])
    return Rules(
        ignored=frozenset(table["ignored"]["concepts"]),
        weak=frozenset(table["weak"]["concepts"]),
        lasting=lasting | {concept.id for concept in lexicon if concept.kind in kinds},
        parts=frozenset(table["parts"]["concepts"]),
        limits=_any(sentences["limits"]),
        request=_any(sentences["request"]),
        unseen=_any(sentences["unseen"]),
        quality=GuardedPattern(re.compile(_with_blanks("|".join(sentences["quality"])), re.IGNORECASE)),
        hedges=tuple(table["hedges"]["cues"]),
        unlikely=tuple(table["hedges"]["unlikely"]),
        context=tuple(
            ContextRule(
                rule["why"],
                _closed(rule["concepts"], lexicon),
                TIERS.index(rule["tier"]),
                _any(rule["words"]) if rule.get("words") else None,
                float(rule.get("min_age", 0)),
                float(rule.get("max_age", "inf")),
            )
            for rule in table["context"]
        ),
        tiers=_tiers(table["expected"]["concepts"], lexicon),
        topics=_topics(table["topics"], lexicon),
        acted_on=GuardedPattern(re.compile(_with_blanks("|".join(table["acted_on"]["words"])), re.IGNORECASE)),
        old=frozenset(table["old"]["descriptors"]),
        slight=_closed(table["slight"]["concepts"], lexicon),
        sizes=tuple(
            SizeRule(_closed(rule["concepts"], lexicon), float(rule["below_mm"]), TIERS.index(rule["tier"]))
            for rule in table["size"]
        ),
        measures={
            structure: Measure(rule["concept"], float(rule["from_mm"]), float(rule["up_to_mm"]))
            for rule in table["measure"]
            for structure in rule["places"]
        },
        unknown=TIERS.index(table["unknown"]["tier"]),
        open=TIERS.index(table["open"]["tier"]),
        open_acted_on=TIERS.index(table["open"]["acted_on"]),
        disease_name=re.compile("|".join(table["open"]["disease_names"])),
        no_finding=re.compile(f"(?:{'|'.join(table['open']['no_finding'])})(?: .*)?"),
        separate=_closed(table["separate"]["concepts"], lexicon),
    )


def _tiers(expected: list[str], lexicon: Lexicon) -> dict[str, int]:
    """The lexicon's tiers; what is expected in many healthy people and changes nothing is benign."""
    usual = _closed(expected, lexicon)
    tiers = {concept.id: TIERS.index(concept.tier) for concept in lexicon if concept.tier}
    return {
        concept: tier + 1 if concept in usual and tier == TIERS.index("not_actionable") else tier
        for concept, tier in tiers.items()
    }


def _topics(table: Mapping[str, list[str]], lexicon: Lexicon) -> dict[str, tuple[str, ...]]:
    """Concept -> the parts of the chest it belongs to."""
    parts = {name: _closed(concepts, lexicon) for name, concepts in table.items() if name != "overall"}
    result = {
        concept.id: held
        for concept in lexicon
        if (held := tuple(name for name, members in parts.items() if concept.id in members))
    }
    return {**result, **dict.fromkeys(table["overall"], tuple(parts))}


def _closed(concepts: list[str], lexicon: Lexicon) -> frozenset[str]:
    tops = set(concepts)
    return frozenset(c.id for c in lexicon if c.id in tops or not tops.isdisjoint(lexicon.ancestors(c.id)))


def _any(phrases: list[str]) -> GuardedPattern:
    longest_first = sorted(phrases, key=len, reverse=True)
    return GuardedPattern(
        re.compile("|".join(rf"\b{_with_blanks(re.escape(phrase))}" for phrase in longest_first), re.IGNORECASE)
    )


def _with_blanks(pattern: str) -> str:
    """The pattern, taking any blanks for one: reports keep theirs, to which the spans of findings point."""
    return pattern.replace("\\ ", " ").replace(" ", r"\s+")
