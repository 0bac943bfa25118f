"""Preference accuracy by hand, against loops, and against the tie calibration's definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radgauge.core.errors import InputError, UsageError
from radgauge.stats import best_of_n, preference_accuracy
from radgauge.stats.preference import TIE_RULES, pairs_within

grades = st.integers(0, 3)

# One study with three reports: judge orders a > b = c, target a > b, a > c, b < c.
JUDGE, TARGET, STUDY = [3.0, 1.0, 1.0], [5.0, 1.0, 2.0], ["s", "s", "s"]


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("ties", "expected", "n"),
    [
        ("half", 2.5 / 3, 3),
        ("wrong", 2 / 3, 3),
        ("skip", 1.0, 2),
        ("match", 2 / 3, 3),
        ("calibrated", 2 / 3, 3),
    ],
)
def test_rules_for_a_tie_of_the_judge(ties: str, expected: float, n: int) -> None:
    found = preference_accuracy(JUDGE, TARGET, studies=STUDY, rng=seeded(), ties=ties)
    assert found.interval.value == pytest.approx(expected)
    assert (found.interval.n, found.pairs, found.tied_judge, found.tied_target) == (n, 3, 1, 0)


@pytest.mark.parametrize(
    ("ties", "expected", "n"),
    [("half", 1.0, 2), ("wrong", 1.0, 2), ("skip", 1.0, 2), ("match", 2 / 3, 3), ("calibrated", 1.0, 3)],
)
def test_rules_for_a_tie_of_the_target(ties: str, expected: float, n: int) -> None:
    found = preference_accuracy([3.0, 1.0, 1.1], [5.0, 1.0, 1.0], studies=STUDY, rng=seeded(), ties=ties)
    assert found.interval.value == pytest.approx(expected)
    assert found.interval.n == n
    assert found.threshold == pytest.approx(0.1 if ties == "calibrated" else 0.0)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(grades, grades, grades), max_size=12), st.sampled_from(TIE_RULES))
def test_any_set_equals_the_loop_over_pairs(rows: list[tuple[int, int, int]], ties: str) -> None:
    judge, target, study = np.array(rows, dtype=float).reshape(-1, 3).T
    found = preference_accuracy(judge, target, studies=study, rng=seeded(), ties=ties, resamples=20)
    pairs = [(i, j) for i, j in itertools.combinations(range(len(rows)), 2) if study[i] == study[j]]

    def accuracy(threshold: float) -> float:
        credit, weight = [], []
        for i, j in pairs:
            x, y = judge[i] - judge[j], target[i] - target[j]
            x = 0.0 if abs(x) <= threshold else x
            if ties in ("match", "calibrated"):
                credit.append(float(np.sign(x) == np.sign(y)))
                weight.append(1 / sum(study[k] == study[i] for k, _ in pairs))  # the mean over studies
            elif y and (x or ties != "skip"):
                credit.append(float(x * y > 0) if x else {"half": 0.5, "wrong": 0.0}[ties])
                weight.append(1.0)
        return float(np.average(credit, weights=weight)) if credit else math.nan

    if ties == "calibrated":
        expected = max((accuracy(t) for t in range(4)), default=math.nan)
        assert found.interval.value == pytest.approx(accuracy(found.threshold), nan_ok=True)
    else:
        expected = accuracy(0.0)
    assert found.interval.value == pytest.approx(expected, nan_ok=True)


def test_only_pairs_of_one_study_are_formed() -> None:
    first, second = pairs_within(np.array([0, 1, 0, 2, 1]))
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 2), (1, 4)]
    none = preference_accuracy([1.0, 2.0], [1.0, 2.0], studies=["a", "b"], rng=seeded())
    assert none.pairs == 0
    assert math.isnan(none.interval.value)


def test_missing_values_make_no_pair() -> None:
    found = preference_accuracy([1.0, np.nan, 2.0], [1.0, 2.0, 3.0], studies=STUDY, rng=seeded())
    assert (found.pairs, found.interval.n, found.interval.missing) == (1, 1, 2)


def test_interval_draws_studies() -> None:
    rng = seeded(2)
    study = np.repeat(np.arange(40), 4)
    target = rng.normal(size=160)
    judge = np.where(rng.random(40) < 0.5, 1, -1)[study] * target  # whole studies right or wrong
    found = preference_accuracy(judge, target, studies=study, rng=seeded())
    share = found.interval.value
    assert found.interval.high - found.interval.low == pytest.approx(
        2 * 1.96 * math.sqrt(share * (1 - share) / 40), rel=0.1
    )


def test_messages() -> None:
    with pytest.raises(UsageError, match="ties must be one of half, wrong, skip, match, calibrated"):
        preference_accuracy([1.0], [1.0], studies=["a"], rng=seeded(), ties="ignore")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two equally long lists"):
        preference_accuracy([1.0], [1.0, 2.0], studies=["a"], rng=seeded())


def test_match_is_the_mean_over_studies() -> None:
    """As mt-metrics-eval averages by item: three right pairs of one study, a wrong one of another: one half."""
    judge, target, studies = [3.0, 2.0, 1.0, 1.0, 2.0], [3.0, 2.0, 1.0, 2.0, 1.0], list("aaabb")
    for ties in ("match", "calibrated"):
        found = preference_accuracy(judge, target, studies=studies, rng=seeded(), ties=ties, resamples=20)
        assert found.interval.value == pytest.approx(0.5)
    assert preference_accuracy(
        judge, target, studies=studies, rng=seeded(), ties="half", resamples=20
    ).interval.value == pytest.approx(0.75)


def test_best_of_n_is_0_for_a_constant_and_1_for_the_target() -> None:
    target, studies = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 3.0]), list("aabbcc")
    values = {
        "target": best_of_n(target, target, studies=studies, rng=seeded(), resamples=20),
        "constant": best_of_n(np.ones(6), target, studies=studies, rng=seeded(), resamples=20),
        "reversed": best_of_n(-target, target, studies=studies, rng=seeded(), resamples=20),
    }
    assert {name: found.gain.value for name, found in values.items()} == pytest.approx(
        {"target": 1.0, "constant": 0.0, "reversed": -1.0}
    )
    assert (values["target"].random, values["target"].oracle) == (3.0, 4.0)


def test_best_of_n_leaves_out_studies_with_a_missing_value_and_single_candidates() -> None:
    found = best_of_n(
        [1.0, np.nan, 2.0, 1.0, 9.0], [1, 2, 4, 2, 1], studies=list("aabbc"), rng=seeded(), resamples=20
    )
    assert (found.gain.n, found.chosen, found.random) == (1, 4.0, 3.0)
