"""Sampling: shares, strata, disagreement, who sees what."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from study_support import two_systems

from radgauge.core.cases import Case
from radgauge.core.errors import InputError, UsageError
from radgauge.core.scores import Results, Scores
from radgauge.study.create import _who_sees
from radgauge.study.sampling import disagreement, sample_studies, shares


def _cases() -> list[Case]:
    kinds = ["CR"] * 60 + ["CT"] * 30 + ["MR"] * 10
    return [Case(f"s{n:03d}", "text", ("text",), "m", meta={"kind": kind}) for n, kind in enumerate(kinds)]


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_strata_get_their_share() -> None:
    drawn = sample_studies(_cases(), rng=_rng(), number=20, by="kind")
    assert Counter(drawn.stratum.values()) == {"CR": 12, "CT": 6, "MR": 2}
    assert len(set(drawn.studies)) == 20
    even = sample_studies(_cases(), rng=_rng(), number=30, by="kind", equal=True)
    assert Counter(even.stratum.values()) == {"CR": 10, "CT": 10, "MR": 10}
    assert "not in proportion" in even.notes[-1]


@pytest.mark.parametrize(("sizes", "number"), [([5, 1, 1], 7), ([100, 1], 50), ([3, 3, 3], 4), ([1], 1)])
def test_shares_sum_up_and_never_exceed_what_is_there(sizes: list[int], number: int) -> None:
    for equal in (False, True):
        found = shares(sizes, number, equal=equal)
        assert sum(found) == number
        assert all(taken <= size for taken, size in zip(found, sizes, strict=True))


def test_disagreement_is_that_of_ranks() -> None:
    keys = tuple((f"s{n}", "m") for n in range(4))
    first = np.array([[1.0], [2.0], [3.0], [4.0]])
    second = np.array([[10.0], [20.0], [40.0], [30.0]])  # the last two change places
    third = -first  # lower is better: the same order as the first
    results = Results(
        {
            "a": Scores("a", "a", keys, first, first, ("a",), True),
            "b": Scores("b", "b", keys, second, second, ("b",), True),
            "c": Scores("c", "c", keys, third, third, ("c",), False),
        }
    )
    found = disagreement(results)
    assert found["s0"] == found["s1"] == 0
    assert found["s2"] == pytest.approx(np.std([0.625, 0.875, 0.625]))
    with pytest.raises(InputError, match="at least two metrics"):
        disagreement(Results({"a": results["a"]}))


def _scored(values: dict[str, float], column: str = "errors", higher_is_better: bool = False) -> Results:
    keys = tuple((study, "m") for study in values)
    table = np.array(list(values.values()))[:, None]
    return Results({column: Scores(column, column, keys, table, table, (column,), higher_is_better)})


def test_the_worst_tenth_is_drawn_more_often_and_every_study_keeps_its_probability() -> None:
    cases = _cases()
    scores = _scored({case.id: float(n) for n, case in enumerate(cases)})
    drawn = sample_studies(cases, rng=_rng(), number=24, by="errors", scores=scores, equal=True)
    parts = {name.partition(": ")[2]: (part.studies, part.drawn) for name, part in drawn.strata.items()}
    assert parts == {"worst": (10, 8), "middle": (30, 8), "rest": (60, 8)}
    assert {drawn.stratum[study] for study in drawn.studies if study >= "s090"} == {"errors: worst"}
    assert drawn.strata["errors: rest"].probability == 8 / 60
    assert "column probability" in drawn.notes[-1]
    better = _scored({case.id: float(n) for n, case in enumerate(cases)}, "f1", True)
    turned = sample_studies(cases, rng=_rng(), number=24, by="f1", scores=better, equal=True)
    assert {turned.stratum[study] for study in turned.studies if study < "s010"} == {"f1: worst"}


def test_equal_scores_are_never_in_two_strata() -> None:
    cases = _cases()
    scores = _scored({case.id: float(n % 10 == 0) * 3 for n, case in enumerate(cases)})
    drawn = sample_studies(cases, rng=_rng(), number=20, by="errors", scores=scores)
    assert {name: part.studies for name, part in drawn.strata.items()} == {
        "errors: worst": 10,
        "errors: middle": 90,
    }


def test_new_errors_are_those_since_the_earlier_release() -> None:
    cases = _cases()
    then = {case.id: float(n % 5) for n, case in enumerate(cases)}
    now = {**then, **{f"s{n:03d}": then[f"s{n:03d}"] + 4 for n in range(10)}}
    drawn = sample_studies(
        cases, rng=_rng(), number=20, by="errors", scores=_scored(now), before=_scored(then), equal=True
    )
    worse = {study for study in drawn.studies if drawn.stratum[study] == "more errors: worst"}
    assert worse == {f"s{n:03d}" for n in range(10)}
    with pytest.raises(UsageError, match="no column 'bleu'"):
        sample_studies(cases, rng=_rng(), by="bleu", scores=_scored(now))
    with pytest.raises(UsageError, match="earlier release"):
        sample_studies(cases, rng=_rng(), before=_scored(then))


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(UsageError, match="1 to 100 studies, got 101"):
        sample_studies(_cases(), rng=_rng(), number=101)
    with pytest.raises(UsageError, match="no report has a column 'colour'; there are kind"):
        sample_studies(_cases(), rng=_rng(), number=5, by="colour")
    twice = [Case("s", "t", ("t",), "a", meta={"kind": "x"}), Case("s", "t", ("t",), "b", meta={"kind": "y"})]
    with pytest.raises(InputError, match="two values in the column 'kind'"):
        sample_studies(twice, rng=_rng(), by="kind")


def test_the_shared_part_is_everyones_and_the_rest_is_divided() -> None:
    seen = _who_sees(50, 10, 4, 2, _rng())
    assert all(each == {0, 1, 2, 3} for each in seen[:10])
    assert all(len(each) == 2 for each in seen[10:])
    loads = Counter(rater for each in seen for rater in each)
    assert max(loads.values()) - min(loads.values()) <= 1


def test_a_sample_is_random_and_repeatable() -> None:
    cases = two_systems()
    first = sample_studies(cases, rng=np.random.default_rng(1), number=2).studies
    assert first == sample_studies(cases, rng=np.random.default_rng(1), number=2).studies
    assert len({sample_studies(cases, rng=np.random.default_rng(n), number=2).studies for n in range(20)}) > 3
