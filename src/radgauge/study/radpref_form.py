"""A study in the layout of RadPref: findings by number, errors by kind and significance, a rating."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from radgauge.core.errors import InputError
from radgauge.io.judgments.radpref import CONTEXT
from radgauge.study.answers import Judged, submitted
from radgauge.study.store import Store

CANDIDATES = ("C1", "C2")


def radpref_items(store: Store) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """One record per study with the judgments of each radiologist, and notes."""
    design = store.design
    marks = design.used_as("errors")
    if (
        marks is None
        or marks.on != "sentence"
        or {category.key for category in marks.categories} != {"false", "attribute"}
    ):
        raise InputError(
            "the layout of RadPref holds findings marked as false or wrong in an attribute; the design "
            f"{design.name} asks for something else; write a table"
        )
    with store._reading() as connection:
        rows = connection.execute(
            "SELECT key, id, reference, sentences, meta FROM cases WHERE training IS NULL ORDER BY rowid"
        ).fetchall()
        texts: dict[str, list[tuple[str, str, str]]] = {}
        for case, system, text, sentences in connection.execute(
            'SELECT "case", system, text, sentences FROM candidates ORDER BY rowid'
        ):
            texts.setdefault(case, []).append((system, text, sentences))
    systems = sorted({system for key, *_ in rows for system, *_ in texts[key]})
    if len(systems) != 2 or any(len(texts[key]) != 2 for key, *_ in rows):
        raise InputError(
            f"the layout of RadPref has two candidates per study; this study has {', '.join(systems)}; "
            "write a table"
        )
    column = dict(zip(systems, CANDIDATES, strict=True))
    by_case: dict[str, list[Judged]] = {}
    for category in submitted(store):
        by_case.setdefault(category.case, []).append(category)
    items, left_out = [], 0
    for key, study, reference, sentences, meta in rows:
        item: dict[str, Any] = {
            "id": study,
            "ground_truth_report": reference,
            "ground_truth_findings": _parts(reference, sentences),
        }
        for system, text, spans in texts[key]:
            name = column[system]
            item |= {f"{name}_report": text, f"{name}_findings": _parts(text, spans), f"{name}_source": system}
        columns = {name.lower(): value for name, value in json.loads(meta).items()}
        item |= {name: columns[name.lower()] for name in CONTEXT if name.lower() in columns}
        item["radiologists"] = {}
        for category in by_case.get(key, ()):
            if len(category.able()) < 2:
                left_out += 1
                continue
            verdicts = {
                column[system]: _verdict(store, category, label) for label, system in category.systems.items()
            }
            item["radiologists"][category.person.name] = {name: verdicts[name] for name in CANDIDATES}
        items.append(item)
    notes = [f"{name} is {system}" for system, name in column.items()]
    if left_out:
        notes.append(f"{left_out} judgments were left out: the layout has no place for a candidate not judged")
    return items, tuple(notes)


def _verdict(store: Store, judgment: Judged, label: str) -> dict[str, Any]:
    answered: Mapping[str, Any] = judgment.state.answers.get(label, {})
    verdict: dict[str, Any] = {"finding_errors": {}, "missing_findings": {}, "rating": None}
    for field in store.design.fields:
        answer = answered.get(field.key)
        if field.kind == "marks":
            verdict["finding_errors"] = _errors(answer or ())
        elif field.kind == "missing":
            for number, entry in enumerate(answer or (), start=1):
                key = str(entry["unit"]) if "unit" in entry else f"added_{number}"
                while key in verdict["missing_findings"]:
                    key += "_"
                named = {"finding": entry["text"]} if "text" in entry else {}
                verdict["missing_findings"][key] = {"clinical_significance": entry["significance"], **named}
        elif field.use == "rating":
            verdict["rating"] = answer
    return verdict


def _errors(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    errors: dict[str, Any] = {}
    for entry in entries:
        key = str(entry["unit"])
        if entry["category"] == "false":
            errors[key] = {"error_type": "false", "clinical_significance": entry["significance"]}
        elif errors.get(key, {}).get("error_type") != "false":
            error = errors.setdefault(key, {"error_type": "attribute", "attributes": {}})
            error["attributes"][entry["attribute"]] = entry["significance"]
    return errors


def _parts(text: str, spans: str) -> list[str]:
    return [text[start:end] for start, end in json.loads(spans)]
