"""A report as numbers that an image-text encoder can learn from: what it claims, and in which words.

Three blocks side by side. *Claims*: what the report reader found, as short names ("+cardiomegaly",
"+lung_opacity@left", "-pleural_effusion", "=heart"), each with a strength; only the names of a fixed vocabulary
count. *Stated*: the embedded static encoder's vector of the sentences that state a finding or a device. *Words*:
its vector of the whole report. Claims make negation, side and severity visible, which no word vector does; the
other two cover what the vocabulary does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.reader import Mention, ReportReader, ReportReading, load_lexicon
from radgauge.reader.lexicon import FINDING_KINDS
from radgauge.text.static_embedding import StaticEncoder

Vectors = NDArray[np.float32]
VERSION = 1
UNCERTAIN = 0.6  # strength of a claim that the report hedges
_SIDES = {"left": ("left",), "right": ("right",), "bilateral": ("left", "right")}
_ASIDE = ("history", "technique")


def claims(reading: ReportReading) -> dict[str, float]:
    """Names of what the report says, with a strength above 0 and at most 1.

    "+x" states x or something that is a kind of x, "+x@left" states it on a side, "+x:mild" with a severity, "+@x"
    states something at the anatomy x; "-x" denies x; "=x" calls the anatomy x normal; "+~x" and "-~x" have a
    word x of a finding that the lexicon does not know.

    >>> from radgauge.reader import read_report
    >>> found = claims(read_report("Small left pleural effusion. No pneumothorax."))
    >>> found["+pleural_effusion@left"], found["-pneumothorax"], "+pneumothorax" in found
    (1.0, 1.0, False)
    """
    weights: dict[str, float] = {}
    for mention in reading.mentions:
        if mention.attributes.context in _ASIDE:
            continue
        strength = UNCERTAIN if mention.assertion == "uncertain" else 1.0
        for name in _names(mention):
            weights[name] = max(weights.get(name, 0.0), strength)
    return weights


def _names(mention: Mention) -> Iterator[str]:
    attributes = mention.attributes
    if mention.kind == "normality":
        yield from (f"={location}" for location in attributes.locations)
    elif mention.kind == "open":
        sign = "-" if mention.assertion == "absent" else "+"
        yield from (f"{sign}~{word}" for word in mention.concept.removeprefix("open:").split())
    elif mention.kind in FINDING_KINDS and mention.assertion == "absent":
        yield f"-{mention.concept}"
    elif mention.kind in FINDING_KINDS:
        kinds = (mention.concept, *load_lexicon().ancestors(mention.concept))
        yield "+device" if mention.kind == "device" else "+finding"
        for kind in kinds:
            yield f"+{kind}"
            yield from (f"+{kind}@{side}" for side in _SIDES.get(attributes.laterality, ()))
        yield from (f"+@{location}" for location in attributes.locations)
        if attributes.severity:
            yield f"+{mention.concept}:{attributes.severity}"
            yield f"+:{attributes.severity}"


def stating_sentences(reading: ReportReading) -> list[str]:
    """The sentences that state a finding or a device of the present examination, surely or not."""
    chosen = {
        mention.sentence
        for mention in reading.mentions
        if mention.kind in FINDING_KINDS
        and mention.assertion != "absent"
        and mention.attributes.context not in _ASIDE
    }
    spans = (reading.sentences[index] for index in sorted(chosen))
    return [reading.text[span.start : span.end] for span in spans]


def claim_vocabulary(readings: Sequence[ReportReading], *, min_count: int) -> tuple[str, ...]:
    """Names of claims that at least so many reports make, in alphabetical order."""
    counts = Counter(name for reading in readings for name in claims(reading))
    return tuple(sorted(name for name, number in counts.items() if number >= min_count))


@dataclass(frozen=True)
class ReportClaims:
    """Reports to rows of numbers."""

    vocabulary: tuple[str, ...]  # Names of claims that have a column

    @property
    def signature(self) -> str:
        """Versions of all that decides a row."""
        return f"report-claims-{VERSION}:{ReportReader().signature}:{StaticEncoder().signature}"

    @property
    def dimensions(self) -> int:
        """Length of a row."""
        return len(self.vocabulary) + 2 * StaticEncoder().dimensions

    def rows(self, texts: Sequence[str]) -> Vectors:
        """One row per text: claims, stated, words; a text without any word or number is a row of zeros.

        >>> ReportClaims(("+device", "+finding")).rows(["Cardiomegaly.", "XXXX."])[:, :2].tolist()
        [[0.0, 1.0], [0.0, 0.0]]
        """
        readings = ReportReader().read(texts)
        column = {name: at for at, name in enumerate(self.vocabulary)}
        matrix = np.zeros((len(texts), len(column)), np.float32)
        for row, reading in zip(matrix, readings, strict=True):
            _fill(row, claims(reading), column)
        encoder = StaticEncoder()
        stated = encoder.encode([" ".join(stating_sentences(reading)) for reading in readings])
        return np.hstack([matrix, stated, encoder.encode(texts)])


def _fill(row: Vectors, weights: Mapping[str, float], column: Mapping[str, int]) -> None:
    for name, strength in weights.items():
        at = column.get(name)
        if at is not None:
            row[at] = strength
