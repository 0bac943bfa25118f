"""Read lexicon files: ours, and the user's merged over them."""

from __future__ import annotations

import hashlib
import json
import logging
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge.core.cache import default_cache_dir
from radgauge.core.errors import InputError
from radgauge.core.files import write_file
from radgauge.core.parsing import parse_toml
from radgauge.reader.lexicon.check import check_graph, check_table, check_terms
from radgauge.reader.lexicon.concepts import Concept, Lexicon
from radgauge.text.tokens import phrase_key

log = logging.getLogger(__name__)

FORMAT = 3
"""Counts up whenever the fields of concepts change."""

_FILES_KEPT = 12
FOLDER = Path(__file__).parent
ENGINE_TABLES = ("descriptors", "cues", "compositions", "polarity", "shorthand", "words")


class LexiconError(InputError):
    """A lexicon file does not follow the schema; the message lists every problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        shown = "\n  ".join(problems[:20])
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        super().__init__(f"the lexicon has {len(problems)} problem(s):\n  {shown}{more}")
        self.problems = tuple(problems)


def built_in_files() -> list[Path]:
    """The concept files that ship with the package, in a fixed order."""
    return sorted(path for path in FOLDER.glob("*.toml") if path.stem not in ENGINE_TABLES)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LexiconError([f"{path}: cannot be read: {error.strerror}"]) from error


def _parse(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LexiconError([f"{path}: not valid TOML: {error}"]) from error


def _values(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if value.__class__ is list else value for key, value in table.items()}


def _merge(concepts: dict[str, Concept], path: Path, tables: Any, *, override: bool) -> list[str]:
    """Add the tables of one file to the concepts; problems are returned, faulty tables left out."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        return [f"{path.name}: 'concept' must be a list of tables ([[concept]])"]
    problems = []
    before = dict(concepts)
    for position, table in enumerate(tables):
        name = table.get("id")
        cached = before.get(name) if override and isinstance(name, str) else None
        result = check_table(table, file=path.name, position=position, partial=cached is not None)
        if not result and name in concepts and (cached is None or concepts[name] is not before[name]):
            result = [f"{path.name}: concept {name!r}: id is already used in {concepts[name].file}"]
        if result:
            problems += result
        elif cached is None:
            concepts[name] = Concept(**_values(table), file=path.name)
        else:
            concepts[name] = replace(cached, **_values(table), file=path.name)
    return problems


def _without_taken_terms(concepts: dict[str, Concept], own: Sequence[str]) -> dict[str, Concept]:
    """Terms that a user's concept claims are taken from ours: the user decides what a word means."""
    claimed = {phrase_key(term) for name in own for term in concepts[name].terms}
    short = {term for name in own for term in concepts[name].abbreviations}
    cleaned = {}
    users = set(own)
    for name, concept in concepts.items():
        if name not in users:
            concept = replace(
                concept,
                synonyms=tuple(term for term in concept.synonyms if phrase_key(term) not in claimed),
                adjectives=tuple(term for term in concept.adjectives if phrase_key(term) not in claimed),
                abbreviations=tuple(term for term in concept.abbreviations if term not in short),
            )
        cleaned[name] = concept
    return cleaned


def check_lexicon(
    files: Sequence[Path], *, over: Mapping[str, Concept] | None = None
) -> tuple[dict[str, Concept], list[str]]:
    """Read concept files and return what could be read and every problem found.

    Args:
        files: TOML files, later ones after earlier ones.
        over: concepts that the files extend and override; without it an id may occur once only.
    """
    concepts = dict(over or {})
    problems: list[str] = []
    for path in files:
        try:
            content = _parse(path)
        except LexiconError as error:
            problems += error.problems
            continue
        extra = sorted(content.keys() - {"concept"})
        problems += [
            f"{path.name}: unknown table {key!r}; a lexicon file holds [[concept]] tables" for key in extra
        ]
        problems += _merge(concepts, path, content.get("concept", []), override=over is not None)
    if over is not None:
        own = [name for name, concept in concepts.items() if over.get(name) is not concept]
        concepts = _without_taken_terms(concepts, own)
    return concepts, problems + check_graph(concepts) + check_terms(concepts.values())


def load_lexicon(files: tuple[Path, ...] = ()) -> Lexicon:
    """The lexicon that ships with the package, with the user's files merged over it.

    A user's concept with one of our ids overrides the fields it gives; a new id adds a concept.

    Raises:
        LexiconError: a user's file does not follow the schema; every problem is listed.
    """
    return _load(tuple(files))


@lru_cache(maxsize=4)
def _load(files: tuple[Path, ...]) -> Lexicon:
    tables = [path for name in ENGINE_TABLES if (path := FOLDER / f"{name}.toml").exists()]
    digest = hashlib.sha256()
    for path in (*built_in_files(), *tables, *files):
        digest.update(_bytes(path))
    name = f"lexicon-{FORMAT}-{digest.hexdigest()[:16]}.json"
    if (cached := read_kept(name)) is not None:
        concepts = {values["id"]: Concept(**_values(values)) for values in cached["concepts"]}
        return Lexicon(concepts, cached["tables"], cached["hash"])
    concepts = {}
    for path in built_in_files():
        for table in _parse(path).get("concept", []):  # checked by a test, not on every start
            concepts[table["id"]] = Concept(**_values(table), file=path.name)
    if files:
        concepts, problems = check_lexicon(files, over=concepts)
        if problems:
            raise LexiconError(problems)
    parsed = {path.stem: _parse(path) for path in tables}
    supplied = [_explicit_fields(concept) for concept in concepts.values()]
    # of what the files say: a comment, a line break or another name of a file is no other lexicon
    stated = json.dumps([[{**values, "file": ""} for values in supplied], parsed])
    content = hashlib.sha256(stated.encode()).hexdigest()[:12]
    write_kept(name, {"concepts": supplied, "tables": parsed, "hash": content})
    return Lexicon(concepts, parsed, content)


def _explicit_fields(concept: Concept) -> dict[str, Any]:
    """The fields of a concept that say something."""
    return {field_.name: value for field_ in fields(concept) if (value := getattr(concept, field_.name))}


def read_kept(name: str) -> dict[str, Any] | None:
    """A parsed file of the cache folder; None if it is not there or cannot be used."""
    try:
        cached = json.loads((default_cache_dir() / "lexicon" / name).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.debug("the compiled lexicon %s is not used: %s", name, error)
        return None
    return cached if isinstance(cached, dict) else None


def write_kept(name: str, content: dict[str, Any]) -> None:
    """Keep a parsed file; a folder that cannot be written only costs the next start its time."""
    folder = default_cache_dir() / "lexicon"
    try:
        write_file(folder / name, json.dumps(content, ensure_ascii=False, separators=(",", ":")))
        older = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)[:-_FILES_KEPT]
        for path in older:  # left by former versions of the lexicon
            path.unlink(missing_ok=True)
    except OSError as error:
        log.debug("the compiled lexicon is not kept: %s", error)
