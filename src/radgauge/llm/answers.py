"""Read answers that should be one JSON object, and say exactly what is wrong where they are not."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

_OBJECT = re.compile(r'\{\s*["}]')
_NUMBER = re.compile(r"0|[1-9][0-9]{0,6}")
_DECODER = json.JSONDecoder()
_THOUGHT = "</think>"
_BROKEN, _CUT = "the JSON is broken", "the JSON breaks off"


class Parsed(NamedTuple):
    """Values parsed from an answer."""

    values: dict[int, Any]  # Number -> value, for the numbers that are clear
    fault: str  # What is wrong with the answer as a whole; "" if nothing is
    faults: dict[int, str]  # Number -> what is wrong with it


def parse_numbered(answer: str, count: int) -> Parsed:
    """Read an answer to `count` texts numbered from 0.

    A number that was not asked for makes the whole answer worthless: the model counts in its own way.

    >>> parse_numbered('```json\\n{"1": "b", "0": "a"}\\n```', 2).values
    {1: 'b', 0: 'a'}
    >>> parse_numbered('{"0": "a", "1": "b', 2)
    Parsed(values={0: 'a'}, fault='the JSON breaks off', faults={})
    >>> parse_numbered('{"1": "a", "2": "b"}', 2).fault
    'it answers a number that was not asked: 2'
    """
    begin = _OBJECT.search(answer)
    if begin is None:
        return Parsed({}, "there is no JSON object in it", {})
    pairs, fault, end = _pairs(answer, begin.start())
    if not fault and _OBJECT.search(answer, end):
        return Parsed({}, "there is more than one JSON object in it", {})
    values: dict[int, Any] = {}
    faults: dict[int, str] = {}
    for key, value in pairs:
        if not _NUMBER.fullmatch(key) or int(key) >= count:
            return Parsed({}, f"it answers a number that was not asked: {key[:20]}", {})
        number = int(key)
        if number in values or number in faults:
            values.pop(number, None)
            faults[number] = "it is answered twice"
        else:
            values[number] = value
    return Parsed(values, fault, faults)


def parse_object(answer: str) -> tuple[dict[str, Any] | None, str]:
    """The one JSON object in an answer, or what is wrong with it; prose around the object does no harm.

    Whatever stands before the end of a chain of thought is no answer.

    >>> parse_object('Here it is:\\n```json\\n{"rating": 4}\\n```')
    ({'rating': 4}, '')
    >>> parse_object('{"rating": 4')[1], parse_object('{"a": 1, "a": 2}')[1], parse_object('{"a": NaN}')[1]
    ('the JSON breaks off', 'a key occurs twice in one object', 'the JSON is broken')
    """
    text = answer.rpartition(_THOUGHT)[2]
    begin = _OBJECT.search(text)
    if begin is None:
        return None, "there is no JSON object in it"
    try:
        parsed, end = _STRICT.raw_decode(text, begin.start())
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        return None, _CUT if cut else _BROKEN
    except _Twice:
        return None, "a key occurs twice in one object"
    except (ValueError, RecursionError):
        return None, _BROKEN
    if _OBJECT.search(text, end):
        return None, "there is more than one JSON object in it"
    return parsed, ""


class _Twice(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _Twice
    return record


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


def _pairs(text: str, start: int) -> tuple[list[tuple[str, Any]], str, int]:
    """Key and value of everything in a JSON object up to where it breaks, how it breaks, and where it ends."""
    pairs: list[tuple[str, Any]] = []
    at = _skip(text, start + 1)
    if text[at : at + 1] == "}":
        return pairs, "", at + 1
    try:
        while True:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or text[at : at + 1] != ":":
                return pairs, _BROKEN if at < len(text) else _CUT, at
            value, at = _DECODER.raw_decode(text, _skip(text, at + 1))
            at = _skip(text, at)
            mark = text[at : at + 1]
            if mark not in (",", "}") or not mark:
                return pairs, _BROKEN if mark else _CUT, at
            pairs.append((key, value))
            if mark == "}":
                return pairs, "", at + 1
            at = _skip(text, at + 1)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        return pairs, _CUT if cut else _BROKEN, at
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets without end
        return pairs, _BROKEN, at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at
