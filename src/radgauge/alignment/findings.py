"""Findings: what a report claims, one record per claim, however often and in whichever words it is made.

A reading has mentions; a radiologist compares findings. Here mentions that say the same thing become one
finding, history and technique are left out, and statements of normality become denials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from radgauge.report_reader.lexicon import Lexicon
from radgauge.report_reader.reading import Mention, ReportReading

Span = tuple[int, int]

LEFT, RIGHT, MIDLINE = 1, 2, 4
SIDES = {"left": LEFT, "right": RIGHT, "bilateral": LEFT | RIGHT, "midline": MIDLINE, "": 0}
SEVERITIES = {"": 0, "trace": 1, "mild": 2, "moderate": 3, "severe": 4}
FINDING_KINDS = frozenset({"abnormality", "disease", "device"})


class Finding(NamedTuple):
    """One claim of a report.

    Attributes:
        concept: Lexicon id.
        kind: abnormality, disease or device.
        uncertain: Whether the report hedges.
        sides: Bits LEFT, RIGHT, MIDLINE; 0 = not said.
        locations: Anatomy ids that the report names, without what the concept implies anyway.
        severity: 0 = not said, 1 trace, 2 mild, 3 moderate, 4 severe.
        sizes_mm: Measurements.
        change: new, increased, decreased, stable, resolved, or "".
        descriptors: Other describing words.
        spans: Where the report says so.
        sentences: Indices of the sentences that say so.
    """

    concept: str
    kind: str
    uncertain: bool
    sides: int
    locations: frozenset[str]
    severity: int
    sizes_mm: tuple[float, ...]
    change: str
    descriptors: frozenset[str]
    spans: tuple[Span, ...]
    sentences: frozenset[int]


class Denial(NamedTuple):
    """A claim that something is not there.

    Attributes:
        concepts: What is denied: itself and, for a statement of normality, all that it rules out.
        sides: Bits; 0 = everywhere.
        normal: Whether it is a statement of normality ("lungs are clear") and not a plain negation.
        span: Where the report says so.
    """

    concepts: frozenset[str]
    sides: int
    normal: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Findings:
    """What a report claims and what it denies."""

    present: tuple[Finding, ...]
    denied: tuple[Denial, ...]


def findings_of(reading: ReportReading, lexicon: Lexicon) -> Findings:
    """The findings of one reading.

    >>> from radgauge.report_reader import read_report
    >>> from radgauge.report_reader.lexicon import load_lexicon
    >>> found = findings_of(read_report("Small left effusion. The effusion is new."), load_lexicon())
    >>> [(each.concept, each.sides, each.change, len(each.spans)) for each in found.present]
    [('pleural_effusion', 1, 'new', 2)]
    """
    present: list[Finding] = []
    denied: list[Denial] = []
    places: dict[int, list[int]] = {}
    for relation in reading.relations:
        if relation.type == "located_at":
            places.setdefault(relation.source, []).append(relation.target)
    for index, mention in enumerate(reading.mentions):
        if mention.attributes.context != "current":
            continue
        if mention.kind in FINDING_KINDS and mention.concept not in UNSPECIFIC:
            if mention.assertion == "absent" or mention.attributes.change == "resolved":
                denied.append(_denial(mention))
            else:
                present.append(_finding(mention, lexicon))
        elif mention.kind in FINDING_KINDS and mention.assertion == "absent":
            denied.append(_denial(mention))
        elif mention.kind == "normality" and mention.assertion != "absent":
            anatomy = [reading.mentions[target] for target in places.get(index, ())]
            denied.append(_normality(mention, anatomy, lexicon))
    return Findings(merge(present), tuple(denied))


UNSPECIFIC = frozenset({"abnormality", "finding", "change", "disease", "process"})
"""Words for "something": denying them says a lot, affirming them says nothing."""


def merge(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Claims of the same concept that do not contradict each other in side or place become one."""
    merged: list[Finding] = []
    for finding in found:
        for place, known in enumerate(merged):
            if known.concept == finding.concept and _same_place(known, finding):
                merged[place] = _union(known, finding)
                break
        else:
            merged.append(finding)
    return tuple(merged)


def _same_place(a: Finding, b: Finding) -> bool:
    if a.sides and b.sides and not a.sides & b.sides:
        return False
    if a.locations and b.locations and not a.locations & b.locations and a.sentences.isdisjoint(b.sentences):
        return bool(a.sides and a.sides == b.sides and not (a.sizes_mm and b.sizes_mm))
    return not (a.sizes_mm and b.sizes_mm and a.sizes_mm != b.sizes_mm)


def _union(a: Finding, b: Finding) -> Finding:
    return Finding(
        concept=a.concept,
        kind=a.kind,
        uncertain=a.uncertain and b.uncertain,
        sides=a.sides | b.sides,
        locations=a.locations | b.locations,
        severity=max(a.severity, b.severity),
        sizes_mm=a.sizes_mm or b.sizes_mm,
        change=a.change or b.change,
        descriptors=a.descriptors | b.descriptors,
        spans=(*a.spans, *b.spans),
        sentences=a.sentences | b.sentences,
    )


def _finding(mention: Mention, lexicon: Lexicon) -> Finding:
    said = mention.attributes
    implied = lexicon.concepts[mention.concept].location
    return Finding(
        concept=mention.concept,
        kind=mention.kind,
        uncertain=mention.assertion == "uncertain",
        sides=SIDES[said.laterality],
        locations=frozenset(said.locations).difference(implied),
        severity=SEVERITIES[said.severity],
        sizes_mm=said.sizes_mm,
        change=said.change,
        descriptors=frozenset(said.descriptors),
        spans=((mention.start, mention.end),),
        sentences=frozenset((mention.sentence,)),
    )


def _denial(mention: Mention) -> Denial:
    return Denial(
        frozenset((mention.concept,)),
        SIDES[mention.attributes.laterality],
        False,
        (mention.start, mention.end),
    )


def _normality(mention: Mention, anatomy: list[Mention], lexicon: Lexicon) -> Denial:
    denies = set(lexicon.concepts[mention.concept].denies)
    sides = SIDES[mention.attributes.laterality]
    for place in anatomy:
        denies.update(lexicon.concepts[place.concept].denies)
        sides |= SIDES[place.attributes.laterality]
    return Denial(frozenset(denies), sides, True, (mention.start, mention.end))
