"""For the organiser: how far everyone is, how well they agree, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from radgauge.stats import Agreement, Interval, cohen_kappa, icc, krippendorff_alpha
from radgauge.study.answers import answer_tables, submitted
from radgauge.study.store import Store


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of one person; training cases are not counted."""

    person: str  # Id
    name: str
    role: str  # rater or adjudicator
    assigned: int  # Cases
    started: int  # Cases with an answer or a reason, submitted ones included
    submitted: int  # Cases that are done
    cannot_judge: int  # Cases, or candidates of them, that the person could not judge
    trained: bool  # True if all training cases are submitted
    practice: tuple[int, int]  # Answers as expected in the submitted training cases, and how many were expected
    seconds: float  # Time in front of cases
    median_seconds: float  # Of the submitted cases; NaN without any
    last: str  # Time of the last event, "" if none


@dataclass(frozen=True, slots=True)
class Agreeing:
    """Agreement of raters on one question so far, over candidates that at least two of them have submitted."""

    question: str  # Field, or "errors: total", "errors: significant"
    nominal: bool  # True if answers are names and not numbers
    cases: int  # Candidates (or cases, for what is asked per case) with two or more answers
    # ICC(2,1), absolute agreement of single raters; None for names and where no case has all raters
    icc: Agreement | None
    alpha: Agreement  # Krippendorff's alpha: interval scale for numbers, nominal for names
    kappa: float  # Mean of Cohen's kappa over pairs (quadratic weights for numbers); NaN without a pair
    pairs: Mapping[tuple[str, str], Agreement]  # (rater, rater) -> kappa of the two
    same: Mapping[tuple[str, str], float]  # (rater, rater) -> share of equal answers


@dataclass(frozen=True, slots=True)
class AssistanceEffect:
    """Answers with radgauge's suggestions in view, and without."""

    question: str  # As in `Agreeing.question`, or "seconds"
    assisted: float  # Mean with suggestions
    alone: float  # Mean without
    difference: Interval  # Mean over raters of their own differences; the interval draws each rater's answers anew
    judged: tuple[int, int]  # Answers with and without


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A candidate on which raters are far apart: what each said, its range, and names if numbers stand for any."""

    case: str
    study: str
    system: str
    question: str
    answers: Mapping[str, float]
    spread: float
    names: tuple[str, ...] = ()


def progress(store: Store) -> tuple[Progress, ...]:
    """Progress of raters and adjudicators."""
    last: dict[str, str] = {}
    for event in store.events():
        last[event.person] = event.time
    rows = []
    for person in store.people():
        if person.role == "organiser":
            continue
        assigned = store.places(person.id)
        real = [item for item in assigned if not item.training]
        submitted = [item for item in real if item.submitted]
        unable = sum(bool(store.state(person.id, item.key).cannot_judge) for item in real if item.started)
        times = [item.seconds for item in submitted]
        practised = [item for item in assigned if item.training and item.submitted]
        feedback = [part for item in practised if (part := store.case(person.id, item.key).feedback) is not None]
        rows.append(
            Progress(
                person.id,
                person.name,
                person.role,
                len(real),
                sum(item.started or item.submitted for item in real),
                len(submitted),
                unable,
                all(item.submitted for item in assigned if item.training),
                (sum(part["right"] for part in feedback), sum(part["of"] for part in feedback)),
                sum(item.seconds for item in real),
                float(np.median(times)) if times else float("nan"),
                last.get(person.id, ""),
            )
        )
    return tuple(rows)


def agreement_so_far(store: Store, *, resamples: int = 200, seed: int = 0) -> tuple[Agreeing, ...]:
    """Agreement of raters on every question with numbers or names, from submitted cases."""
    agreements = []
    for table in answer_tables(store):
        values = table.values
        several = (~np.isnan(values)).sum(axis=1) >= 2
        if not several.any():
            continue
        values = values[several]
        studies = [key[0] for key, keep in zip(table.keys, several, strict=True) if keep]
        alpha = krippendorff_alpha(
            values,
            rng=np.random.default_rng(seed),
            scale="nominal" if table.nominal else "interval",
            studies=studies,
            resamples=resamples,
        )
        complete = not table.nominal and int((~np.isnan(values).any(axis=1)).sum()) >= 2
        pairs, same = {}, {}
        for (first, one), (second, two) in combinations(zip(table.raters, values.T, strict=True), 2):
            both = ~np.isnan(one) & ~np.isnan(two)
            if not both.any():
                continue
            pairs[(first, second)] = cohen_kappa(
                one,
                two,
                rng=np.random.default_rng(seed),
                weights="none" if table.nominal else "quadratic",
                studies=studies,
                resamples=resamples,
            )
            same[(first, second)] = float((one[both] == two[both]).mean())
        kappas = [kappa.value for kappa in pairs.values() if not np.isnan(kappa.value)]
        agreements.append(
            Agreeing(
                table.question,
                table.nominal,
                len(values),
                icc(values) if complete else None,
                alpha,
                float(np.mean(kappas)) if kappas else float("nan"),
                pairs,
                same,
            )
        )
    return tuple(agreements)


def disagreements(store: Store, *, question: str | None = None, max_items: int = 20) -> tuple[Disagreement, ...]:
    """The candidates on which raters are furthest apart, worst first.

    Args:
        store: The study.
        question: As in `Agreeing.question`; None = the first that the design has.
        most: How many.
    """
    tables = [table for table in answer_tables(store) if question in (None, table.question)]
    if not tables:
        return ()
    table = tables[0]
    rows = []
    for key, case, row in zip(table.keys, table.cases, table.values, strict=True):
        answers = {
            rater: float(value) for rater, value in zip(table.raters, row, strict=True) if not np.isnan(value)
        }
        if len(answers) < 2:
            continue
        values = list(answers.values())
        spread = float(len(set(values)) - 1) if table.nominal else max(values) - min(values)
        if spread > 0:
            rows.append(Disagreement(case, *key, table.question, answers, spread, table.names))
    return tuple(sorted(rows, key=lambda each: -each.spread)[:max_items])


def assistance_effects(store: Store, *, resamples: int = 1000, seed: int = 0) -> tuple[AssistanceEffect, ...]:
    """Estimate the effect of suggestions on answers and time; empty if nobody has both kinds."""
    judged = list(submitted(store))
    helped = {(judgment.case, judgment.person.name): judgment.assisted for judgment in judged}
    cells: dict[str, list[tuple[str, str, float]]] = {
        "seconds": [(judgment.person.name, judgment.case, judgment.state.seconds) for judgment in judged]
    }
    for table in answer_tables(store):
        if not table.nominal:
            cells[table.question] = [
                (rater, case, float(value))
                for case, row in zip(table.cases, table.values, strict=True)
                for rater, value in zip(table.raters, row, strict=True)
                if not np.isnan(value)
            ]
    rng = np.random.default_rng(seed)
    effects = []
    for question, measured in cells.items():
        sides: dict[str, tuple[list[float], list[float]]] = {}
        for rater, case, value in measured:
            sides.setdefault(rater, ([], []))[not helped[case, rater]].append(value)
        both = [(np.array(one), np.array(two)) for one, two in sides.values() if one and two]
        if not both:
            continue
        gaps = [_drawn_means(one, resamples, rng) - _drawn_means(two, resamples, rng) for one, two in both]
        low, high = np.quantile(np.mean(gaps, axis=0), [0.025, 0.975])
        mean = float(np.mean([one.mean() - two.mean() for one, two in both]))
        ones, twos = (np.concatenate(judgment) for judgment in zip(*both, strict=True))
        sizes = (len(ones), len(twos))
        gap = Interval(mean, float(low), float(high), 0.95, "percentile", sum(sizes), len(measured) - sum(sizes))
        effects.append(AssistanceEffect(question, float(ones.mean()), float(twos.mean()), gap, sizes))
    return tuple(effects)


def _drawn_means(values: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    drawn = values[rng.integers(len(values), size=(resamples, len(values)))]
    return np.asarray(drawn.mean(axis=1))
