"""The schema of the lexicon: every problem is named with its file, concept id and field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields

from radgauge.reader.lexicon.concepts import CHEXPERT, KINDS, NIH, TIERS, Concept
from radgauge.text.tokens import phrase_key

_ID = re.compile(r"[a-z][a-z0-9_]*")
_LISTS = ("synonyms", "abbreviations", "adjectives", "parents", "location", "denies", "regions")
_CHOICES = {
    "kind": KINDS,
    "tier": TIERS,
    "chexpert": (*CHEXPERT, "none"),
    "nih": (*NIH, "none"),
    "side": ("left", "right"),
}
_FIELDS = tuple(column.name for column in fields(Concept) if column.name != "file")


def check_table(table: Mapping[str, object], *, file: str, position: int, partial: bool) -> list[str]:
    """Problems of one concept table by itself; `partial` tables override a known concept field by field."""
    name = table.get("id")
    where = f"{file}: concept {name!r}" if isinstance(name, str) else f"{file}: concept number {position + 1}"
    if not isinstance(name, str) or not _ID.fullmatch(name):
        return [f"{where}: id must be snake_case (a-z, 0-9, _), got {name!r}"]
    problems = [
        f"{where}: unknown field {key!r}; known fields: {', '.join(_FIELDS)}"
        for key in table
        if key not in _FIELDS
    ]
    if not partial:
        problems += [f"{where}: field {key!r} is missing" for key in ("kind", "name") if key not in table]
    for key in _LISTS:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(
            isinstance(element, str) and element.strip() for element in value
        ):
            problems.append(f"{where}: {key} must be a list of non-empty strings, got {value!r}")
    for key in ("kind", "name", "chexpert", "nih", "side", "tier", "lay"):
        value = table.get(key, "")
        if not isinstance(value, str) or (key == "name" and key in table and not value.strip()):
            problems.append(f"{where}: {key} must be a string, got {value!r}")
        elif key in _CHOICES and value and value not in _CHOICES[key]:
            problems.append(f"{where}: {key} must be one of {', '.join(_CHOICES[key])}; got {value!r}")
    if not isinstance(table.get("paired", False), bool):
        problems.append(f"{where}: paired must be true or false, got {table['paired']!r}")
    for key in ("name", "synonyms", "adjectives"):
        value = table.get(key, [])
        terms = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        for term in terms:
            if isinstance(term, str) and term != term.lower():
                problems.append(
                    f"{where}: {key} must be lower case, got {term!r}; upper case goes to abbreviations"
                )
    return problems


def check_graph(concepts: Mapping[str, Concept]) -> list[str]:
    """Problems between concepts: ids that do not exist, wrong kinds, cycles."""
    problems = []
    for concept in concepts.values():
        where = f"{concept.file}: concept {concept.id!r}"
        for key in ("parents", "location", "denies"):
            for target in getattr(concept, key):
                if target not in concepts:
                    problems.append(f"{where}: {key} names {target!r}, which is no concept")
                elif key == "location" and concepts[target].kind != "anatomy":
                    problems.append(f"{where}: location must be anatomy, {target!r} is {concepts[target].kind}")
                elif key == "parents" and (concept.kind == "anatomy") != (concepts[target].kind == "anatomy"):
                    problems.append(
                        f"{where}: parents of {concept.kind} cannot be {concepts[target].kind} {target!r}"
                    )
                elif key == "denies" and not concepts[target].is_finding:
                    problems.append(f"{where}: denies must name findings, {target!r} is {concepts[target].kind}")
        if concept.denies and concept.is_finding:
            problems.append(f"{where}: denies belongs to normality and anatomy, not to {concept.kind}")
    return problems + _cycles(concepts)


def _cycles(concepts: Mapping[str, Concept]) -> list[str]:
    """One problem per concept that is its own ancestor."""
    problems = []
    done: set[str] = set()
    for start in concepts:
        path: list[str] = []
        stack = [(start, iter(concepts[start].parents))] if start not in done else []
        on_path = {start}
        while stack:
            node, parents = stack[-1]
            following = next(parents, None)
            if following is None:
                stack.pop()
                on_path.discard(node)
                done.add(node)
            elif following in on_path:
                path = [column for column, _ in stack]
                loop = " -> ".join([*path[path.index(following) :], following])
                problems.append(f"{concepts[node].file}: concept {node!r}: parents form a cycle: {loop}")
            elif following in concepts and following not in done:
                on_path.add(following)
                stack.append((following, iter(concepts[following].parents)))
    return problems


def check_terms(concepts: Iterable[Concept]) -> list[str]:
    """Terms that belong to two concepts once plural, spelling and hyphens are made equal."""
    problems = []
    owner: dict[tuple[str, ...], tuple[Concept, str]] = {}
    written: dict[str, Concept] = {}
    for concept in concepts:
        where = f"{concept.file}: concept {concept.id!r}"
        for term in concept.terms:
            key = phrase_key(term)
            if not key:
                problems.append(f"{where}: term {term!r} has no words")
                continue
            first, spelled = owner.setdefault(key, (concept, term))
            if first is not concept:
                problems.append(
                    f"{where}: term {term!r} already belongs to {first.id!r} ({first.file}, as {spelled!r})"
                )
        for short in concept.abbreviations:
            other = written.setdefault(short, concept)
            if other is not concept:
                problems.append(f"{where}: abbreviation {short!r} already belongs to {other.id!r} ({other.file})")
    return problems
