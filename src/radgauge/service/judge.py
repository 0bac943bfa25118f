"""What the service does with cases, without a word of HTTP: loaded metrics, shared readings, limits, records."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from radgauge.cache import Cache
from radgauge.cases import Case, check_unique, text_notes
from radgauge.choices import RESAMPLES
from radgauge.errors import InputError, RadgaugeError, UsageError
from radgauge.io.explanations import explanations_of
from radgauge.io.tables.cells import check_characters
from radgauge.metric import Metric
from radgauge.reading import Readings
from radgauge.registry import load, specs
from radgauge.results import Results
from radgauge.rewards import Reward, reward
from radgauge.scores import score
from radgauge.stats.resampling import Resampling
from radgauge.studies.summary import Summary, summarise

AT_ONCE = 64
"""Cases that are judged between two looks at the clock; requests take turns at this grain."""

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
        seconds: From the end of a JSON request to its answer; in streams, for each part that is judged.
        idle: Seconds that a client may be silent while it sends.
        waiting: Requests that may wait for their turn; more are told to come again.
    """

    body: int = 16 << 20
    cases: int = 1000
    streamed_bytes: int = 1 << 30
    streamed_cases: int = 200_000
    line: int = 1 << 20
    longest: int = 50_000
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
        limits: What one request may cost.
    """

    metrics: tuple[str, ...] = ("errors",)
    models: str = "embedded"
    reward: str = "errors"
    floor: float = -1.0
    cache: bool = True
    tokens: tuple[str, ...] = ()
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
    """Judges one part of a request at a time, whoever asks; every thread may call it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        loaded = [load(spec, models=settings.models) for item in settings.metrics for spec in specs(item)]
        for metric in loaded:
            if "image" in metric.needs:
                raise UsageError(f"{metric.name} needs images, which the service does not take")
        self.metrics: dict[str, Metric] = {metric.name: metric for metric in loaded}
        if len(self.metrics) != len(loaded):
            raise UsageError("a metric is served once; give it one setting")
        self.ready = False
        self._reading = Readings(cache=Cache() if settings.cache else None)
        self._reward = self._load_reward()
        self._turn = threading.Lock()
        self._texts = 0

    def warm(self) -> None:
        """Load what metrics load at first use."""
        text = "The heart is normal in size. No pleural effusion."
        self.score([Case("1", text, (text,))], tuple(self.metrics), until=math.inf)
        if self._reward is not None:
            self._reward.warm([text])
        self.ready = True

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

    def score(self, cases: Sequence[Case], names: Sequence[str], *, until: float) -> Results:
        """The values of some cases; Late if its turn has not come by `until` (monotonic seconds)."""
        with _Turn(self._turn, until):
            self._forget(2 * len(cases))
            return score(
                cases,
                [self.metrics[name] for name in names],
                reading=self._reading,
                longest=self.settings.limits.longest,
                progress=False,
            )

    def records(
        self, cases: Sequence[Case], results: Results, *, explain: bool, until: float
    ) -> list[dict[str, Any]]:
        """One JSON object per case: values, why some are missing, and with `explain` where they come from."""
        found: list[dict[str, Any]] = []
        for at, case in enumerate(cases):
            line: dict[str, Any] = {"id": case.id, "system": case.system, "values": {}, "not_judged": {}}
            for name, scores in results.items():
                values = (number(value) for value in scores.values[at])
                line["values"] |= dict(zip(scores.columns, values, strict=True))
                if (why := scores.reasons.get(case.key)) is not None:
                    line["not_judged"][name] = why
            if explain:
                with _Turn(self._turn, until):
                    line["explanations"] = list(explanations_of(case, results=results, reading=self._reading))
            found.append(line)
        return found

    def rewards(self, candidates: Sequence[str], references: Sequence[Any], *, until: float) -> dict[str, Any]:
        """What OpenRLHF expects of a remote reward: rewards, the same between 0 and 1, and numbers to log."""
        if self._reward is None:
            raise UsageError("this service was started without a reward")
        for name, texts in (("query", candidates), ("labels", references)):
            for at, given in enumerate(texts):
                for text in [given] if isinstance(given, str) else given:
                    check_characters(text, f"{name}[{at}]")
        with _Turn(self._turn, until):
            verdicts = self._reward.judge(candidates, references)
        return {
            "rewards": [each.value for each in verdicts],
            "scores": [min(max(each.value, 0.0), 1.0) for each in verdicts],
            "extra_logs": {"judged": [float(not each.reason) for each in verdicts]},
        }

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


class _Turn:
    """The lock of the judge, for those whose time is not up."""

    def __init__(self, lock: threading.Lock, until: float) -> None:
        self._lock = lock
        self._until = until

    def __enter__(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0 or not self._lock.acquire(timeout=min(left, threading.TIMEOUT_MAX)):
            raise Late("the request took longer than it may; send fewer cases")

    def __exit__(self, *failure: object) -> None:
        self._lock.release()


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


def case_of(given: object, where: str, *, number: int) -> Case:
    """A case from its JSON object; messages name the place and never show a text.

    >>> case_of({"candidate": "Clear.", "reference": "No effusion."}, "case 1", number=1).id
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
    return Case(str(names["id"]), candidate or "", tuple(references), str(names["system"]))


def cases_of(given: object) -> list[Case]:
    """The cases of a JSON request."""
    if not isinstance(given, list) or not given:
        raise InputError("cases must be a list of objects with candidate and reference")
    cases = [case_of(item, f"case {at}", number=at) for at, item in enumerate(given, start=1)]
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


def parts_of(cases: Sequence[Case], metrics: Iterable[Metric]) -> list[Sequence[Case]]:
    """Cases in parts that are judged one after the other; in one where a metric weighs a case by the others."""
    size = AT_ONCE if all(metric.independent for metric in metrics) else len(cases)
    return [cases[start : start + size] for start in range(0, len(cases), size)]
