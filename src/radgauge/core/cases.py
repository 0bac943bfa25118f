"""Case: what is judged. One study, one system's candidate, its references, images and context."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from radgauge.core.clean import decode

Key = tuple[str, str]
"""(study id, system)"""

EMPTY: Mapping[str, str] = MappingProxyType({})
MISSING = "radgauge:missing"  # no column of the input has this name by chance
"""Meta key of a case that stands for a text nobody supplied; its value is the reason."""
UNANSWERED = ("no candidate", "empty candidate", "candidate has no words", "candidate is not in English")
"""Reasons for "not judged" that are failures of the system: it was asked and wrote nothing that can be read."""


@dataclass(frozen=True, slots=True)
class Case:
    """One study as one system reported it.

    Texts are decoded on the way in (`radgauge.core.clean`): nothing invisible, no character entities.

    Attributes:
        id: Study id; (id, system) is unique in a run.
        candidate: The text under judgment.
        references: What radiologists wrote; several are alternatives.
        system: Who wrote the candidate.
        images: Files of the study.
        meta: Everything else the input had: section, split, patient, modality, age, indication.
        markup: True if a text came with tags, character entities or invisible characters.
    """

    id: str
    candidate: str
    references: tuple[str, ...] = ()
    system: str = "system"
    images: tuple[Path, ...] = ()
    meta: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    markup: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.markup and any(map(has_markup, (self.candidate, *self.references))):
            object.__setattr__(self, "markup", True)
        object.__setattr__(self, "candidate", _decoded(self.candidate))
        object.__setattr__(self, "references", tuple([_decoded(text) for text in self.references]))

    def without(self, names: Container[str]) -> Case:
        """Return the case without these columns of meta."""
        return replace(self, meta=MappingProxyType({k: v for k, v in self.meta.items() if k not in names}))

    @property
    def key(self) -> Key:
        """(id, system)"""
        return (self.id, self.system)

    @property
    def missing(self) -> str:
        """Why the case has no candidate at all (as against an empty one); "" if it has."""
        return self.meta.get(MISSING, "")

    def with_real_references(self) -> Case:
        """The same case without references that are empty."""
        texts = tuple(text for text in self.references if text.strip())
        return self if len(texts) == len(self.references) else replace(self, references=texts)


def reference_digest(cases: Iterable[Case]) -> str:
    """Hash of the studies with their references, whatever the order: equal if systems were asked the same.

    Hashes are added, so that those of parts without a common study make that of all (`digest_of_parts`).

    >>> cases = [Case("1", "Clear.", ("Clear.",), "a"), Case("1", "", ("Clear.",), "b")]
    >>> reference_digest(cases) == reference_digest(cases[:1])
    True
    """
    studies = {(case.id, case.references) for case in cases}
    return digest_of_parts(hashlib.sha256(json.dumps(study).encode()).hexdigest() for study in studies)


def digest_of_parts(digests: Iterable[str]) -> str:
    """Sum of hexadecimal digests.

    >>> digest_of_parts(["ff", "01"])[-3:]
    '100'
    """
    return f"{sum(int(digest, 16) for digest in digests) % (1 << 128):032x}"


_MARKUP = re.compile(
    r"</?(?:[a-z][a-z0-9]{0,15})(?:\s[^<>]{0,500})?/?>|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,31}\d{0,2});"
    r"|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]",
    re.IGNORECASE,
)


def has_markup(text: object) -> bool:
    """Return True if a text holds a tag, a character entity, a zero-width character or a soft hyphen.

    >>> has_markup("<p>No&nbsp;effusion</p>"), has_markup("Nodule <5 mm & cyst >3 mm; clear.")
    (True, False)
    """
    if not isinstance(text, str) or (text.isascii() and "<" not in text and "&" not in text):
        return False
    return _MARKUP.search(text) is not None


def _decoded(text: object) -> Any:
    """The decoded text; what is no text is left to the checks, which name its place."""
    return decode(text) if isinstance(text, str) else text
