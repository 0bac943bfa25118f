"""A study as judgments: what `agree` and `report` take from people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from radgauge.core.cases import Case, Key
from radgauge.core.errors import InputError
from radgauge.core.scores import Scores
from radgauge.io.judgments.judgments import Count, Judgments, error_scores, rating_scores
from radgauge.study.answers import Judged, asked_categories, error_counts, rating_of, submitted
from radgauge.study.check import require_proof
from radgauge.study.store import Store

ADJUDICATED = "adjudicated"
"""Name of the one rater that adjudicated judgments have."""


def study_judgments(path: Path | str, *, adjudicated: bool = False) -> Judgments:
    """Return the judgments submitted so far.

    The events are replayed first. A candidate that a rater has not submitted, or could not judge, is not judged by
    this rater (NaN).

    Args:
        path: The file of the study.
        adjudicated: One judgment per candidate: the adjudicator's where there is one, the mean of the raters
            elsewhere. Otherwise raters are kept apart and adjudicators are left out.
    """
    require_proof(path)
    with Store(path, readonly=True) as store:
        return judgments_of(store, adjudicated=adjudicated)


def judgments_of(store: Store, *, adjudicated: bool = False) -> Judgments:
    """The same from a study that is open."""
    design = store.design
    if design.used_as("errors") is None and design.used_as("rating") is None:
        raise InputError(
            f"the design {design.name} says of no field that `agree` may take it (use = 'errors' or 'rating')"
        )
    submissions = list(submitted(store))
    decided = list(submitted(store, roles=("adjudicator",)))
    if not submissions and not decided:
        raise InputError(f"{store.path.name}: no case has been submitted yet")
    cases = study_cases(store)
    keys = tuple(case.key for case in cases)
    signature = f"study {store.about['title']}|design {design.name} {design.version}"
    counts, judged, ratings = _collected(store, submissions)
    notes = _notes(store, submissions, keys, judged, decided)
    categories = asked_categories(design)
    if adjudicated:
        better = _collected(store, decided)
        counts, judged, ratings = _merged((counts, judged, ratings), better)
    errors = (
        error_scores(counts, keys=keys, signature=signature, judged=judged, categories=categories)
        if categories
        else {}
    )
    field = design.used_as("errors")
    if field is not None and field.kind == "counts" and not field.significance:
        errors = {rater: _without_significance(scores) for rater, scores in errors.items()}
    rated = rating_scores(ratings, keys=keys, signature=signature) if ratings else {}
    return Judgments(str(store.about["title"]), cases, errors, rated, notes=tuple(notes))


def _without_significance(scores: Scores) -> Scores:
    """Return counts whose significance nobody was asked about: NaN, neither all nor none."""
    asked = np.array([not name.endswith("significant") for name in scores.columns])
    values = np.where(asked, scores.values, np.nan)
    return replace(scores, values=values, rows=values)


def study_cases(store: Store) -> tuple[Case, ...]:
    """The real cases of a study with the candidates of every system."""
    with store._reading() as connection:
        rows = connection.execute(
            "SELECT c.id, k.text, c.reference, k.system, c.images, c.meta FROM cases c "
            'JOIN candidates k ON k."case" = c.key WHERE c.training IS NULL ORDER BY c.rowid, k.rowid'
        ).fetchall()
    return tuple(
        Case(study, text, (reference,), system, tuple(map(Path, json.loads(images))), json.loads(meta))
        for study, text, reference, system, images, meta in rows
    )


Collected = tuple[list[Count], dict[str, set[Key]], dict[str, dict[Key, float]]]


def _collected(store: Store, submissions: list[Judged]) -> Collected:
    counts: list[Count] = []
    judged: dict[str, set[Key]] = {}
    ratings: dict[str, dict[Key, float]] = {}
    for judgment in submissions:
        rater = judgment.person.name
        for label, system in judgment.able().items():
            key = (judgment.study, system)
            judged.setdefault(rater, set()).add(key)
            for category, significant, number in error_counts(store.design, judgment.state, label):
                counts.append((key, rater, category, significant, float(number)))
            if (value := rating_of(store.design, judgment, label)) is not None:
                ratings.setdefault(rater, {})[key] = value
    return counts, judged, ratings


def _merged(raters: Collected, deciding: Collected) -> Collected:
    """One judgment per candidate under the name "adjudicated"."""
    counts: list[Count] = []
    judged: set[Key] = set()
    ratings: dict[Key, float] = {}
    settled: set[Key] = set().union(*deciding[1].values())
    for source, chosen in ((deciding, settled), (raters, None)):
        of = {
            key: sum(key in of_rater for of_rater in source[1].values())
            for key in set().union(*source[1].values())
            if (key in settled) is (chosen is not None)
        }
        judged |= of.keys()
        counts += [
            (key, ADJUDICATED, category, significant, number / of[key])
            for key, _, category, significant, number in source[0]
            if key in of
        ]
        values: dict[Key, list[float]] = {}
        for rated in source[2].values():
            for key, value in rated.items():
                if key in of:
                    values.setdefault(key, []).append(value)
        ratings |= {key: float(np.mean(of_rater)) for key, of_rater in values.items()}
    return counts, {ADJUDICATED: judged}, {ADJUDICATED: ratings} if ratings else {}


def _notes(
    store: Store,
    submissions: list[Judged],
    keys: tuple[Key, ...],
    judged: Mapping[str, set[Key]],
    decided: list[Judged],
) -> list[str]:
    notes = [str(note) for note in store.about.get("notes", ())]
    nobody = sum(not any(key in cases for cases in judged.values()) for key in keys)
    if nobody:
        notes.append(f"{nobody} of {len(keys)} candidates are judged by nobody so far")
    unable = sum(len(judgment.systems) - len(judgment.able()) for judgment in submissions)
    if unable:
        notes.append(f"{unable} candidates could not be judged, with a reason: not judged, not 0 errors")
    if decided:
        notes.append(f"an adjudicator has decided {len(decided)} cases; they count only where that is asked for")
    if assisted := sum(judgment.assisted for judgment in submissions):
        notes.append(
            f"{assisted} of {len(submissions)} submitted cases were judged with radgauge's suggestions in view"
        )
    field = store.design.used_as("rating")
    if field is not None and field.candidates:
        notes.append("rating: 1 for the preferred candidate, 0 for the others, 0.5 each if none was preferred")
    elif field is not None and field.kind == "choice":
        notes.append(f"rating: {field.key}, first option 1, last 0, mean over sentences where asked per sentence")
    return notes
