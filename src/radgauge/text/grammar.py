"""English grammar of reports and of their plain words: articles by sound, plurals, agreement, capital letters.

The exceptions stand in data/grammar.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from radgauge.core.parsing import shipped_toml

_CAPITALS = re.compile(r"[A-Z]{2,5}\b")
_SPELT_VOWEL = frozenset("AEFHILMNORSX")
_SPOKEN = re.compile(r"[AEIOU]|(?:[BCDFGHJKLMNPRSTVWZ]|[BCFGPS]L|[BCDFGPT]R|S[CHKMNPTW]|ST?R|[CTW]H|QU)[AEIOUY]")
_CLAUSE = re.compile(r"[.,;:]\s")
_RELATIVE = re.compile(r"\b(?:which|that)\s*$", re.IGNORECASE)
_OPENING = re.compile(r"^(?:and |but )?(?:there (?:is|are) |again (?:seen|noted) (?:is|are) )", re.IGNORECASE)
_BEHIND = re.compile(
    r" (?=(?:above|adjacent|again|along|also|are|around|at|behind|below|between|by|closing|for|from|growing|in|"
    r"inside|into|involving|is|near|not|noted|of|on|over|overlying|projecting|seen|such|that|through|throughout|to|"
    r"under|where|which|with|within)\b(?!-))"
    r"|, (?=(?:an?|as|bent|often|usually)\b|harmless$)"
)


@dataclass(frozen=True)
class _Exceptions:
    sounds: Mapping[str, str]  # beginning of a word -> its article, longest first
    words: frozenset[str]
    irregular: Mapping[str, str]
    plurals: frozenset[str]
    singulars: frozenset[str]
    diseases: frozenset[str]
    uncounted: frozenset[str]


@lru_cache(maxsize=1)
def _exceptions() -> _Exceptions:
    raw = shipped_toml(__file__, "grammar.toml")
    sounds = {start: which for which in ("a", "an") for start in raw["article"][which]}
    irregular = dict(raw["plural"]["irregular"])
    return _Exceptions(
        sounds={start: sounds[start] for start in sorted(sounds, key=len, reverse=True)},
        words=frozenset(raw["article"]["words"]),
        irregular=irregular,
        plurals=frozenset((*raw["plural"]["plurals"], *irregular.values())),
        singulars=frozenset(raw["plural"]["singulars"]),
        diseases=frozenset(raw["uncounted"]["diseases"]),
        uncounted=frozenset(raw["uncounted"]["words"]),
    )


def article(phrase: str) -> str:
    """The indefinite article that stands before a word or phrase, by its sound.

    >>> [article(word) for word in ("effusion", "unilateral", "unidentified", "urine system", "8 mm nodule")]
    ['an', 'a', 'an', 'a', 'an']
    >>> [article(word) for word in ("MRI sign", "CT", "UTI", "FLAIR signal", "LARGE EFFUSION")]
    ['an', 'a', 'a', 'a', 'a']
    """
    entry = _exceptions()
    capitals = _CAPITALS.match(phrase)
    if capitals is not None:
        spoken = capitals[0] in entry.words or (len(capitals[0]) > 3 and _SPOKEN.match(capitals[0]) is not None)
        if not spoken:
            return "an" if phrase[0] in _SPELT_VOWEL else "a"
    lowered = f"{phrase.lower()} "  # a number alone ends where the phrase does
    result = next((which for start, which in entry.sounds.items() if lowered.startswith(start)), None)
    return result or ("an" if lowered[0] in "aeiou" else "a")


def head_of(phrase: str) -> str:
    """The word that a phrase is a kind of.

    >>> head_of("small round spot in the lung"), head_of("wear, as seen in arthritis")
    ('spot', 'wear')
    """
    return _BEHIND.split(phrase, maxsplit=1)[0].rstrip(" ,").rpartition(" ")[2]


def is_plural(phrase: str) -> bool:
    """True if a phrase names several things and takes "are".

    >>> [is_plural(each) for each in ("opacities", "atelectasis", "mass", "sulci", "pancreas", "bowel gas")]
    [True, False, False, True, False, False]
    >>> is_plural("blood vessels of the lungs"), is_plural("spine of the mid back")
    (True, False)
    """
    head, entry = head_of(phrase).lower(), _exceptions()
    if head in entry.plurals:
        return True
    return head.endswith("ae") or (
        head.endswith("s") and not head.endswith(("ss", "us", "is")) and head not in entry.singulars
    )


def plural(phrase: str) -> str:
    """The plural of a phrase, at its head.

    >>> plural("small round spot in the lung"), plural("enlarged focus"), plural("cavity"), plural("metastasis")
    ('small round spots in the lung', 'enlarged foci', 'cavities', 'metastases')
    """
    head = head_of(phrase)
    if not head or is_plural(phrase) or is_disease_name(phrase):
        return phrase
    if head in _exceptions().irregular:
        many = _exceptions().irregular[head]
    elif head.endswith("is"):
        many = head[:-2] + "es"
    elif head.endswith(("s", "x", "ch", "sh")):
        many = head + "es"
    elif head.endswith("y") and head[-2:-1] not in "aeiou":
        many = head[:-1] + "ies"
    else:
        many = head + "s"
    at = phrase.index(head)
    return phrase[:at] + many + phrase[at + len(head) :]


def is_disease_name(phrase: str) -> bool:
    """True if a phrase names a disease that one has without "a" and only once: arthritis, diabetes.

    >>> is_disease_name("childhood arthritis"), is_disease_name("lung disease")
    (True, False)
    """
    head = head_of(phrase).lower()
    return head.endswith("itis") or head in _exceptions().diseases


def is_counted(phrase: str) -> bool:
    """True if a phrase of a report takes "a": not a plural, not edema.

    >>> is_counted("left pleural effusion"), is_counted("edema"), is_counted("free air under the diaphragm")
    (True, False, False)
    """
    uncounted = head_of(phrase).lower() in _exceptions().uncounted
    return not (uncounted or is_plural(phrase) or is_disease_name(phrase))


def subject_is_plural(before: str) -> bool:
    """True if the words before a verb name several things; places behind the noun do not count.

    >>> subject_is_plural("Streaky opacities in the left base "), subject_is_plural("Opacity in the lung bases ")
    (True, False)
    >>> subject_is_plural("There is blunting of both sulci, which "), subject_is_plural("This ")
    (False, False)
    """
    clauses = [clause for clause in _CLAUSE.split(before) if _RELATIVE.sub("", clause).strip()]
    subject = _OPENING.sub("", _RELATIVE.sub("", clauses[-1]).strip()) if clauses else ""
    nouns = _BEHIND.split(subject, maxsplit=1)[0].split()
    return bool(nouns) and (is_plural(nouns[-1]) or "and" in nouns)


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


def in_case_of(text: str, words: str) -> str:
    """Words in the letters of the text, where that is all in capitals or all in small letters.

    >>> in_case_of("NO EFFUSION.", "There is an"), in_case_of("no effusion .", "There is an")
    ('THERE IS AN', 'there is an')
    """
    if text.isupper():
        return words.upper()
    return words.lower() if text.islower() else words
