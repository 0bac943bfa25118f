"""Each system's mean on all reports, from the few that radiologists judged and a metric's scores on all of them.

The judged slice must have been drawn at random with known probabilities: those that `study new` keeps with every
case (the columns stratum and probability), or the same columns in a table of judgments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.io.judgments.judgments import Judgments
from radgauge.io.judgments.targets import default_targets, mean_of_present, raters_on, target_name
from radgauge.stats import association
from radgauge.stats.prediction_powered import (
    MIN_LABELS,
    LabelledStratum,
    PoweredMean,
    labels_for_width,
    powered_mean,
)

Array = NDArray[np.float64]
ByStudy = Mapping[str, float]
TESTED_FROM = 50
"""Labels from which coverage was measured (benchmarks/estimate_coverage.py)."""


@dataclass(frozen=True, slots=True)
class EstimateLine:
    """A system, or a difference of two."""

    name: str  # The system, or "a - b"
    estimate: PoweredMean  # The mean from labels and scores
    labels_alone: PoweredMean  # The mean from labels only
    tau: float  # Kendall's tau-b of the scores with the labels
    # About how many judged studies give the requested width; None = not asked, or not even all
    labels_needed: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Means of the target over all studies."""

    target: str  # What radiologists counted or rated
    column: str  # The scores that were used
    lines: tuple[EstimateLine, ...]  # One per system; with a baseline also the differences from it
    n_studies: int  # Studies with scores, from which the judged ones were drawn
    width: float | None  # The width that was asked for
    notes: tuple[str, ...]  # What a reader should know


def estimate_means(
    judgments: Judgments,
    scores: Results,
    *,
    target: str | None = None,
    column: str | None = None,
    simple_random: bool = False,
    baseline: str | None = None,
    width: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate each system's mean of a target by prediction-powered inference.

    Args:
        judgments: What radiologists said about the drawn studies.
        scores: Scores of all studies from which these were drawn.
        target: total, significant, rating or a category; None = the first that the judgments have.
        column: Output of a metric; None = the only metric's first.
        simple_random: The judged studies are a simple random draw of all with scores, although no column says so.
        baseline: A system from which the differences of the others are estimated too.
        width: Width of the interval for which the number of labels is computed.
        level: Coverage of the intervals.
    """
    target = target_name(target) if target else default_targets(judgments)[0]
    sign = 1.0 if target == "rating" else -1.0  # as counted: more is worse
    values = sign * mean_of_present(np.stack(list(raters_on(judgments, target).values()), axis=1))
    labels: dict[str, dict[str, float]] = {}
    for case, value in zip(judgments.cases, values, strict=True):
        labels.setdefault(case.system, {})[case.id] = float(value)
    judge, column = _judge(scores, column)
    frame = tuple(dict.fromkeys(study for study, _ in judge.keys))
    stratum_of, sizes = _strata(judgments, frame, simple_random)
    notes = [f"means of studies like the {len(frame)} with scores, as these raters would judge them"]
    predictions = {system: _predictions(judge, column, system, frame, notes) for system in labels}
    if baseline is not None and baseline not in labels:
        raise UsageError(f"the baseline must be one of {', '.join(labels)}, got {baseline!r}")

    def line(name: str, label_of: ByStudy, prediction_of: ByStudy) -> EstimateLine:
        strata = list(_labelled(name, label_of, prediction_of, stratum_of, sizes, notes))
        every = float(np.mean(list(prediction_of.values())))
        both = [study for study in label_of if not np.isnan(label_of[study])]
        tau = association(
            np.array([label_of[study] for study in both]),
            np.array([prediction_of[study] for study in both]),
            kind="kendall_b",
        )
        return EstimateLine(
            name,
            powered_mean(strata, frame_mean=every, level=level),
            powered_mean(strata, frame_mean=0.0, level=level, powered=False),
            float(tau),
            labels_for_width(strata, width=width, level=level) if width is not None else None,
        )

    lines = [line(system, labels[system], predictions[system]) for system in labels]
    for system in labels:
        if baseline is not None and system != baseline:
            other, other_predictions = labels[baseline], predictions[baseline]
            gap = {study: value - other.get(study, np.nan) for study, value in labels[system].items()}
            lines.append(
                line(
                    f"{system} - {baseline}",
                    gap,
                    {study: predictions[system][study] - other_predictions[study] for study in frame},
                )
            )
    if (fewest := min(row.estimate.n_labels for row in lines)) < TESTED_FROM:
        notes.append(f"{fewest} labels: the coverage of these intervals was measured from {TESTED_FROM} on")
    return Estimate(target, column, tuple(lines), len(frame), width, tuple(dict.fromkeys(notes)))


def _judge(scores: Results, column: str | None) -> tuple[Scores, str]:
    names = [name for judge in scores.judges.values() for name in judge.columns]
    if column is None and len(scores) == 1:
        column = names[0]
    judge = next((judge for judge in scores.judges.values() if column in judge.columns), None)
    if judge is None or column is None:
        raise UsageError(f"choose one column of the scores: {', '.join(names)}; got {column!r}")
    return judge, column


def _strata(
    judgments: Judgments, frame: Sequence[str], simple_random: bool
) -> tuple[dict[str, str], dict[str, int]]:
    """Study -> its stratum, and the number of studies of each stratum; refused without a random draw."""
    studies = {case.id: case.meta for case in judgments.cases}
    if strangers := sorted(studies.keys() - set(frame)):
        raise InputError(
            f"{len(strangers)} judged studies have no scores, first {strangers[0]!r}: score all reports from "
            "which the judged ones were drawn"
        )
    if simple_random:
        return dict.fromkeys(studies, "random"), {"random": len(frame)}
    drawn: dict[str, list[float]] = {}
    for study, meta in studies.items():
        try:
            probability = float(meta.get("probability", "nan"))
        except ValueError:
            probability = float("nan")
        if not 0 < probability <= 1:
            raise InputError(
                f"study {study!r} has no probability of having been drawn: from a slice that was not drawn at "
                "random nothing follows for the others. `study new` draws and keeps probabilities; a table of "
                "judgments can have the columns probability and stratum; --simple-random states a simple "
                "random draw"
            )
        drawn.setdefault(meta.get("stratum", "random"), []).append(probability)
    sizes = {}
    for name, probabilities in drawn.items():
        if len(set(probabilities)) > 1:
            raise InputError(f"stratum {name!r} has several probabilities; each stratum is drawn with one")
        sizes[name] = round(len(probabilities) / probabilities[0])
    if sum(sizes.values()) != len(frame):
        raise InputError(
            f"the drawn studies and their probabilities stand for {sum(sizes.values())} studies, and the "
            f"scores have {len(frame)}: give the scores of all reports that were drawn from, the study with all "
            "its drawn cases, and no stratum of which none was drawn"
        )
    return {study: meta.get("stratum", "random") for study, meta in studies.items()}, sizes


def _predictions(judge: Scores, column: str, system: str, frame: Sequence[str], notes: list[str]) -> ByStudy:
    """Study -> score of the system; a score that is missing becomes the mean, for judged and others alike."""
    own = {
        study: value
        for (study, name), value in zip(judge.keys, judge.column(column), strict=True)
        if name == system
    }
    if absent := [study for study in frame if study not in own]:
        raise InputError(
            f"system {system!r} has scores on {len(own)} of {len(frame)} studies, not on {absent[0]!r}: the "
            "estimate needs them on all"
        )
    values = np.array([own[study] for study in frame])
    scored = ~np.isnan(values)
    if not scored.any():
        raise InputError(f"system {system!r} has no value of {column!r}")
    if not scored.all():
        notes.append(f"{system}: {int((~scored).sum())} studies without a score count with the mean score")
    values[~scored] = values[scored].mean()
    return dict(zip(frame, values.tolist(), strict=True))


def _labelled(
    name: str,
    label_of: ByStudy,
    prediction_of: ByStudy,
    stratum_of: Mapping[str, str],
    sizes: Mapping[str, int],
    notes: list[str],
) -> Iterator[LabelledStratum]:
    unread = sum(np.isnan(value) for value in label_of.values()) + len(stratum_of.keys() - label_of.keys())
    if unread:
        notes.append(
            f"{name}: {unread} of {len(stratum_of)} drawn studies have no judgment and are taken to be like the "
            "others"
        )
    for stratum, size in sizes.items():
        judged = [s for s, value in label_of.items() if stratum_of[s] == stratum and not np.isnan(value)]
        if len(judged) < MIN_LABELS:
            raise InputError(
                f"{name}: stratum {stratum!r} has {len(judged)} judged studies; an interval needs {MIN_LABELS}"
            )
        yield LabelledStratum(
            size,
            np.array([label_of[study] for study in judged]),
            np.array([prediction_of[study] for study in judged]),
        )
