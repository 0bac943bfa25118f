"""Small grammar: articles, capital letters and spaces around a change."""

from __future__ import annotations

import re

_ARTICLE = re.compile(r"\b(a|an) $", re.IGNORECASE)
_VOWEL = re.compile(r"[aeiou]|hour|8|11\b|18\b", re.IGNORECASE)
_CONSONANT = re.compile(r"(?:uni(?!n|m)|use|usual|uter|ureter|urin|one\b|once\b|eu)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"[A-Z]{2,5}\b")
_SPELT_VOWEL = frozenset("AEFHILMNORSX")
_PLURALS = frozenset(
    (
        "these",
        "those",
        "they",
        "both",
        "sulci",
        "bronchi",
        "diverticula",
        "vertebrae",
        "foci",
        "bullae",
        "granulomata",
    )
)
_SINGULARS = frozenset(("pancreas", "atlas", "gas"))
_CLAUSE = re.compile(r"[.,;:]\s")
_RELATIVE = re.compile(r"\b(?:which|that)\s*$", re.IGNORECASE)
_OPENING = re.compile(r"^(?:and |but )?(?:there (?:is|are) |again (?:seen|noted) (?:is|are) )", re.IGNORECASE)
_BEHIND = re.compile(
    r" (?=(?:in|of|at|on|within|over|along|for|with|from|near|to|above|below|adjacent|projecting|overlying|seen|"
    r"noted|involving|throughout|between|behind|which|that|also|again|is|are)\b)"
)
_ENUMERATION = re.compile(r"(?:^|\n)[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+$|(?<=[\w.:;] )\d{1,2}[.)][ \t]+$")


def article(word: str) -> str:
    """The indefinite article that stands before a word.

    >>> article("effusion"), article("small"), article("unilateral"), article("NG tube"), article("8 mm nodule")
    ('an', 'a', 'a', 'an', 'an')
    """
    if _ABBREVIATION.match(word):
        return "an" if word[0] in _SPELT_VOWEL else "a"
    if _CONSONANT.match(word):
        return "a"
    return "an" if _VOWEL.match(word) else "a"


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """The text with its first letter in lower case, unless its first word is a name or an abbreviation."""
    first = re.match(r"[^\s,.;:-]*", text)
    word = first[0] if first else ""
    letter = len(word) == 1 and word != "A" and text[1:2] == "-"  # "T-spine"
    return (
        text
        if letter or (len(word) > 1 and (word[1:] != word[1:].lower() or any(c.isdigit() for c in word)))
        else (text[:1].lower() + text[1:])
    )


def is_plural(noun: str) -> bool:
    """Whether an English noun of a report is in the plural.

    >>> [is_plural(word) for word in ("areas", "opacities", "atelectasis", "mass", "sulci", "pancreas", "these")]
    [True, True, False, False, True, False, True]
    """
    word = noun.lower()
    if word in _PLURALS:
        return True
    return word.endswith("s") and not word.endswith(("is", "us", "ss")) and word not in _SINGULARS


def subject_is_plural(before: str) -> bool:
    """Whether the words before a verb name several things; places behind the noun do not count.

    >>> subject_is_plural("Streaky opacities in the left base "), subject_is_plural("Opacity in the lung bases ")
    (True, False)
    >>> subject_is_plural("There is blunting of both sulci, which "), subject_is_plural("This ")
    (False, False)
    """
    clauses = [each for each in _CLAUSE.split(before) if _RELATIVE.sub("", each).strip()]
    subject = _OPENING.sub("", _RELATIVE.sub("", clauses[-1]).strip()) if clauses else ""
    nouns = _BEHIND.split(subject, maxsplit=1)[0].split()
    return bool(nouns) and (is_plural(nouns[-1]) or "and" in nouns)


def in_case_of(text: str, words: str) -> str:
    """Words in the letters of the text, where that is all in capitals or all in small letters.

    >>> in_case_of("NO EFFUSION.", "There is an"), in_case_of("no effusion .", "There is an")
    ('THERE IS AN', 'there is an')
    """
    if text.isupper():
        return words.upper()
    return words.lower() if text.islower() else words


def fit(text: str, start: int, end: int, *, after: str, opening: bool) -> tuple[int, int, str]:
    """Fit `after` in the place of text[start:end]: article before it, capital letter, single spaces.

    Args:
        text: The report.
        start: First character that is replaced.
        end: End of what is replaced.
        after: What comes there.
        opening: Whether the place opens a sentence.

    Returns:
        The span, widened where words around it had to change too, and the text for it.

    >>> fit("There is a small effusion.", 11, 16, after="enormous", opening=False)
    (9, 16, 'an enormous')
    """
    if not after:  # something is taken out: take one of the spaces around it too
        if end < len(text) and text[end] == " " and (opening or (start and text[start - 1].isspace())):
            end += 1
        elif start and text[start - 1] == " " and (end == len(text) or text[end] in ".,;:"):
            start -= 1
        if opening and end < len(text):
            after, end = text[end].upper(), end + 1
    elif opening:
        after = capital(after)
    found = _ARTICLE.search(text, max(0, start - 4), start)
    if found is not None:
        follows = (after or text[end : end + 12]).lstrip()
        wanted = article(follows)
        if follows and found[1].lower() != wanted:
            wanted = capital(wanted) if found[1][0].isupper() else wanted
            after = f"{wanted} {after}"
            start = found.start()
    return start, end, after


def shrink(before: str, after: str) -> tuple[int, int, str]:
    """The smallest run of whole words in which two texts differ, as a span of `before` and its new words.

    >>> shrink("There is no effusion.", "There is an effusion.")
    (9, 11, 'an')
    """
    shortest = min(len(before), len(after))
    head = 0
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    while head and not (_edge(before, head) and _edge(after, head)):
        head -= 1
    while tail and not (_edge(before, len(before) - tail) and _edge(after, len(after) - tail)):
        tail -= 1
    return head, len(before) - tail, after[head : len(after) - tail]


def _edge(text: str, place: int) -> bool:
    """Whether no word goes on across this place."""
    return not (0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum())


def with_number(text: str, start: int, *, after: int = 0) -> int:
    """Where a sentence begins if the number or dash of its list is counted in; not before `after`.

    >>> with_number("1. Low volumes 2. Cardiomegaly", 18, after=14)
    15
    """
    found = _ENUMERATION.search(text, max(0, start - 12), start)
    if found is not None and found.start() < after:
        return start
    if found is None:
        return start
    return found.start() + (text[found.start()] == "\n")
