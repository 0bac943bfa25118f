"""RadPref: 100 studies, two candidates each, three cardiothoracic radiologists.

Each gives a rating from 1 to 5 and marks findings as false, as wrong in an attribute, or as missing, with
clinical significance. From the CRIMSON repository (arXiv 2603.06183).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError, shown
from radgauge.core.parsing import parse_json
from radgauge.io.judgments.judgments import Count, Judgments, error_scores, rating_scores

SIGNIFICANT = {"urgent", "actionable_not_urgent", "significant"}
"""What counts as clinically significant; not actionable, benign and negligible do not."""

ATTRIBUTES = {
    "location": 3,
    "severity": 4,
    "measurement": 4,
    "temporal": 5,
    "certainty": 7,
    "overinterpretation": 7,
}
"""Kind of attribute error -> category; others (descriptor, unspecific) are counted as severity."""

CONTEXT = ("PatientAge", "PatientSex", "Indication", "Comparison", "StudyDescription")


def read_radpref(path: Path) -> Judgments:
    """The study from its JSON file, the radiologists' annotations under `radiologists`."""
    try:
        items = parse_json(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(items, list):
        raise InputError(f"{path}: RadPref must be a JSON list of studies, got {type(items).__name__}")
    cases: list[Case] = []
    counts: list[Count] = []
    judged: dict[str, set[Key]] = {}
    ratings: dict[str, dict[Key, float]] = {}
    for row, item in enumerate(items):
        where = f"{path.name}, item {row}"
        study = str(_field(item, "id", where))
        reference = str(_field(item, "ground_truth_report", where))
        meta = {name.lower(): str(item.get(name) or "") for name in CONTEXT}
        for candidate in ("C1", "C2"):
            key = (study, candidate)
            source = {**meta, "source": str(item.get(f"{candidate}_source", ""))}
            text = str(_field(item, f"{candidate}_report", where))
            cases.append(Case(study, text, (reference,), candidate, meta=source))
            for rater, answers in _field(item, "radiologists", where).items():
                verdict = _field(answers, candidate, f"{where}, rater {rater}")
                judged.setdefault(rater, set()).add(key)
                counts += _counts(key, rater, verdict, f"{where}, rater {rater}, {candidate}")
                if verdict.get("rating") is not None:
                    ratings.setdefault(rater, {})[key] = float(verdict["rating"])
    keys = tuple(case.key for case in cases)
    return Judgments(
        "RadPref",
        tuple(cases),
        error_scores(counts, keys=keys, signature="RadPref", judged=judged, categories=(1, 2, 3, 4, 5, 7)),
        rating_scores(ratings, keys=keys, signature="RadPref"),
        notes=(
            "significant = urgent, actionable or a significant attribute error; a finding with an attribute error "
            "counts once, in its first attribute's category",
        ),
    )


def _counts(key: Key, rater: str, verdict: Mapping[str, Any], where: str) -> list[Count]:
    counts: list[Count] = []
    for error in _field(verdict, "finding_errors", where).values():
        kind = _field(error, "error_type", where)
        if kind == "false":
            counts.append((key, rater, 1, error.get("clinical_significance") in SIGNIFICANT, 1))
        elif kind == "attribute":
            attributes = _field(error, "attributes", where)
            category = ATTRIBUTES.get(next(iter(attributes), ""), 4)
            counts.append((key, rater, category, any(how in SIGNIFICANT for how in attributes.values()), 1))
        else:
            raise InputError(f"{where}: error_type must be 'false' or 'attribute', got {shown(kind)}")
    for error in _field(verdict, "missing_findings", where).values():
        counts.append((key, rater, 2, error.get("clinical_significance") in SIGNIFICANT, 1))
    return counts


def _field(item: Any, name: str, where: str) -> Any:
    if not isinstance(item, Mapping) or name not in item:
        raise InputError(f"{where}: the field {name!r} is missing")
    return item[name]
