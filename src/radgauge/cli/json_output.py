"""Results as JSON for machines, on standard output."""

from __future__ import annotations

import dataclasses

import typer


def print_json(value: object) -> None:
    """JSON for machines on stdout."""
    typer.echo(to_json(value))


def to_json(value: object) -> str:
    """JSON for machines: dataclasses as objects, NaN as null; escapes where stdout takes no Unicode."""
    import json
    import sys

    escaped = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return json.dumps(_jsonable(value), ensure_ascii=escaped, indent=1, allow_nan=False)


def _jsonable(value: object) -> object:
    import math

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)
