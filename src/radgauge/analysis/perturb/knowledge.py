"""Knowledge of the perturbations: `knowledge.toml`, compiled."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from radgauge.core.parsing import shipped_toml
from radgauge.reader import load_lexicon
from radgauge.reader.lexicon import ABNORMAL_KINDS

Rules = tuple[tuple[re.Pattern[str], str], ...]


@dataclass(frozen=True, slots=True)
class FalseFinding:
    """Sentences that state a finding, for reports on one body region."""

    region: str
    concept: str  # What the sentences are read as
    sentences: tuple[str, ...]  # Each states the finding
    also: tuple[str, ...] = ()  # Wider concepts; a report of the region that names one speaks of this finding


@dataclass(frozen=True, slots=True)
class EditTerms:
    """The tables of knowledge.toml; words in lower case."""

    location: dict[str, list[str]]
    severity: dict[str, list[str]]
    location_word: re.Pattern[str]
    fixed_before: re.Pattern[str]
    fixed_after: re.Pattern[str]
    brain_places: frozenset[str]
    unknown_token: str
    unknown_word: re.Pattern[str]
    insignificant: re.Pattern[str]
    not_insignificant: re.Pattern[str]
    general: tuple[str, ...]
    normal: dict[str, str]
    findings: tuple[FalseFinding, ...]
    add_comparison: tuple[str, ...]
    drop_comparison: Rules
    still_compared: re.Pattern[str]
    hedge: Rules
    make_certain: Rules
    deny: Rules
    state: Rules
    paraphrase: Rules
    sized: frozenset[str]
    size_words: dict[str, str]
    of_moderate_size: frozenset[str]
    not_synonyms: frozenset[str]
    free_words: frozenset[str]
    leaning: re.Pattern[str]
    same_word: dict[str, tuple[str, ...]]
    same_organ: dict[str, tuple[str, ...]]
    same_term: dict[str, tuple[str, ...]]
    not_negatable: re.Pattern[str]
    seen: re.Pattern[str]


@cache
def knowledge() -> EditTerms:
    """The shipped knowledge, read once."""
    raw = shipped_toml(__file__, "knowledge.toml")
    fixed = raw["location_fixed"]
    return EditTerms(
        location=raw["location"],
        severity=raw["severity"],
        location_word=_words(raw["location"]),
        fixed_before=re.compile(rf"[ -](?:{_any(fixed['before'])})\b", re.IGNORECASE),
        fixed_after=re.compile(rf"\b(?:{_any(fixed['after'])}) $", re.IGNORECASE),
        brain_places=frozenset(fixed["brain"]),
        unknown_token=raw["unknown"]["token"],
        unknown_word=_words(raw["unknown"]["words"]),
        insignificant=re.compile(
            "|".join(f"(?:{entry})" for entry in raw["insignificant"]["patterns"]), re.IGNORECASE
        ),
        not_insignificant=re.compile(raw["insignificant"]["unless"], re.IGNORECASE),
        general=tuple(raw["insignificant"]["general"]),
        normal=raw["normal"],
        findings=tuple(
            FalseFinding(
                entry["region"], entry["concept"], tuple(entry["sentences"]), tuple(entry.get("also", ()))
            )
            for entry in raw["finding"]
        ),
        add_comparison=tuple(raw["comparison"]["add"]),
        drop_comparison=_rules(raw["comparison"]["drop"]),
        still_compared=re.compile(raw["comparison"]["left"], re.IGNORECASE),
        hedge=_rules(raw["hedge"]["rules"]),
        make_certain=_rules(raw["assert"]["rules"]),
        deny=_rules(raw["deny"]["rules"]),
        state=_rules(raw["state"]["rules"]),
        paraphrase=_rules(raw["paraphrase"]["rules"]),
        sized=frozenset(raw["severity_of_size"]["findings"]),
        size_words=raw["severity_of_size"]["words"],
        of_moderate_size=frozenset(raw["severity_of_size"]["moderate"]),
        free_words=frozenset(raw["paraphrase"]["free"]),
        not_synonyms=frozenset(raw["paraphrase"]["not_synonyms"]),
        leaning=re.compile(rf"(?:{_any(raw['reorder']['leaning'])})\b", re.IGNORECASE),
        same_word=_groups(raw["paraphrase"]["words"]),
        same_organ=_groups(raw["paraphrase"]["organs"]),
        same_term=_groups(raw["paraphrase"]["terms"]),
        not_negatable=re.compile(raw["not_negatable"]["pattern"], re.IGNORECASE),
        seen=re.compile(raw["not_negatable"]["seen"], re.IGNORECASE),
    )


def _groups(groups: list[list[str]]) -> dict[str, tuple[str, ...]]:
    """Word -> the others of its groups."""
    others: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for word in group:
            others[word] = (*others.get(word, ()), *(other for other in group if other != word))
    return others


def _any(words: Any) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _words(words: Any) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{_any(words)})(?![\w-])", re.IGNORECASE)


def _rules(rules: list[list[str]]) -> Rules:
    return tuple((re.compile(pattern, re.IGNORECASE), after) for pattern, after in rules)


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """Finding -> nouns of the lexicon for it that are surely spelt right.

    The lexicon also lists misspellings, so that they are read. A word that stands in the terms of several
    concepts is not one of them; only terms made of such words are used. Terms with "of" or "in" do not fit
    behind adjectives and are left out, as are those with a describing word that the name has not.
    """
    lexicon = load_lexicon()
    descriptors = lexicon.tables["descriptors"]
    telling = {
        word for table in ("severity", "change", "side") for forms in descriptors[table].values() for word in forms
    }
    for table in ("quality", "position", "quantity"):
        telling.update(descriptors[table]["words"])
    telling |= knowledge().not_synonyms
    counts: Counter[str] = Counter()
    for concept in lexicon:
        counts.update({word for term in concept.terms for word in re.findall(r"[a-z]+", term)})
    nouns = {}
    for concept in lexicon:
        if concept.kind not in ABNORMAL_KINDS:
            continue
        terms = [concept.name] + [
            term
            for term in concept.synonyms
            if re.fullmatch(r"[a-z][a-z -]+", term)
            and not re.search(r"\b(?:of|in|with|to|on|at|and|or|is|are|by|for|the|a)\b", term)
            and all(counts[word] >= 3 for word in re.findall(r"[a-z]+", term))
            and not telling & (set(re.findall(r"[a-z]+", term)) - set(re.findall(r"[a-z]+", concept.name)))
            and term.endswith("s") == concept.name.endswith("s")
        ]
        if len(terms) > 1:
            nouns[concept.id] = tuple(dict.fromkeys(terms))
    return nouns
