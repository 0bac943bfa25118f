"""Contradictions within one report: findings against impression and denials, sides, sizes, comparison, advice.

No reference is needed: the claims of a report are held against what the same report denies, calls normal, compares
with and concludes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from radgauge.core.cases import Case
from radgauge.core.metric import Explanation, Metric, Note, Rows
from radgauge.core.parsing import shipped_toml
from radgauge.core.readings import Readings
from radgauge.core.signature import component
from radgauge.findings.aligned import Match
from radgauge.findings.claims import findings_of
from radgauge.findings.closeness import denies, one_place
from radgauge.findings.detection import is_opposite
from radgauge.findings.findings import SAME, Denial, Finding, Findings, Knowledge, Span, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.findings.notes import describe
from radgauge.findings.places import SEVERITIES
from radgauge.findings.rules import SIGNIFICANT, TIERS
from radgauge.reader import ReportReader, load_lexicon
from radgauge.text.sections import split_sections

# Statements of one report that exclude each other, do not fit together, or have nothing to rest on.

_TABLE = shipped_toml(__file__, "consistency.toml")
KINDS = ("denied", "normal", "impression", "side", "place", "size", "comparison", "advice")
_URGENT = TIERS.index("urgent")
_NAMED = (
    1  # steps of the hierarchy from a finding to a denied kind of it: "no fracture" and a fracture of the radius
)
_DIMENSIONS = 3
_ANY = frozenset(_TABLE["acute"]["any"])
_COMPARED = 200  # claims and denials; no real report has as many


class Inconsistency(NamedTuple):
    """One contradiction of a report with itself."""

    kind: str
    text: str  # A sentence for display
    spans: tuple[Span, ...]  # The statements that do not fit together


def denied_findings(report: Findings, knowledge: Knowledge) -> Iterator[Inconsistency]:
    """Yield findings that a denial or a statement of normality of another sentence excludes."""
    starts, unclear = [start for start, _ in report.sentences.spans], _unclear(report)
    for finding in report.present[:_COMPARED]:
        if finding.kind == "device" or finding.uncertain or finding.sentences & unclear:
            continue
        tier = knowledge.rules.tier_of(finding)
        for denial in report.denied[:_COMPARED]:
            number = bisect_right(starts, denial.span[0]) - 1
            if (
                number in finding.sentences
                or number in unclear
                or _is_aside(denial, report.sentences.texts[number])
            ):
                continue
            kind = _kind_of_denial(denial, finding, tier, knowledge)
            if kind:
                what = "denied elsewhere" if kind == "denied" else "beside a statement that it is normal"
                text = f"{_capital(describe(finding, knowledge))} is reported and {what}."
                yield Inconsistency(kind, text, (*finding.spans, denial.span))
                break


def _unclear(report: Findings) -> frozenset[int]:
    """Return the sentences that cannot contradict: they compare, make an exception, or have masked words."""
    texts = report.sentences.texts
    return frozenset(n for n, text in enumerate(texts) if _search(_TABLE["reading"]["unclear"], text.lower()))


def _is_aside(denial: Denial, sentence: str) -> bool:
    """Return True for "pathological" or "abnormality" in a sentence about something else."""
    return not denial.normal and denial.concepts <= _ANY and len(sentence.split()) > _TABLE["acute"]["words"]


def _kind_of_denial(denial: Denial, finding: Finding, tier: int, knowledge: Knowledge) -> str:
    """Return which kind of contradiction a denial and a finding of one report are; "" for none."""
    if denial.only and not (denial.only == "new" and finding.change == "new"):
        return ""
    if denial.concepts and denial.concepts <= _wide(knowledge):
        return "normal" if _is_acute(finding, tier, knowledge) and _in_region(denial, finding, knowledge) else ""
    if not denies(denial, finding, knowledge):
        return ""
    if denial.normal:
        return "normal" if tier in SIGNIFICANT and not _is_apart(denial, finding, knowledge) else ""
    above = knowledge.similarity.ancestors(finding.concept)
    is_named = any(
        above.get(name, _NAMED + 1) <= _NAMED and not _says_little(name, knowledge) for name in denial.concepts
    )
    return "denied" if is_named and tier < TIERS.index("benign") else ""


def _says_little(concept: str, knowledge: Knowledge) -> bool:
    return (
        knowledge.similarity.is_wide(concept)
        or concept in knowledge.rules.weak
        or concept in _TABLE["denied"]["general"]
    )


def _is_apart(denial: Denial, finding: Finding, knowledge: Knowledge) -> bool:
    """Return True if the normal structure is commonly named without the organ inside: mediastinum and heart."""
    apart, structures = _TABLE["normal"]["apart"], _structures(finding, knowledge)
    return bool(denial.places) and all(
        not structures.isdisjoint(apart.get(location, ())) for location in denial.places
    )


def _structures(finding: Finding, knowledge: Knowledge) -> frozenset[str]:
    concept = knowledge.lexicon.concepts.get(finding.concept)
    return finding.locations.union(concept.location if concept is not None else ())


@lru_cache(maxsize=4)
def _wide(knowledge: Knowledge) -> frozenset[str]:
    """Return the concepts that name any abnormality: "acute abnormality", "acute cardiopulmonary disease"."""
    root, ancestors = _TABLE["acute"]["root"], knowledge.similarity.ancestors
    return _ANY.union(concept for concept in knowledge.lexicon.concepts if root in ancestors(concept))


def _is_acute(finding: Finding, tier: int, knowledge: Knowledge) -> bool:
    if tier not in SIGNIFICANT or finding.change in ("stable", "decreased"):
        return False
    if tier == _URGENT or finding.change in ("new", "increased") or ("age", "acute") in finding.labels:
        return True
    return not knowledge.similarity.ancestors(finding.concept).keys().isdisjoint(_TABLE["acute"]["concepts"])


def _in_region(denial: Denial, finding: Finding, knowledge: Knowledge) -> bool:
    """Return False if the denial is of another part of the body: the chest is normal, a vertebra is fractured."""
    concepts = knowledge.lexicon.concepts
    if denial.sides and finding.sides and not denial.sides & finding.sides:
        return False
    locations = denial.places or {
        site for name in denial.concepts if name in concepts for site in concepts[name].location
    }
    structures = _structures(finding, knowledge)
    return not locations or any(knowledge.places.related(a, b) for a in locations for b in structures)


def between_sections(
    parts: tuple[Findings, Findings], offsets: tuple[int, int], knowledge: Knowledge
) -> Iterator[Inconsistency]:
    """Yield what findings section and impression tell differently."""
    findings, impression = parts
    if not (findings.present or findings.denied) or not (impression.present or impression.denied):
        return
    aligned = align_findings(findings, impression, knowledge)
    for match in aligned.matched:
        if _is_one_of_many(match.reference, findings, knowledge) or _is_one_of_many(
            match.candidate, impression, knowledge
        ):
            continue
        for difference in match.differences:
            is_side = difference.attribute == "side" and is_opposite(match.reference, match.candidate)
            kind = {"location": "place"}.get(difference.attribute, difference.attribute)
            is_apart = kind == "size" or (kind == "place" and _are_siblings(match, knowledge))
            if is_side or (difference.conflict and is_apart):
                text = (
                    f"{_capital(describe(match.reference, knowledge))}: {kind} is "
                    f"{difference.reference} in the findings, {difference.candidate} in the impression."
                )
                spans = (*_moved(match.reference.spans, offsets[0]), *_moved(match.candidate.spans, offsets[1]))
                yield Inconsistency(kind, text, spans)
    tier_of = knowledge.rules.tier_of
    for finding in aligned.added:
        if tier_of(finding) not in SIGNIFICANT or finding.uncertain or finding.kind in ("device", "open"):
            continue
        if _says_little(finding.concept, knowledge):
            continue
        if not any(one_place(finding, other, knowledge) for other in findings.present):  # else its interpretation
            text = f"{_capital(describe(finding, knowledge))} is in the impression alone."
            yield Inconsistency("impression", text, _moved(finding.spans, offsets[1]))
    for finding in aligned.missing:
        is_slight = 0 < finding.severity <= SEVERITIES["mild"]
        if tier_of(finding) == _URGENT and not (is_slight or finding.uncertain or finding.kind == "device"):
            text = f"{_capital(describe(finding, knowledge))} is urgent and left out of the impression."
            yield Inconsistency("impression", text, _moved(finding.spans, offsets[0]))


def _are_siblings(match: Match, knowledge: Knowledge) -> bool:
    """Return True if both name parts of one kind, two lobes, two discs: other places may be neighbours."""
    ancestors = knowledge.similarity.ancestors
    sites = match.reference.locations, match.candidate.locations
    return all(sites) and any(
        all(kind in ancestors(location) for location in (*sites[0], *sites[1]))
        for kind in _TABLE["place"]["kinds"]
    )


def _is_one_of_many(finding: Finding, report: Findings, knowledge: Knowledge) -> bool:
    """Return True if a report has several findings like this one, of which another may be meant."""
    similarity = knowledge.similarity
    alike = sum(similarity.of(finding.concept, other.concept) >= SAME for other in report.present)
    return alike > 1 or len(finding.sizes_mm) > _DIMENSIONS or any(name == "count" for name, _ in finding.labels)


def unfounded_statements(
    report: Findings, text: str, comparison: str, knowledge: Knowledge
) -> Iterator[Inconsistency]:
    """Yield comparisons without a prior and recommendations without a reason."""
    prior, lowered = _TABLE["prior"], text.lower()
    absent = _search(prior["absent"], lowered)
    if absent is not None or re.fullmatch(prior["none"] + r"[\s.]*", comparison.lower()):
        where = () if absent is None else (absent.span(),)
        changed = next((finding for finding in report.present if finding.change), None)
        words = _search(prior["compared"], lowered)
        if changed is not None:
            what = f"{_capital(describe(changed, knowledge))} is called {changed.change}"
            yield Inconsistency("comparison", f"{what}, and there is no prior study.", (*changed.spans, *where))
        elif words is not None:
            yield Inconsistency("comparison", "A comparison, and there is no prior study.", (words.span(), *where))
    if not report.present and _search(_TABLE["advice"]["reasons"], lowered) is None:
        for advice in report.advice:
            if not advice.denied:
                yield Inconsistency("advice", "A recommendation without a finding or a reason.", (advice.span,))


def _search(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := re.search(pattern, text))), None)


def _moved(spans: Iterable[Span], offset: int) -> tuple[Span, ...]:
    return tuple((start + offset, end + offset) for start, end in spans)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


COLUMNS = (
    "consistency",
    "consistency_total",
    *(f"consistency_{kind}" for kind in KINDS),
    "consistency_statements",
)


@dataclass(frozen=True)
class Consistency(Metric):
    """Share of reports that do not contradict themselves, with the contradictions by kind.

    `consistency` is 1 for a report without a contradiction, else 0; of a set, the share of consistent reports. The
    counts per report follow: a finding that the report denies elsewhere; a significant finding of a structure that
    it calls normal, or beside "no acute abnormality"; a significant finding of the impression that the findings
    section lacks, or an urgent one that the impression leaves out; a side, a place or a size that differs between
    the two sections; a comparison although there is no prior; advice without a finding or another reason.
    `consistency_statements` is the number of claims and denials that were checked: a report that says little
    contradicts itself little.

    >>> from radgauge.core.cases import Case
    >>> from radgauge.core.readings import Readings
    >>> case = Case("1", candidate="Findings: Large left effusion. Impression: Large right effusion.")
    >>> row = Consistency().measure([case], reading=Readings())[0]
    >>> {name: int(value) for name, value in zip(COLUMNS, row, strict=True) if value}
    {'consistency_total': 1, 'consistency_side': 1, 'consistency_statements': 2}
    """

    name: ClassVar[str] = "consistency"
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    summary: ClassVar[str] = "one report against itself: denials, impression, sides, sizes, comparison, advice"

    @property
    def columns(self) -> tuple[str, ...]:
        """The share of consistent reports, the counts, and their support."""
        return COLUMNS

    @property
    def directions(self) -> tuple[bool, ...]:
        """Fewer contradictions in more statements."""
        return (True, *(False,) * (1 + len(KINDS)), True)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Counts from 0 on."""
        return (self.range, *((0.0, np.inf),) * (len(COLUMNS) - 1))

    def parts(self) -> Mapping[str, str]:
        """The reader and the comparison of findings."""
        return {"reader": ReportReader().signature, "comparison": component("findings")}

    def measure(self, cases: Sequence[Case], *, reading: Readings) -> Rows:
        """Return the contradictions of each candidate."""
        rows = np.full((len(cases), len(COLUMNS)), np.nan)
        _findings([text for case in cases for text in _texts(case.candidate)], reading)
        for row, case in zip(rows, cases, strict=True):
            (report,) = _findings([case.candidate], reading)
            if not _reason_not_to_judge(report):
                issues = self.inconsistencies(case, reading=reading)
                counts = [sum(issue.kind == kind for issue in issues) for kind in KINDS]
                row[:] = [not issues, len(issues), *counts, len(report.present) + len(report.denied)]
        return rows

    def inconsistencies(self, case: Case, *, reading: Readings) -> tuple[Inconsistency, ...]:
        """Return the contradictions of a candidate, in the order of KINDS."""
        text, knowledge = case.candidate, _knowledge()
        report, *parts = _findings(_texts(text), reading)
        issues = [
            *denied_findings(report, knowledge),
            *unfounded_statements(report, text, case.meta.get("comparison", ""), knowledge),
        ]
        if parts:
            offsets = [start for start, _ in _sections(text)]
            issues += between_sections((parts[0], parts[1]), (offsets[0], offsets[1]), knowledge)
        ordered = [[issue for issue in issues if issue.kind == kind] for kind in KINDS]
        return tuple(issue for group in ordered for issue in group[: _TABLE["reading"]["per_kind"]])

    def explain(self, case: Case, *, reading: Readings) -> Explanation | None:
        """Return each contradiction as a sentence, with the statements that do not fit together."""
        (row,) = self.measure([case], reading=reading)
        values = dict(zip(COLUMNS, row.tolist(), strict=True))
        if np.isnan(row[0]):
            return Explanation(self.name, values)
        issues = self.inconsistencies(case, reading=reading)
        notes = (Note("contradicted", issue.text, (), issue.spans, {"kind": issue.kind}) for issue in issues)
        return Explanation(self.name, values, tuple(notes))

    def why_not(self, case: Case, *, reading: Readings) -> str:
        """Return the reason, which is the reading."""
        return _reason_not_to_judge(_findings([case.candidate], reading)[0])


def _knowledge() -> Knowledge:
    return knowledge_for(load_lexicon())


def _findings(texts: Sequence[str], reading: Readings) -> list[Findings]:
    knowledge = _knowledge()
    return reading.derive(ReportReader(), texts, lambda read: findings_of(read, knowledge), key="findings")


def _reason_not_to_judge(report: Findings) -> str:
    if not (report.present or report.denied):
        return "no finding and no normal statement was read in the candidate"
    if report.known_words < _TABLE["reading"]["coverage"] * report.content_words:
        return "too little of the text was understood"
    return ""


def _sections(text: str) -> list[Span]:
    """Return the spans of findings and impression; empty if the report has not one of each."""
    spans = [
        [(part.start, part.end) for part in split_sections(text) if part.name == name and part.start < part.end]
        for name in ("findings", "impression")
    ]
    return [span for (span,) in spans] if all(len(section) == 1 for section in spans) else []


def _texts(text: str) -> list[str]:
    return [text, *(text[start:end] for start, end in _sections(text))]
