"""Do metrics agree better with people on lay text? Correlations with sentence-match proportions (table 3).

Zhao et al., Layman's RRG (2024), section 3.6: annotators give, for every generated report, the proportion of its
sentences that mean the same as a sentence of the reference. Metrics on raw and on replaced text are correlated
with the mean annotator; annotators with one another by Cohen's kappa.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from radgauge.core.cases import Case, Key
from radgauge.core.choices import Kind
from radgauge.core.errors import InputError, UsageError
from radgauge.core.progress import working
from radgauge.core.readings import Readings
from radgauge.core.registry import load
from radgauge.io.judgments import Judgments
from radgauge.lay.metrics.layman import Layman
from radgauge.run.score import score
from radgauge.stats import (
    Agreement,
    Correlation,
    CorrelationDifference,
    cohen_kappa,
    correlation_difference,
    correlation_table,
)
from radgauge.stats.resampling import USUAL, Resampling

Array = NDArray[np.float64]
KINDS: tuple[Kind, Kind] = ("pearson", "spearman")
LEAST = 3  # cases that a correlation needs


@dataclass(frozen=True, slots=True)
class LayLine:
    """One output's correlation with people, on raw and on lay text.

    Attributes:
        column: The output.
        kind: pearson or spearman.
        raw: On the reports as they are; positive = agreement.
        lay: On the reports with every sentence replaced.
        gain: Lay less raw, on the same draws of studies.
        not_judged: Cases that the metric could not judge, raw or lay.
    """

    column: str
    kind: Kind
    raw: Correlation
    lay: Correlation
    gain: CorrelationDifference
    not_judged: int


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two annotators: Cohen's kappa of binned proportions, plain and weighted by the distance of the bins."""

    first: str
    second: str
    kappa: Agreement
    weighted: Agreement


@dataclass(frozen=True, slots=True)
class LayAgreement:
    """Table 3 and the annotators' own agreement.

    Attributes:
        lines: One per output and kind of correlation.
        pairs: Every two annotators.
        bins: Number of equal bins of the proportions for kappa.
        raters: Annotators.
        cases: Rated cases.
        signatures: Settings, models and versions behind the numbers.
        notes: What a reader of the numbers should know.
    """

    lines: tuple[LayLine, ...]
    pairs: tuple[RaterPair, ...]
    bins: int
    raters: tuple[str, ...]
    cases: int
    signatures: tuple[str, ...]
    notes: tuple[str, ...]

    def mean_kappa(self, *, weighted: bool = False) -> float:
        """Mean over the pairs of annotators, as the paper prints it; NaN with fewer than two annotators."""
        values = [(pair.weighted if weighted else pair.kappa).value for pair in self.pairs]
        return float(np.mean(values)) if values else float("nan")


@working("correlating with raters")
def lay_agreement(
    judgments: Judgments,
    metrics: Sequence[str] = ("bleu", "rouge"),
    *,
    cases: Sequence[Case] | None = None,
    layman: Layman | None = None,
    scale: float = 1.0,
    bins: int = 5,
    models: str = "embedded",
    reading: Readings | None = None,
    resampling: Resampling = USUAL,
) -> LayAgreement:
    """Correlate metrics on raw and lay text, and lay semantics, with the mean annotator's proportion.

    Args:
        judgments: Ratings of one annotator or more (`radgauge.io.judgments.read_judgments`).
        metrics: Registry names beside lay semantics.
        cases: The texts, if the judgments have none; joined by (id, system), or by id where each side has one
            system only.
        layman: Settings of lay replacement.
        scale: What the ratings call everything matched: 1, or 100 for percent.
        bins: Equal bins of the proportions for kappa.
        models: Model profile of the metrics.
        reading: Shared readings.
        resampling: Coverage, resamples and seed of the intervals; studies are drawn.
    """
    if bins < 2:
        raise UsageError(f"bins must be 2 or more, got {bins}")
    if not scale > 0:
        raise UsageError(f"scale must be above 0, got {scale:g}")
    if not judgments.ratings:
        raise InputError(f"{judgments.name}: there is no rating; a table of judgments needs the column rating")
    rated = _with_texts(judgments, cases)
    proportions = _proportions(judgments, scale)
    goal = _mean(proportions)
    shared = reading if reading is not None else Readings()
    replacing = layman or Layman()
    studies = [case.id for case in rated]
    raw, lay, missing = _values(rated, metrics, replacing, models=models, reading=shared)
    lines = []
    for kind in KINDS:
        both = [
            correlation_table(
                np.stack(list(values.values()), axis=1),
                goal[:, None],
                kind=kind,
                studies=studies,
                **resampling.draw(),
            )
            for values in (raw, lay)
        ]
        for place, column in enumerate(raw):
            gain = correlation_difference(
                lay[column],
                raw[column],
                target=goal,
                kind=kind,
                studies=studies,
                **resampling.draw(),
            )
            before, after = (each[place][0] for each in both)
            lines.append(LayLine(column, kind, before, after, gain, missing[column]))
    notes = list(judgments.notes)
    if len(judgments.ratings) < 2:
        notes.append("one annotator: there is no agreement among annotators to show")
    return LayAgreement(
        tuple(sorted(lines, key=lambda line: list(raw).index(line.column))),
        _pairs(proportions, studies, bins=bins, resampling=resampling),
        bins,
        tuple(judgments.ratings),
        len(rated),
        (replacing.signature(), *(load(name, models=models).signature() for name in metrics)),
        tuple(notes),
    )


def _with_texts(judgments: Judgments, cases: Sequence[Case] | None) -> tuple[Case, ...]:
    """The rated cases with their texts, in the order of the judgments."""
    rated = judgments.cases
    if cases is not None:
        systems = {case.system for case in cases}, {case.system for case in rated}
        by_id = len(systems[0]) == len(systems[1]) == 1
        texts: dict[Key, Case] = {(case.id, "" if by_id else case.system): case for case in cases}
        keys = [(case.id, "" if by_id else case.system) for case in rated]
        absent = [key for key in keys if key not in texts]
        if absent:
            named = absent[0][0] if by_id else absent[0]
            raise InputError(
                f"{len(absent)} of {len(keys)} rated reports are not among the reports given, first: {named!r}; "
                "ids (and systems, if there are several) must be spelled alike in both files"
            )
        rated = tuple(
            replace(case, candidate=texts[key].candidate, references=texts[key].references)
            for case, key in zip(rated, keys, strict=True)
        )
    bare = [case.key for case in rated if not case.references]
    if bare:
        raise InputError(
            f"{len(bare)} of {len(rated)} rated reports have no reference text, first: {bare[0]}; put the texts "
            "in the columns reference and candidate of the ratings, or give a file of reports"
        )
    if len(rated) < LEAST:
        raise InputError(f"correlations need {LEAST} rated reports or more, got {len(rated)}")
    return rated


def _proportions(judgments: Judgments, scale: float) -> dict[str, Array]:
    found = {rater: scores.headline / scale for rater, scores in judgments.ratings.items()}
    for rater, values in found.items():
        wrong = np.flatnonzero((values < 0) | (values > 1))
        if len(wrong):
            raise InputError(
                f"a rating must be a proportion from 0 to {scale:g}; rater {rater!r} gives "
                f"{values[wrong[0]] * scale:g} to {judgments.cases[wrong[0]].key}; set the scale to what stands "
                "for everything matched (100 for percent)"
            )
    return found


def _mean(proportions: dict[str, Array]) -> Array:
    table = np.stack(list(proportions.values()), axis=1)
    known = ~np.isnan(table)
    mean = np.full(len(table), np.nan)
    np.divide(np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1), out=mean, where=known.any(axis=1))
    return mean


def _values(
    cases: tuple[Case, ...], metrics: Sequence[str], layman: Layman, *, models: str, reading: Readings
) -> tuple[dict[str, Array], dict[str, Array], dict[str, int]]:
    """Every output turned so that larger is better, raw and lay, and how many cases were not judged."""
    semantics = score(cases, [layman], reading=reading)["layman"]
    lay_text = layman.replaced(cases, reading=reading).lay_text
    spoken = [
        replace(case, candidate=lay_text(case.candidate), references=tuple(map(lay_text, case.references)))
        for case in cases
    ]
    raw: dict[str, Array] = {}
    lay: dict[str, Array] = {}
    if metrics:
        before, after = (score(each, list(metrics), reading=reading, models=models) for each in (cases, spoken))
        for name, scores in before.judges.items():
            for column in scores.columns:
                raw[column], lay[column] = scores.oriented(column), after[name].oriented(column)
    headline, unreplaced = semantics.columns[0], semantics.columns[3]
    raw[headline], lay[headline] = semantics.column(unreplaced), semantics.column(headline)
    return raw, lay, {name: int((np.isnan(raw[name]) | np.isnan(lay[name])).sum()) for name in raw}


def _pairs(
    proportions: dict[str, Array], studies: Sequence[str], *, bins: int, resampling: Resampling
) -> tuple[RaterPair, ...]:
    binned = {
        rater: np.where(np.isnan(values), np.nan, np.minimum(np.floor(values * bins + 1e-9), bins - 1))
        for rater, values in proportions.items()
    }
    found = []
    for first, second in itertools.combinations(binned, 2):
        plain, weighted = (
            cohen_kappa(
                binned[first],
                binned[second],
                weights=weights,
                studies=studies,
                **resampling.draw(),
            )
            for weights in ("none", "linear")
        )
        found.append(RaterPair(first, second, plain, weighted))
    return tuple(found)
