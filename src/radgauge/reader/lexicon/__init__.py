"""Concepts and their words, in TOML files that users can extend."""

from radgauge.reader.lexicon.concepts import ABNORMAL_KINDS, FINDING_KINDS, Concept, Lexicon
from radgauge.reader.lexicon.load import LexiconError, check_lexicon, load_lexicon

__all__ = [
    "ABNORMAL_KINDS",
    "FINDING_KINDS",
    "Concept",
    "Lexicon",
    "LexiconError",
    "check_lexicon",
    "load_lexicon",
]
