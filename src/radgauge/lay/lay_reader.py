"""Read lay texts: the report reader with a lexicon that also knows every concept's plain words.

Several concepts share a plain term ("wear and tear of the spine"). The text then means the most general of them;
`lay_class` names it, so that comparisons can put both sides on that footing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from radgauge.core.parsing import shipped_toml
from radgauge.core.signature import component
from radgauge.lay.rules import lay_rules
from radgauge.reader import Lexicon, Modifier, ReportReading, load_lexicon, read_report
from radgauge.reader.lexicon import Concept
from radgauge.text.tokens import phrase_key

_LISTS = shipped_toml(__file__, "rules.toml")["lists"]
PAIRED: tuple[str, ...] = tuple(_LISTS["paired"])
_ORGAN_LAST = re.compile(rf"(?P<head>.+) the (?:{'|'.join(PAIRED)})s?")


def plain_term(concept: Concept) -> str:
    """The plain words of a concept, without an article; "" if none are known.

    >>> plain_term(load_lexicon()["pleural_effusion"])
    'fluid around the lung'
    """
    # "no new ..." is a negation that swallows its "new"
    return lay_rules().terms.get(concept.id) or re.sub(r"^new\b", "recent", concept.lay)


@lru_cache(maxsize=1)
def lay_lexicon() -> Lexicon:
    """The built-in lexicon with plain words as further synonyms."""
    return _built()[0]


def lay_class(concept: str) -> str:
    """The concept that a lay text means by this concept's plain term: itself, or a more general one.

    >>> lay_class("spondylosis")
    'degenerative_spine_change'
    """
    classes = _built()[1]
    seen = {concept}
    while (above := classes.get(concept, concept)) not in seen:
        seen.add(above)
        concept = above
    return concept


@lru_cache(maxsize=1)
def _built() -> tuple[Lexicon, dict[str, str], frozenset[str]]:
    base, rules = load_lexicon(), lay_rules()
    taken: dict[tuple[str, ...], str] = {
        phrase_key(term): concept.id for concept in base for term in (*concept.terms, *concept.abbreviations)
    }
    claims_by_key: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for concept in base:
        if concept.kind == "normality" and not concept.lay and concept.id not in rules.synonyms:
            continue
        terms = (plain_term(concept), concept.lay, *rules.synonyms.get(concept.id, ()))
        for term in dict.fromkeys(form for plain in terms for part in _parts(plain) for form in _forms(part)):
            key = phrase_key(term)
            if key:
                claims_by_key.setdefault(key, []).append((concept.id, term))
    extra: dict[str, list[str]] = {}
    owners: dict[tuple[str, ...], str] = {}
    for key, claims in claims_by_key.items():
        names = [name for name, _ in claims]
        if key in taken:  # a radiologist's word keeps its meaning
            owners[key] = taken[key]
        else:
            owners[key] = _most_general(names, base)
            extra.setdefault(owners[key], []).append(claims[0][1])
    other_sense = {phrase_key(term): name for name, terms in rules.senses.items() for term in terms}
    for name, terms in rules.senses.items():
        extra.setdefault(name, []).extend(terms)
    concepts = {
        name: replace(
            concept,
            synonyms=(
                *(term for term in concept.synonyms if other_sense.get(phrase_key(term), name) == name),
                *extra.get(name, ()),
            ),
        )
        for name, concept in base.concepts.items()
    }
    classes = {}
    for concept in base:
        key = phrase_key(next(iter(_parts(plain_term(concept))), ""))
        owner = owners.get(key)
        if concept.is_finding and owner is not None and base[owner].is_finding and owner != concept.id:
            classes[concept.id] = owner
    digest = hashlib.sha256(f"{base.hash}|{rules.hash}|2".encode()).hexdigest()[:12]
    heads = {head for name in extra if base[name].is_finding for term in extra[name] if (head := _head(term))}
    return Lexicon(concepts, _tables(base), digest), classes, frozenset(heads)


def _head(term: str) -> str:
    """Words before the paired organ at the end of a term: "fluid around" of "fluid around the lung"."""
    match = _ORGAN_LAST.fullmatch(term)
    return match["head"] if match else ""


def _forms(term: str) -> tuple[str, ...]:
    """A plain term as it is said to a patient, too: "fluid around your lungs", "around both lungs"."""
    if " the " not in term:
        return (term,)
    forms = [term, term.replace(" the ", " your "), term.replace(" the ", " ")]
    organ = term.rsplit(" the ", 1)[-1]
    if organ.rstrip("s") in PAIRED:
        forms += [f"{term.rsplit(' the ', 1)[0]} {both} {organ.rstrip('s')}s" for both in ("both", "both your")]
    return tuple(forms)


def _parts(term: str) -> list[str]:
    """A lay term and what it adds in brackets: "collapsed lung (air around the lung)"."""
    head, _, rest = term.partition("(")
    return [part for part in (head.strip(), rest.strip(") ")) if part]


def _most_general(names: Sequence[str], lexicon: Lexicon) -> str:
    """The concept above all others if there is one, else the one nearest to the top."""

    def below(name: str) -> int:
        return sum(lexicon.is_a(other, name) for other in names)

    return max(names, key=lambda name: (below(name), -len(lexicon.ancestors(name)), -names.index(name)))


def _tables(base: Lexicon) -> dict[str, dict[str, object]]:
    tables = {name: dict(table) for name, table in base.tables.items()}
    for role, values in lay_rules().descriptors.items():
        terms_by_value = dict(tables["descriptors"][role])
        for value, terms in values.items():
            terms_by_value[value] = [*terms_by_value.get(value, ()), *terms]
        tables["descriptors"][role] = terms_by_value
    tables["cues"]["cue"] = [*lay_rules().cues, *tables["cues"]["cue"]]
    compositions = tables["compositions"]
    tables["compositions"] = {
        **compositions,
        "composition": [*lay_rules().compositions, *compositions["composition"]],
        "region": [*lay_rules().regions, *compositions.get("region", ())],
    }
    return tables


@dataclass(frozen=True)
class LayReader:
    """A `Reader` of lay texts; professional texts are read as well."""

    @property
    def signature(self) -> str:
        """Version of the rules, which counts up when a reading of the probes moves; lexicon and lay words."""
        return f"{component('lay-reader')}:{lay_lexicon().hash}"

    def read(self, texts: Sequence[str]) -> list[ReportReading]:
        """One reading per text."""
        lexicon = lay_lexicon()
        return [
            replace(
                _without_named_degrees(read_report(_as_known(text), lexicon=lexicon).without_open_claims()),
                text=text,
            )
            for text in texts
        ]


def _as_known(text: str) -> str:
    """A text of the same length in the spelling that the lexicon knows.

    A side inside a plain term goes before it: the term "fluid around the lung" is not found in "fluid around your
    left lung", but in "left fluid around your lung" it is.
    """
    text = text.replace("\u2019", "'").replace("*", " ")
    return _sided().sub(r"\g<side> \g<term> \g<article>\g<organ>", text) if _HAS_SIDE.search(text) else text


_HAS_SIDE = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _sided() -> re.Pattern[str]:
    """A plain term that ends in a paired organ, with a side before the organ."""
    _, _, heads = _built()
    words = "|".join(map(re.escape, sorted(heads, key=lambda head: (-len(head), head))))
    article, organ = "(?:the|your|his|her|their|my) ", f"(?:{'|'.join(PAIRED)})s?"
    return re.compile(
        rf"\b(?P<term>{words}) (?P<article>{article})?(?P<side>left|right) (?P<organ>{organ})\b", re.IGNORECASE
    )


def _without_named_degrees(reading: ReportReading) -> ReportReading:
    """Severity and change only where a text says them beside a term.

    "Small round spot" is what a nodule is called, and a heart "larger than normal" has not grown.
    """
    modifiers_by_role: dict[tuple[int, str], list[Modifier]] = {}
    for modifier in reading.modifiers:
        modifiers_by_role.setdefault((modifier.mention, modifier.role), []).append(modifier)
    mentions = []
    for index, mention in enumerate(reading.mentions):
        beside = {
            role
            for role in ("severity", "change")
            if any(
                not mention.start <= modifier.start < mention.end
                for modifier in modifiers_by_role.get((index, role), ())
            )
        }
        if "severity" not in beside:
            mention = mention._replace(attributes=mention.attributes._replace(severity=""))
        if "change" not in beside and not _COMPARING.isdisjoint(mention.text.lower().split()):
            mention = mention._replace(attributes=mention.attributes._replace(change=""))
        mentions.append(mention)
    return replace(reading, mentions=tuple(mentions))


_COMPARING = frozenset(_LISTS["comparing"])
