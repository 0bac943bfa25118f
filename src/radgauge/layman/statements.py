"""What a sentence states, as weighted features: the finding and its kin, polarity, side, degree, change and place.

Two statements are alike in so far as they share features. Names of one zone of the lung count as one place, a lobe
is the same whether its side stands in its name or beside it, and what a statement of normality says anyway is not
counted again when the sentence also denies it by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from radgauge.alignment.findings import Denial, Finding, Findings
from radgauge.alignment.places import BOTH, LEFT, RIGHT
from radgauge.layman.fidelity import lay_knowledge
from radgauge.report_reader import ReportReading

Features = dict[str, float]

SIDES, DEGREES = (LEFT, RIGHT, BOTH), (1, 2, 3, 4)
CHANGES = ("new", "increased", "decreased", "stable")
REACH = 2  # steps above a finding that still say what it is


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of a statement counts beside the finding itself, which is 1."""

    step: float = 0.5  # a concept one step above in the lexicon, and again for each further step
    family: float = 1.0  # findings that radiologists use for one another
    side: float = 0.75
    both: float = 0.5  # both sides: "the lungs" say no more than "the lung"
    severity: float = 0.75
    change: float = 0.8
    place: float = 0.5
    open: float = 0.7  # a finding that is only suspected
    denied: float = 0.9  # part of a denied finding that a made one does not share


WEIGHTS = Weights()


def statements(findings: Findings, *, weights: Weights = WEIGHTS) -> list[Features]:
    """One set of features per statement.

    >>> from radgauge.layman.fidelity import lay_findings
    >>> from radgauge.layman.lay_reader import LayReader
    >>> [read] = LayReader().read(["Lungs are clear without infiltrate."])
    >>> len(statements(lay_findings(read)))  # clear lungs hold no infiltrate
    1
    """
    found = [_claim(each, weights) for each in findings.present]
    normal = [each for each in findings.denied if each.normal]
    plain = [each for each in findings.denied if not each.normal and not any(_says(n, each) for n in normal)]
    return found + [_denial(each, weights) for each in (*normal, *plain)]


def unchanged_parts(reading: ReportReading, *, weights: Weights = WEIGHTS) -> list[Features]:
    """What a text without a finding says of parts of the body: "the mediastinum is stable".

    >>> from radgauge.layman.lay_reader import LayReader
    >>> [read] = LayReader().read(["The mediastinum is stable."])
    >>> sorted(unchanged_parts(read)[0])[-1]
    'part mediastinum'
    """
    found = []
    for mention in reading.mentions:
        if mention.kind == "anatomy" and mention.attributes.change:
            name = f"part {mention.concept}"
            change = _apart(f"change of {name}", mention.attributes.change, CHANGES, weights.change)
            found.append({name: 1.0, **change})
    return found


def _says(normal: Denial, denial: Denial) -> bool:
    """Whether a statement of normality denies this as well."""
    reached = not normal.sides or normal.sides & BOTH == BOTH or (denial.sides and normal.sides == denial.sides)
    return bool(reached) and not denial.severity and denial.concepts <= normal.concepts


def _claim(finding: Finding, weights: Weights) -> Features:
    total: Features = {}
    for name, weight in _concept(finding.concept, weights).items():
        total[name] = weight
        if finding.uncertain:
            total[f"{name}|open"] = weights.open * weight
    total = _unit(total)
    of = _group(finding.concept)
    total |= _side(of, finding.sides, weights)
    total |= _apart(f"degree of {of}", finding.severity, DEGREES, weights.severity)
    total |= _apart(f"change of {of}", finding.change, CHANGES, weights.change)
    for name, weight in _places(finding.locations).items():
        total[name] = weights.place * weight
    return total


def _denial(denial: Denial, weights: Weights) -> Features:
    concepts = sorted(denial.concepts)
    if denial.normal:  # "acute cardiac disease" says nothing more of a normal heart
        concepts = [each for each in concepts if not each.startswith("acute_")] or concepts
    total: Features = {}
    for concept in concepts:
        for name, weight in _concept(concept, weights).items():
            total[f"{name}|denied"] = total.get(f"{name}|denied", 0.0) + weights.denied * weight
            total[name] = total.get(name, 0.0) - (1 - weights.denied) * weight
    total = _unit(total)
    of = f"{'normal' if denial.normal else _group(concepts[0])}, denied"
    if denial.sides & BOTH != BOTH:  # on neither side: nowhere
        total |= _side(of, denial.sides, weights)
    total |= _apart(f"degree of {of}", denial.severity, DEGREES, weights.severity)
    return total


def _group(concept: str) -> str:
    """The first family of a finding, else itself: a sentence with two findings keeps their sides apart."""
    families = lay_knowledge().similarity.families_of(concept)
    return f"family {min(families)}" if families else concept


def _side(of: str, sides: int, weights: Weights) -> Features:
    sides &= BOTH
    return _apart(f"side of {of}", sides, SIDES, weights.both if sides == BOTH else weights.side)


def _apart(role: str, said: str | int, values: Sequence[str | int], weight: float) -> Features:
    """Features of an attribute whose values exclude one another: another value is worse than none."""
    if not said:
        return {}
    total = {f"{role}: {value}": 1.0 if value == said else -1.0 / len(values) for value in values}
    return {name: weight * each for name, each in _unit(total).items()}


def _concept(concept: str, weights: Weights) -> Features:
    """The finding, what lies above it in the lexicon, and the families of findings used for one another."""
    similarity = lay_knowledge().similarity
    found = _unit(
        {
            above: weights.step**steps
            for above, steps in similarity.ancestors(concept).items()
            if not steps or (steps <= REACH and not similarity.is_wide(above))
        }
    )
    for number, (alike, _) in similarity.families_of(concept).items():
        # members of one family would have the family's likeness as their cosine, if weights.family were 1
        found[f"family {number}"] = weights.family * (alike / (1 - alike)) ** 0.5
    return _unit(found)


def _unit(features: Features) -> Features:
    length = sum(weight**2 for weight in features.values()) ** 0.5
    return {name: weight / length for name, weight in features.items()}


def _places(locations: frozenset[str]) -> Features:
    known = lay_knowledge()
    found: Features = {}
    for place in sorted(locations):
        if known.places.is_vague(place):
            continue
        if place.startswith(("left_", "right_")):  # the side has its own feature
            place = next(iter(known.lexicon[place].parents), place) if place in known.lexicon.concepts else place
        found[f"place:{place}"] = 0.5
        for zone in known.places.zones(place):
            found[f"zone:{zone}"] = 1.0
    return found
