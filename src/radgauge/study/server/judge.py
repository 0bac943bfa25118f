"""What the service does with cases, without a word of HTTP: loaded metrics, shared readings, limits, records."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from radgauge.analysis.rewards.reward import Reward, reward
from radgauge.analysis.summary import Summary, summarise
from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.choices import RESAMPLES
from radgauge.core.errors import InputError, RadgaugeError, UsageError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.registry import load, specs
from radgauge.core.scores import Results
from radgauge.io.explanations import explanations_of
from radgauge.io.records import check_unique, text_notes
from radgauge.io.tables.cells import check_characters
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling

AT_ONCE = 64
"""Cases of a part; requests take turns at this grain."""

KEEP = 4000
"""Texts whose readings stay in memory; clients send new ones for ever."""

CASE_KEYS = ("id", "system", "candidate", "reference", "references")


class Late(RadgaugeError):
    """A request took longer than it may."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may cost.

    Attributes:
        body: Bytes of a JSON request.
        cases: Cases of a JSON request.
        streamed_bytes: Bytes of a request of JSON lines.
        streamed_cases: Cases of a request of JSON lines.
        line: Bytes of one JSON line.
        longest: Characters of the longest text that is judged; a case with a longer one is not, with this reason.
        references: References of one case.
        case_characters: Characters of a case, its references included.
        part_characters: Characters of a part: cases are judged in parts, between which requests take turns.
        upload: Seconds that a client may take to send a JSON request.
        seconds: From the end of a JSON request to its answer; in streams, for each part that is judged.
        idle: Seconds that a client may be silent while it sends JSON lines.
        waiting: Requests that may wait for their turn; more are told to come again.
    """

    body: int = 16 << 20
    cases: int = 1000
    streamed_bytes: int = 1 << 30
    streamed_cases: int = 200_000
    line: int = 1 << 20
    longest: int = 50_000
    references: int = 100
    case_characters: int = 500_000
    part_characters: int = 1_000_000
    upload: float = 60.0
    seconds: float = 60.0
    idle: float = 30.0
    waiting: int = 64


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is served. May be sent to another process.

    Attributes:
        metrics: Specifications of the metrics, loaded once.
        models: Profile of metrics given by name.
        reward: The metric behind `/get_reward`; "" = no such address.
        floor: What a text gets there that cannot be judged.
        cache: Whether readings are kept on disk, where all workers find them.
        tokens: Hashes of the tokens that are let in; none = everybody is.
        workers: Processes that judge, and are killed at the deadline of what they judge; 0 = this process, whose
            threads cannot be killed (for tests and notebooks).
        limits: What one request may cost.
    """

    metrics: tuple[str, ...] = ("errors",)
    models: str = "embedded"
    reward: str = "errors"
    floor: float = -1.0
    cache: bool = True
    tokens: tuple[str, ...] = ()
    workers: int = 0
    limits: Limits = Limits()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a request asks for: which of the metrics, explanations or not, and how intervals are drawn."""

    metrics: tuple[str, ...]
    explain: bool = False
    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0


class Judge:
    """Judges one part of a request at a time, whoever asks; every thread may call it, see `workers`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        loaded = [load(spec, models=settings.models) for item in settings.metrics for spec in specs(item)]
        for metric in loaded:
            if "image" in metric.needs:
                raise UsageError(f"{metric.name} needs images, which the service does not take")
        self.metrics: dict[str, Metric] = {metric.name: metric for metric in loaded}
        if len(self.metrics) != len(loaded):
            raise UsageError("a metric is served once; give it one setting")
        self._reading = Readings(cache=Cache() if settings.cache else None)
        self._reward = self._load_reward()
        self._turn = threading.Lock()  # a thread whose request was given up still works
        self._texts = 0

    def warm(self) -> None:
        """Load what metrics load at first use."""
        text = "The heart is normal in size. No pleural effusion."
        self.part([Case("1", text, (text,))], Wanted(metrics=tuple(self.metrics)))
        if self._reward is not None:
            self._reward.warm([text])

    @cached_property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """What each metric is: signature, columns, direction."""
        return {
            name: {
                "signature": metric.signature(),
                "columns": list(metric.columns),
                "higher_is_better": metric.higher_is_better,
            }
            for name, metric in self.metrics.items()
        }

    def part(self, cases: Sequence[Case], wanted: Wanted) -> tuple[Results, list[dict[str, Any]]]:
        """Judge some cases: their results, and for each a JSON object with values, reasons and explanations."""
        with self._turn:
            self._forget(2 * len(cases))
            results = score(
                cases,
                [self.metrics[name] for name in wanted.metrics],
                reading=self._reading,
                longest=self.settings.limits.longest,
                progress=False,
            )
            return results, [self._record(case, results, at, wanted.explain) for at, case in enumerate(cases)]

    def _record(self, case: Case, results: Results, at: int, explain: bool) -> dict[str, Any]:
        record: dict[str, Any] = {"id": case.id, "system": case.system, "values": {}, "not_judged": {}}
        for name, scores in results.items():
            values = (number(value) for value in scores.values[at])
            record["values"] |= dict(zip(scores.columns, values, strict=True))
            if (why := scores.reasons.get(case.key)) is not None:
                record["not_judged"][name] = why
        if explain:
            record["explanations"] = list(explanations_of(case, results=results, reading=self._reading))
        return record

    def closing(self, parts: Sequence[Results], cases: Sequence[Case], wanted: Wanted) -> dict[str, Any]:
        """Summarise the parts of a request; of `cases` the texts are looked at for the notes."""
        results = joined(parts)
        return {
            "summary": summary_records(results, wanted),
            "metrics": {name: self.signatures[name] for name in wanted.metrics},
            "notes": notes_on(cases, results),
        }

    def rewards(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[tuple[float, bool]]:
        """Return the reward of each candidate, and whether it was judged."""
        if self._reward is None:
            raise UsageError("this service was started without a reward")
        with self._turn:
            verdicts = self._reward.judge(candidates, references, longest=self.settings.limits.longest)
        return [(each.value, not each.reason) for each in verdicts]

    def _load_reward(self) -> Reward | None:
        if not self.settings.reward:
            return None
        return reward(
            self.settings.reward, floor=self.settings.floor, reading=self._reading, models=self.settings.models
        )

    def _forget(self, texts: int) -> None:
        self._texts += texts
        if self._texts > KEEP:
            self._reading, self._texts = self._reading.fork(), texts


def summary_records(results: Results, wanted: Wanted) -> list[dict[str, Any]]:
    """Corpus values with intervals as JSON objects; null where there is no value."""
    how = Resampling(wanted.level, wanted.resamples, "auto", wanted.seed)
    names = [field.name for field in fields(Summary)]
    lines = []
    for line in summarise(results, resampling=how):
        record = {name: getattr(line, name) for name in names}
        reasons = [{"reason": why, "cases": count} for why, count in line.reasons]
        numbers = {name: number(record[name]) for name in ("value", "low", "high")}
        lines.append({**record, "reasons": reasons, **numbers})
    return lines


def notes_on(cases: Sequence[Case], results: Results) -> list[str]:
    """What the reader of the values should know; no text of a report."""
    notes = text_notes(cases, places=[f"case {at}" for at in range(1, len(cases) + 1)])
    if any(column.endswith("_embedded") for scores in results.values() for column in scores.columns):
        notes.append(
            "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
            "published numbers"
        )
    return notes


def joined(parts: Sequence[Results]) -> Results:
    """The results of the parts of a request as one."""
    found = {}
    for name, first in parts[0].items():
        all_of = [part[name] for part in parts]
        found[name] = replace(
            first,
            keys=tuple(key for part in all_of for key in part.keys),
            rows=np.vstack([part.rows for part in all_of]),
            values=np.vstack([part.values for part in all_of]),
            reasons={key: why for part in all_of for key, why in part.reasons.items()},
        )
    return Results(found, {}, {})


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
    cases = [case_of(item, f"case {at}", number=at, limits=limits) for at, item in enumerate(given, start=1)]
    check_unique(cases, places=[f"case {at}" for at in range(1, len(cases) + 1)])
    return cases


def wanted_of(given: Mapping[str, Any], judge: Judge) -> Wanted:
    """What a request asks for, from its JSON object or from the address of a stream, already typed."""
    names = given.get("metrics")
    names = tuple(judge.metrics) if names is None else names
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise InputError("metrics must be a list of names")
    if unknown := [name for name in names if name not in judge.metrics]:
        shown = unknown[0] if unknown[0].isidentifier() and len(unknown[0]) < 40 else "a name"
        raise InputError(f"metrics: {shown} is not served here; served are: {', '.join(judge.metrics)}")
    explain = given.get("explain", False)
    if not isinstance(explain, bool):
        raise InputError("explain must be true or false")
    level = _between(given.get("level", 0.95), "level", 0.5, 0.999)
    resamples = _between(given.get("resamples", 1000), "resamples", 0, 10_000)
    seed = _between(given.get("seed", 0), "seed", 0, 2**32 - 1)
    return Wanted(
        metrics=tuple(dict.fromkeys(names)), explain=explain, level=level, resamples=int(resamples), seed=int(seed)
    )


def _between(value: object, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}")
    if name != "level" and value != int(value):
        raise InputError(f"{name} must be a whole number")
    return value


def number(value: float) -> float | None:
    """A number for JSON; null where there is none."""
    return float(value) if math.isfinite(value) else None


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
