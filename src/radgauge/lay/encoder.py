"""The embedded sentence encoder for lay texts: words, and what the lay reader finds in them.

A sum of word vectors cannot tell "fluid on the left" from "no fluid on the right". This encoder joins it with a
vector of the statements: the finding with what lies above it in the lexicon, whether it is made, denied or left
open, its side, severity, change and place. Professional and plain words for the same statement so get nearly the
same vector.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from radgauge.findings.findings import Denial, Finding, Findings
from radgauge.findings.places import BOTH, LEFT, RIGHT, SEVERITIES
from radgauge.findings.places import SIDES as SIDE_BITS
from radgauge.lay.fidelity import lay_findings, lay_knowledge
from radgauge.lay.lay_reader import LayReader, lay_lexicon, plain_term
from radgauge.lay.rules import lay_rules
from radgauge.reader import Mention, ReportReading
from radgauge.reader.lexicon import FINDING_KINDS
from radgauge.text.static_embedding import StaticEncoder
from radgauge.text.tokens import phrase_key
from radgauge.text.vectors import VectorReader, Vectors

# Vectors of what a sentence states; the cosine of two is the product of the similarities of their parts.
#
# A statement has a finding with its kin, and roles: whether it is made, left open or denied; side, degree, change,
# place, size, and words that exclude one another (acute and old, displaced and not). Each role is a vector; the
# statement is their element-wise product, so that one part told otherwise makes another statement however much the
# rest agrees (binding, as in vector-symbolic models: Gayler 2003). A role that only one of two statements tells
# lowers the cosine a little, another value more, the opposite most.
#
# Names of one zone of the lung count as one place, a lobe is the same whether its side stands in its name or
# beside it, and what a statement of normality says anyway is not counted again when the sentence also denies it
# by name.

Vector = NDArray[np.float64]
Features = dict[str, float]
Angles = Mapping[str | int, float]

DIMENSIONS = 512
UNSAID = 0.84  # agreement of a role that is told with one that is not
UNSAID_PLACE = 0.77

COMMON = 0.8
"""Length of what all statements share, which sets the scale: beside it the paper's threshold of 0.8 lies between
two statements of which one leaves two roles open, and two that tell one role otherwise."""

# Values of a role as directions in a plane, in degrees: opposites point apart, close ones stand for one another.
POLARITY: Angles = {"present": 0, "uncertain": 55, "absent": 110}
SIDES: Angles = {LEFT: 0, RIGHT: 130, BOTH: 245}
DEGREES: Angles = {1: 20, 2: 30, 3: 140, 4: 245}
CHANGES: Angles = {"increased": 0, "new": 15, "decreased": 130, "stable": 245}

ONE_FINDING = 0.9  # likeness of two names of one finding in a sentence
STEP = 0.5  # weight of a concept one step above in the lexicon, and again for each further step
REACH = 2  # steps above a finding that still say what it is
_WORD = re.compile(r"[a-z0-9]+(?:-[a-z]+)*")


def statements(findings: Findings, text: str) -> list[Vector]:
    """One vector of length one per statement of a sentence; `text` is where the findings were read.

    >>> from radgauge.lay.fidelity import lay_findings
    >>> from radgauge.lay.lay_reader import LayReader
    >>> [read] = LayReader().read(["Lungs are clear without infiltrate."])
    >>> len(statements(lay_findings(read), read.text))  # clear lungs hold no infiltrate
    1
    """
    normal = [denial for denial in findings.denied if denial.normal]
    plain = [
        denial for denial in findings.denied if not denial.normal and not any(_says(n, denial) for n in normal)
    ]
    present = _each_once(findings.present)
    alone = len(present) == 1 and not normal and not plain
    vectors = [_claim(finding, _described(finding, text, alone=alone)) for finding in present]
    return vectors + [_denial(denial) for denial in (*normal, *plain)]


def _described(finding: Finding, text: str, *, alone: bool) -> str:
    """The words that describe a finding; "hard old scar" is the plain name of one and describes nothing."""
    spans = [text[start:end] for start, end in finding.spans]
    for span in spans:
        if phrase_key(span) in _plain_names():
            text = text.replace(span, " ")
    concept = lay_knowledge().lexicon.concepts.get(finding.concept)
    named = set(concept.name.lower().split()) if concept is not None else set()
    specific = [span for span in spans if phrase_key(span) not in _plain_names()]
    words = _WORD.findall(" ".join((text if alone else " ".join(specific), *sorted(finding.descriptors))).lower())
    return " ".join(word for word in words if word not in named)


@lru_cache(maxsize=1)
def _plain_names() -> frozenset[tuple[str, ...]]:
    return frozenset(phrase_key(plain_term(concept)) for concept in lay_lexicon() if plain_term(concept))


def _each_once(present: Sequence[Finding]) -> list[Finding]:
    """Findings of a sentence without second names of one: "a rounded density, a nodule", "clips from surgery"."""
    of = lay_knowledge().similarity.of
    distinct: list[Finding] = []
    for finding in present:
        again = any(of(finding.concept, other.concept) >= ONE_FINDING for other in distinct)
        if not again and (finding.concept != "postsurgical_change" or len(present) == 1):
            distinct.append(finding)
    return distinct


def parts_spoken_of(reading: ReportReading) -> list[Vector]:
    """Parts that a text without a statement names: "the mediastinum is stable", "pneumonia cannot be excluded".

    >>> from radgauge.lay.lay_reader import LayReader
    >>> len(parts_spoken_of(LayReader().read(["The mediastinum is stable."])[0]))
    1
    """
    return [_part(mention) for mention in reading.mentions if mention.kind not in ("normality", "open")]


def _part(mention: Mention) -> Vector:
    attributes = mention.attributes
    concept = lay_rules().alike.get(mention.concept, mention.concept)
    what = _concept(concept) if mention.kind in FINDING_KINDS else {f"part {concept}": 1.0}
    roles = [
        _turned("polarity", mention.assertion, POLARITY),
        _side(SIDE_BITS[attributes.laterality]),
        _role_vector("degree", SEVERITIES[attributes.severity], DEGREES),
        _role_vector("change", attributes.change, CHANGES),
    ]
    if mention.kind in FINDING_KINDS:
        roles.append(_among(_location_features(attributes.locations), UNSAID_PLACE))
    return _bound(what, roles)


def _says(normal: Denial, denial: Denial) -> bool:
    """True if a statement of normality denies this as well."""
    reached = not normal.sides or normal.sides & BOTH == BOTH or (denial.sides and normal.sides == denial.sides)
    return bool(reached) and not denial.severity and denial.concepts <= normal.concepts


def _claim(finding: Finding, described: str) -> Vector:
    roles = [
        _turned("polarity", "uncertain" if finding.uncertain else "present", POLARITY),
        _side(finding.sides),
        _role_vector("degree", finding.severity, DEGREES),
        _role_vector("change", finding.change, CHANGES),
        _among(_location_features(finding.locations), UNSAID_PLACE),
        _among({f"size {size:.2g}": 1.0 for size in finding.sizes_mm}, UNSAID_PLACE),
    ]
    words = f" {described} "
    for role, values in lay_rules().contrasts.items():
        matching = [value for value, terms in values.items() if any(f" {term} " in words for term in terms)]
        if len(matching) == 1:
            angles: Angles = {value: 360 * index / len(values) for index, value in enumerate(values)}
            roles.append(_role_vector(role, matching[0], angles))
    return _bound(_concept(finding.concept), roles)


def _denial(denial: Denial) -> Vector:
    concepts = sorted(denial.concepts)
    if denial.normal:  # "acute cardiac disease" says nothing more of a normal heart
        concepts = [name for name in concepts if not name.startswith("acute_")] or concepts
    total: Features = {}
    for concept in concepts:
        for name, weight in _concept(concept).items():
            total[name] = total.get(name, 0.0) + weight
    sides = 0 if denial.sides & BOTH == BOTH else denial.sides  # on neither side: nowhere
    roles = [
        _turned("polarity", "absent", POLARITY),
        _side(sides),
        _role_vector("degree", denial.severity, DEGREES),
    ]
    return _bound(total, roles)


def _side(sides: int) -> Vector:
    sides &= BOTH
    return _role_vector("side", sides, SIDES)


def _role_vector(role: str, value: str | int, angles: Angles, unsaid: float = UNSAID) -> Vector:
    """A role's vector: all ones where it is not told."""
    if value not in angles:
        return np.ones(DIMENSIONS)
    return unsaid + math.sqrt(1 - unsaid**2) * _direction(role, angles[value])


def _turned(role: str, value: str, angles: Angles) -> Vector:
    """The vector of a role that is always told; its first value is all ones."""
    angle = math.radians(angles[value])
    return math.cos(angle) + math.sin(angle) * _feature(role)


def _among(features: Features, unsaid: float) -> Vector:
    """A role whose values are many and may be alike."""
    return unsaid + math.sqrt(1 - unsaid**2) * _sum(features) if features else np.ones(DIMENSIONS)


def _direction(role: str, degrees: float) -> Vector:
    angle = math.radians(degrees)
    return math.cos(angle) * _feature(f"{role}, across") + math.sin(angle) * _feature(f"{role}, along")


def _bound(what: Features, roles: Iterable[Vector]) -> Vector:
    vector = _sum(what)
    for role in roles:
        vector = vector * role
    return unit(vector)


def _sum(features: Features) -> Vector:
    """The weighted features, scaled to weights of length one."""
    total = np.zeros(DIMENSIONS)
    for name, weight in features.items():
        total += weight * _feature(name)
    length = math.sqrt(sum(weight**2 for weight in features.values()))
    return total / length if length else total


@lru_cache(maxsize=1 << 14)
def _feature(name: str) -> Vector:
    # RandomState's stream is frozen by numpy's compatibility policy, so the vector is the same everywhere.
    drawn = np.random.RandomState(zlib.crc32(name.encode())).randint(0, 2, DIMENSIONS)
    return 2.0 * drawn.astype(np.float64) - 1.0


def unit(vector: Vector) -> Vector:
    """The vector with length one; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    scaled: Vector = vector / length if length > 0 else vector
    return scaled


STATED = unit(_feature("stated"))


@lru_cache(maxsize=1 << 12)
def _concept(concept: str) -> Features:
    """The finding, what lies above it in the lexicon, and the families of findings used for one another."""
    concept = lay_rules().alike.get(concept, concept)
    similarity = lay_knowledge().similarity
    features = _scaled(
        {
            above: STEP**steps
            for above, steps in similarity.ancestors(concept).items()
            if not steps or (steps <= REACH and not similarity.is_wide(above))
        }
    )
    for number, (alike, _) in similarity.families_of(concept).items():
        # members of one family so have the family's likeness as their cosine
        features[f"family {number}"] = (alike / (1 - alike)) ** 0.5
    return _scaled(features)


def _scaled(features: Features) -> Features:
    length = math.sqrt(sum(weight**2 for weight in features.values()))
    return {name: weight / length for name, weight in features.items()}


def _location_features(locations: Iterable[str]) -> Features:
    knowledge = lay_knowledge()
    features: Features = {}
    for location in sorted(locations):
        if knowledge.places.is_vague(location):
            continue
        if location.startswith(("left_", "right_")):  # the side has its own role
            location = (
                next(iter(knowledge.lexicon[location].parents), location)
                if location in knowledge.lexicon.concepts
                else location
            )
        features[f"place:{location}"] = 0.5
        for zone in knowledge.places.zones(location):
            features[f"zone:{zone}"] = 1.0
    return features


MEANING = 0.8  # how much of the cosine comes from statements rather than words


@dataclass(frozen=True)
class FindingEncoder(VectorReader):
    """Sentences to vectors by their words and statements; a `Reader` whose reading is the vector.

    >>> lay, same, other = FindingEncoder().encode(
    ...     ["There is fluid around the lung.", "Pleural effusion.", "No pleural effusion."])
    >>> bool(lay @ same > 0.8 > lay @ other)
    True
    """

    batch_size: ClassVar[int] = 8192

    @property
    def signature(self) -> str:
        """The word table and the lay reader."""
        return f"findings-3|{StaticEncoder().signature}|{LayReader().signature}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text; a text without any word is a row of zeros."""
        words = StaticEncoder().encode(texts)
        meaning = (
            np.stack([_meaning(read) for read in LayReader().read(texts)])
            if texts
            else (np.zeros((0, DIMENSIONS), np.float32))
        )
        says = np.linalg.norm(meaning, axis=1) > 0
        share = np.where(says, 1 - MEANING, 1.0).astype(np.float32)
        joined: Vectors = np.hstack([np.sqrt(share)[:, None] * words, np.float32(np.sqrt(MEANING)) * meaning])
        return joined

    def read(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector per text."""
        return list(self.encode(texts))


def _meaning(reading: ReportReading) -> Vectors:
    """The sum of all statements, scaled to length one; zeros if there are none."""
    vectors = statements(lay_findings(reading), reading.text) or parts_spoken_of(reading)
    if not vectors:
        return np.zeros(DIMENSIONS, np.float32)
    return unit(unit(np.sum(vectors, axis=0)) + COMMON * STATED).astype(np.float32)
