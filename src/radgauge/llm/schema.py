"""JSON schemas in the small language that servers with constrained decoding share, and what breaks them.

Objects with all members required, lists, texts, whole numbers, truth values, enumerations, null. Enough for
answers; members beyond the schema are left out of account, since they decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
INTEGER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "null": (type(None), "null"),
}


def record(**members: Schema) -> Schema:
    """An object with these members, in this order, and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def listed(items: Schema, *, max_items: int) -> Schema:
    """A list of at most so many."""
    return {"type": "array", "items": items, "maxItems": max_items}


def one_of(values: Sequence[str | float]) -> Schema:
    """One of these texts or numbers."""
    return {"enum": list(values)}


def faults_of(value: Any, schema: Schema, where: str = "the answer") -> list[str]:
    """List violations of the schema, in words that repeat nothing of the value.

    >>> faults_of({"rating": "good"}, record(explanation=TEXT, rating=one_of([1, 2])))
    ['the answer lacks "explanation"', 'rating must be one of 1, 2']
    >>> faults_of({"errors": [{"id": 3}]}, record(errors=listed(record(id=TEXT), most=9)))
    ['errors 1: id must be a text']
    """
    if "enum" in schema:
        fits = any(
            value == allowed and isinstance(value, bool) is isinstance(allowed, bool) for allowed in schema["enum"]
        )
        return [] if fits else [f"{where} must be one of {', '.join(map(str, schema['enum']))}"]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in kinds):
        return [f"{where} must be {' or '.join(_KINDS[kind][1] for kind in kinds)}"]
    if isinstance(value, dict):
        inside = "" if where == "the answer" else f"{where}: "
        faults = [f'{where} lacks "{name}"' for name in schema["required"] if name not in value]
        for name, inner in schema["properties"].items():
            if name in value:
                faults += faults_of(value[name], inner, f"{inside}{name}")
        return faults
    if isinstance(value, list):
        if len(value) > schema["maxItems"]:
            return [f"{where} must have at most {schema['maxItems']} entries"]
        return [
            fault
            for number, item in enumerate(value, start=1)
            for fault in faults_of(item, schema["items"], f"{where} {number}")
        ]
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return [f"{where} is no valid text"]
    return []


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _KINDS[kind][0])
