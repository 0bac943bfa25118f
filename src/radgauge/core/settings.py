"""Settings as text: KEY=VALUE pairs become a record, checked against the types of its fields.

The records are those of the library; the command line and `radgauge.toml` make their options from them.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from radgauge.core.errors import UsageError

Record = TypeVar("Record")


def pairs(texts: Iterable[str], *, option: str) -> list[tuple[str, str]]:
    """Return the pairs of `key=value,key=value` texts; a comma inside a value stays.

    >>> pairs(["seed=3,split=train,val"], option="--input")
    [('seed', '3'), ('split', 'train,val')]
    """
    found: list[tuple[str, str]] = []
    for text in texts:
        for place, part in enumerate(text.split(",")):
            key, sign, value = part.partition("=")
            if sign:
                found.append((key.strip().replace("-", "_"), value.strip()))
            elif place and found:
                found[-1] = (found[-1][0], f"{found[-1][1]},{part}")
            else:
                raise UsageError(f"{option} must be KEY=VALUE, got {text!r}")
    return found


def make_record(default: Record, values: Iterable[tuple[str, Any]], *, option: str) -> Record:
    """Return a record with these fields replaced, each checked by its type.

    >>> from radgauge.stats.resampling import Resampling
    >>> make_record(Resampling(), [("seed", "7"), ("level", 0.9)], option="--sampling")
    Resampling(level=0.9, resamples=2000, method='auto', seed=7)
    """
    kinds = setting_types(type(default))
    chosen: dict[str, Any] = {}
    for key, value in values:
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{option}: no setting {key!r}{hint} There are: {', '.join(kinds)}")
        if _is_mapping(kinds[key]):
            if not isinstance(value, Mapping) and "=" not in str(value):
                raise UsageError(f"{option}: {key} must be {key}=NAME=VALUE, got {value!r}")
            pair = dict([str(value).partition("=")[::2]]) if not isinstance(value, Mapping) else dict(value)
            chosen[key] = {**chosen.get(key, {}), **pair}
        else:
            made = _value(value, kinds[key], what=f"{option} {key}=")
            chosen[key] = (*chosen.get(key, ()), *made) if isinstance(made, tuple) else made
    return dataclasses.replace(default, **chosen)  # type: ignore[type-var]


def setting_types(record: type[Any]) -> dict[str, Any]:
    """Return the fields of a record that can be set, with their types."""
    hints = typing.get_type_hints(record)
    return {field.name: hints[field.name] for field in dataclasses.fields(record) if field.init}


def setting_lines(default: object) -> list[tuple[str, str, str]]:
    """Return key, default and help of every setting of a record.

    The help is the text that annotates the field, its line under "Attributes:" in the docstring, or the comment
    behind it or above it.
    """
    hints = typing.get_type_hints(type(default), include_extras=True)
    doc = type(default).__doc__ or ""
    listed = doc.partition("Attributes:")[2]
    comments = _comments(type(default))
    lines = []
    for name, kind in setting_types(type(default)).items():
        texts = [each for each in getattr(hints[name], "__metadata__", ()) if isinstance(each, str)]
        match = re.search(rf"^\s+{name}: (.*?)(?=^\s+\w+: |^\s*$|\Z)", listed, flags=re.MULTILINE | re.DOTALL)
        about = texts[-1] if texts else " ".join(match[1].split()) if match else comments.get(name, "")
        options = "|".join(map(str, typing.get_args(kind))) if typing.get_origin(kind) is Literal else ""
        value = getattr(default, name)
        shown = (
            "" if value is None or value == {} else str(value).lower() if isinstance(value, bool) else str(value)
        )
        lines.append((name, shown, f"{about} ({options})" if options else about))
    return lines


def _comments(record: type[Any]) -> dict[str, str]:
    """Return the comments of fields, behind them or on the line above."""
    found = {}
    for each in reversed(record.__mro__[:-1]):
        above = ""
        for line in inspect.getsource(each).splitlines():
            text, _, comment = line.partition("  # ")
            if match := re.match(r"    (\w+): ", text):
                found[match[1]] = (comment or above).strip()
            above = line.strip().removeprefix("# ") if line.strip().startswith("# ") else ""
    return found


def _is_mapping(kind: Any) -> bool:
    origin = typing.get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _value(value: Any, kind: Any, *, what: str) -> Any:
    options = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    if type(None) in options and str(value).lower() in ("none", ""):
        return None
    literals = [each for kind in options if typing.get_origin(kind) is Literal for each in typing.get_args(kind)]
    if literals:
        if value not in literals:
            raise UsageError(f"{what} must be one of {', '.join(map(str, literals))}, got {value!r}")
        return value
    for option in options:
        if option is bool:
            return _checked(value, _bool, "yes or no", what)
        if option in (int, float):
            return _checked(value, option, "a whole number" if option is int else "a number", what)
        if typing.get_origin(option) is tuple:
            inner = typing.get_args(option)[0]
            parts = value if isinstance(value, list) else re.split("[+,]", str(value))
            return tuple(_value(part, inner, what=what) for part in parts)
        if option is Path:
            return Path(str(value))
    return str(value)


def _bool(value: Any) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[str(value).lower()]


def _checked(value: Any, make: Callable[[Any], Any], kind: str, what: str) -> Any:
    try:
        return make(value)
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{what} must be {kind}, got {value!r}") from None
