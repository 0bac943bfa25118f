"""Differences of two matched findings: side, place, severity, size, change, certainty."""

from __future__ import annotations

from radgauge.findings.aligned import Difference
from radgauge.findings.findings import Finding, Knowledge
from radgauge.findings.labels import label_rules
from radgauge.findings.numbers import numbers
from radgauge.findings.places import place_names, severity_name, side_name

_NUMBERS = numbers()["match"]
SAME_SIZE = _NUMBERS["same_size"]  # relative difference of measurements that is still the same
SMALL_MM = _NUMBERS["small_mm"]  # and the absolute one: nobody measures better than that


def differences(r: Finding, c: Finding, knowledge: Knowledge) -> tuple[Difference, ...]:
    """Every attribute that two matched findings tell differently."""
    result: list[Difference] = []
    if r.sides != c.sides:
        conflict = bool(r.sides and c.sides)
        result.append(Difference("side", side_name(r.sides), side_name(c.sides), conflict))
    if r.locations != c.locations:
        conflict = bool(r.locations and c.locations)
        if not conflict or not knowledge.places.agree(r.locations, c.locations):
            result.append(Difference("location", place_names(r.locations), place_names(c.locations), conflict))
    if r.concept != c.concept and (elsewhere := _named_elsewhere(r, c, knowledge)):
        result.append(elsewhere)
    if r.labels and c.labels and r.labels != c.labels:
        result += _label_differences(r, c)
    if r.position != c.position:
        result.append(Difference("position", r.position, c.position, bool(r.position and c.position)))
    if r.severity != c.severity:
        conflict = bool(r.severity and c.severity)
        result.append(Difference("severity", severity_name(r.severity), severity_name(c.severity), conflict))
    if r.sizes_mm != c.sizes_mm:
        a, b = max(r.sizes_mm, default=0.0), max(c.sizes_mm, default=0.0)
        if abs(a - b) > max(SMALL_MM, SAME_SIZE * max(a, b)):
            result.append(Difference("size", _size(a), _size(b), bool(a and b)))
    if r.change != c.change:
        result.append(Difference("change", r.change, c.change, bool(r.change and c.change)))
    if r.uncertain != c.uncertain:
        words = ("certain", "uncertain")
        result.append(Difference("uncertainty", words[r.uncertain], words[c.uncertain], True))
    return tuple(result)


def _named_elsewhere(r: Finding, c: Finding, knowledge: Knowledge) -> Difference | None:
    """The difference of place that lies in the names themselves: a mitral and an aortic valve prosthesis."""
    concepts = knowledge.lexicon.concepts
    if r.others or c.others or r.concept not in concepts or c.concept not in concepts:
        return None
    if knowledge.similarity.related(r.concept, c.concept):
        return None
    a, b = frozenset(concepts[r.concept].location), frozenset(concepts[c.concept].location)
    if not a or not b or knowledge.places.agree(a, b):
        return None
    return Difference("location", place_names(a), place_names(b), True)


def _label_differences(r: Finding, c: Finding) -> list[Difference]:
    """Differences between the labels that both reports give a finding."""
    locations = label_rules().places
    result = []
    for name, a, b in other_kind(r.labels, c.labels):
        attribute = "location" if name in locations else "size"
        words = [f"{name} {', '.join(sorted(values))}" for values in (a, b)]
        result.append(Difference(attribute, words[0], words[1], True))
    return result


def other_kind(
    these: frozenset[tuple[str, str]], those: frozenset[tuple[str, str]]
) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """Names to which two sets of labels give values that have nothing in common, with the values."""
    rules = label_rules()
    result = []
    for name in sorted({name for name, _ in these} & {name for name, _ in those}):
        a = frozenset(value for label, value in these if label == name)
        b = frozenset(value for label, value in those if label == name)
        if rules.differ(name, a, b):
            result.append((name, a, b))
    return result


def _size(mm: float) -> str:
    return f"{mm:g} mm" if mm else ""
