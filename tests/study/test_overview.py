"""Progress and agreement so far: values that can be checked with a pencil."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from study_support import Rater, study_ids

from radgauge.study import NewStudy, Store
from radgauge.study.overview import agreement_so_far, assistance_effects, disagreements, progress

Make = Callable[..., NewStudy]

# study -> (rater 1 on alpha, on beta; rater 2 on alpha, on beta)
RATINGS = {"s1": (4, 1, 5, 2), "s2": (5, 5, 5, 5), "s3": (5, 1, 2, 1), "s4": (3, 2, 3, 2)}


def _rate(store: Store) -> None:
    for number in (1, 2):
        rater = Rater(store, f"rater-{number}")
        rater.train()
        for study, case in study_ids(store).items():
            if study not in RATINGS:
                continue
            alpha, beta = RATINGS[study][2 * number - 2 : 2 * number]
            for system, value in (("alpha", alpha), ("beta", beta)):
                rater.act(case, "set", candidate=rater.label(case, system), field="rating", value=value)
            rater.act(case, "time", seconds=10 * number)
            rater.submit(case)


def test_agreement_is_that_of_the_numbers_behind_the_labels(make: Make) -> None:
    with Store(make(raters=2, design="radpref").path) as store:
        _rate(store)
        found = {each.question: each for each in agreement_so_far(store, resamples=50)}
        rating = found["rating"]
        assert rating.cases == 8
        assert rating.same == {("Rater 1", "Rater 2"): 5 / 8}
        # alpha, interval scale, by hand: pairs differ by 1, 1, 0, 0, 3, 0, 0, 0 -> observed sum of squares 11;
        # the 16 ratings have mean 51/16 and sum of squares 203.
        observed = 2 * 11 / 16
        expected = 2 * (16 * 203 - 51**2) / (16 * 15)
        assert rating.alpha.value == pytest.approx(1 - observed / expected)
        assert rating.icc is not None
        assert 0 < rating.icc.value < 1
        assert found["errors: total"].same == {("Rater 1", "Rater 2"): 1.0}
        assert math.isnan(found["errors: total"].kappa)  # nobody counted an error: nothing to agree on


def test_cases_with_strong_disagreement_come_first(make: Make) -> None:
    with Store(make(raters=2, design="radpref").path) as store:
        _rate(store)
        found = disagreements(store, question="rating")
        assert (found[0].study, found[0].system, found[0].spread) == ("s3", "alpha", 3.0)
        assert len(found) == 3
        assert found[0].answers == {"Rater 1": 5.0, "Rater 2": 2.0}


def test_progress_counts_real_cases_only(make: Make) -> None:
    with Store(make(raters=3, design="radpref", adjudicators=["Chief"]).path) as store:
        _rate(store)
        rater = Rater(store, "rater-3")
        rater.train()
        case = rater.keys()[0]
        rater.act(case, "cannot_judge", reason="no image")
        one, two, three, chief = progress(store)
        assert (one.assigned, one.submitted, one.median_seconds, one.seconds) == (4, 4, 10.0, 40.0)
        assert two.median_seconds == 20.0
        assert (three.started, three.submitted, three.cannot_judge, three.trained) == (1, 0, 1, True)
        assert math.isnan(three.median_seconds)
        assert (chief.role, chief.assigned, chief.last) == ("adjudicator", 4, "")


def test_names_agree_by_name_not_by_label(make: Make) -> None:
    with Store(make(raters=2, design="preference").path) as store:
        for number in (1, 2):
            rater = Rater(store, f"rater-{number}")
            rater.train()
            for study, case in study_ids(store).items():
                if not study.startswith("s"):
                    continue
                choice = "equal" if study == "s2" else rater.label(case, "alpha" if study != "s4" else "beta")
                rater.act(case, "set", field="preference", value={"choice": choice, "reason": "better"})
                rater.submit(case)
        (found,) = agreement_so_far(store, resamples=50)
        assert (found.nominal, found.cases, found.alpha.value, found.kappa) == (True, 4, 1.0, 1.0)
        assert found.icc is None
        assert disagreements(store) == ()


def test_assistance_on_half_of_the_cases_is_measured(make: Make) -> None:
    with Store(make(raters=2, design="radpref", assistance="half").path) as store:
        for number in (1, 2):
            rater = Rater(store, f"rater-{number}")
            rater.train()
            helped = [case for case in rater.keys() if store.case(rater.id, case).assisted]  # noqa: SIM118
            assert len(helped) == 2
            for case in rater.keys():  # noqa: SIM118
                for label in ("A", "B"):
                    value = number + 2 * (case in helped)
                    rater.act(case, "set", candidate=label, field="rating", value=value)
                rater.act(case, "time", seconds=30 if case in helped else 50)
                rater.submit(case)
        found = {each.question: each for each in assistance_effects(store, resamples=50)}
        assert (found["rating"].assisted, found["rating"].alone) == (3.5, 1.5)
        assert (found["rating"].difference.value, found["rating"].difference.low) == (2.0, 2.0)
        assert (found["seconds"].difference.value, found["seconds"].judged) == (-20.0, (4, 4))
    with Store(make(raters=2, design="radpref").path) as store:
        _rate(store)
        assert assistance_effects(store) == ()


def test_the_organiser_learns_how_many_practice_answers_were_right(make: Make) -> None:
    with Store(make(raters=1).path) as store:
        rater = Rater(store, "rater-1")
        first, second = [place.key for place in store.places("rater-1") if place.training]
        for part in ("location/significant", "omitted_comparison/significant"):
            rater.act(first, "set", candidate="A", field="errors", part=part, value=1)
        rater.submit(first)
        (person,) = progress(store)
        assert (person.trained, person.practice) == (False, (1, 2))
        rater.submit(second)
        (person,) = progress(store)
        assert (person.trained, person.practice) == (True, (1, 5))
