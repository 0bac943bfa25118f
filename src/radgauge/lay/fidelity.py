"""Compare a lay text with its professional text: what it keeps, loses, adds and changes.

The unit is a statement: a finding that a text makes, or one that it denies, in plain negation ("no effusion") or
by calling a part normal ("the heart is normal"). Statements that are made twice count once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from radgauge.findings.aligned import Difference
from radgauge.findings.claims import findings_of
from radgauge.findings.findings import Denial, Finding, Findings, Knowledge, Span, knowledge_for
from radgauge.findings.match import align_findings
from radgauge.lay.lay_reader import lay_class, lay_lexicon
from radgauge.lay.rules import lay_rules
from radgauge.reader import ReportReading

SHARED = 0.5
"""Part of what a statement of normality rules out that the other text must rule out as well."""

ANYTHING = "abnormality"
"""How the concepts end that stand for whatever could be wrong with a part."""

_QUIET = frozenset({"location", "size"})  # a lay text may leave these out; it may not tell them differently


class Fidelity(NamedTuple):
    """Two texts side by side."""

    kept: tuple[tuple[Finding, Finding], ...]  # Findings of both, told alike: (reference, candidate)
    # Findings of both with what differs: side, place, severity, size, change or certainty
    changed: tuple[tuple[Finding, Finding, tuple[Difference, ...]], ...]
    lost: tuple[Finding, ...]  # Findings of the reference that the candidate does not make
    added: tuple[Finding, ...]  # Findings of the candidate that the reference does not make
    denials_kept: tuple[Denial, ...]  # Denials of the reference that the candidate makes as well
    denials_lost: tuple[Denial, ...]  # Denials of the reference that the candidate leaves out
    denials_kept_candidate: tuple[Denial, ...]  # Denials of the candidate that the reference makes as well
    denials_added: tuple[Denial, ...]  # Denials of the candidate that the reference does not make

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Kept in the reference, kept in the candidate, changed, lost, added."""
        return (
            len(self.kept) + len(self.denials_kept),
            len(self.kept) + len(self.denials_kept_candidate),
            len(self.changed),
            len(self.lost) + len(self.denials_lost),
            len(self.added) + len(self.denials_added),
        )


@lru_cache(maxsize=1)
def lay_knowledge() -> Knowledge:
    """Return the knowledge for comparing lay texts."""
    return knowledge_for(lay_lexicon())


def lay_findings(reading: ReportReading) -> Findings:
    """The findings of a text that `LayReader` read, on the footing of lay terms."""
    findings = findings_of(reading, lay_knowledge())
    present = tuple(
        finding._replace(concept=lay_class(finding.concept), others=tuple(map(lay_class, finding.others)))
        for finding in findings.present
    )
    denied = tuple(
        denial._replace(concepts=frozenset(map(lay_class, denial.concepts)))
        for denial in _without_repeats(map(_nothing_wrong(reading), findings.denied))
    )
    ruled_out = frozenset(concept for denial in denied for concept in denial.concepts)
    return Findings(present, denied, ruled_out, findings.topics, findings.normal_topics)


def _nothing_wrong(reading: ReportReading) -> Callable[[Denial], Denial]:
    """Turns "no abnormality of the lung" and "no bony abnormality" into what they mean: the part is normal."""
    knowledge = lay_knowledge()
    concepts = knowledge.lexicon.concepts
    denied_by_span: dict[Span, set[str]] = {}
    for relation in reading.relations:
        mention, location = (
            reading.mentions[relation.source],
            concepts.get(reading.mentions[relation.target].concept),
        )
        if relation.type == "located_at" and location is not None:
            denied_by_span.setdefault((mention.start, mention.end), set()).update(location.denies)

    def turned(denial: Denial) -> Denial:
        name = next(iter(denial.concepts), "")
        if denial.normal or len(denial.concepts) > 1 or not name.endswith(ANYTHING) or not _says_little(name):
            return denial
        denies = set(denied_by_span.get(denial.span, ()))
        for location in concepts[name].location:
            denies.update(concepts[location].denies if location in concepts else ())
        return denial._replace(concepts=frozenset(denies), normal=True) if denies else denial

    return turned


def _says_little(concept: str) -> bool:
    return concept in lay_knowledge().lexicon.concepts and lay_knowledge().similarity.is_wide(concept)


def _without_repeats(denied: Iterable[Denial]) -> list[Denial]:
    """Denials that say something which none before them said."""
    distinct: dict[tuple[frozenset[str], int, int], Denial] = {}
    for denial in denied:
        distinct.setdefault((denial.concepts, denial.sides, denial.severity), denial)
    return list(distinct.values())


def compare_lay(reference: Findings, candidate: Findings) -> Fidelity:
    """Put the statements of two texts side by side.

    >>> from radgauge.lay.lay_reader import LayReader
    >>> texts = ["Left pleural effusion.", "There is fluid around the lung on the right."]
    >>> compare_lay(*map(lay_findings, LayReader().read(texts))).changed[0][2][0][:3]
    ('side', 'left', 'right')
    """
    aligned = align_findings(reference, candidate, lay_knowledge())
    agreeing, changed = [], []
    for match in aligned.matched:
        differences = tuple(difference for difference in match.differences if not _is_quiet(difference))
        if differences:
            changed.append((match.reference, match.candidate, differences))
        else:
            agreeing.append((match.reference, match.candidate))
    lost = (*aligned.missing, *(conflict.finding for conflict in aligned.denied))
    added = (*aligned.added, *(conflict.finding for conflict in aligned.invented))
    theirs = [(denial, _is_shared(denial, candidate)) for denial in reference.denied]
    ours = [(denial, _is_shared(denial, reference)) for denial in candidate.denied]
    return Fidelity(
        tuple(agreeing),
        tuple(changed),
        lost,
        added,
        tuple(denial for denial, shared in theirs if shared),
        tuple(denial for denial, shared in theirs if not shared),
        tuple(denial for denial, shared in ours if shared),
        tuple(denial for denial, shared in ours if not shared),
    )


def _is_quiet(difference: Difference) -> bool:
    """True if a lay text may differ so: it omits a location or size, or says "the lungs" for both lungs."""
    if difference.conflict:
        return False
    both = {difference.reference, difference.candidate} == {"", "bilateral"}
    return difference.attribute in _QUIET or (difference.attribute == "side" and both)


def _is_shared(denial: Denial, other: Findings) -> bool:
    """True if the other text denies the same: as strongly, on the same side."""
    if denial.normal:
        return bool(denial.concepts) and len(denial.concepts & other.ruled_out) >= SHARED * len(denial.concepts)
    return any(
        other_denial.severity == denial.severity
        and (not other_denial.sides or not denial.sides or other_denial.sides == denial.sides)
        and any(_is_one_denial(a, b) for a in denial.concepts for b in other_denial.concepts)
        for other_denial in other.denied
    )


def _is_one_denial(a: str, b: str) -> bool:
    alike = lay_rules().denied_alike
    return (a in alike and alike[a] == alike.get(b)) or lay_knowledge().similarity.of(a, b) >= _SAME


_SAME = 0.8
