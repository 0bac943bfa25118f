"""Plain English noun phrases of the sentence set: amounts, degree, article."""

from __future__ import annotations

from radgauge.lay.rules import lay_rules
from radgauge.text.grammar import article, head_of, is_disease_name, is_plural


def is_amount(term: str) -> bool:
    """Whether one has some of it rather than one of it: fluid, air, wear and tear."""
    return head_of(term) in lay_rules().amounts


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
