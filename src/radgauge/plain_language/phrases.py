"""Plain English noun phrases: amounts, degree, side, place, size."""

from __future__ import annotations

import re
from collections.abc import Sequence

from radgauge.parsing import shipped_toml
from radgauge.plain_language.lay_reader import plain_term
from radgauge.plain_language.rules import LayRules, lay_rules
from radgauge.report_reader import Attributes, Lexicon
from radgauge.text import grammar
from radgauge.text.grammar import article, head_of, is_disease_name, is_plural

_MASK = re.compile(r"[Xx]{3,}|_{2,}")


def is_amount(term: str) -> bool:
    """Whether one has some of it rather than one of it: fluid, air, wear and tear."""
    return head_of(term) in lay_rules().amounts


def plural(term: str) -> str:
    """The plural of a term; an amount has none.

    >>> plural("small round spot in the lung"), plural("fluid around the lung")
    ('small round spots in the lung', 'fluid around the lung')
    """
    return term if is_amount(term) else grammar.plural(term)


def with_article(term: str) -> str:
    """A term with "a" or "an" where English wants one.

    >>> with_article("enlarged heart"), with_article("fluid around the lung")
    ('an enlarged heart', 'fluid around the lung')
    """
    determined = term.startswith(("a ", "an ", "the ", "more ", "too "))
    if determined or is_plural(term) or is_amount(term) or is_disease_name(term):
        return term
    return f"{article(term)} {term}"


def degree(term: str, severity: str, *, size: str = "") -> str:
    """A term with its severity, without an article except where an amount brings one.

    >>> degree("fluid around the lung", "mild"), degree("enlarged heart", "severe")
    ('a small amount of fluid around the lung', 'severely enlarged heart')
    """
    if not severity:
        return term
    tables = lay_rules().severity
    first = term.split(" ")[0]
    if is_amount(term):
        return f"{tables['amount'][severity]} {term}"
    if first in lay_rules().adjectives:
        return f"{tables['adverb'][severity]} {term}"
    if size in tables["size"]:
        return f"{size} {term}" if first != size else term
    return f"{tables['adjective'][severity]} {term}"


def place_of(
    attributes: Attributes, implied: Sequence[str], lexicon: Lexicon, *, term: str = "", parts: Sequence[str] = ()
) -> str:
    """Side and place in plain words, with a blank in front; "" if nothing is said.

    Args:
        attributes: What the report says of the finding.
        implied: Anatomy that the term itself names.
        lexicon: For names and the hierarchy.
        term: The plain name of the finding, which may tell the side already.
        parts: Words such as "upper" that say which part of the place.
    """
    rules = lay_rules()
    places = []
    for location in attributes.locations:
        known = location in implied or any(lexicon.is_a(each, location) for each in implied)
        if (known and not parts) or location not in lexicon:
            continue
        name = plain_term(lexicon[location]) if parts else _beyond(term, plain_term(lexicon[location]))
        if name and name not in places:
            places.append(name)
    words = ""
    side = attributes.laterality
    if side == "bilateral" and "lungs" in term.split():
        side = ""
    if side and not any(re.search(rf"\b{side}\b", place) for place in places):
        words += f" {rules.side[side]}"
    if places:
        where = " and the ".join(places)
        part = " ".join(dict.fromkeys(parts))
        words += f"{',' if words else ''} in the {part + ' part of the ' if part else ''}{where}"
    return words


def _beyond(term: str, place: str) -> str:
    """What a place says beyond the name of the finding: "wear and tear of the spine" in the "mid back".

    >>> _beyond("wear and tear of the spine", "spine of the mid back")
    'mid back'
    >>> _beyond("enlarged heart outline", "outline of the heart")
    ''
    """
    said = {word.rstrip("s") for word in term.split()}
    if all(word.rstrip("s") in said or word in _EMPTY for word in place.split()):
        return ""
    head = _LINK.split(place, maxsplit=1)
    known = len(head) > 1 and all(word.rstrip("s") in said for word in head[0].split())
    return head[1] if known else place


_LINK = re.compile(r" (?:of|in) the ")
_EMPTY = frozenset(shipped_toml(__file__, "rules.toml")["lists"]["empty"])


def size_of(attributes: Attributes) -> str:
    """Measurements in plain words: ", about 6 mm in size"."""
    if not attributes.sizes_mm:
        return ""
    return ", " + " x ".join(f"{size:g}" for size in attributes.sizes_mm) + " mm in size"


def is_masked(text: str) -> bool:
    """Whether a text holds a de-identified word."""
    return _MASK.search(text) is not None


def in_plain_words(word: str, table: str, rules: LayRules) -> str:
    """A describing word in plain English; unknown ones stay."""
    known: dict[str, str] = dict(getattr(rules, table))
    return known.get(word, word)
