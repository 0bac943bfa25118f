"""Judge the service's cases, without a word of HTTP: loaded metrics, shared readings, records."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from radgauge.analysis.rewards.reward import Reward, reward
from radgauge.analysis.summary import Summary, summarise
from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import RadgaugeError, UsageError
from radgauge.core.metric import Metric
from radgauge.core.readings import Readings
from radgauge.core.registry import load, specs
from radgauge.core.scores import Results
from radgauge.io.explanations import explanations_of
from radgauge.io.records import text_notes
from radgauge.run.score import score
from radgauge.stats.resampling import Resampling
from radgauge.study.server.requests import Limits, RequestOptions, cases_of_rewards, parts_of, request_of

KEEP = 4000
"""Texts whose readings stay in memory; clients send new ones for ever."""


class Late(RadgaugeError):
    """A request took longer than it may."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the service. Can be sent to another process."""

    metrics: tuple[str, ...] = ("errors",)  # Specifications of the metrics, loaded once
    models: str = "embedded"  # Profile of metrics given by name
    reward: str = "errors"  # The metric behind `/get_reward`; "" = no such address
    floor: float = -1.0  # What a text gets there that cannot be judged
    # Reports of the training set, for the limits of the reward; none = it has no such limits
    references: tuple[str, ...] = ()
    cache: bool = True  # True if readings are kept on disk, where all workers find them
    tokens: tuple[str, ...] = ()  # Hashes of the tokens that are let in; none = everybody is
    # Processes that judge, and are killed at the deadline of what they judge; 0 = this process, whose threads
    # cannot be killed (for tests and notebooks)
    workers: int = 0
    limits: Limits = field(default_factory=Limits)  # What one request may cost


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
        self.part([Case("1", text, (text,))], RequestOptions(metrics=tuple(self.metrics)))
        if self._reward is not None:
            self._reward.warm([text])

    @cached_property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """Signature, columns and direction of each metric."""
        return {
            name: {
                "signature": metric.signature(),
                "columns": list(metric.columns),
                "higher_is_better": metric.higher_is_better,
            }
            for name, metric in self.metrics.items()
        }

    def request(self, body: bytes) -> bytes | tuple[list[Case], RequestOptions]:
        """Answer a request for scores that is one part; of a larger one return its cases and options.

        Most requests are small, and would otherwise wait three times for their turn: to be read, judged, summed.
        """
        cases, options = request_of(body, metrics=self.metrics, limits=self.settings.limits)
        if len(list(parts_of(cases, self.settings.limits))) > 1:
            return cases, options
        results, records = self.part(cases, options)
        closing = self.closing([results], cases, options)
        return b'{"cases":[' + b",".join(records) + b"]," + closing.removeprefix(b"{")

    def reward_request(self, body: bytes) -> list[Case]:
        """Read the JSON of a request for rewards."""
        return cases_of_rewards(body, limits=self.settings.limits)

    def part(
        self, cases: Sequence[Case], options: RequestOptions, notes: bool = False
    ) -> tuple[Results, list[bytes]]:
        """Judge some cases: their results, and a JSON object per case with values, reasons and explanations.

        With `notes` also those on its texts, which a JSON request gets for all its cases together.
        """
        with self._turn:
            self._forget(2 * len(cases))
            results = score(
                cases,
                [self.metrics[name] for name in options.metrics],
                reading=self._reading,
                longest=self.settings.limits.longest,
                progress=False,
            )
            records = [self._record(case, results, at, options.explain) for at, case in enumerate(cases)]
        if notes:
            for case, record in zip(cases, records, strict=True):
                if odd := text_notes([case], locations=[""]):
                    record["notes"] = [note.removeprefix("1 of 1 ").partition("; first: ")[0] for note in odd]
        return results, [as_bytes(record) for record in records]

    def _record(self, case: Case, results: Results, at: int, explain: bool) -> dict[str, Any]:
        record: dict[str, Any] = {"id": case.id, "system": case.system, "values": {}, "not_judged": {}}
        for name, scores in results.judges.items():
            values = (number(value) for value in scores.values[at])
            record["values"] |= dict(zip(scores.columns, values, strict=True))
            if (why := scores.reasons.get(case.key)) is not None:
                record["not_judged"][name] = why
        if explain:
            record["explanations"] = list(explanations_of(case, results=results, reading=self._reading))
        return record

    def closing(self, parts: Sequence[Results], cases: Sequence[Case], options: RequestOptions) -> bytes:
        """Summarise the parts of a request as JSON; of `cases` the texts are looked at for the notes."""
        results = joined(parts)
        return as_bytes(
            {
                "summary": summary_records(results, options),
                "metrics": {name: self.signatures[name] for name in options.metrics},
                "notes": notes_on(cases, results),
            }
        )

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
            self.settings.reward,
            floor=self.settings.floor,
            references=self.settings.references or None,
            reading=self._reading,
            models=self.settings.models,
        )

    def _forget(self, texts: int) -> None:
        self._texts += texts
        if self._texts > KEEP:
            self._reading, self._texts = self._reading.fork(), texts


def summary_records(results: Results, options: RequestOptions) -> list[dict[str, Any]]:
    """Corpus values with intervals as JSON objects; null where there is no value."""
    how = Resampling(options.level, options.resamples, "auto", options.seed)
    names = [each.name for each in fields(Summary)]
    lines = []
    for line in summarise(results, resampling=how):
        record = {name: getattr(line, name) for name in names}
        reasons = [{"reason": why, "cases": count} for why, count in line.reasons]
        numbers = {name: number(record[name]) for name in ("value", "low", "high")}
        lines.append({**record, "reasons": reasons, **numbers})
    return lines


def notes_on(cases: Sequence[Case], results: Results) -> list[str]:
    """Notes for the reader of the values; no text of a report."""
    notes = text_notes(cases, locations=[f"case {at}" for at in range(1, len(cases) + 1)])
    if any(column.endswith("_embedded") for scores in results.judges.values() for column in scores.columns):
        notes.append(
            "columns that end in _embedded run on radgauge's own offline reader and are not comparable with "
            "published numbers"
        )
    return notes


def joined(parts: Sequence[Results]) -> Results:
    """The results of the parts of a request as one."""
    found = {}
    for name, first in parts[0].judges.items():
        all_of = [part[name] for part in parts]
        found[name] = replace(
            first,
            keys=tuple(key for part in all_of for key in part.keys),
            rows=np.vstack([part.rows for part in all_of]),
            values=np.vstack([part.values for part in all_of]),
            reasons={key: why for part in all_of for key, why in part.reasons.items()},
        )
    return Results(found, {}, {})


def as_bytes(value: object) -> bytes:
    """JSON as it is sent; a number that JSON does not have is an error, not a word."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def number(value: float) -> float | None:
    """A number for JSON; null where there is none."""
    return float(value) if math.isfinite(value) else None
