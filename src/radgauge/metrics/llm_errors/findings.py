"""The judgment by findings: its form, the checks that close it, and the error profile that follows from it.

The language model lists, matches and names; what that is worth is computed by the arithmetic of the metric
`errors`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from radgauge.core.error_categories import CATEGORIES
from radgauge.core.metric import Note, Span
from radgauge.findings.detection import Detection
from radgauge.findings.error import FALSE, LOCATION, OMITTED, Error
from radgauge.findings.profile import Arithmetic, Profile
from radgauge.findings.rules import SIGNIFICANT, TIERS
from radgauge.llm.schema import FLAG, INTEGER, TEXT, TEXT_OR_NULL, faults_of, listed, one_of, record
from radgauge.metrics.llm_errors.pairs import Pair, Text

DESCRIPTOR = len(CATEGORIES)
"""Position of the ninth kind, a finding described as something else; it has no column in `errors`."""
KINDS = (*(category.key for category in CATEGORIES), "descriptor")
MAX_FINDINGS = 60
"""Entries of a list in an answer."""
SLIGHT = 0.2
"""Share that remains of a descriptor error without clinical significance."""
_ID = {"reference": re.compile(r"R[1-9][0-9]?"), "candidate": re.compile(r"C[1-9][0-9]?")}
_TIER_WORDS = tuple(tier.replace("_", " ") for tier in TIERS)

_FINDING = record(
    id=TEXT, quote=TEXT, finding=TEXT, certainty=one_of(["certain", "uncertain"]), significance=one_of(TIERS)
)
SCHEMA = record(
    reference_findings=listed(_FINDING, max_items=MAX_FINDINGS),
    reference_normal=listed(INTEGER, max_items=4 * MAX_FINDINGS),
    candidate_findings=listed(_FINDING, max_items=MAX_FINDINGS),
    candidate_normal=listed(INTEGER, max_items=4 * MAX_FINDINGS),
    matches=listed(record(explanation=TEXT, reference=TEXT, candidate=TEXT), max_items=2 * MAX_FINDINGS),
    errors=listed(
        record(
            explanation=TEXT,
            category=one_of(KINDS),
            reference=TEXT_OR_NULL,
            candidate=TEXT_OR_NULL,
            denied=FLAG,
            significance=one_of(TIERS),
        ),
        max_items=2 * MAX_FINDINGS,
    ),
)


class Claim(NamedTuple):
    """A finding that the judge saw: where, its name, whether in doubt, and the position of its tier in TIERS."""

    span: Span
    name: str
    uncertain: bool
    tier: int


class Fault(NamedTuple):
    """An error that the judge named; positions in KINDS and TIERS, ids of the findings ("" = none)."""

    kind: int
    reference: str
    candidate: str
    denied: bool
    tier: int
    explanation: str


class Judgment(NamedTuple):
    """An answer that passed every check."""

    reference: Mapping[str, Claim]  # Findings of the reference by id
    candidate: Mapping[str, Claim]  # Findings of the candidate by id
    matches: Mapping[tuple[str, str], str]  # Ids of each matched pair -> why
    errors: tuple[Fault, ...]  # What is wrong
    coverage: float  # Share of the sentences of both reports that the judge accounted for


def judgment_faults(value: Mapping[str, Any], pair: Pair) -> list[str]:
    """List faults of an answer: form first, then ids and quotes, then closure. Repeats no word of a report."""
    if faults := faults_of(value, SCHEMA):
        return faults
    faults = []
    for side, text in (("reference", pair.reference), ("candidate", pair.candidate)):
        faults += _finding_faults(value, side, text)
    return faults or _closure_faults(value)


def _finding_faults(value: Mapping[str, Any], side: str, text: Text) -> list[str]:
    findings, normal = value[f"{side}_findings"], value[f"{side}_normal"]
    faults, seen = [], set()
    letter = side[0].upper()
    for number, finding in enumerate(findings, start=1):
        if not _ID[side].fullmatch(finding["id"]):
            faults.append(f'{side}_findings {number}: id must be of the form "{letter}1"')
        elif finding["id"] in seen:
            faults.append(f"{finding['id']} is the id of two findings")
        elif text.find(finding["quote"]) is None:
            faults.append(f"the quote of {finding['id']} is not in the {side} report")
        seen.add(finding["id"])
    last = len(text.sentences)
    if any(not 1 <= number <= last for number in normal):
        faults.append(f"{side}_normal must hold numbers of sentences, from 1 to {last}")
    elif not findings and not normal:
        faults.append(f"no sentence of the {side} report is accounted for")
    return faults


def _closure_faults(value: Mapping[str, Any]) -> list[str]:
    """Every finding is matched, or missing or false; never both; errors of attributes concern matched pairs."""
    ids = {side: {finding["id"] for finding in value[f"{side}_findings"]} for side in _ID}
    faults: list[str] = []
    matches: set[tuple[str, str]] = set()
    for number, match in enumerate(value["matches"], start=1):
        ends = (match["reference"], match["candidate"])
        for side, end in zip(_ID, ends, strict=True):
            if end not in ids[side]:
                faults.append(f"matches {number}: {side} must be an id of {side}_findings")
        if ends in matches:
            faults.append(f"matches {number} repeats a match")
        matches.add(ends)
    alone: dict[str, list[str]] = {"reference": [], "candidate": []}
    named: set[tuple[str, ...]] = set()
    for number, entry in enumerate(value["errors"], start=1):
        where, kind = f"errors {number}", KINDS.index(entry["category"])
        if kind in (FALSE, OMITTED):
            side, other = ("candidate", "reference") if kind == FALSE else ("reference", "candidate")
            if entry[other] is not None:
                faults.append(f"{where}: {other} must be null for the category {entry['category']}")
            if entry[side] not in ids[side]:
                faults.append(f"{where}: {side} must be an id of {side}_findings")
            else:
                alone[side].append(entry[side])
            continue
        if (entry["reference"], entry["candidate"]) not in matches:
            faults.append(f"{where}: the category {entry['category']} needs a pair that is in matches")
        error = (entry["category"], entry["reference"] or "", entry["candidate"] or "")
        if error in named:
            faults.append(f"{where} repeats an error")
        named.add(error)
    if faults:
        return faults
    for at, (side, word) in enumerate((("reference", "omission"), ("candidate", "false_finding"))):
        matched = {ends[at] for ends in matches}
        for identity in sorted(ids[side], key=lambda name: int(name[1:])):
            count = alone[side].count(identity)
            if identity in matched and count:
                faults.append(f"{identity} is matched and has an error of the category {word}")
            elif identity not in matched and not count:
                faults.append(f"{identity} is neither matched nor has an error of the category {word}")
            elif count > 1:
                faults.append(f"{identity} has {count} errors of the category {word}")
    return faults


def read_judgment(value: Mapping[str, Any], pair: Pair) -> Judgment:
    """An answer without faults as a record."""
    claims: dict[str, dict[str, Claim]] = {}
    accounted = total = 0
    for side, text in (("reference", pair.reference), ("candidate", pair.candidate)):
        claims[side] = {}
        for finding in value[f"{side}_findings"]:
            span = text.find(finding["quote"])
            if span is None:
                raise ValueError("a judgment must be checked before it is read")
            tier = TIERS.index(finding["significance"])
            claims[side][finding["id"]] = Claim(
                span, finding["finding"], finding["certainty"] == "uncertain", tier
            )
        touched = text.sentences_at(tuple(claim.span for claim in claims[side].values()))
        accounted += len(touched | set(value[f"{side}_normal"]))
        total += len(text.sentences)
    return Judgment(
        claims["reference"],
        claims["candidate"],
        {(match["reference"], match["candidate"]): match["explanation"] for match in value["matches"]},
        tuple(
            Fault(
                KINDS.index(entry["category"]),
                entry["reference"] or "",
                entry["candidate"] or "",
                entry["denied"],
                TIERS.index(entry["significance"]),
                entry["explanation"],
            )
            for entry in value["errors"]
        ),
        accounted / total,
    )


def judged_profile(judgment: Judgment) -> Profile:
    """The errors as the metric `errors` counts them.

    A missed or invented finding has the tier that the judge gives the error; an error of an attribute the tier
    of the finding, and the judge's word on whether it matters. A descriptor error is a finding that is named
    differently. A finding in a significantly wrong location is not detected.
    """
    r = judgment.reference
    tier_of = _tiers(judgment)
    errors, inexact = [], []
    for fault in judgment.errors:
        significant = fault.tier in SIGNIFICANT
        if fault.kind == DESCRIPTOR:
            inexact.append(
                (tier_of[fault.reference], r[fault.reference].uncertain, 1.0 if significant else SLIGHT)
            )
        else:
            errors.append(_error(fault, judgment, tier_of))
    return Profile(
        errors=tuple(errors),
        tiers=tuple((tier_of[name], claim.uncertain) for name, claim in r.items()),
        inexact=tuple(inexact),
        silent=0.0,
        detection=_detection(judgment),
        coverage=judgment.coverage,
    )


def _detection(judgment: Judgment) -> Detection:
    misplaced = {
        (fault.reference, fault.candidate)
        for fault in judgment.errors
        if fault.kind == LOCATION and fault.tier in SIGNIFICANT
    }
    detected = judgment.matches.keys() - misplaced
    in_both = {theirs for theirs, _ in detected}, {ours for _, ours in detected}
    reference, candidate = (
        {name for name, claim in claims.items() if claim.tier in SIGNIFICANT}
        for claims in (judgment.reference, judgment.candidate)
    )
    return Detection(
        correct=len(reference & in_both[0]), false=len(candidate - in_both[1]), missed=len(reference - in_both[0])
    )


def _tiers(judgment: Judgment) -> dict[str, int]:
    """Tier of each finding of the reference: that of the graver of two matched ones."""
    tier_of = {name: claim.tier for name, claim in judgment.reference.items()}
    for theirs, ours in judgment.matches:
        tier_of[theirs] = min(tier_of[theirs], judgment.candidate[ours].tier)
    return tier_of


def _error(fault: Fault, judgment: Judgment, tier_of: Mapping[str, int]) -> Error:
    entire = fault.kind in (FALSE, OMITTED)
    claim = judgment.candidate[fault.candidate] if fault.kind == FALSE else judgment.reference[fault.reference]
    tier = fault.tier if entire else tier_of[fault.reference]
    significant = fault.tier in SIGNIFICANT
    return Error(fault.kind, significant, tier, claim.uncertain, entire and fault.denied, None, None)


def descriptor_counts(judgment: Judgment) -> tuple[float, float]:
    """Descriptor errors, and the clinically significant ones among them."""
    faults = [fault for fault in judgment.errors if fault.kind == DESCRIPTOR]
    return float(len(faults)), float(sum(fault.tier in SIGNIFICANT for fault in faults))


def judgment_notes(judgment: Judgment, arithmetic: Arithmetic, *, which: int = 0) -> tuple[Note, ...]:
    """One sentence for every error, most costly first, then for every match."""
    tier_of = _tiers(judgment)
    priced = []
    for fault in judgment.errors:
        cost = math.nan if fault.kind == DESCRIPTOR else arithmetic.cost(_error(fault, judgment, tier_of))
        priced.append((cost, fault))
    priced.sort(key=lambda entry: -entry[0] if not math.isnan(entry[0]) else 0.0)
    notes = [_error_note(fault, cost, judgment, which) for cost, fault in priced]
    wrong = {(fault.reference, fault.candidate) for fault in judgment.errors}
    for (theirs, ours), why in judgment.matches.items():
        r, c = judgment.reference[theirs], judgment.candidate[ours]
        more = ", with differences" if (theirs, ours) in wrong else ""
        words = r.name if r.name == c.name else f"{r.name} ({c.name})"
        data = {"concept": r.name, "explanation": why, "reference": which}
        notes.append(Note("matched", f"Both reports say: {words}{more}.", (r.span,), (c.span,), data))
    if judgment.coverage < 1:
        share = f"{100 * judgment.coverage:.0f} % of the sentences are accounted for"
        notes.append(Note("info", f"The judge left sentences out: {share}.", data={"coverage": judgment.coverage}))
    return tuple(notes)


def _error_note(fault: Fault, cost: float, judgment: Judgment, which: int) -> Note:
    r, c = judgment.reference.get(fault.reference), judgment.candidate.get(fault.candidate)
    name = r.name if r is not None else c.name if c is not None else ""
    if fault.kind == FALSE:
        kind, text = "added", f"{name} is not in the reference"
    elif fault.kind == OMITTED:
        kind, text = "missing", f"{name} is missing from the candidate"
    else:
        kind, text = "changed", f"{name}: {KINDS[fault.kind].replace('_', ' ')}"
    significance = "clinically significant" if fault.tier in SIGNIFICANT else "not clinically significant"
    why = f" {fault.explanation.strip()}" if fault.explanation.strip() else ""
    return Note(
        "contradicted" if fault.denied and kind != "changed" else kind,
        f"{text[:1].upper()}{text[1:]} ({_TIER_WORDS[fault.tier]}; {significance}).{why}",
        (r.span,) if r is not None else (),
        (c.span,) if c is not None else (),
        {
            "category": fault.kind + 1,
            "category_key": KINDS[fault.kind],
            "significant": fault.tier in SIGNIFICANT,
            "tier": TIERS[fault.tier],
            "cost": None if math.isnan(cost) else round(cost, 4),
            "concept": name,
            "explanation": fault.explanation,
            "reference": which,
        },
    )
