"""Sampling of studies for raters: at random, or from strata by a column of the reports or of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results

DISAGREEMENT, AT_RANDOM, NO_VALUE = "disagreement", "random", "(none)"
TOP_SHARES = (0.1, 0.4)
"""Strata of a score: its worst tenth, the next three tenths, and the rest."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Studies that are drawn with one probability: how many there are, and how many were drawn."""

    studies: int
    drawn: int

    @property
    def probability(self) -> float:
        """Probability of each study to be drawn."""
        return self.drawn / self.studies


@dataclass(frozen=True, slots=True)
class Sample:
    """Studies drawn."""

    studies: tuple[str, ...]  # Ids, in random order
    stratum: Mapping[str, str]  # Id -> its stratum: the value of the column, a range of the score, or "random"
    strata: Mapping[str, Stratum]
    notes: tuple[str, ...] = ()  # What a reader of the results should know


def sample_studies(
    cases: Sequence[Case],
    *,
    rng: np.random.Generator,
    number: int | None = None,
    by: str | None = None,
    equal: bool = False,
    scores: Results | None = None,
    before: Results | None = None,
) -> Sample:
    """Draw studies.

    Args:
        cases: All of them, of all systems.
        rng: The source of chance.
        number: How many; None = all.
        by: A column of the reports, each value a stratum; with `scores` one of their columns, or "disagreement".
        equal: As many of each stratum, not in proportion.
        scores: Scores of the cases: a study counts as its worst candidate.
        before: Scores of an earlier release: `by` is then how much worse a study has become.
    """
    ids = list(dict.fromkeys(case.id for case in cases))
    requested = len(ids) if number is None else number
    if not 1 <= requested <= len(ids):
        raise UsageError(f"the sample must have 1 to {len(ids)} studies, got {requested}")
    if scores is None and before is not None:
        raise UsageError("scores of an earlier release need those of this one")
    if scores is not None:
        stratum_of = _score_strata(ids, scores, before, by or DISAGREEMENT)
    elif by is not None:
        stratum_of = _column_strata(cases, by)
    else:
        stratum_of = dict.fromkeys(ids, AT_RANDOM)
    return _drawn(ids, stratum_of, requested, equal, rng)


def shares(sizes: Sequence[int], number: int, *, equal: bool = False) -> list[int]:
    """Number to draw of strata of these sizes: largest remainders, none more than there are.

    >>> shares([60, 30, 10], 10), shares([60, 30, 1], 9, equal=True)
    ([6, 3, 1], [4, 4, 1])
    """
    sizes_left = np.array(sizes, dtype=np.float64)
    drawn = np.zeros(len(sizes), dtype=np.intp)
    while drawn.sum() < number:
        room = sizes_left - drawn
        weight = np.where(room > 0, 1.0 if equal else sizes_left, 0.0)
        ideal = (number - drawn.sum()) * weight / weight.sum()
        more = np.minimum(np.floor(ideal), room).astype(np.intp)
        if not more.any():
            remainder = np.where(room > 0, ideal, -1.0)
            more[np.argsort(-remainder, kind="stable")[: int(number - drawn.sum())]] = 1
            more = np.minimum(more, room.astype(np.intp))
        drawn += more
    return [int(count) for count in drawn]


def _drawn(
    ids: Sequence[str], stratum_of: Mapping[str, str], number: int, equal: bool, rng: np.random.Generator
) -> Sample:
    groups: dict[str, list[str]] = {}
    for study in ids:
        groups.setdefault(stratum_of.get(study, NO_VALUE), []).append(study)
    counts = shares([len(members) for members in groups.values()], number, equal=equal)
    stratum: dict[str, str] = {}
    for (name, members), count in zip(groups.items(), counts, strict=True):
        for position in rng.permutation(len(members))[:count]:
            stratum[members[position]] = name
    drawn = list(stratum)
    if len(groups) > 1:
        drawn = [drawn[position] for position in rng.permutation(len(drawn))]
    strata = {
        name: Stratum(len(members), count) for (name, members), count in zip(groups.items(), counts, strict=True)
    }
    notes = []
    if empty := [name for name, part in strata.items() if not part.drawn]:
        notes.append(f"no study was drawn of {', '.join(empty)}: the sample does not speak for all studies")
    if len({part.probability for part in strata.values() if part.drawn}) > 1 and equal:
        notes.append(
            "strata are drawn equally, not in proportion: plain means do not speak for all studies; "
            "`study estimate` weighs by the column probability"
        )
    return Sample(tuple(drawn), stratum, strata, tuple(notes))


def _column_strata(cases: Sequence[Case], by: str) -> dict[str, str]:
    value: dict[str, str] = {}
    for case in cases:
        text = case.meta.get(by, "").strip()
        if text and value.setdefault(case.id, text) != text:
            raise InputError(f"study {case.id!r} has two values in the column {by!r}; a stratum needs one")
    if not value:
        names = sorted({name for case in cases for name in case.meta})
        raise UsageError(f"no report has a column {by!r}; there are {', '.join(names) or 'no further columns'}")
    return value


def _score_strata(ids: Sequence[str], scores: Results, before: Results | None, by: str) -> dict[str, str]:
    """Study -> its stratum: the worst tenth of the score, the next three tenths, the rest."""
    name = by
    if before is not None:
        earlier, now = study_values(before, by), study_values(scores, by)
        value = {study: now[study] - earlier[study] for study in now if study in earlier}
        name = f"more {by}"
    else:
        value = study_values(scores, by)
    scored = [study for study in ids if study in value]
    if not scored:
        raise InputError("the scores are of other studies: no id occurs in both files")
    values = np.array([value[study] for study in scored])
    # A bound lies between two values, so that equals are never in two strata.
    bounds = [np.sort(values)[::-1][max(round(share * len(values)) - 1, 0)] for share in TOP_SHARES]
    part = np.sum([values < bound for bound in bounds], axis=0)
    titles = (f"{name}: worst", f"{name}: middle", f"{name}: rest")
    return {study: titles[int(number)] for study, number in zip(scored, part, strict=True)}


def study_values(scores: Results, column: str) -> dict[str, float]:
    """Study -> the score of its worst candidate, larger is worse; "disagreement" is that of the metrics."""
    if column == DISAGREEMENT:
        return disagreement(scores)
    judge = next((judge for judge in scores.judges.values() if column in judge.columns), None)
    if judge is None:
        names = [name for judge in scores.judges.values() for name in judge.columns]
        raise UsageError(f"the scores have no column {column!r}; they have {', '.join(names)} and {DISAGREEMENT}")
    worst: dict[str, float] = {}
    for (study, _), value in zip(judge.keys, -judge.oriented(column), strict=True):
        if not np.isnan(value):
            worst[study] = max(float(value), worst.get(study, -np.inf))
    return worst


def disagreement(scores: Results) -> dict[str, float]:
    """Study -> how far metrics disagree on it: mean over its cases of the standard deviation of their ranks.

    Ranks are shares of the cases that a metric likes less, so metrics of all scales and directions count alike.
    """
    if len(scores) < 2:
        raise InputError(f"disagreement needs the scores of at least two metrics, got {len(scores)}")
    ranks = np.stack([_ranks(judge.oriented(judge.columns[0])) for judge in scores.judges.values()], axis=1)
    scored = ~np.isnan(ranks)
    enough = scored.sum(axis=1) >= 2
    spread = np.full(len(ranks), np.nan)
    spread[enough] = np.nanstd(ranks[enough], axis=1)
    by_study: dict[str, list[float]] = {}
    for (study, _), value in zip(scores.keys_of_cases, spread, strict=True):
        if not np.isnan(value):
            by_study.setdefault(study, []).append(float(value))
    return {study: float(np.mean(values)) for study, values in by_study.items()}


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = np.full(len(values), np.nan)
    scored = ~np.isnan(values)
    ranks[scored] = (rankdata(values[scored]) - 0.5) / max(scored.sum(), 1)
    return ranks
