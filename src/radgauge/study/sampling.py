"""Which studies raters see: at random, from strata, or with more of those on which metrics disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from radgauge.cases import Case
from radgauge.errors import InputError, UsageError
from radgauge.results import Results

ENRICHED, AT_RANDOM = "disagreement", "random"


@dataclass(frozen=True, slots=True)
class Sample:
    """Studies drawn.

    Attributes:
        studies: Ids, in random order.
        stratum: Id -> why it was drawn: the value of the column, "disagreement" or "random".
        of: How many there were of each stratum.
        notes: What a reader of the results should know.
    """

    studies: tuple[str, ...]
    stratum: Mapping[str, str]
    of: Mapping[str, int]
    notes: tuple[str, ...] = ()


def sample_studies(
    cases: Sequence[Case],
    *,
    rng: np.random.Generator,
    number: int | None = None,
    by: str | None = None,
    equal: bool = False,
    scores: Results | None = None,
    enrich: float = 0.5,
) -> Sample:
    """Draw studies.

    Args:
        cases: All of them, of all systems.
        rng: The source of chance.
        number: How many; None = all.
        by: A column: each of its values gets its share of the sample.
        equal: With `by`: as many of each value, not in proportion.
        scores: With these a part of the sample is taken from the studies on which the metrics disagree most.
        enrich: That part.
    """
    ids = list(dict.fromkeys(case.id for case in cases))
    wanted = len(ids) if number is None else number
    if not 1 <= wanted <= len(ids):
        raise UsageError(f"the sample must have 1 to {len(ids)} studies, got {wanted}")
    if by is not None and scores is not None:
        raise UsageError("draw by a column, or by disagreement of metrics; not both")
    if by is not None:
        return _stratified(cases, ids, wanted, by, equal, rng)
    if scores is not None:
        return _enriched(ids, wanted, scores, enrich, rng)
    drawn = [ids[at] for at in rng.permutation(len(ids))[:wanted]]
    return Sample(tuple(drawn), dict.fromkeys(drawn, AT_RANDOM), {AT_RANDOM: len(ids)})


def shares(sizes: Sequence[int], number: int, *, equal: bool = False) -> list[int]:
    """How many to draw of strata of these sizes: largest remainders, none more than there are.

    >>> shares([60, 30, 10], 10), shares([60, 30, 1], 9, equal=True)
    ([6, 3, 1], [4, 4, 1])
    """
    sizes_left = np.array(sizes, dtype=np.float64)
    found = np.zeros(len(sizes), dtype=np.intp)
    while found.sum() < number:
        room = sizes_left - found
        weight = np.where(room > 0, 1.0 if equal else sizes_left, 0.0)
        ideal = (number - found.sum()) * weight / weight.sum()
        more = np.minimum(np.floor(ideal), room).astype(np.intp)
        if not more.any():
            remainder = np.where(room > 0, ideal, -1.0)
            more[np.argsort(-remainder, kind="stable")[: int(number - found.sum())]] = 1
            more = np.minimum(more, room.astype(np.intp))
        found += more
    return [int(each) for each in found]


def _stratified(
    cases: Sequence[Case], ids: Sequence[str], wanted: int, by: str, equal: bool, rng: np.random.Generator
) -> Sample:
    value: dict[str, str] = {}
    for case in cases:
        said = case.meta.get(by, "").strip()
        if said and value.setdefault(case.id, said) != said:
            raise InputError(f"study {case.id!r} has two values in the column {by!r}; a stratum needs one")
    if not value:
        names = sorted({name for case in cases for name in case.meta})
        raise UsageError(f"no report has a column {by!r}; there are {', '.join(names) or 'no further columns'}")
    groups: dict[str, list[str]] = {}
    for study in ids:
        groups.setdefault(value.get(study, "(none)"), []).append(study)
    taken = shares([len(members) for members in groups.values()], wanted, equal=equal)
    stratum: dict[str, str] = {}
    for (name, members), number in zip(groups.items(), taken, strict=True):
        for at in rng.permutation(len(members))[:number]:
            stratum[members[at]] = name
    drawn = list(stratum)
    order = [drawn[at] for at in rng.permutation(len(drawn))]
    empty = [name for name, number in zip(groups, taken, strict=True) if not number]
    notes: tuple[str, ...] = (f"no study was drawn of {by} = {', '.join(empty)}",) if empty else ()
    if equal:
        notes += (
            f"strata of {by} are drawn equally, not in proportion: overall means do not speak for all studies",
        )
    return Sample(tuple(order), stratum, {name: len(members) for name, members in groups.items()}, notes)


def _enriched(ids: Sequence[str], wanted: int, scores: Results, enrich: float, rng: np.random.Generator) -> Sample:
    if not 0 < enrich <= 1:
        raise UsageError(f"the enriched part must be above 0 and at most 1, got {enrich:g}")
    found = disagreement(scores)
    known = [study for study in ids if study in found]
    if not known:
        raise InputError("the scores are of other studies: no id occurs in both files")
    many = min(round(wanted * enrich), len(known))
    # Chance decides between equals, and nothing else does.
    shuffled = [known[at] for at in rng.permutation(len(known))]
    top = sorted(shuffled, key=lambda study: -found[study])[:many]
    rest = [study for study in ids if study not in set(top)]
    others = [rest[at] for at in rng.permutation(len(rest))[: wanted - many]]
    drawn = [*top, *others]
    order = tuple(drawn[at] for at in rng.permutation(len(drawn)))
    stratum = {**dict.fromkeys(top, ENRICHED), **dict.fromkeys(others, AT_RANDOM)}
    notes = [
        f"{len(top)} of {wanted} studies were drawn because metrics disagree on them: agreement on this sample "
        "does not speak for all studies; the column stratum tells them apart"
    ]
    if len(known) < len(ids):
        notes.append(
            f"{len(ids) - len(known)} of {len(ids)} studies have no scores and could be drawn at random only"
        )
    return Sample(order, stratum, {ENRICHED: len(known), AT_RANDOM: len(ids)}, tuple(notes))


def disagreement(scores: Results) -> dict[str, float]:
    """Study -> how far metrics disagree on it: mean over its cases of the standard deviation of their ranks.

    Ranks are shares of the cases that a metric likes less, so metrics of all scales and directions count alike.
    """
    if len(scores) < 2:
        raise InputError(f"disagreement needs the scores of at least two metrics, got {len(scores)}")
    ranks = np.stack([_ranks(each.oriented(each.columns[0])) for each in scores.values()], axis=1)
    known = ~np.isnan(ranks)
    enough = known.sum(axis=1) >= 2
    spread = np.full(len(ranks), np.nan)
    spread[enough] = np.nanstd(ranks[enough], axis=1)
    by_study: dict[str, list[float]] = {}
    for (study, _), value in zip(scores.keys_of_cases, spread, strict=True):
        if not np.isnan(value):
            by_study.setdefault(study, []).append(float(value))
    return {study: float(np.mean(values)) for study, values in by_study.items()}


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    found[known] = (rankdata(values[known]) - 0.5) / max(known.sum(), 1)
    return found
