"""A reward: one metric or a weighted mixture, turned so that 1 is best, with a floor for what cannot be judged.

A trainer climbs whatever it is given, so nothing here is silent: every part is scaled by a stated range to 0..1
(1 = best, whatever the metric's direction), and a text that a metric cannot judge, or that a guard catches, gets
the floor, with the reason counted.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from radgauge.analysis.rewards.guards import Guards, answer_of
from radgauge.analysis.rewards.norms import Norms
from radgauge.core.cache import Cache
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.metric import Metric
from radgauge.core.progress import silence
from radgauge.core.readings import Readings
from radgauge.core.registry import describe_metric, load, metric_names
from radgauge.core.scores import Scores
from radgauge.run.score import MAX_LENGTH, score

Relative = Literal["none", "mean", "standard", "rank"]
"""Baseline of a reward in a group of samples of one study."""

References = Sequence[str | Sequence[str | None] | None]
"""The reference of each candidate, or its alternatives; None or nothing but empty texts is a missing one."""

KEEP = 50_000
"""Texts whose readings are kept in memory; training writes new ones for ever."""

INAPPLICABLE = "not applicable to the study"
"""Reason of the floor where an output gives no value even to the reference, such as recall of a normal study."""


@dataclass(frozen=True, slots=True)
class Part:
    """One output of a metric in a mixture, scaled from (worst, best) to 0..1."""

    metric: Metric
    output: str
    weight: float
    worst: float
    best: float

    @property
    def column(self) -> int:
        """Number of the output among those of the metric."""
        return self.metric.columns.index(self.output)

    @property
    def name(self) -> str:
        """Name of the metric for its headline, of the output for others."""
        return self.output if self.column else self.metric.name

    def scaled(self, value: float) -> float:
        """Return a value between 0, worst, and 1, best."""
        return min(max((value - self.worst) / (self.best - self.worst), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate's reward."""

    # 0..1, or the floor; less than its parts where the order of words is unusual among the references
    value: float
    reason: str = ""  # Why it is the floor; "" if it was judged
    # Metric or output -> its scaled value, of a judged text; without those that do not apply to the study, such as
    # recall where there is nothing to find
    parts: Mapping[str, float] | None = None


class Reward:
    """Candidates and references in, numbers out; made by `reward`. May be called from several threads.

    A pickled copy, as process pools make them, begins with empty counts and readings of its own.

    Attributes:
        name: For trainers that log rewards by name.
        floor: What a text gets that cannot be judged.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        floor: float,
        guards: Guards,
        reading: Readings,
        norms: Norms | None = None,
        name: str = "radgauge",
    ) -> None:
        self.parts = tuple(parts)
        self.floor = floor
        self.guards = guards
        self.norms = norms
        self.name = self.__name__ = name
        self._reading = reading
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._texts = 0

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the lock, the readings and the counts."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with readings of one's own."""
        self.__init__(  # type: ignore[misc]
            state["parts"],
            floor=state["floor"],
            guards=state["guards"],
            reading=Readings(),
            norms=state["norms"],
            name=state["name"],
        )

    def __repr__(self) -> str:
        parts = " + ".join(f"{part.weight:g} x {part.output}" for part in self.parts)
        return f"<Reward {self.name}: {parts}, 1 = best; floor {self.floor:g}; {self.guards}>"

    def __call__(self, candidates: Sequence[str | None], references: References) -> list[float]:
        """One reward per candidate, in order."""
        return [verdict.value for verdict in self.judge(candidates, references)]

    def judge(
        self, candidates: Sequence[str | None], references: References, *, longest: int = MAX_LENGTH
    ) -> list[Verdict]:
        """The same with reasons and parts; a case with a text of more than `longest` characters gets the floor."""
        if isinstance(candidates, str) or isinstance(references, str):
            raise UsageError("a reward takes lists of candidates and references, got one text")
        if len(candidates) != len(references):
            raise InputError(
                f"candidates and references must be equally many, got {len(candidates)} and {len(references)}"
            )
        cases = [
            Case(str(number), answer_of(candidate or ""), _alternatives(entry))
            for number, (candidate, entry) in enumerate(zip(candidates, references, strict=True))
        ]
        with self._lock:
            verdicts = self._judge(cases, longest)
            self._counts.update(verdict.reason or "judged" for verdict in verdicts)
            self._texts += len(cases)
            if self._texts > KEEP:
                self._reading, self._texts = self._reading.fork(), 0
        return verdicts

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
        owners = [entry for group, entry in zip(groups, references, strict=True) for _ in group]
        values = iter(self(flat, owners))
        return [_relative([next(values) for _ in group], relative) for group in groups]

    def warm(self, references: References) -> None:
        """Read the references before training begins; they are judged against themselves, and not counted."""
        with self._lock:
            self._judge(_copies(references))

    def sampling_weights(self, references: References) -> list[float]:
        """Return a weight per study with which normal and abnormal studies are drawn equally often.

        Where most studies are normal, a trainer climbs fastest by writing "normal" for all of them. The weights
        sum to 1; studies count as abnormal if their reference has a clinically significant finding, and those
        without a reference get 0.
        """
        cases = [Case(str(number), "", _alternatives(entry)) for number, entry in enumerate(references)]
        with self._lock, silence():
            abnormal = abnormal_studies(cases, reading=self._reading)
        groups = Counter(abnormal)
        del groups[None]
        return [1 / (len(groups) * groups[kind]) if kind is not None else 0.0 for kind in abnormal]

    def counts(self) -> dict[str, int]:
        """Number of texts judged, and of those with the floor by reason, since the start."""
        with self._lock:
            return dict(self._counts.most_common())

    def failed(self, number: int, error: Exception) -> list[Verdict]:
        """The floor for texts whose judging broke down, for trainers that swallow exceptions; counted."""
        verdicts = [Verdict(self.floor, f"failed ({type(error).__name__})")] * number
        with self._lock:
            self._counts.update(verdict.reason for verdict in verdicts)
        return verdicts

    def _judge(self, cases: Sequence[Case], longest: int = MAX_LENGTH) -> list[Verdict]:
        reasons = {case.id: self._why_not(case, longest) for case in cases}
        judged = [case for case in cases if not reasons[case.id]]
        values = self._values(judged, longest)
        rows = {case.id: index for index, case in enumerate(judged)}
        return [
            Verdict(self.floor, reasons[case.id])
            if reasons[case.id]
            else self._verdict(case, rows[case.id], values)
            for case in cases
        ]

    def _why_not(self, case: Case, longest: int) -> str:
        if max(map(len, (case.candidate, *case.references))) > longest:
            return f"a text longer than {longest} characters"
        return self.guards.why_not(case.candidate, case.references, self._reading, norms=self.norms)

    def _values(self, cases: Sequence[Case], longest: int) -> list[Scores]:
        """Judge some cases by every part, each metric once."""
        metrics = list(dict.fromkeys(part.metric for part in self.parts))
        with silence():
            if not cases:
                return []
            results = score(cases, metrics, reading=self._reading, longest=longest)
        by_metric = dict(zip(metrics, results.judges.values(), strict=True))
        return [by_metric[part.metric] for part in self.parts]

    def _verdict(self, case: Case, row: int, values: Sequence[Scores]) -> Verdict:
        """Mix the parts; those that the study gives nothing to judge are left out."""
        scaled: dict[str, float] = {}
        weights = []
        for part, scores in zip(self.parts, values, strict=True):
            value = float(scores.values[row, part.column])
            if not math.isnan(value):
                scaled[part.name] = part.scaled(value)
                weights.append(part.weight)
            elif not self._inapplicable(part, case):
                return Verdict(self.floor, scores.reasons.get(case.key, "cannot be judged"))
        if not weights:
            return Verdict(self.floor, INAPPLICABLE)
        value = sum(w * v for w, v in zip(weights, scaled.values(), strict=True)) / sum(weights)
        fluency = self.norms.fluency(case.candidate) if self.norms is not None else 1.0
        return Verdict(value * fluency, "", scaled)

    def _inapplicable(self, part: Part, case: Case) -> bool:
        """True if an output other than the headline has no value even for a copy of the reference."""
        if not part.column:
            return False
        with silence():
            scores = score(_copies([case.references]), [part.metric], reading=self._reading)[part.metric.name]
        return bool(np.isnan(scores.values[:, part.column]).all() and not np.isnan(scores.headline).all())


def reward(
    metrics: str | Metric | Mapping[str, float] = "errors",
    *,
    floor: float = -1.0,
    scales: Mapping[str, tuple[float, float]] | None = None,
    guards: Guards | None = None,
    references: References | None = None,
    reading: Readings | None = None,
    cache: bool = False,
    models: str = "embedded",
    name: str = "radgauge",
) -> Reward:
    """A reward from a metric, or from a mixture with weights.

    Args:
        metrics: "errors", a specification, a Metric, the name of any output such as "errors_recall", or
            {"errors": 0.8, "bleu": 0.2}.
        floor: What a text gets that cannot be judged, because a guard catches it or its value is NaN. At most 0,
            which is the worst that a judged text can get.
        scales: Metric or output -> (worst, best) value; needed for those without bounds, such as radcliq.
        guards: What gets the floor before any metric is asked; `Guards.off()` lets every text with words pass.
        references: Those of the training set, thirty or more: word order and length of reports are measured on
            them, and texts beyond get the floor. Without them a salad of words is judged as a report.
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
    unused = dict(scales or {})
    parts = []
    for item, weight in weighted:
        metric, column = _output(item, models) if isinstance(item, str) else (item, 0)
        if not metric.independent:
            raise UsageError(f"{metric.name} judges a case by the others of its run; it cannot be a reward")
        if "image" in metric.needs:
            raise UsageError(f"{metric.name} needs images, which no trainer hands to a reward; it cannot be one")
        worst, best = metric.ranges[column] if metric.directions[column] else metric.ranges[column][::-1]
        part = Part(metric, metric.columns[column], weight, worst, best)
        worst, best = unused.pop(part.name, (worst, best))
        if not (np.isfinite(worst) and np.isfinite(best)) or worst == best:
            raise UsageError(
                f"{part.name} has no bounds; say which values are worst and best: "
                f"scales={{{part.name!r}: (worst, best)}}"
            )
        parts.append(replace(part, worst=float(worst), best=float(best)))
    if unused:
        raise UsageError(f"scales names {next(iter(unused))!r}, which is not among the metrics")
    chosen = guards or Guards()
    texts = [text for entry in references or () for text in _alternatives(entry)]
    norms = Norms.of(texts, tail=chosen.tail) if chosen.tail and references is not None else None
    shared = reading if reading is not None else Readings(cache=Cache() if cache else None)
    return Reward(parts, floor=floor, guards=chosen, reading=shared, norms=norms, name=name)


def abnormal_studies(cases: Sequence[Case], *, reading: Readings) -> list[bool | None]:
    """For each case whether its reference has a clinically significant finding; None if it cannot be read."""
    errors = load("errors")
    column = errors.columns.index("errors_quality_abnormal")
    copies = {case.key: _copies([case.references]) for case in cases}
    distinct = {copy.candidate: copy for group in copies.values() for copy in group}
    named = [replace(copy, id=str(number)) for number, copy in enumerate(distinct.values())]
    abnormal: dict[str, bool | None] = {}
    if named:
        values = score(named, [errors], reading=reading, progress=False)["errors"].values
        for case, row in zip(named, values, strict=True):
            abnormal[case.candidate] = None if math.isnan(row[0]) else not math.isnan(row[column])
    by_case = [[abnormal[copy.candidate] for copy in copies[case.key]] for case in cases]
    return [next((kind for kind in kinds if kind is not None), None) for kinds in by_case]


def _output(spec: str, models: str) -> tuple[Metric, int]:
    """Return a metric and the number of its output that a specification names, the headline if only a metric."""
    name, colon, settings = spec.partition(":")
    if name in metric_names() or "." in spec or " as " in spec:
        return load(spec, models=models), 0
    for candidate in sorted(metric_names(), key=lambda metric: not name.startswith(metric)):
        if name in describe_metric(candidate).columns:
            metric = load(f"{candidate}{colon}{settings}", models=models)
            return metric, metric.columns.index(name)
    return load(spec, models=models), 0  # says what there is


def _alternatives(entry: str | Sequence[str | None] | None) -> tuple[str, ...]:
    """Return the references of a study without missing ones."""
    entries = (entry,) if entry is None or isinstance(entry, str) else entry
    return tuple(text for text in entries if text is not None)


def _copies(references: References) -> list[Case]:
    """Return each distinct reference as a candidate beside itself."""
    texts = dict.fromkeys(text for entry in references for text in _alternatives(entry))
    return [Case(str(number), text, (text,)) for number, text in enumerate(texts)]


def _relative(values: list[float], how: Relative) -> list[float]:
    if how == "none" or not values:
        return values
    rewards = np.asarray(values)
    if how == "rank":
        below = (rewards[:, None] > rewards[None, :]).sum(axis=1)
        ties = (rewards[:, None] == rewards[None, :]).sum(axis=1) - 1
        ranks: list[float] = ((below + ties / 2) / max(len(values) - 1, 1)).tolist()
        return ranks
    if how not in ("mean", "standard"):
        raise UsageError(f"relative must be none, mean, standard or rank, got {how!r}")
    apart = rewards - rewards.mean()
    spread = float(rewards.std())
    if how == "standard":
        apart = apart / spread if spread else np.zeros_like(apart)
    centred: list[float] = apart.tolist()
    return centred
