"""compare: paired by study, direction of every column respected, corrections over all tests."""

from __future__ import annotations

import numpy as np
import pytest

from radgauge.errors import InputError, UsageError
from radgauge.scores import Results, Scores
from radgauge.studies.compare import compare

rng = np.random.default_rng(1)
STUDIES = [f"s{n}" for n in range(40)]


def results(*, drop: int = 0) -> Results:
    """System b is better: its quality is higher and its errors fewer; b lacks the last `drop` studies."""
    keys = [(s, "a") for s in STUDIES] + [(s, "b") for s in STUDIES[: len(STUDIES) - drop]]
    noise = np.random.default_rng(2).normal(size=len(keys))
    good = np.array([system == "b" for _, system in keys])
    values = np.stack([noise + 2 * good, 5 + noise - 2 * good], axis=1)
    scores = Scores("m", "m", tuple(keys), values, values, ("quality", "errors"), True, directions=(True, False))
    return Results({"m": scores})


def test_each_column_has_its_own_direction() -> None:
    quality, errors = compare(results(), baseline="a", all_columns=True)
    assert quality.result.difference.value == pytest.approx(2, abs=0.6)
    assert errors.result.difference.value == pytest.approx(-2, abs=0.6)
    assert quality.result.better == errors.result.better == "a"  # the first named of the pair: system b
    assert quality.system == "b"
    assert quality.result.effect.d_z > 0
    assert errors.result.effect.d_z > 0
    assert quality.result.p_adjusted == quality.result.p  # one pair of systems; the other output is another family


def test_only_shared_studies_count() -> None:
    (line,) = compare(results(drop=10), baseline="a")
    assert line.result.n == 30


def test_the_seed_decides() -> None:
    one, again, other = (
        compare(results(), seed=seed, method="percentile")[0].result.difference for seed in (0, 0, 1)
    )
    assert one == again
    assert (one.low, one.high) != (other.low, other.high)


def test_all_pairs_and_unknown_systems() -> None:
    assert len(compare(results(), all_pairs=True)) == 1
    with pytest.raises(UsageError, match="no system 'c' in these scores; there are: a, b"):
        compare(results(), baseline="c")
    alone = Results({"m": results()["m"].of_system("a")})
    with pytest.raises(InputError, match="comparing needs two systems or more, got 1: a"):
        compare(alone)


def test_systems_without_a_shared_study_cannot_be_compared() -> None:
    values = np.zeros((2, 1))
    scores = Scores("m", "m", (("1", "a"), ("2", "b")), values, values, ("m",), True)
    with pytest.raises(InputError, match="share no study id"):
        compare(Results({"m": scores}))


def test_improvement_in_percent_is_positive_for_the_better_system_whatever_the_direction() -> None:
    for up in (True, False):
        values = np.array([[2.0], [2.0], [1.0], [1.0]])
        keys = (("1", "a"), ("2", "a"), ("1", "b"), ("2", "b"))
        scores = Scores("m", "m", keys, values, values, ("m",), up)
        (line,) = compare(Results({"m": scores}), baseline="a", percent=True)
        assert line.improvement is not None
        assert line.improvement.value == pytest.approx(-50 if up else 50)
        assert compare(Results({"m": scores}), baseline="a")[0].improvement is None


def test_the_interval_of_an_improvement_is_turned_too() -> None:
    quality, errors = compare(results(), baseline="a", all_columns=True, percent=True)
    assert quality.improvement is not None
    assert np.isnan(quality.improvement.low)  # the baseline's mean is about 0
    assert errors.improvement is not None
    assert 0 < errors.improvement.low < errors.improvement.value < errors.improvement.high
