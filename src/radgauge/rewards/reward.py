"""A reward: one metric or a weighted mixture, turned so that 1 is best, with a floor for what cannot be judged.

A trainer climbs whatever it is given, so nothing here is silent: every part is scaled by a stated range to 0..1
(1 = best, whatever the metric's direction), and a text that a metric cannot judge, or that a guard catches, gets
the floor, with the reason counted.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from radgauge.cache import Cache
from radgauge.cases import Case
from radgauge.errors import InputError, UsageError
from radgauge.metric import Metric
from radgauge.reading import Readings
from radgauge.registry import load
from radgauge.report_reader import ReportReader
from radgauge.scores import LONGEST, score
from radgauge.show.progress import silence
from radgauge.text.words import has_words

Relative = Literal["none", "mean", "standard", "rank"]
"""What a reward in a group of samples of one study is measured against."""

References = Sequence[str | Sequence[str]]
KEEP = 50_000
"""Texts whose readings are kept in memory; training writes new ones for ever."""


FREE_WORDS = 40
"""Words that every candidate may have: references of three words are common, and real reports are longer."""


@dataclass(frozen=True, slots=True)
class Guards:
    """What gets the floor before any metric is asked.

    Attributes:
        longest: Words of the candidate per word of its longest reference; 0 = no limit. Forty words are free.
        repetition: Share of the candidate's runs of four words that it has had before; 1 = no limit.
        understood: Least share of the candidate's content words that the report reader must know; 0 = no limit.
            Shorter texts than five content words are let pass.
    """

    longest: float = 3.0
    repetition: float = 0.5
    understood: float = 0.3

    def why_not(self, candidate: str, references: Sequence[str], reading: Readings) -> str:
        """Why a text gets the floor; "" if it does not."""
        if not has_words(candidate):
            return "empty" if not candidate.strip() else "no words"
        words = re.findall(r"\w+", candidate.lower())
        most = max((len(re.findall(r"\w+", text)) for text in references), default=0)
        if self.longest and most and len(words) > self.longest * most + FREE_WORDS:
            return "too long"
        runs = [tuple(words[i : i + 4]) for i in range(len(words) - 3)]
        if len(runs) >= 8 and 1 - len(set(runs)) / len(runs) > self.repetition:
            return "repeated text"
        if self.understood:
            read = reading.of(ReportReader(), [candidate])[0]
            if read.content_words >= 5 and read.coverage < self.understood:
                return "not understood"
        return ""


@dataclass(frozen=True, slots=True)
class Part:
    """One metric of a mixture: its headline is scaled from (worst, best) to 0..1."""

    metric: Metric
    weight: float
    worst: float
    best: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate's reward.

    Attributes:
        value: 0..1, or the floor.
        reason: Why it is the floor; "" if it was judged.
        parts: Metric -> its scaled value, of a judged text.
    """

    value: float
    reason: str = ""
    parts: Mapping[str, float] | None = None


class Reward:
    """Candidates and references in, numbers out; made by `reward`. May be called from several threads.

    Attributes:
        name: For trainers that log rewards by name.
        floor: What a text gets that cannot be judged.
    """

    def __init__(
        self, parts: Sequence[Part], *, floor: float, guards: Guards, reading: Readings, name: str = "radgauge"
    ) -> None:
        self.parts = tuple(parts)
        self.floor = floor
        self.guards = guards
        self.name = self.__name__ = name
        self._reading = reading
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._texts = 0

    def __repr__(self) -> str:
        parts = " + ".join(f"{part.weight:g} x {part.metric.columns[0]}" for part in self.parts)
        return f"<Reward {self.name}: {parts}, 1 = best; floor {self.floor:g}; {self.guards}>"

    def __call__(self, candidates: Sequence[str | None], references: References) -> list[float]:
        """One reward per candidate, in order."""
        return [verdict.value for verdict in self.judge(candidates, references)]

    def judge(
        self, candidates: Sequence[str | None], references: References, *, longest: int = LONGEST
    ) -> list[Verdict]:
        """The same with reasons and parts; a case with a text of more than `longest` characters gets the floor."""
        if isinstance(candidates, str) or isinstance(references, str):
            raise UsageError("a reward takes lists of candidates and references, got one text")
        if len(candidates) != len(references):
            raise InputError(
                f"candidates and references must be equally many, got {len(candidates)} and {len(references)}"
            )
        cases = [
            Case(str(number), candidate or "", (given,) if isinstance(given, str) else tuple(given))
            for number, (candidate, given) in enumerate(zip(candidates, references, strict=True))
        ]
        with self._lock:
            found = self._judge(cases, longest)
            self._counts.update(verdict.reason or "judged" for verdict in found)
            self._texts += len(cases)
            if self._texts > KEEP:
                self._reading, self._texts = self._reading.fork(), 0
        return found

    def of_groups(
        self, groups: Sequence[Sequence[str | None]], references: References, *, relative: Relative = "none"
    ) -> list[list[float]]:
        """Several candidates per study, judged together.

        Args:
            groups: The samples of each study.
            references: What the radiologist wrote, one entry per study.
            relative: "none"; "mean" takes the group's mean off; "standard" also divides by its standard deviation
                (0 where all are equal); "rank" gives 0 (worst) to 1 (best), ties the mean of their ranks.
        """
        if len(groups) != len(references):
            raise InputError(
                f"groups and references must be equally many, got {len(groups)} and {len(references)}"
            )
        flat = [text for group in groups for text in group]
        owners = [given for group, given in zip(groups, references, strict=True) for _ in group]
        values = iter(self(flat, owners))
        return [_relative([next(values) for _ in group], relative) for group in groups]

    def warm(self, references: References) -> None:
        """Read the references before training begins; they are judged against themselves, and not counted."""
        texts = [text for given in references for text in ((given,) if isinstance(given, str) else given)]
        with self._lock:
            self._judge([Case(str(number), text, (text,)) for number, text in enumerate(dict.fromkeys(texts))])

    def counts(self) -> dict[str, int]:
        """How many texts were judged, and how many got the floor by reason, since the start."""
        with self._lock:
            return dict(self._counts.most_common())

    def failed(self, number: int, error: Exception) -> list[Verdict]:
        """The floor for texts whose judging broke down, for trainers that swallow exceptions; counted."""
        verdicts = [Verdict(self.floor, f"failed ({type(error).__name__})")] * number
        with self._lock:
            self._counts.update(verdict.reason for verdict in verdicts)
        return verdicts

    def _judge(self, cases: Sequence[Case], longest: int = LONGEST) -> list[Verdict]:
        reasons = {
            case.id: f"a text longer than {longest} characters"
            if max(map(len, (case.candidate, *case.references))) > longest
            else self.guards.why_not(case.candidate, case.references, self._reading)
            for case in cases
        }
        able = [case for case in cases if not reasons[case.id]]
        with silence():
            metrics = [part.metric for part in self.parts]
            results = score(able, metrics, reading=self._reading, longest=longest) if able else {}
        place = {case.id: number for number, case in enumerate(able)}
        verdicts = []
        for case in cases:
            if reasons[case.id]:
                verdicts.append(Verdict(self.floor, reasons[case.id]))
                continue
            scaled: dict[str, float] = {}
            for part, scores in zip(self.parts, results.values(), strict=True):
                value = float(scores.headline[place[case.id]])
                if math.isnan(value):
                    verdicts.append(Verdict(self.floor, scores.reasons.get(case.key, "cannot be judged")))
                    break
                scaled[scores.judge] = min(max((value - part.worst) / (part.best - part.worst), 0.0), 1.0)
            else:
                weights = [part.weight for part in self.parts]
                value = sum(w * v for w, v in zip(weights, scaled.values(), strict=True)) / sum(weights)
                verdicts.append(Verdict(value, "", scaled))
        return verdicts


def reward(
    metrics: str | Metric | Mapping[str, float] = "errors",
    *,
    floor: float = -1.0,
    scales: Mapping[str, tuple[float, float]] | None = None,
    guards: Guards | None = None,
    reading: Readings | None = None,
    cache: bool = False,
    models: str = "embedded",
    name: str = "radgauge",
) -> Reward:
    """A reward from a metric, or from a mixture with weights.

    Args:
        metrics: "errors", a specification, a Metric, or {"errors": 0.8, "bleu": 0.2}.
        floor: What a text gets that cannot be judged: empty, repeated, too long, not understood, or NaN. At
            most 0, which is the worst that a judged text can get.
        scales: Metric -> (worst, best) value; needed for metrics without bounds, such as radcliq.
        guards: What gets the floor before any metric is asked; Guards(longest=0, repetition=1, understood=0) are
            none.
        reading: Shared readings.
        cache: Keep readings on disk, for the next run of the same training.
        models: Profile for metrics given by name.
        name: For trainers that log rewards by name.

    >>> judge = reward("rouge")
    >>> judge(["no effusion", ""], ["no effusion", "no effusion"])
    [1.0, -1.0]
    >>> judge.counts()
    {'judged': 1, 'empty': 1}
    """
    if not floor <= 0:
        raise UsageError(f"floor must be at most 0, the worst that a judged text can get; got {floor:g}")
    weighted: list[tuple[str | Metric, float]] = (
        list(metrics.items()) if isinstance(metrics, Mapping) else [(metrics, 1.0)]
    )
    if not weighted or any(not weight > 0 for _, weight in weighted):
        raise UsageError("weights must be above 0, and there must be one metric or more")
    given = dict(scales or {})
    parts = []
    for item, weight in weighted:
        metric = load(item, models=models) if isinstance(item, str) else item
        if not metric.independent:
            raise UsageError(f"{metric.name} judges a case by the others of its run; it cannot be a reward")
        worst, best = metric.range if metric.higher_is_better else metric.range[::-1]
        worst, best = given.pop(metric.name, (worst, best))
        if not (np.isfinite(worst) and np.isfinite(best)) or worst == best:
            raise UsageError(
                f"{metric.name} has no bounds; say which values are worst and best: "
                f"scales={{{metric.name!r}: (worst, best)}}"
            )
        parts.append(Part(metric, weight, float(worst), float(best)))
    if given:
        raise UsageError(f"scales names {next(iter(given))!r}, which is not among the metrics")
    shared = reading if reading is not None else Readings(cache=Cache() if cache else None)
    return Reward(parts, floor=floor, guards=guards or Guards(), reading=shared, name=name)


def _relative(values: list[float], how: Relative) -> list[float]:
    if how == "none" or not values:
        return values
    given = np.asarray(values)
    if how == "rank":
        below = (given[:, None] > given[None, :]).sum(axis=1)
        ties = (given[:, None] == given[None, :]).sum(axis=1) - 1
        ranks: list[float] = ((below + ties / 2) / max(len(values) - 1, 1)).tolist()
        return ranks
    if how not in ("mean", "standard"):
        raise UsageError(f"relative must be none, mean, standard or rank, got {how!r}")
    apart = given - given.mean()
    spread = float(given.std())
    if how == "standard":
        apart = apart / spread if spread else np.zeros_like(apart)
    centred: list[float] = apart.tolist()
    return centred
