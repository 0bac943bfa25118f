"""What a generator learned: score ranges of its sentences, growth with training data, and collapse (figure 2).

Zhao et al., Layman's RRG (2024), section 3.5 and appendix A.10: the cosine of every generated sentence with the
sentences of its reference, counted in ranges; the share at or above 0.8 against the size of the training set; and
the mean pairwise similarity of generated reports, which is high when a model writes the same report for everyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radgauge.analysis.collapse import MARGIN, distinct_texts, pairwise
from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.encoders.text.encoders import Encoder
from radgauge.lay.encoder import FindingEncoder
from radgauge.stats import Interval
from radgauge.stats.resample import draw_weights, percentile_bounds
from radgauge.stats.resampling import USUAL, Resampling
from radgauge.text.sentences import sentences_of

Array = NDArray[np.float64]
RANGES = np.round(np.linspace(0.0, 1.0, 11), 1)


class Size(NamedTuple):
    """How much a system was trained on, and which curve it belongs to."""

    number: float
    series: str = ""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One system.

    Attributes:
        system: Its name.
        size: Training examples; None if not given.
        reports: Judged reports.
        not_judged: Reports without a sentence on either side.
        sentences: Generated sentences (with `every_pair`, pairs of sentences).
        ranges: Share of them in each range of `RANGES`; below 0 counts as 0.
        above: Share at or above the threshold, with an interval that draws studies.
        reports_above: Share of generated reports with a cosine to their reference above the threshold (table 7).
        pairwise: Mean cosine of two generated reports.
        variance: Variance of these cosines.
        pairwise_references: The same mean for the references.
        excess: Generated less references, on the same draws.
        distinct: Share of generated reports that differ from all before them.
        distinct_references: The same for the references.
        collapsed: Whether the excess is above `MARGIN` and its interval above 0.
    """

    system: str
    size: Size | None
    reports: int
    not_judged: int
    sentences: int
    ranges: tuple[float, ...]
    above: Interval
    reports_above: Interval
    pairwise: Interval
    variance: float
    pairwise_references: float
    excess: Interval
    distinct: float
    distinct_references: float
    collapsed: bool


@working("comparing training runs")
def training_runs(
    cases: Sequence[Case],
    *,
    sizes: Mapping[str, Size] | None = None,
    encoder: Encoder | None = None,
    threshold: float = 0.8,
    every_pair: bool = False,
    reading: Readings | None = None,
    resampling: Resampling = USUAL,
) -> tuple[TrainingRun, ...]:
    """Figure 2 for any set of systems, by series and training size.

    Args:
        cases: Generated reports with their references; raw or lay text, it is not replaced.
        sizes: Training size of each system; a system may be left out if none is given.
        encoder: Sentences and reports to vectors; by default the embedded one.
        threshold: Cosine from which a sentence reflects the reference.
        every_pair: Count every pair of a generated and a reference sentence instead of the closest of each
            generated sentence.
        reading: Shared readings.
        resampling: Coverage, resamples and seed of the intervals; 0 resamples give none.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"threshold must be above 0 and at most 1, got {threshold:g}")
    systems = list(dict.fromkeys(case.system for case in cases))
    given = dict(sizes or {})
    strange = [name for name in given if name not in systems]
    if strange:
        raise InputError(
            f"a size is given for {strange[0]!r}, which is not among the systems: {', '.join(systems)}"
        )
    if given and (without := [name for name in systems if name not in given]):
        raise InputError(f"system {without[0]!r} has no training size; give one to every system or to none")
    chosen = encoder or FindingEncoder()
    shared = reading if reading is not None else Readings()
    runs = [
        _run(
            [case for case in cases if case.system == system],
            given.get(system),
            chosen,
            shared,
            threshold=threshold,
            every_pair=every_pair,
            resampling=resampling,
        )
        for system in systems
    ]
    return tuple(sorted(runs, key=lambda run: (run.size.series, run.size.number) if run.size else ("", 0.0)))


def share_differences(
    cases: Sequence[Case],
    pairs: Sequence[tuple[str, str]],
    *,
    encoder: Encoder | None = None,
    threshold: float = 0.8,
    reading: Readings | None = None,
    resampling: Resampling = USUAL,
) -> tuple[Interval, ...]:
    """Share of sentences at or above the threshold of one system less that of another, with intervals.

    The studies that both systems have a judged report of are drawn together, so that what is difficult about a
    study counts for both; the two may have references of their own (professional and lay).

    Args:
        cases: As for `training_runs`.
        pairs: Names of two systems: the second is subtracted from the first.
        encoder: As for `training_runs`.
        threshold: As for `training_runs`.
        reading: Shared readings.
        resampling: Coverage, resamples and seed of the intervals; 0 resamples give none.

    Raises:
        InputError: A system is not among the cases, or two have no study in common.
    """
    chosen, shared = encoder or FindingEncoder(), reading if reading is not None else Readings()
    counts: dict[str, dict[str, tuple[float, float]]] = {}
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        counts[name] = _counts(cases, name, chosen, shared, threshold=threshold)
    found = []
    for one, other in pairs:
        common = [study for study in counts[one] if study in counts[other]]
        if not common:
            raise InputError(f"{one!r} and {other!r} have no judged study in common")
        rows = np.array([(*counts[one][study], *counts[other][study]) for study in common])
        drawn = [
            _difference(weights @ rows)
            for weights in draw_weights(len(common), resamples=resampling.resamples, rng=resampling.rng())
        ]
        replicates = np.concatenate(drawn) if drawn else np.full(1, np.nan)
        low, high = percentile_bounds(replicates[:, None], level=resampling.level)[:, 0]
        value = float(_difference(rows.sum(axis=0, keepdims=True))[0])
        missing = len(counts[one].keys() | counts[other].keys()) - len(common)
        found.append(
            Interval(value, float(low), float(high), resampling.level, "percentile", len(common), missing)
        )
    return tuple(found)


def _counts(
    cases: Sequence[Case], system: str, encoder: Encoder, reading: Readings, *, threshold: float
) -> dict[str, tuple[float, float]]:
    """Study -> sentences at or above the threshold, and all sentences, of the reports that can be judged."""
    mine = [case for case in cases if case.system == system]
    if not mine:
        raise InputError(f"no report of {system!r} is among the cases")
    split = {text: sentences_of(text) for case in mine for text in (case.candidate, *case.references)}
    found = {}
    for case in mine:
        if split[case.candidate] and any(map(split.get, case.references)):
            closest = _cosines(case, split, encoder, reading, every_pair=False)
            found[case.id] = (float((closest >= threshold).sum()), float(len(closest)))
    return found


def _difference(totals: Array) -> Array:
    return np.asarray(totals[:, 0] / totals[:, 1] - totals[:, 2] / totals[:, 3])


def _run(
    cases: Sequence[Case],
    size: Size | None,
    encoder: Encoder,
    reading: Readings,
    *,
    threshold: float,
    every_pair: bool,
    resampling: Resampling,
) -> TrainingRun:
    split = {text: sentences_of(text) for case in cases for text in (case.candidate, *case.references)}
    judged = [case for case in cases if split[case.candidate] and any(map(split.get, case.references))]
    name = cases[0].system
    if len(judged) < 2:
        raise InputError(f"system {name!r}: two reports with sentences and references or more are needed")
    closeness = [_cosines(case, split, encoder, reading, every_pair=every_pair) for case in judged]
    everything = np.concatenate(closeness)
    counts = np.histogram(np.clip(everything, 0.0, 1.0), RANGES)[0]
    hits = np.array([[float((each >= threshold).sum()), float(len(each))] for each in closeness])
    ours = _vectors([case.candidate for case in judged], encoder, reading)
    theirs = _vectors([next(t for t in case.references if split[t]) for case in judged], encoder, reading)
    near = (np.einsum("ij,ij->i", ours, theirs).round(5) > threshold).astype(np.float64)
    drawn, drawn_reports, alike, excess = [], [], [], []
    for weights in draw_weights(len(judged), resamples=resampling.resamples, rng=resampling.rng()):
        totals = weights @ hits
        drawn.append(totals[:, 0] / totals[:, 1])
        drawn_reports.append(weights @ near / weights.sum(axis=1))
        own, others = pairwise(ours, weights), pairwise(theirs, weights)
        alike.append(own)
        excess.append(own - others)
    whole = np.ones((1, len(judged)))
    mine, reference = float(pairwise(ours, whole)[0]), float(pairwise(theirs, whole)[0])
    missing = len(cases) - len(judged)

    def between(value: float, replicates: list[Array]) -> Interval:
        known = np.concatenate(replicates) if replicates else np.full(1, np.nan)
        low, high = percentile_bounds(known[:, None], level=resampling.level)[:, 0]
        return Interval(value, float(low), float(high), resampling.level, "percentile", len(judged), missing)

    apart = between(mine - reference, excess)
    return TrainingRun(
        system=name,
        size=size,
        reports=len(judged),
        not_judged=missing,
        sentences=len(everything),
        ranges=tuple((counts / len(everything)).tolist()),
        above=between(float(hits[:, 0].sum() / hits[:, 1].sum()), drawn),
        reports_above=between(float(near.mean()), drawn_reports),
        pairwise=between(mine, alike),
        variance=_pairwise_variance(ours, mine),
        pairwise_references=reference,
        excess=apart,
        distinct=distinct_texts([case.candidate for case in judged]) / len(judged),
        distinct_references=distinct_texts([case.references[0] for case in judged]) / len(judged),
        collapsed=bool(apart.value > MARGIN and apart.low > 0),
    )


def _cosines(
    case: Case, split: Mapping[str, tuple[str, ...]], encoder: Encoder, reading: Readings, *, every_pair: bool
) -> Array:
    """Of each generated sentence the closest cosine, or all of them; of several references the best."""
    own = np.stack(reading.of(encoder, split[case.candidate]))
    found = []
    for text in case.references:
        if split[text]:
            # rounded: a copy's cosine is 1 up to the last bits, and so is a threshold met exactly
            cosines = (own @ np.stack(reading.of(encoder, split[text])).T).round(5).astype(np.float64)
            found.append(cosines.ravel() if every_pair else cosines.max(axis=1))
    return max(found, key=lambda each: float(each.mean()))


def _vectors(texts: Sequence[str], encoder: Encoder, reading: Readings) -> Array:
    return np.stack(reading.of(encoder, texts)).astype(np.float64)


def _pairwise_variance(vectors: Array, mean: float) -> float:
    """Variance of the products of two different rows, by way of a small matrix."""
    number = len(vectors)
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    squares = float((vectors.T @ vectors).ravel() @ (vectors.T @ vectors).ravel() - (lengths**2).sum())
    return max(0.0, squares / (number * (number - 1)) - mean**2)
