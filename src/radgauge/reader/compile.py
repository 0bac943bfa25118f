"""Compile a lexicon, and keep the compiled form in the user's cache folder.

Parsing the TOML files and normalising 30,000 terms takes half a second, reading the compiled form a tenth of that.
The file is found by a hash of the lexicon and the version of radgauge, so it is never out of date.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from radgauge import __version__
from radgauge.core.parsing import shipped_toml
from radgauge.core.signature import digest, unreleased_state
from radgauge.reader.lexicon import ABNORMAL_KINDS, Lexicon, load_lexicon
from radgauge.reader.lexicon.load import read_kept, write_kept
from radgauge.reader.spelling import Spelling, short_forms, words_of_terms
from radgauge.reader.vocabulary import ALWAYS, IF_DENIED, Cue, Entry, Vocabulary
from radgauge.text.tokens import phrase_key, tokenize

_LISTS = shipped_toml(__file__, "word_lists.toml")
_PARTICIPLES: tuple[str, ...] = tuple(_LISTS["participle_endings"])
"""Endings of findings that are adjectives, wherever a lexicon lists them: "displaced", "tortuous", "prominent"."""

_CHAMBERS = frozenset(_LISTS["chambers"])
"""Where left and right name a structure and not a side of the body."""

_MARKS = {"": "", "always": ALWAYS, "denied": IF_DENIED}
"""Mark of a composition whose word means the absence of the finding."""

Terms = dict[tuple[str, ...], Entry]


def load_vocabulary(files: tuple[Path, ...] = ()) -> Vocabulary:
    """The built-in lexicon with the user's files merged over it, compiled."""
    return _load(files)


@lru_cache(maxsize=4)
def _load(files: tuple[Path, ...]) -> Vocabulary:
    lexicon = load_lexicon(files)
    code = digest(f"{__version__}{unreleased_state()}")
    name = f"vocabulary-{lexicon.hash}-{code}.json"
    cached = read_kept(name)
    if cached is not None:
        return _unpack(cached, lexicon)
    vocabulary = compile_lexicon(lexicon)
    write_kept(name, _pack(vocabulary))
    return vocabulary


@lru_cache(maxsize=4)
def compile_lexicon(lexicon: Lexicon) -> Vocabulary:
    """The compiled form of a lexicon."""
    terms: Terms = {}
    abbreviations: Terms = {}
    descriptors = lexicon.tables.get("descriptors", {})
    _add_descriptors(terms, descriptors)
    _add_cues(terms, lexicon.tables.get("cues", {}))
    _add_concepts(terms, abbreviations, lexicon)
    _add_words(terms, lexicon.tables.get("words", {}))
    compositions = _compositions(lexicon)
    for term in _turns_of_phrase(lexicon):
        terms.setdefault(term, Entry("unknown", " ".join(term)))
    lowered = {
        key: entry
        for written, entry in abbreviations.items()
        if _is_known_in_lower_case(written) and (key := tuple(word.lower() for word in written)) not in terms
    }
    bilateral = _words(descriptors.get("function", {}), "bilateral_words")
    return Vocabulary(
        lexicon,
        _by_first_word(terms),
        _by_first_word(abbreviations),
        _by_first_word(lowered),
        compositions,
        {concept.id: side for concept in lexicon if (side := concept.side or _side_of(concept.name))},
        frozenset(word.lower() for word in bilateral),
        frozenset(_words(descriptors.get("named_by_size", {}), "words")),
        frozenset(_words(descriptors.get("unsided", {}), "places")),
        frozenset(" ".join(phrase_key(word)) for word in _misplaced(lexicon)),
        _regions(lexicon),
        {
            key: [" ".join(phrase_key(word)) for word in words]
            for key, words in lexicon.tables.get("polarity", {}).get("opposites", {}).items()
        },
        _spelling(lexicon, terms),
        frozenset(_shared_words(lexicon)),
        _senses(lexicon),
        dict(lexicon.tables.get("compositions", {}).get("elsewhere", {})),
        frozenset(" ".join(phrase_key(word)) for word in _named_by_whole(lexicon)),
        _named_pairs(lexicon, terms),
        _limits(lexicon),
    )


_LOWER_CASE_WORDS = frozenset(
    {"am", "an", "ar", "et", "he", "ho", "hi", "la", "le", "me", "om", "pm", "so", "ta", "us", "ut"}
)
"""Abbreviations of two letters that are words, or parts of words, without capitals."""


def _is_known_in_lower_case(written: tuple[str, ...]) -> bool:
    """True if an abbreviation means the same without capitals; plurals of two letters do not ("HKs")."""
    letters = "".join(written)
    if letters.endswith("s") and len(letters) <= 3:
        return False
    return len(letters) > 2 or letters.lower() not in _LOWER_CASE_WORDS


def _pack(vocabulary: Vocabulary) -> dict[str, Any]:
    structures = list({anatomy for rules in vocabulary.compositions.values() for anatomy, _ in rules})
    number = {anatomy: index for index, anatomy in enumerate(structures)}
    return {
        "terms": vocabulary.terms,
        "abbreviations": vocabulary.abbreviations,
        "lowered": vocabulary.lowered,
        "places": [sorted(anatomy) for anatomy in structures],
        "compositions": {
            word: [[number[anatomy], concept] for anatomy, concept in rules]
            for word, rules in vocabulary.compositions.items()
        },
        "sides": dict(vocabulary.sides),
        "bilateral_words": sorted(vocabulary.bilateral_words),
        "named_by_size": sorted(vocabulary.named_by_size),
        "unsided": sorted(vocabulary.unsided),
        "misplaced": sorted(vocabulary.misplaced),
        "regions": {
            concept: [[region, there, sorted(words)] for region, there, words in rules]
            for concept, rules in vocabulary.regions.items()
        },
        "opposites": dict(vocabulary.opposites),
        "shorthand": dict(vocabulary.spelling.shorthand),
        "known": vocabulary.spelling.known,
        "keep": sorted(vocabulary.spelling.keep),
        "shared_words": sorted(vocabulary.shared_words),
        "senses": {
            word: [[sorted(near), meant] for near, meant in meanings]
            for word, meanings in vocabulary.senses.items()
        },
        "elsewhere": dict(vocabulary.elsewhere),
        "named_by_whole": sorted(vocabulary.named_by_whole),
        "limits": dict(vocabulary.limits),
        "named_pairs": {finding: dict(structures) for finding, structures in vocabulary.named_pairs.items()},
    }


def _unpack(cached: Mapping[str, Any], lexicon: Lexicon) -> Vocabulary:
    structures = [frozenset(anatomy) for anatomy in cached["places"]]
    return Vocabulary(
        lexicon,
        cached["terms"],
        cached["abbreviations"],
        cached["lowered"],
        {
            word: [(structures[number], concept) for number, concept in rules]
            for word, rules in cached["compositions"].items()
        },
        cached["sides"],
        frozenset(cached["bilateral_words"]),
        frozenset(cached["named_by_size"]),
        frozenset(cached["unsided"]),
        frozenset(cached["misplaced"]),
        {
            concept: [(region, there, frozenset(words)) for region, there, words in rules]
            for concept, rules in cached["regions"].items()
        },
        cached["opposites"],
        Spelling(cached["shorthand"], cached["known"], frozenset(cached["keep"])),
        frozenset(cached["shared_words"]),
        {word: [(frozenset(near), meant) for near, meant in senses] for word, senses in cached["senses"].items()},
        cached["elsewhere"],
        frozenset(cached["named_by_whole"]),
        cached["named_pairs"],
        {structure: (over, concept) for structure, (over, concept) in cached["limits"].items()},
    )


def _add(terms: Terms, synonyms: Iterable[str], entry: Entry) -> None:
    for word in synonyms:
        terms[phrase_key(word)] = entry


def _add_descriptors(terms: Terms, table: Mapping[str, Any]) -> None:
    functions = table.get("function", {})
    for role in ("other",):
        _add(terms, _words(functions, role), Entry(role))
    for role in ("quantity", "part", "quality", "position", "amount"):
        for term in _words(table.get(role, {}), "words"):
            key = phrase_key(term)
            terms[key] = Entry(role, " ".join(key))
    for role in ("severity", "side", "change", "unit"):
        for value, synonyms in table.get(role, {}).items():
            _add(terms, synonyms, Entry(role, value))
    for role in ("determiner", "preposition", "conjunction", "verb"):
        _add(terms, _words(functions, role), Entry(role))


def _add_cues(terms: Terms, table: Mapping[str, Any]) -> None:
    cues: dict[tuple[str, ...], list[Cue]] = defaultdict(list)
    for group in table.get("cue", []):
        cue = Cue(group["asserts"], group["direction"], group["scope"], group.get("link", False))
        for term in group["terms"]:
            key = phrase_key(term)
            if all(other.direction != cue.direction for other in cues[key]):
                cues[key].append(cue)
    for key, result in cues.items():
        before = terms.get(key)
        if before is None or before.role != "change":
            terms[key] = Entry("cue", " ".join(key), "noun", tuple(result))
    for context in table.get("context", []):
        for term in context["terms"]:
            key = phrase_key(term)
            cached = terms.get(key)
            if cached is None or cached.role != "cue":
                terms[key] = Entry("context", context["name"], context["scope"])
            elif context["scope"] == "phrase":  # "status post" ends a negation and begins history
                terms[key] = cached._replace(value=context["name"])


def _add_concepts(terms: Terms, abbreviations: Terms, lexicon: Lexicon) -> None:
    for concept in lexicon:
        for term in (concept.name, *concept.synonyms):
            for key in _variants(term):
                adjective = len(key) == 1 and term != concept.name and key[0].endswith(_PARTICIPLES)
                form = "adjective" if adjective and concept.is_finding else "noun"
                terms[key] = Entry(concept.kind, concept.id, form)
        for term in concept.adjectives:
            for key in _variants(term):
                if key not in terms or terms[key].value != concept.id:
                    terms[key] = Entry(concept.kind, concept.id, "adjective")
        for short in concept.abbreviations:
            entry = Entry(concept.kind, concept.id)
            key = tokenize(short).texts
            abbreviations.setdefault(key, entry)
            if key[-1].isupper() and len(key[-1]) > 1:
                abbreviations.setdefault((*key[:-1], key[-1] + "s"), entry)


def _add_words(terms: Terms, table: Mapping[str, Any]) -> None:
    """Ordinary words, where nothing else has them."""
    for role in table:
        for term in _words(table[role], "words"):
            key = phrase_key(term)
            terms.setdefault(key, Entry(role, "" if role in ("verb", "other") else " ".join(key)))


def _words(table: Mapping[str, Any], key: str) -> Sequence[str]:
    result = table.get(key, ())
    return result if isinstance(result, list) else ()


def _variants(term: str) -> list[tuple[str, ...]]:
    """The key of a term, and the key of its spelling in one word where it has a hyphen ("air-space")."""
    keys = [phrase_key(term)]
    if "-" in term:
        keys.append(phrase_key(term.replace("-", "")))
    return [key for key in keys if key]


def _by_first_word(terms: Terms) -> dict[str, str]:
    """First word -> the rest of its terms and their entries, as text that is taken apart when first needed."""
    lines: dict[str, list[str]] = defaultdict(list)
    for key, entry in terms.items():
        cues = ";".join(",".join([*cue[:3], "link" if cue.link else ""]) for cue in entry.cues)
        lines[key[0]].append("\t".join([" ".join(key[1:]), entry.role, entry.value, entry.form, cues]))
    return {first: "\n".join(rest) for first, rest in lines.items()}


def _compositions(lexicon: Lexicon) -> dict[str, list[tuple[frozenset[str], str]]]:
    """Word of a composition -> (anatomy ids, concept) pairs; words are normal forms joined by blanks."""
    table: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
    polarity = lexicon.tables.get("polarity", {})
    classes = polarity.get("words", {})
    for rule in (*lexicon.tables.get("compositions", {}).get("composition", []), *polarity.get("composition", [])):
        anatomy = frozenset([*rule.get("anatomy", ()), *_named(lexicon, rule.get("named", ()))])
        concept = _MARKS[rule.get("inverted", "")] + rule["concept"]
        words = [phrase for word in rule["words"] for phrase in (classes[word[1:]] if word[0] == "@" else (word,))]
        for key in dict.fromkeys(" ".join(phrase_key(word)) for word in words):
            table[key].append((anatomy, concept))
    return dict(table)


def _turns_of_phrase(lexicon: Lexicon) -> Iterator[tuple[str, ...]]:
    """Words of compositions that are found as one term though no concept has them: "rides higher"."""
    polarity = lexicon.tables.get("polarity", {})
    groups = (
        _misplaced(lexicon),
        *polarity.get("words", {}).values(),
        *(rule["words"] for rule in polarity.get("composition", ())),
    )
    for word in (word for group in groups for word in group if word[0] != "@"):
        if len(key := phrase_key(word)) > 1:
            yield key


def _misplaced(lexicon: Lexicon) -> Sequence[str]:
    return _words(lexicon.tables.get("polarity", {}).get("devices", {}), "misplaced")


def _shared_words(lexicon: Lexicon) -> Iterator[str]:
    for word in _words(lexicon.tables.get("compositions", {}).get("shared", {}), "words"):
        yield " ".join(phrase_key(word))


def _senses(lexicon: Lexicon) -> dict[str, list[tuple[frozenset[str], str]]]:
    """Word -> what it means in a sentence that names one of these structures."""
    table: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
    for rule in lexicon.tables.get("compositions", {}).get("sense", []):
        for word in rule["words"]:
            table[" ".join(phrase_key(word))].append((frozenset(rule["near"]), rule["concept"]))
    return dict(table)


def _named_by_whole(lexicon: Lexicon) -> Iterator[str]:
    """Words of compositions that are not handed down from an organ to its parts."""
    tables = lexicon.tables
    classes = tables.get("polarity", {}).get("words", {})
    for word in _words(tables.get("compositions", {}).get("whole", {}), "words"):
        yield from classes[word[1:]] if word[0] == "@" else (word,)


def _limits(lexicon: Lexicon) -> dict[str, tuple[float, str]]:
    rules = lexicon.tables.get("polarity", {}).get("limit", [])
    return {structure: (float(rule["over"]), rule["concept"]) for rule in rules for structure in rule["anatomy"]}


def _named_pairs(lexicon: Lexicon, terms: Terms) -> dict[str, dict[str, str]]:
    """Finding -> structure -> the finding that is named by both: laceration of the liver, "hepatic laceration".

    Taken from the terms of the lexicon that are a structure followed by a finding and that lie in this structure.
    """
    candidates: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    unpaired = _words(lexicon.tables.get("compositions", {}).get("unpaired", {}), "concepts")
    for concept in lexicon:
        if concept.kind not in ABNORMAL_KINDS or concept.id in unpaired:
            continue
        for term in (concept.name, *concept.synonyms):
            key = phrase_key(term)
            for end in range(1, len(key)):
                structure, finding = terms.get(key[:end]), terms.get(key[end:])
                if (
                    structure is None
                    or finding is None
                    or structure.role != "anatomy"
                    or finding.role not in ABNORMAL_KINDS
                ):
                    continue
                pair = (finding.value, structure.value)
                if _is_named_by_place(lexicon, lexicon[finding.value].location, structure.value):
                    continue
                if concept.id == finding.value or _lies_in(lexicon, concept.location, structure.value):
                    weight = len(key) * len(concept.synonyms) if term == concept.name else 1
                    candidates[pair][concept.id] = candidates[pair].get(concept.id, 0) + weight
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for (general, where), named in candidates.items():
        kinds = [concept_id for concept_id in named if general in lexicon.ancestors(concept_id)]
        if kinds or general not in named:  # "endplate sclerosis" is a term of sclerosis itself
            table[general][where] = min(kinds or named, key=lambda each: (-named[each], each))
    return dict(table)


_TISSUES = frozenset(_LISTS["tissues"])


def _is_named_by_place(lexicon: Lexicon, location: Iterable[str], structure: str) -> bool:
    """True if a finding that lies here is called so already: not if it lies in all bones, or in a whole."""
    own = [location_id for location_id in location if location_id not in _TISSUES]
    return not all(location_id != structure and lexicon.is_a(structure, location_id) for location_id in own)


def _lies_in(lexicon: Lexicon, location: Iterable[str], structure: str) -> bool:
    return any(lexicon.is_a(name, structure) or lexicon.is_a(structure, name) for name in location)


def _named(lexicon: Lexicon, words: Sequence[str]) -> list[str]:
    """Anatomy that has one of the words in its name."""
    if not words:
        return []
    requested = [f" {' '.join(phrase_key(word))} " for word in words]
    result = []
    for concept in lexicon:
        if concept.kind == "anatomy":
            name = f" {' '.join(phrase_key(concept.name))} "
            if any(word in name for word in requested):
                result.append(concept.id)
    return result


def _regions(lexicon: Lexicon) -> dict[str, list[tuple[str, str, frozenset[str]]]]:
    """General concept -> what it is in a report about one body region."""
    table: dict[str, list[tuple[str, str, frozenset[str]]]] = defaultdict(list)
    for rule in lexicon.tables.get("compositions", {}).get("region", []):
        table[rule["said"]].append((rule["region"], rule["concept"], frozenset(rule.get("words", ()))))
    return dict(table)


def _spelling(lexicon: Lexicon, terms: Terms) -> Spelling:
    table = lexicon.tables.get("shorthand", {})
    shorthand = short_forms(table.get("shorthand", {}))
    keep = frozenset(word for term in table.get("keep", {}).get("words", ()) for word in phrase_key(term))
    return Spelling(shorthand, words_of_terms(terms), keep)


def _side_of(name: str) -> str:
    parts = name.replace("-", " ").split()
    if not _CHAMBERS.isdisjoint(parts):
        return ""
    return "left" if "left" in parts else "right" if "right" in parts else ""
