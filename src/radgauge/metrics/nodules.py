"""Nodules as a CT report gives them: detected or not by size class, and their size, density, calcium and number.

Size classes and tolerances: `data/nodules.toml`. MacMahon et al. (2017), Guidelines for management of incidental
pulmonary nodules, Radiology 284: 6 and 8 mm are the sizes at which management changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows, ratio
from radgauge.core.parsing import shipped_toml
from radgauge.core.readings import Readings
from radgauge.core.signature import component
from radgauge.findings.claims import findings_of
from radgauge.findings.closeness import closeness_of
from radgauge.findings.findings import Finding, Findings, Knowledge, knowledge_for
from radgauge.findings.places import side_name
from radgauge.reader import ReportReader, load_lexicon

_TABLE = shipped_toml(__file__, "nodules.toml")
UNMEASURED = "unmeasured"
CLASSES = (*(str(row["name"]) for row in _TABLE["class"]), UNMEASURED)
ATTRIBUTES = ("size", "density", "calcified", "number")
COLUMNS = (
    *("nodules_f1", "nodules_sensitivity", "nodules_false_positives", "nodules_n"),
    *(f"nodules_{attribute}{suffix}" for attribute in ATTRIBUTES for suffix in ("", "_n")),
    *(f"nodules_{output}_{name}" for name in CLASSES for output in ("sensitivity", "false_positives", "n")),
)
COMPARED = 200
"""Nodules of a report that are compared; no real one lists as many."""
_GROUP = re.compile(
    r"\d+(?:\.\d+)?(?:\s*(?:mm|cm))?(?:\s*(?:x|×|by)\s*\d+(?:\.\d+)?(?:\s*(?:mm|cm))?)*", re.IGNORECASE
)
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*(mm|cm)?", re.IGNORECASE)
_CALCIUM = {"calcified": "calcified", "noncalcified": "not calcified"}


class Nodule(NamedTuple):
    """One nodule of a report, or several of one description."""

    finding: Finding  # The claim that it stands in
    dimensions: tuple[float, ...]  # In mm, the greatest first; empty if it was not measured
    density: str  # solid, part-solid, ground glass, or ""
    calcium: str  # calcified, not calcified, or ""
    number: str  # How many, where the report counts them: "3", "several", or ""

    @property
    def size_class(self) -> int:
        """Position in CLASSES."""
        if not self.dimensions:
            return CLASSES.index(UNMEASURED)
        bounds = (row.get("below", math.inf) for row in _TABLE["class"])
        return next(index for index, below in enumerate(bounds) if self.dimensions[0] < below)

    def describe(self) -> str:
        """Return the nodule in a few words."""
        size = " x ".join(f"{value:g}" for value in self.dimensions) + " mm" if self.dimensions else "unmeasured"
        sites = ", ".join(sorted(location.replace("_", " ") for location in self.finding.locations))
        words = (size, self.density, self.calcium, "nodule", sites or side_name(self.finding.sides))
        return " ".join(word for word in words if word)


class Pair(NamedTuple):
    """A nodule of the reference and the one that it is assigned to, which lies in the same place."""

    reference: Nodule
    candidate: Nodule

    @property
    def same_size(self) -> bool | None:
        """True if every dimension that both give is within the tolerance; None if one was not measured."""
        ours, theirs = self.candidate.dimensions, self.reference.dimensions
        if not ours or not theirs:
            return None
        limits = _TABLE["class"][self.reference.size_class]
        return all(
            abs(a - b) <= limits.get("mm", limits.get("share", 0.0) * a) + 1e-9
            for a, b in zip(theirs, ours, strict=False)
        )


@dataclass(frozen=True)
class Nodules(Metric):
    """Detection of nodules by size class, with the agreement of what is said of those detected.

    A nodule is detected if the candidate has one in the same place (neither side nor lobe contradicts) and, where
    both are measured, of the same size in every dimension that both give. `nodules_f1`, `nodules_sensitivity` and
    those of each class are sums over sums; `nodules_false_positives` is the number per study. `nodules_size` is
    the share of the nodules in the same place that have the same size; `nodules_density`, `nodules_calcified` and
    `nodules_number` are shares of the detected ones of which both reports state it. Columns that end in `_n`, or
    begin with `nodules_n_`, are the support: how many nodules a share rests on.

    >>> reference = "8 mm solid nodule in the right upper lobe. 4 mm nodule in the lingula."
    >>> case = Case("1", "Solid nodule in the right upper lobe, 9 mm.", (reference,))
    >>> metric = Nodules()
    >>> metric.case_scores(metric.measure([case], reading=Readings()))[0, :4].round(2).tolist()
    [0.67, 0.5, 0.0, 2.0]
    """

    name: ClassVar[str] = "nodules"
    higher_is_better: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    summary: ClassVar[str] = "nodules of CT reports: sensitivity and false positives by size class; size, density"

    organ: Literal["lung", "any"] = "lung"  # "lung": nodules and masses of the lung; "any": focal lesions anywhere

    @property
    def columns(self) -> tuple[str, ...]:
        """Detection, attributes, and detection by size class."""
        return COLUMNS

    @property
    def directions(self) -> tuple[bool, ...]:
        """Fewer false positives."""
        return tuple("false_positives" not in column for column in COLUMNS)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Shares from 0 to 1, counts from 0 on."""
        is_count = [any(part in f"{column}_" for part in ("_n_", "false_positives")) for column in COLUMNS]
        return tuple((0.0, math.inf) if count else (0.0, 1.0) for count in is_count)

    def parts(self) -> Mapping[str, str]:
        """The reader and the comparison of findings."""
        reader = ReportReader().signature
        return {"reader": reader, "comparison": component("findings"), "references": "best"}

    def report_reader(self) -> ReportReader:
        """Return the reader, which must understand a text."""
        return ReportReader()

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Return per case, by class, nodules of the reference, detected and false ones; then agreed attributes."""
        rows = np.full((len(cases), 3 * len(CLASSES) + 2 * len(ATTRIBUTES)), np.nan)
        _findings([text for case in cases for text in (case.candidate, *case.references)], reading)
        for row, case in zip(rows, cases, strict=True):
            comparisons = self._comparisons(case, reading)
            if comparisons:
                row[:] = max((_counts(*comparison) for comparison in comparisons), key=_order)
        return rows

    def case_scores(self, rows: Rows) -> Rows:
        """Return the outputs of each case."""
        return self.corpus_scores(rows, np.where(np.isnan(rows), 0.0, 1.0))

    def corpus_scores(self, totals: Rows, counts: Rows) -> Rows:
        """Return sums over sums, and false positives per study."""
        n_classes = len(CLASSES)
        by_class = totals[..., : 3 * n_classes].reshape(*totals.shape[:-1], n_classes, 3)
        n, hits, false = (by_class[..., part] for part in range(3))
        studies = counts[..., :1]
        total_n, total_hits, total_false = (part.sum(axis=-1) for part in (n, hits, false))
        judged = np.where(studies[..., 0] > 0, 1.0, np.nan)
        values = [
            ratio(2 * total_hits, total_n + total_hits + total_false) * judged,
            ratio(total_hits, total_n),
            ratio(total_false, studies[..., 0]),
            total_n * judged,
        ]
        attributes = totals[..., 3 * n_classes :]
        for index in range(len(ATTRIBUTES)):
            agreed, support = attributes[..., 2 * index], attributes[..., 2 * index + 1]
            values += [ratio(agreed, support), support * judged]
        for index in range(n_classes):
            values += [
                ratio(hits[..., index], n[..., index]),
                ratio(false[..., index], studies[..., 0]),
                n[..., index] * judged,
            ]
        return np.stack(values, axis=-1)

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Return a sentence per nodule: detected, of another size, missed, or false."""
        row = self.case_scores(self.measure([case], reading=reading))[0]
        values = dict(zip(COLUMNS, row.tolist(), strict=True))
        comparisons = self._comparisons(case, reading)
        if not comparisons:
            return Explanation(self.name, values)
        index, (theirs, ours, pairs) = max(enumerate(comparisons), key=lambda item: _order(_counts(*item[1])))
        notes = []
        for pair in pairs:
            r, c = pair
            kind = "changed" if pair.same_size is False else "matched"
            text = f"{r.describe().capitalize()}: {c.describe()}" + ", another size" * (kind == "changed") + "."
            notes.append(Note(kind, text, r.finding.spans, c.finding.spans, {"reference": index}))
        for nodule in _unpaired(theirs, [pair.reference for pair in pairs]):
            text = f"{nodule.describe().capitalize()} is missed."
            notes.append(Note("missing", text, nodule.finding.spans, data={"reference": index}))
        for nodule in _unpaired(ours, [pair.candidate for pair in pairs]):
            text = f"{nodule.describe().capitalize()} is not in the reference."
            notes.append(Note("added", text, (), nodule.finding.spans, {"reference": index}))
        return Explanation(self.name, values, tuple(notes))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Return the side that says nothing, or that there is nothing to detect."""
        for side, texts in (("candidate", [case.candidate]), ("reference", case.references)):
            if not any(map(_says_something, _findings(texts, reading))):
                return f"no finding and no normal statement was read in the {side}"
        return "neither report has a nodule"

    def _comparisons(self, case: Case, reading: Readings) -> list[_Comparison]:
        """Return the nodules of each reference and of the candidate, paired; none if it cannot be judged."""
        candidate, *references = _findings([case.candidate, *case.references], reading)
        if not _says_something(candidate):
            return []
        knowledge = _knowledge()
        ours = nodules_of(candidate, knowledge, organ=self.organ)
        theirs = [
            nodules_of(reference, knowledge, organ=self.organ)
            for reference in references
            if _says_something(reference)
        ]
        return [(reference, ours, match_nodules(reference, ours, knowledge)) for reference in theirs]


_Comparison = tuple[Sequence[Nodule], Sequence[Nodule], Sequence[Pair]]


def nodules_of(findings: Findings, knowledge: Knowledge, *, organ: str = "lung") -> tuple[Nodule, ...]:
    """Return the nodules that a report claims, one for each size that it gives."""
    nodules: list[Nodule] = []
    for finding in findings.present:
        if not _is_nodule(finding, knowledge, _TABLE[organ]):
            continue
        text = " ".join(findings.sentences.texts[number] for number in sorted(finding.sentences)).lower()
        density = _density(finding)
        labels = dict(finding.labels)
        calcium = _CALCIUM.get(labels.get("calcium", ""), "")
        if not calcium and any(concept.startswith("calcified") for concept in finding.concepts):
            calcium = "calcified"
        number = labels.get("count", labels.get("number", ""))
        groups = _groups(finding.sizes_mm, text)
        if density == "part-solid":
            groups = groups[:1]  # the solid component has a size of its own
        nodules += [Nodule(finding, group, density, calcium, number) for group in groups or [()]]
    return tuple(nodules[:COMPARED])


def _is_nodule(finding: Finding, knowledge: Knowledge, table: Mapping[str, Sequence[str]]) -> bool:
    if any(concept in table["left_out"] for concept in finding.concepts):
        return False
    ancestors = knowledge.similarity.ancestors
    if any(root in ancestors(concept) for concept in finding.concepts for root in table["roots"]):
        return True
    if finding.concept not in table["inside"]:
        return False
    if not finding.locations:
        return finding.concept in table["without_place"]
    return any(organ in ancestors(location) for location in finding.locations for organ in table["organs"])


def _density(finding: Finding) -> str:
    for row in _TABLE["density"]:
        named = any(concept in row["concepts"] for concept in finding.concepts)
        if named or not finding.descriptors.isdisjoint(row["words"]) or ("make-up", row["name"]) in finding.labels:
            return str(row["name"])
    return ""


def _groups(sizes: Sequence[float], text: str) -> list[tuple[float, ...]]:
    """Return the sizes of a claim as a tuple per nodule, the greatest first: "12 x 8 mm" is one, "3 mm, 5 mm" two.

    >>> _groups((12.0, 8.0, 5.0), "one of 12 x 8 mm and one of 5 mm")
    [(12.0, 8.0), (5.0,)]
    """
    left = list(sizes)
    groups = []
    for match in _GROUP.finditer(text):
        parts = _NUMBER.findall(match[0])
        unit = next((unit for _, unit in reversed(parts) if unit), "")
        values = [float(value) * (10.0 if (own or unit) == "cm" else 1.0) for value, own in parts]
        group = [next((size for size in left if math.isclose(size, value)), math.nan) for value in values]
        if not any(map(math.isnan, group)):
            groups.append(tuple(sorted(group, reverse=True)))
            for size in group:
                left.remove(size)
    if left:  # sizes in words that the pattern does not have
        groups.append(tuple(sorted(left, reverse=True)))
    return sorted(groups, reverse=True)


def match_nodules(
    reference: Sequence[Nodule], candidate: Sequence[Nodule], knowledge: Knowledge
) -> tuple[Pair, ...]:
    """Return one-to-one pairs in the same place: as many of the same size as there can be, then the nearest."""
    if not reference or not candidate:
        return ()
    values = np.array([[_nearness(Pair(r, c), knowledge) for c in candidate] for r in reference])
    rows, columns = linear_sum_assignment(values, maximize=True)
    return tuple(
        Pair(reference[r], candidate[c]) for r, c in zip(rows, columns, strict=True) if values[r, c] > 0.0
    )


def _unpaired(nodules: Sequence[Nodule], paired: Sequence[Nodule]) -> list[Nodule]:
    taken = set(map(id, paired))
    return [nodule for nodule in nodules if id(nodule) not in taken]


def _nearness(pair: Pair, knowledge: Knowledge) -> float:
    """Return 0 for other places; above 3 for the same size, above 2 for an unknown one, above 1 for another."""
    r, c = pair.reference.finding, pair.candidate.finding
    if (r.sides and c.sides and not r.sides & c.sides) or closeness_of(r, c, knowledge) == 0.0:
        return 0.0
    if r.locations and c.locations and not knowledge.places.agree(r.locations, c.locations):
        return 0.0
    same = pair.same_size
    if same is None:
        return 2.0
    ours, theirs = pair.candidate.dimensions[0], pair.reference.dimensions[0]
    return (3.0 if same else 1.0) + min(ours, theirs) / max(ours, theirs) / 2.0


def _counts(reference: Sequence[Nodule], candidate: Sequence[Nodule], pairs: Sequence[Pair]) -> list[float]:
    by_class = np.zeros((len(CLASSES), 3))
    for nodule in reference:
        by_class[nodule.size_class, 0] += 1
    for nodule in candidate:
        by_class[nodule.size_class, 2] += 1
    attributes = np.zeros((len(ATTRIBUTES), 2))
    for pair in pairs:
        same = pair.same_size
        if same is not None:
            attributes[0] += same, 1
        if same is False:
            continue
        by_class[pair.reference.size_class, 1] += 1
        by_class[pair.candidate.size_class, 2] -= 1
        r, c = pair
        facts = ((r.density, c.density), (r.calcium, c.calcium), (r.number, c.number))
        for row, (theirs, ours) in zip(attributes[1:], facts, strict=True):
            if theirs and ours:
                row += theirs == ours, 1
    return [*by_class.ravel().tolist(), *attributes.ravel().tolist()]


def _order(counts: Sequence[float]) -> tuple[float, ...]:
    """Return what the best reference has most of: F1, then fewer errors; among equals the content decides."""
    by_class = np.reshape(counts[: 3 * len(CLASSES)], (-1, 3))
    n, hits, false = by_class.sum(axis=0).tolist()
    size = n + hits + false
    return (2 * hits / size if size else 1.0, hits - n - false, *counts)


def _says_something(findings: Findings) -> bool:
    return bool(findings.present or findings.denied)


def _knowledge() -> Knowledge:
    return knowledge_for(load_lexicon())


def _findings(texts: Sequence[str], reading: Readings) -> list[Findings]:
    knowledge = _knowledge()
    return reading.derive(ReportReader(), texts, lambda read: findings_of(read, knowledge), key="findings")
