"""Content of a request: its JSON as cases and settings, within the limits on what it may cost."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from radgauge.core.cases import Case
from radgauge.core.choices import RESAMPLES
from radgauge.core.errors import InputError
from radgauge.core.parsing import parse_json
from radgauge.io.records import check_unique
from radgauge.io.tables.cells import check_characters

AT_ONCE = 64
"""Cases of a part; requests take turns at this grain."""

CASE_KEYS = ("id", "system", "candidate", "reference", "references")


class TooMany(InputError):
    """A request has more cases than one may have."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the cost of a request."""

    body: int = 16 << 20  # Bytes of a JSON request
    cases: int = 1000  # Cases of a JSON request
    streamed_bytes: int = 1 << 30  # Bytes of a request of JSON lines
    streamed_cases: int = 200_000  # Cases of a request of JSON lines
    line: int = 1 << 20  # Bytes of one JSON line
    # Characters of the longest text that is judged; a case with a longer one is not, with this reason
    longest: int = 50_000
    references: int = 100  # References of one case
    case_characters: int = 500_000  # Characters of a case, its references included
    # Characters of a part: cases are judged in parts, between which requests take turns
    part_characters: int = 1_000_000
    upload: float = 60.0  # Seconds that a client may take to send a JSON request
    seconds: float = 60.0  # From the end of a JSON request to its answer; in streams, for each part that is judged
    idle: float = 30.0  # Seconds that a client may be silent while it sends JSON lines
    waiting: int = 512  # Requests that may wait for their turn; more are told to come again


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Options of a request: which of the metrics, explanations or not, and how intervals are drawn."""

    metrics: tuple[str, ...]
    explain: bool = False
    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0


def case_of(given: object, where: str, *, number: int, limits: Limits) -> Case:
    """A case from its JSON object; messages name the place and never show a text.

    >>> case_of({"candidate": "Clear.", "reference": "No effusion."}, "case 1", number=1, limits=Limits()).id
    '1'
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{where} must be an object with candidate and reference")
    if given.keys() - set(CASE_KEYS):
        raise InputError(f"{where} has an unknown key; a case has: {', '.join(CASE_KEYS)}")
    if "reference" in given and "references" in given:
        raise InputError(f"{where} has both reference and references; give one")
    candidate = given.get("candidate")
    if candidate is not None and not isinstance(candidate, str):
        raise InputError(f"{where}: candidate must be text or null")
    references = given.get("references", given.get("reference", ()))
    if references is None or isinstance(references, str):
        references = () if references is None else (references,)
    if not isinstance(references, list | tuple) or not all(isinstance(text, str) for text in references):
        raise InputError(f"{where}: references must be a list of texts")
    names = {"id": given.get("id", number), "system": given.get("system", "system")}
    for key, name in names.items():
        if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
            raise InputError(f"{where}: {key} must be a text or a whole number")
    for key, text in (*names.items(), ("candidate", candidate), *(("reference", text) for text in references)):
        check_characters(str(text or ""), f"{where}: {key}")
    check_size(candidate or "", references, where, limits)
    # A dict, and not the read-only default: cases go to the process that judges.
    return Case(str(names["id"]), candidate or "", tuple(references), str(names["system"]), meta={})


def check_size(candidate: str, references: Sequence[str], where: str, limits: Limits) -> None:
    """Refuse a case that is larger than one may be."""
    if len(references) > limits.references:
        raise InputError(f"{where} has {len(references)} references; a case has at most {limits.references}")
    if (size := len(candidate) + sum(map(len, references))) > limits.case_characters:
        raise InputError(f"{where} has {size} characters; a case has at most {limits.case_characters}")


def cases_of(given: object, *, limits: Limits) -> list[Case]:
    """The cases of a JSON request."""
    if not isinstance(given, list) or not given:
        raise InputError("cases must be a list of objects with candidate and reference")
    _check_number(given, limits)
    cases = [case_of(item, f"case {at}", number=at, limits=limits) for at, item in enumerate(given, start=1)]
    check_unique(cases, locations=[f"case {at}" for at in range(1, len(cases) + 1)])
    return cases


def cases_of_rewards(body: bytes, *, limits: Limits) -> list[Case]:
    """The cases of a request for rewards, as OpenRLHF sends it."""
    given = _object(body, ("query", "prompts", "labels"))
    queries, labels = _texts(given, "query"), given.get("labels")
    prompts = _texts(given, "prompts") if given.get("prompts") else [""] * len(queries)
    if not isinstance(labels, list) or not len(labels) == len(queries) == len(prompts):
        raise InputError("query, prompts and labels must be lists of equally many texts")
    if not all(isinstance(label, str) or _is_list_of_texts(label) for label in labels):
        raise InputError("labels must be the references: a text or a list of texts for each query")
    _check_number(queries, limits)
    cases = []
    for number, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True), start=1):
        case = {"candidate": query.removeprefix(prompt), "references": label}
        cases.append(case_of(case, f"query and labels {number}", number=number, limits=limits))
    return cases


def request_of(body: bytes, *, metrics: Collection[str], limits: Limits) -> tuple[list[Case], RequestOptions]:
    """The cases of a request for scores, and what it asks for."""
    given = _object(body, ("cases", "metrics", "explain", "level", "resamples", "seed"))
    return cases_of(given.get("cases"), limits=limits), options_of(given, metrics)


def options_of(given: Mapping[str, Any], metrics: Collection[str]) -> RequestOptions:
    """Return a request's options, from its JSON object or from the address of a stream, already typed."""
    names = given.get("metrics")
    names = tuple(metrics) if names is None else names
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise InputError("metrics must be a list of names")
    if unknown := [name for name in names if name not in metrics]:
        shown = unknown[0] if unknown[0].isidentifier() and len(unknown[0]) < 40 else "a name"
        raise InputError(f"metrics: {shown} is not served here; served are: {', '.join(metrics)}")
    explain = given.get("explain", False)
    if not isinstance(explain, bool):
        raise InputError("explain must be true or false")
    level = _between(given.get("level", 0.95), "level", 0.5, 0.999)
    resamples = _between(given.get("resamples", 1000), "resamples", 0, 10_000)
    seed = _between(given.get("seed", 0), "seed", 0, 2**32 - 1)
    return RequestOptions(
        metrics=tuple(dict.fromkeys(names)), explain=explain, level=level, resamples=int(resamples), seed=int(seed)
    )


def _object(body: bytes, keys: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        given = parse_json(body)
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"the body is not JSON ({error.msg}, line {error.lineno})") from None
    if not isinstance(given, dict):
        raise InputError(f"the body must be an object with {', '.join(keys)}")
    if given.keys() - set(keys):
        raise InputError(f"the body has an unknown key; it may have: {', '.join(keys)}")
    return given


def _check_number(listed: Sequence[object], limits: Limits) -> None:
    if len(listed) > limits.cases:
        raise TooMany(
            f"a JSON request has at most {limits.cases} cases; send more as JSON lines (application/x-ndjson)"
        )


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    texts = given.get(name)
    texts = [texts] if isinstance(texts, str) else texts
    if not _is_list_of_texts(texts):
        raise InputError(f"{name} must be a list of texts")
    return texts


def _is_list_of_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _between(value: object, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}")
    if name != "level" and value != int(value):
        raise InputError(f"{name} must be a whole number")
    return value


def parts_of(cases: Sequence[Case], limits: Limits) -> Iterator[Sequence[Case]]:
    """Cases in parts of bounded size, each of one case at least."""
    start = size = 0
    for at, case in enumerate(cases):
        own = len(case.candidate) + sum(map(len, case.references))
        if at > start and (at - start == AT_ONCE or size + own > limits.part_characters):
            yield cases[start:at]
            start, size = at, 0
        size += own
    if start < len(cases):
        yield cases[start:]
