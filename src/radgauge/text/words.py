"""One normal form per word, so that lexicon terms and report words meet in one dictionary.

Lower case, American spelling, singular. The singular is a string operation, not a dictionary: what matters is
that a term and its plural get the same form, not that the form is a word.
"""

from __future__ import annotations

import re

from radgauge.core.parsing import shipped_toml

_MASK_OR_WORD = re.compile(
    r"\[\*\*.{0,200}?\*\*\]|(?<![^\W_])[Xx]{4,}(?![^\W_])"  # de-identified; "___" has no letter anyway
    r"|([^\W_])"
)

_WORDS = shipped_toml(__file__, "words.toml")
_BRITISH: tuple[tuple[str, str], ...] = tuple(map(tuple, _WORDS["british"]))
_KEEP = frozenset(_WORDS["not_plural"])


def singular(word: str) -> str:
    """The word without a regular English plural ending.

    >>> [singular(word) for word in ("masses", "densities", "sinuses", "lobes", "atelectasis")]
    ['mass', 'density', 'sinus', 'lobe', 'atelectasis']
    """
    if len(word) < 4 or word[-1] != "s" or word in _KEEP:
        return word
    if word.endswith(("ss", "us", "is", "'s")):
        return word.removesuffix("'s")
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "uses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def normal_form(word: str) -> str:
    """Lower-cased, American, singular form of one word.

    >>> normal_form("Oedemas"), normal_form("centre"), normal_form("Haemorrhages")
    ('edema', 'center', 'hemorrhage')
    """
    lowered = word.lower()
    if lowered.isalpha() or "'" in lowered:
        for british, american in _BRITISH:
            if british in lowered:
                lowered = lowered.replace(british, american)
        return singular(lowered)
    return lowered


def has_words(text: str) -> bool:
    """True if a text says anything: a letter or digit outside de-identification masks.

    This is what "empty" means throughout: blanks, zero-width characters, punctuation and masks are no words.

    >>> [has_words(text) for text in ("clear", "2.5", " ", "...", "XXXX", "___ .", "[**Name**]", chr(0x200B))]
    [True, True, False, False, False, False, False, False]
    """
    return any(match[1] for match in _MASK_OR_WORD.finditer(text))
